"""Paired tests: a runbook over recorded bundles must give exactly the findings, candidates, skips and unknowns that its test names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gpudoctor.engine import outcomes
from gpudoctor.engine.diagnose import conclusions
from gpudoctor.engine.plan import cast
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import NotThere
from gpudoctor.probes.bundle import BundleError
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Finding, Report
from gpudoctor.runbook.model import Library, Runbook
from gpudoctor.runbook.paired import Case, PairedTest


class Tally(msgspec.Struct):
    """The outcomes that each check of a runbook had over all cases: what the coverage rule needs."""

    seen: dict[str, set[str]] = {}
    shown: dict[str, set[str]] = {}  # expectations: whether they were shown, or not so
    healthy: bool = False
    unanswered: bool = False

    def add(self, report: Report, checked: list[outcomes.Checked]) -> None:
        """Note one case."""
        for one in checked:
            self.seen.setdefault(one.name, set()).add(one.outcome)
        for seen in report.shown:
            self.shown.setdefault(seen.expectation, set()).add("shown")
        for unseen in report.not_shown:
            self.shown.setdefault(unseen.expectation, set()).update(["not so"] if unseen.not_so else [])
        self.healthy |= report.verdict == "healthy"
        self.unanswered |= report.coverage.answered < report.coverage.asked


def run_case(library: Library, book: Runbook, case: Case, folder: Path, tally: Tally, covered: Sequence[Runbook] = ()) -> list[str]:
    """Run one case; returns what differs from the expectation. A case may name the checks of the covered runbooks as its own."""
    try:
        replay = Replay(folder / case.bundle)
        inputs = inputs_of(book, {**replay.bundle.inputs, **case.inputs}, case.inputs)
        run = Engine(library, replay, recorded=True, consent=True).execute(book, inputs)
    except (BundleError, ValueError) as error:
        return [str(error)]
    except NotThere as missing:
        for one in outcomes.of_run(missing.run) if missing.run else ():
            tally.seen.setdefault(one.name, set()).add(one.outcome)
        return [] if case.verdict == "not-found" else [f"{missing.what} was not found"]
    report, checked = conclusions(library, run, asked=case.name, started=0.0)
    tally.add(report, checked)
    return list(differences([book, *covered], case, report, {one.name: one.outcome for one in checked}))


def inputs_of(book: Runbook, known: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    """The inputs of a runbook: those that a case names must be there, those that only the recording has may not. Raises ValueError."""
    unknown = sorted(named.keys() - book.inputs.keys())
    if unknown:
        raise ValueError(f"inputs: {book.id} has no input '{unknown[0]}'")
    given = {name: known.get(name, declared.default) for name, declared in book.inputs.items()}
    return {name: cast(value, book.inputs[name].type) if isinstance(value, str) else value for name, value in given.items()}


def differences(books: Sequence[Runbook], case: Case, report: Report, got: dict[str, str]) -> Iterator[str]:
    """What a report has that the case doesn't name, and the other way round."""
    if report.verdict != case.verdict:
        yield f"verdict is {report.verdict}, not {case.verdict}"
    wanted = [with_full_check_name(books, expected.model_dump()) for expected in case.findings]
    found = [{**msgspec.to_builtins(one), "subject": one.subject.name} for one in report.findings]
    for number in range(max(len(wanted), len(found))):
        if number >= len(wanted):
            yield f"finding {number + 1} is not expected: {brief(found[number])}"
        elif number >= len(found):
            yield f"finding {number + 1} is missing: {brief(wanted[number])}"
        elif any(value and found[number].get(key) != value for key, value in wanted[number].items() if key != "fix"):
            yield f"finding {number + 1} is {brief(found[number])}, not {brief(wanted[number])}"
        elif (words := wanted[number]["fix"]) not in (fix := first_fix(report.findings[number])):
            yield f"finding {number + 1}: '{words}' is not in its first fix: {fix or 'none'}"
    open_ = sorted((one.cause, one.check) for one in report.candidates)
    named_ = sorted((one.cause, full_check_name(books, one.check) if one.check else "") for one in case.candidates)
    if [cause for cause, _ in open_] != [cause for cause, _ in named_] or any(
        c and c != o for (_, o), (_, c) in zip(open_, named_, strict=True)
    ):
        yield f"candidates are {', '.join(f'{cause} ({check})' for cause, check in open_) or 'none'}"
    for name in [*(one["check"] for one in wanted), *(check for _, check in named_ if check)]:
        if name not in got:
            yield f"there is no check '{name}'"
    for word, names in (("skipped", case.skipped), ("unknown", case.unknown)):
        for name in names:
            actual = got.get(full_check_name(books, name))
            if actual is None:
                yield f"{word}: there is no check '{name}'"
            elif actual != word:
                yield f"check {name} is {actual}, not {word}"


def first_fix(finding: Finding) -> str:
    """The command of a finding's first fix, and the fragment that goes in by hand."""
    return "\n".join(text for one in finding.fixes[:1] for text in (" ".join(one.run), one.manifest) if text)


def full_check_name(books: Sequence[Runbook], check: str) -> str:
    """A check's full name; a test may leave its own runbook out, and those that it covers."""
    owner = next((book for book in books if any(one.id == check for one in book.checks())), books[0])
    return check if "." in check else f"{owner.id}.{check}"


def with_full_check_name(books: Sequence[Runbook], expected: dict[str, Any]) -> dict[str, Any]:
    """Return an expected finding with the full name of its check."""
    return {**expected, "check": full_check_name(books, expected["check"])}


def brief(finding: dict[str, Any]) -> str:
    """A finding in one line."""
    words = [f"{key} {finding[key]}" for key in ("cause", "subject", "role", "confidence", "title") if finding.get(key)]
    return f"{finding['check']} ({', '.join(words)})"


def coverage_gaps(book: Runbook, tally: Tally) -> Iterator[str]:
    """The coverage rule: each check is found in one case and quiet in another, each expectation shown in one and not so in another; one
    case is healthy; one doesn't answer.
    """
    yield from checks_without_case(book, tally)
    if not tally.healthy:
        yield "no case is healthy"
    if not tally.unanswered:
        yield "no case has a command that doesn't answer"


def checks_without_case(book: Runbook, tally: Tally) -> Iterator[str]:
    """The checks and expectations of a runbook that the cases don't try."""
    for check in book.checks():
        seen = tally.seen.get(f"{book.id}.{check.id}", set())
        if "found" not in seen:
            yield f"check {check.id} is found in no case"
        if "clear" not in seen:
            yield f"check {check.id} is clear in no case"
    for expected in (one for one in book.expects if not one.texts):  # cases are of machines that are asked
        was = tally.shown.get(f"{book.id}.{expected.id}", set())
        for word in ("shown", "not so"):
            if word not in was:
                yield f"expectation {expected.id} is {word} in no case"


def run_file(library: Library, path: Path, test: PairedTest) -> Iterator[tuple[str, list[str]]]:
    """Run all cases of a test file: (name, problems) for each, and last the coverage."""
    book, problems = tested_runbook(library, path.parent / test.runbook)
    if book is None:
        yield test.runbook, problems
        return
    tally = Tally()
    covered = [library.runbooks[name] for name in test.covers if name in library.runbooks]
    for case in test.cases:
        yield case.name, run_case(library, book, case, path.parent / test.fixtures, tally, covered)
    unknown = [f"covers '{name}', which is no runbook" for name in test.covers if name not in library.runbooks]
    yield "coverage", [*unknown, *coverage_gaps(book, tally), *(gap for one in covered for gap in checks_without_case(one, tally))]


def tested_runbook(library: Library, path: Path) -> tuple[Runbook | None, list[str]]:
    """The runbook of a test: one of ours as it was compiled, another is read and checked."""
    from gpudoctor.library import index
    from gpudoctor.runbook import load

    if path.resolve() == (index.runbooks_folder() / f"{path.stem}.yaml").resolve() and path.stem in library.runbooks:
        return library.runbooks[path.stem], []
    book, problems = load.load_checked(path, library)
    return book, [str(problem) for problem in problems]
