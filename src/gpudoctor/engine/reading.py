"""What an answer is worth: facts, an answer that there is nothing, or no answer and why."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from gpudoctor import registry
from gpudoctor.facts import Facts, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.tools.common.ends import ENDS, SHOWN, cut_off
from gpudoctor.tools.parser import ParseError, mistake

SIGNALS = 128  # a shell's exit code for death by signal n is 128+n
NO_ENTRIES = (b"-- No entries --", b"No journal files were found.")  # journalctl's words for nothing
NO_PROGRAM = 127  # a shell's exit code for a program that isn't there
NOTHING = {"grep": 1}  # exit codes that mean "nothing found", which is an answer: grep(1)
# Exit codes other than 0 of programs that did what they were asked, () for all of them: some files can't be read, and others are (grep(1));
# a test failed (dcgmi diag), a counter is above its threshold (ibqueryerrors(8)).
DONE: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...] = ((("grep",), (1, 2)), (("dcgmi", "diag"), ()), (("ibqueryerrors",), (1,)))
# Programs that end each line that they print.
LISTS = {"dcgmi", "df", "dmesg", "grep", "iblinkinfo", "ibqueryerrors", "ibstat", "ip", "journalctl", "lspci", "nvidia-smi", "perfquery"}
LISTS |= {"ps", "systemctl"}
# What may say nothing and mean it: readers of files and logs, lists that are filtered, and nvidia-smi nvlink on GPUs without one. Every
# other program has a heading, a pair of brackets or a word for "none".
QUIET = (("cat",), ("tail",), ("grep",), ("env",), ("lspci",), ("ibstat",), ("kubectl", "logs"), ("nvidia-smi", "nvlink"))
USAGE = {"nvidia-smi": 2}  # exit codes that mean "a supplied argument or flag is invalid": nvidia-smi(1)
# tail: cannot open '/var/log/fabricmanager.log' for reading: No such file or directory
# System has not been booted with systemd as init system (PID 1). Can't operate.
GONE = regex(rb"No such file or directory|has not been booted with systemd")
TOLD = ("timeout", "unkillable", "not-found")  # failures that a parser with `failures` reads: they say something of the program


class Reading(NamedTuple):
    """What one answer gave. `problem` is why it counts as none, "" when it is one; `absent`: there is no such program, unit or file."""

    output: Output
    problem: str = ""
    facts: Facts | None = None
    absent: bool = False


class Printed(NamedTuple):
    """What is remembered of the pages of an answer: the first line of what was said in them, and the last one where nothing ends it."""

    first: bytes = b""
    end: bytes = b""

    def also(self, output: Output) -> Printed:
        """With another page."""
        said = (page.strip() for page in output.pages)
        first = self.first or next((text.split(b"\n", 1)[0][:SHOWN] for text in said if text not in (b"", *NO_ENTRIES)), b"")
        last = next((page for page in reversed(output.pages) if page), b"\n")
        return Printed(first, b"" if last.endswith(b"\0") else last[last.rfind(b"\n") + 1 :][-SHOWN:])  # grep -z ends by NUL


def failed_reading(command: Command, why: str, *, unreachable: bool = False) -> Reading:
    """The reading of a command that was not asked, or that nobody waits for any longer."""
    return Reading(Output(command, failure="unreachable", reason=why) if unreachable else Output(command), why)


def ask_probe(probe: Probe, parser: str, command: Command, about: Subject) -> Reading:
    """Ask the probe one command and read the answer; a list too large to hold is read page by page."""
    if registry.PARSERS[parser].streams:
        return read_pages(parser, probe.stream(command), command, about)
    return read_answer(parser, probe(command), about)


def read_answer(parser: str, output: Output, about: Subject) -> Reading:
    """Read a whole answer."""
    entry = registry.PARSERS[parser]
    if entry.streams:
        return read_pages(parser, iter([output]), output.command, about)
    if unusable(output) or not_there(output):
        wanted = entry.failures and output.failure in TOLD
        return judge_answer(parser, output, *(read(parser, output, about) if wanted else ({}, "")), Printed().also(output))
    return judge_answer(parser, output, *read(parser, output, about), Printed().also(output))


def read_pages(parser: str, answers: Iterator[Output], command: Command, about: Subject) -> Reading:
    """Read an answer in pieces."""
    pages = Pages(answers, Output(command))
    facts, problem = read(parser, pages, about)
    return judge_answer(parser, pages.last, facts, problem, pages.printed)


def judge_answer(parser: str, output: Output, facts: Facts, problem: str, printed: Printed) -> Reading:
    """Judge an answer, and what a parser made of it."""
    if not_there(output):
        return Reading(output, "", {kind: [] for kind in registry.PARSERS[parser].fills})
    problem = (
        unusable(output)
        or why_cut_off(output)
        or ("" if printed.first else why_silent(output, facts))
        or blank(parser, output, facts, printed)
        or problem
    )
    problem = problem or (cut_off(parser, output.text) if parser in ENDS else "")
    # Objects of the API name themselves and may be many, and what a host says is about the host; any other text may be read anew.
    light = output.command.host or output.command.argv[:2] == ("kubectl", "get")
    kept = msgspec.structs.replace(output, pages=()) if light else output
    # what stands in a log stands there; of a list that was cut off, what is missing would be read as not being there
    part, log = why_unterminated(output, printed), registry.PARSERS[parser].all_of
    if not problem and printed.first and ((part and log) or (not part and (part := gave_up(output, facts)))):
        return Reading(kept, part, facts)
    problem = problem or part
    worth = has_content(facts) and registry.PARSERS[parser].failures
    return Reading(kept, problem, facts if worth or not problem else None, bool(problem) and is_absent(output))


def read(parser: str, output: Output | Pages, about: Subject) -> tuple[Facts, str]:
    """The facts of an output, or of the pages of one, and "", or why it can't be read."""
    try:
        return registry.load(parser)(output, about), ""  # type: ignore[arg-type]  # pages, for a parser that streams
    except ParseError as error:
        return error.facts, str(error)
    except Exception as error:
        if isinstance(output, Pages) and output.broken is error:  # not the parser's: it came with the pages
            raise
        source = output.last.origin_name() if isinstance(output, Pages) else output.origin_name()
        return {}, mistake(f"parser {parser}", source, error)


def is_worth_another_way(reading: Reading) -> bool:
    """Whether another way to ask is worth a try: no such program, no right, an option that this version doesn't have, or not a word."""
    output = reading.output
    if output.failure:
        return output.failure in ("not-found", "refused")
    if output.exit == 0:
        return bool(reading.problem) and not reading.facts
    empty = reading.facts is None or not any(reading.facts.values())
    return empty or output.exit == USAGE.get(output.command.argv[0])


def second(first: Reading, other: Reading) -> Reading:
    """What came of asking another way after the first had no answer: both reasons where that has none either."""
    if not other.problem:
        return other
    reasons = dict.fromkeys([first.problem or complaint(first.output), other.problem])
    return other._replace(problem="; ".join(reasons), absent=first.absent and other.absent)


def is_read(output: Output) -> bool:
    """Whether a command is one of those of kubectl whose exit code says whether they have answered."""
    return output.command.argv[:2] in (("kubectl", "get"), ("kubectl", "logs"))


def not_there(output: Output) -> bool:
    """Whether `kubectl get` or `logs` says that there is no such thing, which is an answer."""
    return not output.failure and output.exit != 0 and is_read(output) and b"not found" in output.stderr.lower()


def is_absent(output: Output) -> bool:
    """Whether the program, unit or file of the command does not exist."""
    if output.failure:
        return output.failure == "not-found"
    return output.exit == NO_PROGRAM or (output.exit != 0 and bool(GONE.search(output.stderr)))


def unusable(output: Output) -> str:
    """Why an output is no answer, "" when it is one."""
    if output.failure:
        return output.reason or output.failure
    return complaint(output) if output.exit != 0 and is_read(output) and not not_there(output) else ""


def why_cut_off(output: Output) -> str:
    """Why an output isn't whole though the program has ended: a signal ended it in the middle."""
    if not SIGNALS < output.exit <= SIGNALS + 64:
        return ""
    number = output.exit - SIGNALS
    return f"{inner_command(output.command.argv)[0]} was ended by signal {number} ({signal.strsignal(number) or 'unknown'})"


def blank(parser: str, output: Output, facts: Facts, printed: Printed) -> str:
    """Why an answer of which only the frame was read is none: an error in words that nobody knows, a text that was cut off, no line as of a
    log.
    """
    foreign = not facts and printed.first and registry.PARSERS[parser].all_of
    if not foreign and (not any(facts.values()) or has_content(facts)):
        return ""
    first = printed.first.decode("utf-8", "replace").strip()
    return f"{output.origin_name()}: not an answer of {inner_command(output.command.argv)[0]}: {first[:60]!r} (exit code {output.exit})"


def has_content(facts: Facts) -> bool:
    """Whether any of the facts says something."""
    return any(record.tells for records in facts.values() for record in records)


def gave_up(output: Output, facts: Facts) -> str:
    """Why what was understood of an answer may not be all: the program left with an error, and nothing that was read of it names that."""
    argv = inner_command(output.command.argv)
    done = any(argv[: len(words)] == words and (not codes or output.exit in codes) for words, codes in DONE)
    named = any(getattr(record, "problem", "") for records in facts.values() for record in records)
    if output.exit == 0 or done or named or not any(facts.values()):
        return ""
    return f"{argv[0]} left with exit code {output.exit}: what it printed may not be all"


def why_unterminated(output: Output, printed: Printed) -> str:
    """Why a list of lines isn't whole: nothing ends the last one. Of JSON its parser knows."""
    argv = inner_command(output.command.argv)
    listed = (argv[0] in LISTS or is_generated_while_read(argv)) and output.via != "pasted"  # whoever pastes may leave the last end out
    end = printed.end.decode("utf-8", "replace").strip() if listed else ""
    return "" if not end or end[-1] in "}]" else f"{argv[0]} was cut off after {end!r}"


def why_silent(output: Output, facts: Facts) -> str:
    """Why an output in which nothing is said is no answer: the program failed (`dmesg: … Operation not permitted`), or left without a word
    though it always has one.
    """
    argv = inner_command(output.command.argv)
    if output.exit == NOTHING.get(argv[0]) or has_content(facts) or not_there(output):
        return ""
    if output.exit or output.stderr.strip():
        return complaint(output)
    quiet = any(argv[: len(words)] == words for words in QUIET) and not is_generated_while_read(argv)
    return "" if quiet else f"{' '.join(argv) if is_generated_while_read(argv) else argv[0]} printed nothing (exit code 0)"


def is_generated_while_read(argv: tuple[str, ...]) -> bool:
    """Whether a command reads a list that the kernel writes while it is read: /proc/modules, /proc/driver/nvidia/version."""
    return argv[0] == "cat" and argv[-1].startswith("/proc/") and not argv[-1].endswith(("/environ", "/cmdline"))


def inner_command(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs in the container: of `kubectl exec … -- env` it is `env`."""
    return argv[argv.index("--") + 1 :] if argv[:2] == ("kubectl", "exec") and "--" in argv[:-1] else argv


def complaint(output: Output) -> str:
    """The last line of stderr, else the exit code."""
    return output.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:500] or f"exit code {output.exit}"


class Pages:
    """The pages of a streamed answer, remembering the last; a failed piece ends the stream and is not a page."""

    def __init__(self, pages: Iterator[Output], last: Output) -> None:
        self.pages, self.last = pages, last
        self.broken: Exception | None = None  # what asking for a page raised
        self.printed = Printed()

    def __iter__(self) -> Iterator[Output]:
        while (output := self.following()) is not None:
            self.printed = self.printed.also(output)
            self.last = msgspec.structs.replace(output, pages=())
            if not output.failure:
                yield output

    def following(self) -> Output | None:
        """The next page, None behind the last."""
        try:
            return next(self.pages, None)
        except Exception as error:
            self.broken = error
            raise
