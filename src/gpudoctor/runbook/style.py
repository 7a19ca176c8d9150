"""Rules that `gpudoctor lint` adds for people who write runbooks: nothing here stops a run, everything here stops a merge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gpudoctor.patterns import regex
from gpudoctor.runbook import allowed, lint_messages, prose
from gpudoctor.runbook.model import Cause, FixTemplate, Library, Runbook

# The first words of commands that only read; a fix made of one of these changes nothing.
READS = {"describe", "get", "logs", "top", "explain", "events", "version", "auth", "diff"}
# Programs that only read, whatever their options, in the way that fixes use them.
READERS = {"dmesg", "journalctl", "lspci", "lsmod", "df", "cat", "ls", "tail", "sensors"}
# Programs that read or change something, and the first words with which they only read.
READ_WITH = {"chronyc": ("tracking", "sources"), "mokutil": ("--sb-state", "--list-"), "nvidia-ctk": ("--version", "cdi list")}

# message.name == "nccl_refused"   |   message.name in ["nccl_refused", "nccl_no_route"]
ASKED_MESSAGES = regex(r'\bmessage\.name (?:== "\w+"|in \[[^\]]*\])')
NAME = regex(r'"(\w+)"')
# What an `act` asks to be typed, as a word of the command.
BY_COMMAND = {"reboot": "reboot", "reset-gpu": "--gpu-reset"}
HEAD = 500  # characters of a test file in which its head stands
COVERS = regex(r"(?m)^covers: \[([^\]]*)\]")
NAMES = regex(r"[a-z0-9-]+")
SPELLED = regex(r'\bin \[(?:"[^"]*"|\d+)(?:,\s+(?:"[^"]*"|\d+))+\]')
SHORT = 36  # characters up to which two values are written out more easily than named


def problems(given: Library, folder: Path) -> Iterator[str]:
    """All style problems of a library whose runbooks lie in `folder`."""
    found = {check.finds for book in given.runbooks.values() for check in book.checks() if check.finds}
    for cause in given.causes.values():
        if cause.id not in found:
            yield f"catalogue: {cause.id}: no check finds it"
        if not cause.tell:
            yield f"catalogue: {cause.id}: give `tell`, what to look at, with the command"
        if bool(cause.fixes) == bool(cause.no_fix):
            yield f"catalogue: {cause.id}: give `fixes`, or say in `no_fix` why nothing mends it and who has to act, and not both"
        if cause.act in BY_COMMAND and cause.fixes and not any(BY_COMMAND[cause.act] in fix.run for fix in cause.fixes):
            yield f"catalogue: {cause.id}: act is {cause.act}, and no fix has the command: name it (do: {cause.act})"
        for look in cause.look:
            if not reads(look.run):
                yield f"catalogue: {cause.id}: look '{look.title}' does more than read: it is a fix"
        for fix in cause.fixes:
            yield from fix_problems(cause, fix)
    yield from prose.problems(given, folder)
    yield from not_told_apart(given)
    yield from lists_written_twice(folder)
    yield from (f"knowledge/messages: {text}" for text in lint_messages.style(given))
    tested = {name for path in folder.glob("*.test.yaml") for name in tested_by(path)}
    for book in given.runbooks.values():
        if any(check.finds for check in book.checks()) and book.id not in tested:
            yield f"{book.path}: has no {book.id}.test.yaml beside it"
        critical = any(check.weighs(given.causes[check.finds]) == "critical" for check in book.checks() if check.finds in given.causes)
        if critical and not book.references:
            yield f"{book.path}: finds critical causes without a reference"
        yield from alarms_of_benign_messages(given, book)
        for step in book.steps:
            if step.run and not step.why:
                yield f"{book.path}:{step.line}: step {step.id}: asks something: give `why`, one sentence for who is guided through it"
            if step.choices and not step.when and not step.each:
                yield f"{book.path}:{step.line}: step {step.id}: asks a person in every run: give `when`, or `each` of what was found"


def tested_by(path: Path) -> list[str]:
    """The runbooks that a paired test tries: its own, and those that it says it covers, in one of its first lines."""
    covers = COVERS.search(path.read_text(encoding="utf-8")[:HEAD])
    return [path.name.removesuffix(".test.yaml"), *(NAMES.findall(covers[1]) if covers else ())]


def test_of(runbook: Path) -> Path:
    """The paired test that tries a runbook: the one beside it with its stem, where it isn't there one that covers it."""
    own = runbook.with_name(f"{runbook.stem}.test.yaml")
    beside = [] if own.is_file() else sorted(runbook.parent.glob("*.test.yaml"))
    return next((path for path in beside if runbook.stem in tested_by(path)), own)


def lists_written_twice(folder: Path) -> Iterator[str]:
    """A list that conditions spell out in two places: it belongs into `rules/lists.yaml`, named. Two short values may stand twice."""
    places: dict[str, list[str]] = {}
    for path in sorted([*folder.glob("*.yaml"), *(folder / "rules").glob("*.yaml")]):
        text = path.read_text(encoding="utf-8") if not path.name.endswith(".test.yaml") else ""
        for found in SPELLED.finditer(text):
            place = f"{path.relative_to(folder)}:{text.count(chr(10), 0, found.start()) + 1}"
            spelled = " ".join(found[0].split())
            if spelled.count(",") > 1 or len(spelled) > SHORT:
                places.setdefault(spelled, []).append(place)
    for spelled, where in places.items():
        if len(where) > 1:
            yield f"{' and '.join(where)}: the same list {spelled[:60]}: give it a name in rules/lists.yaml"


def not_told_apart(given: Library) -> Iterator[str]:
    """Causes that the same message may lead to say how they are told apart; one sentence serves both sides of a pair."""
    for message, causes in sorted(causes_of_messages(given).items()):
        for name in sorted(causes):
            if len(causes) > 1 and not given.told_apart(name).keys() & causes:
                others = ", ".join(sorted(causes - {name}))
                yield f"catalogue: {name}: the message {message} may also mean {others}: give `confused_with`"


def causes_of_messages(given: Library) -> dict[str, set[str]]:
    """Message → the causes of the checks whose condition names it."""
    known = {entry.name for entry in given.messages}
    made: dict[str, set[str]] = {}
    for check in (check for book in given.runbooks.values() for check in book.checks() if check.finds in given.causes):
        for match in ASKED_MESSAGES.finditer(check.when):
            for name in known.intersection(NAME.findall(match[0])):
                made.setdefault(name, set()).add(check.finds)
    return made


def alarms_of_benign_messages(given: Library, book: Runbook) -> Iterator[str]:
    """A message that is known noise finds nothing by itself: a check on one has more to its condition, or finds something harmless."""
    benign = {f'message.name == "{entry.name}"' for entry in given.messages if entry.benign}
    for check in book.checks():
        cause = given.causes.get(check.finds)
        if check.when in benign and cause is not None and check.weighs(cause) != "info" and check.confidence == "confirmed":
            yield f"{book.path}: check {check.id}: a benign message alone finds {check.finds}"


def fix_problems(cause: Cause, fix: FixTemplate) -> Iterator[str]:
    """A safe fix that changes something can be undone; every fix that changes something can be verified."""
    if not fix.run:
        return
    if fix.run[:2] in (["kubectl", "drain"], ["kubectl", "cordon"]) and not fix.by:
        yield f"catalogue: {cause.id}: fix '{fix.title}': name it (do: drain or keep-away), so that a node of Slurm gets Slurm's command"
    if reads(fix.run):
        yield f"catalogue: {cause.id}: fix '{fix.title}' only reads: it belongs under `look`"
        return
    if fix.risk == "safe" and not fix.undo:
        yield f"catalogue: {cause.id}: fix '{fix.title}' is safe and changes something: give undo"
    if not fix.verify:
        yield f"catalogue: {cause.id}: fix '{fix.title}' changes something: give verify"


def reads(argv: list[str]) -> bool:
    """Whether a command of a fix only reads."""
    if argv[0] in ("kubectl", "oc", "helm") and len(argv) > 1:
        if argv[1] == "exec" and "--" in argv:
            return reads(argv[argv.index("--") + 1 :])
        return argv[1] in READS or argv[1:3] == ["rollout", "status"]
    if argv[0] in READ_WITH:
        return " ".join(argv[1:]).startswith(READ_WITH[argv[0]])
    return argv[0] in READERS or not allowed.refusal(argv)
