"""`gpudoctor xid`: what a code means, what a pasted line says, or every Xid of a log. The code's path loads the book and nothing else."""

from __future__ import annotations

import re

import msgspec

from gpudoctor.cli.errors import USAGE, Refused
from gpudoctor.cli.printing import Shown, check_shown, deliver, print_report
from gpudoctor.cli.xid_answer import Asked, Explained, Together
from gpudoctor.knowledge.xid_decode import decode
from gpudoctor.knowledge.xids import Book, Pair, book
from gpudoctor.patterns import regex

SCHEMA = "gpudoctor.xid/1"
SWITCH = 10_000  # codes of the NVSwitch driver have five digits, those of the GPU driver three at most
CODE = regex(r"(?:s?xid[ =]?)?(\d{1,5})\Z", re.IGNORECASE)
# NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.  |  … SXid (PCI:0000:05:00.0): 12028, …
LINE = regex(r"\bS?Xid \([^)]{1,80}\): ?(\d{1,5})\b,? ?(.*)", re.DOTALL)
CODE_FORMATS = ("terminal", "json")
WORST = ("critical", "error", "decode", "warning", "info")


def asked_codes(words: list[str]) -> list[Asked] | None:
    """The codes that the arguments name, each once; None when they are files. Raises `Refused` for a mixture."""
    parts = [line for word in words for line in word.splitlines() if line.strip()]  # several pasted lines are one argument
    found = [asked for part in parts if (asked := parse_xid(part))]
    if not found:
        return None
    if len(found) != len(parts):
        stranger = next(part for part in parts if parse_xid(part) is None)
        raise Refused(f"'{stranger[:80]}' is no code: give codes or lines, or files, not both (a file whose name is a number is ./79)")
    return list({(asked.code, asked.text): asked for asked in found}.values())


def parse_xid(word: str) -> Asked | None:
    """Parse a code (`79`, `Xid79`) or a pasted line; None for anything else."""
    if match := CODE.match(word.strip()):
        return Asked(int(match[1]))
    if match := LINE.search(word[:4096]):
        code = int(match[1])
        return Asked(code, match[2].strip(), decode(code, match[2]))
    return None


def explain_xids(asked: list[Asked], known: Book) -> Explained:
    """Explain the codes that were asked about."""
    codes = list(dict.fromkeys(one.code for one in asked))
    xids = [entry for entry in map(known.xid, codes) if entry]
    sxids = [entry for entry in map(known.sxid, codes) if entry]
    rows = [Together(row.codes, row.verdict, row.actions) for row in pairs(codes, known)]
    ranked = sorted((entry for entry in xids if entry.whose != "follow-on"), key=lambda entry: WORST.index(entry.severity))
    there = {entry.code for entry in xids} | {entry.code for entry in sxids}
    return Explained(
        SCHEMA,
        xids,
        sxids,
        [one for one in asked if one.text],
        rows,
        ranked[0].code if len(codes) > 1 and ranked else None,
        [code for code in codes if code not in there],
    )


def pairs(codes: list[int], known: Book) -> list[Pair]:
    """The rules that apply to these codes: of several about the same ones only that of the most."""
    given = {code for code in codes if code < SWITCH}
    switch = any(code >= SWITCH for code in codes)
    rows = [row for row in known.pairs if set(row.codes) <= given and rule_holds(row, given, switch)]
    return [row for row in rows if not any(set(row.codes) < set(other.codes) for other in rows)]


def rule_holds(row: Pair, given: set[int], switch: bool) -> bool:
    """Whether a rule's further conditions hold. What needs repetition can't be seen from codes."""
    if row.repeated or (row.alone and len(given) > 1) or (row.sxid and not switch):
        return False
    return len(given) > 1 if row.any_other else row.alone or row.sxid or len(row.codes) > 1


def explain_codes(asked: list[Asked], shown: Shown) -> int:
    """Print what is known; returns the exit code: 2 when a code is unknown."""
    from gpudoctor.cli.xid_screen import screen

    if shown.format not in CODE_FORMATS:
        raise Refused(f"codes have no format '{shown.format[:40]}'; there are {', '.join(CODE_FORMATS)}")
    check_shown(shown)
    known = book_of_ours()
    answer = explain_xids(asked, known)
    if shown.format == "json":
        text = msgspec.json.format(msgspec.json.encode(answer)).decode() + "\n"
    else:
        text = screen(answer, known, verbose=shown.verbose)
    deliver(text, shown)
    return USAGE if answer.unknown else 0


def book_of_ours() -> Book:
    """The book; problems in it are shown like a user's."""
    from gpudoctor.library.index import BrokenLibrary

    try:
        return book()
    except BrokenLibrary as error:
        raise Refused(str(error)) from None


def triage_files(paths: list[str], since: str, timeout: float, shown: Shown) -> int:
    """Every Xid of kernel logs: a timeline for each GPU, and what is wrong with it."""
    from gpudoctor.analyze.kernel_files import read
    from gpudoctor.cli.execute import check_timeout, load_library
    from gpudoctor.cli.paths import check_paths, reading_budget
    from gpudoctor.engine.diagnose import analyze
    from gpudoctor.engine.plan import cast

    check_shown(shown)
    check_timeout(timeout)
    try:
        seconds = float(cast(since, "duration")) if since else None
    except ValueError as error:
        raise Refused(f"--since {since[:80]}: {error}") from None
    with reading_budget(timeout) as budget:
        check_paths(paths, budget, "'{}' is neither a code nor a file that is there")
        library = load_library()
        gathered = read(paths, seconds, budget)
        tables = library.runbooks["xid-triage"]
        report = analyze(library, gathered.facts, gathered.inputs, gathered.now, tables, explain_path=shown.path)
    return print_report(report, shown)
