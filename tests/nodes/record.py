"""Record the fixtures of machines: run each case's runbook over what its commands printed.

python -m tests.nodes.record                    every case
python -m tests.nodes.record fell-off healthy   only these
python -m tests.nodes.record nccl               those of a runbook, for example when it has a new step
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.remote import ENDED_BY_TIMEOUT, with_failure
from gpudoctor.report import Report
from tests.fixture_files import FIXTURES, Run, keep, recorded
from tests.nodes.case import Case, Said

NOW = 1772366400.0  # 2026-03-01T12:00:00Z, the clock of every recorded machine


class Machines:
    """A probe over a case's answers."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def __call__(self, command: Command) -> Output:
        name = f"{command.host}: {command.shown}" if command.host else command.shown
        answer = self.case.answers.get(name)
        if answer is None:
            return Output(command, exit=127, time=NOW, failure="not-found", reason=f"{command.argv[0]}: command not found")
        if isinstance(answer, list):
            answer = answer[min(command.sample, len(answer) - 1)]
        said = Said(answer) if isinstance(answer, str) else answer
        pages = (said.stdout.encode(),)
        moment = NOW + command.sample
        output = Output(command, said.exit, pages, said.stderr.encode(), 0.1, moment, said.failure, said.reason)
        if said.failure != "timeout":
            return output
        hung = msgspec.structs.replace(command, timeout=said.seconds or command.timeout)
        ended = with_failure(msgspec.structs.replace(output, command=hung, exit=ENDED_BY_TIMEOUT[0], seconds=hung.timeout), command.host)
        return msgspec.structs.replace(ended, command=command)

    def stream(self, command: Command) -> Iterator[Output]:
        yield self(command)

    many = one_by_one


def cases() -> dict[str, Case]:
    """All cases of all `cases_*.py`, by name. A name that is there twice is an error."""
    found: dict[str, Case] = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        more: dict[str, Case] = import_module(f"tests.nodes.{path.stem}").CASES
        if twice := more.keys() & found.keys():
            raise SystemExit(f"{path.name}: {sorted(twice)} are there already")
        found.update(more)
    return found


def record(case: Case) -> tuple[Report, Run]:
    """Record one case."""
    book = library().runbooks[case.runbook]
    inputs = {key: declared.default for key, declared in book.inputs.items()} | case.inputs
    with TemporaryDirectory() as folder:
        recorder = Recorder(Machines(case), Path(folder), book.id, inputs, NOW)
        report = diagnose(library(), book, inputs, recorder, started=NOW, consent=case.consent, recorded=True)
        recorder.close()
        return report, recorded(Path(folder))


def chosen(known: Mapping[str, Case], words: Sequence[str]) -> list[str]:
    """The cases that are meant: named, of a runbook that is named, or all."""
    found = [name for name, case in known.items() if not words or name in words or case.runbook in words]
    if missing := {*words} - {*known} - {case.runbook for case in known.values()}:
        raise SystemExit(f"no case and no runbook with cases: {' '.join(sorted(missing))}")
    return found


def main() -> None:
    """Record the cases named on the command line, all by default."""
    known = cases()
    runs: dict[Path, Run] = {}
    for name in chosen(known, sys.argv[1:]):
        report, runs[FIXTURES / known[name].runbook / f"{name}.txt"] = record(known[name])
        found = ", ".join(f"{one.cause} ({one.role})" for one in report.findings)
        print(f"{name}: {report.verdict}  {found}")
    keep(runs)


if __name__ == "__main__":
    main()
