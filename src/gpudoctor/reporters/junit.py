"""The report as JUnit XML, as Jenkins and GitLab read it: a suite for each runbook, a case for each check and for each expectation.

A finding is a failure, and what was not shown an error where no problem says why. A check without an answer is an error: `skipped` reads as
green, and what could not be read must not. A check that was not needed is no case; a property counts them. What is only information passes,
with the finding in its output. The report as a whole is a case too: an inconclusive one always has an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from gpudoctor.report import Candidate, CheckResult, Report
from gpudoctor.reporters import words
from gpudoctor.reporters.hardware import hardware_rows
from gpudoctor.reporters.text import safe

LONG = 300  # characters of a message; the text of the case has the rest
Told = tuple[str, str, list[str]]  # the element (failure, error, skipped, "" = passed), its message, its lines


def render(report: Report, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
    """The report as one XML document in ASCII; what lays out a terminal changes nothing."""
    books: dict[str, list[tuple[str, Told]]] = {}
    for one in report.checks:
        book, _, name = one.check.rpartition(".")
        if one.outcome != "skipped":
            books.setdefault(book, []).append((name, outcome(report, one)))
    for expectation, told_of_it in expectation_cases(report).items():
        book, _, name = expectation.rpartition(".")
        books.setdefault(book, []).append((name, told_of_it))
    suites = [suite(report, "gpudoctor", [("verdict", verdict(report))]), *(suite(report, book, cases) for book, cases in books.items())]
    told = [case for cases in books.values() for _, case in cases] + [verdict(report)]
    text = "\n".join(
        ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="gpudoctor" {counts(told)}>', *suites, "</testsuites>", ""]
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def suite(report: Report, name: str, cases: Sequence[tuple[str, Told]]) -> str:
    """One runbook. The seconds are those of its steps, which run beside each other."""
    seconds = sum(step.seconds for step in report.steps if step.id.rpartition(".")[0] == name)
    head = f"<testsuite {attributes(name=name, timestamp=report.started.removesuffix('Z'), time=f'{seconds:.3f}')} "
    body = [line for case, told in cases for line in element(name, case, told)]
    return "\n".join(
        [f"{head}{counts([told for _, told in cases])}>", *(properties(report) if name == "gpudoctor" else ()), *body, "</testsuite>"]
    )


def counts(cases: Sequence[Told]) -> str:
    """How many cases there are of each kind, as attributes."""
    kinds = [kind for kind, _, _ in cases]
    return attributes(
        tests=str(len(cases)), failures=str(kinds.count("failure")), errors=str(kinds.count("error")), skipped=str(kinds.count("skipped"))
    )


def properties(report: Report) -> Iterator[str]:
    """What was asked, by whom, what came of it, and how many checks of each runbook were not needed."""
    needless = Counter(one.check.rpartition(".")[0] for one in report.checks if one.outcome == "skipped")
    said = {
        "tool": report.tool,
        "runbook": report.runbook,
        "asked": report.asked,
        "verdict": report.verdict,
        "exit_code": str(report.exit_code),
        "coverage": words.coverage(report, verbose=True),
    } | {f"not_needed.{book}": str(number) for book, number in needless.items()}
    yield "<properties>"
    yield from (f"<property {attributes(name=name, value=value)}/>" for name, value in said.items() if value)
    yield "</properties>"


def element(book: str, name: str, told: Told) -> Iterator[str]:
    """One case."""
    kind, message, lines = told
    head = f"<testcase {attributes(classname=book, name=name, time='0')}"
    text = "\n".join(escape(safe(line)) for line in lines)
    if kind == "":
        yield f"{head}><system-out>{text}</system-out></testcase>" if text else f"{head}/>"
    elif kind == "skipped":
        yield f"{head}><skipped {attributes(message=message)}/></testcase>"
    else:
        yield f"{head}><{kind} {attributes(message=message, type=lines[0] if lines else kind)}>{text}</{kind}></testcase>"


def verdict(report: Report) -> Told:
    """The case of the whole report: red unless it is healthy, also where no check tells why. It holds what a vendor asks for."""
    kind = {"healthy": "", "problem": "failure", "inconclusive": "error"}[report.verdict]
    packets = [f"{name:20}  {value}" for one in report.hardware for name, value in [["For the vendor", one.name], *hardware_rows(one)]]
    missing = [f"{one.what}: {one.why}" for one in (*report.coverage.missing, *report.withheld)]
    left = [f"not explained: {line}" for line in words.troubles(report)]
    return kind, words.headline(words.parts_of(report)), [report.verdict, *left, *missing, *packets]


def outcome(report: Report, check: CheckResult) -> Told:
    """What a check of the report is as a case."""
    if check.outcome == "clear":
        return "", "", []
    if check.outcome == "unknown":
        unknown = next((one for one in report.unknown if one.check == check.check), None)
        why = unknown.why if unknown else "no answer"
        return "error", why, ["unknown", why, *(f"check: {text}" for text in (unknown.settle_with if unknown else ()))]
    if decided := [one for one in report.findings if one.check == check.check] or [
        one for one in report.findings if one.cause == check.cause
    ]:
        kind = "failure" if any(one.severity != "info" for one in decided) else ""
        return kind, decided[0].title, [check.cause, *(line for one in decided for line in words.finding_lines(one))]
    possible = [one for one in report.candidates if check.check == one.check]
    if possible:
        return "error", f"possible: {possible[0].why}", [check.cause, *(line for one in possible for line in settle_lines(one))]
    return "skipped", "only possible, and another cause is certain" if check.cause else "", []


def expectation_cases(report: Report) -> dict[str, Told]:
    """What each expectation is as a case: it passes where it was shown of all that it is expected of."""
    said = words.by_expectation(report.shown)
    made: dict[str, Told] = {name: ("", "", lines) for name, lines in said.items()}
    kind = "skipped" if report.verdict == "problem" else "error"
    groups: dict[str, list[str]] = {}
    for line, one in words.not_shown_lines(report):
        groups.setdefault(one.expectation, []).append(line)
    return made | {name: (kind, f"not shown: {lines[0]}", ["not shown", *lines]) for name, lines in groups.items()}


def settle_lines(one: Candidate) -> Iterator[str]:
    """The lines of a possible cause: why, and what would settle it."""
    yield f"{one.subject.name or one.subject.kind}: {one.why}"
    yield from words.evidence_lines(one.evidence)
    yield from (f"check: {text}" for text in one.settle_with)


def attributes(**values: str) -> str:
    """Attributes, with nothing in them that ends one or that XML doesn't allow."""
    return " ".join(f"{name}={quoteattr(safe(value, LONG))}" for name, value in values.items())
