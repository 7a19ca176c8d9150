"""What the tests of the format and of the engine share: small runbooks in text, a probe over a dict, parsers that read facts as JSON."""

from __future__ import annotations

import json
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor import registry
from gpudoctor.engine.diagnose import diagnose
from gpudoctor.facts import FACTS, Facts, Subject
from gpudoctor.probes.base import Command, Output, Probe, one_by_one
from gpudoctor.report import Report
from gpudoctor.runbook import lint, load
from gpudoctor.runbook.model import Cause, Library, Runbook
from gpudoctor.runbook.yamlfile import Problem
from gpudoctor.tools.parser import ParseError, Parser

Answer = bytes | Output | Callable[[Command], Output]


def facts(**records: list[dict[str, Any]]) -> bytes:
    """What a fake command prints: records by fact type."""
    return json.dumps(records).encode()


def read_facts(output: Any, about: Subject) -> Facts:
    """The parsers `test.…`: JSON as `facts` writes it. A record without a node or pod takes it from what the command is about."""
    outputs = [output] if isinstance(output, Output) else list(output)
    made: Facts = {}
    for one in outputs:
        if one.text == "crash":
            raise RuntimeError("a bug in the parser")
        if not one.text.startswith("{"):
            raise ParseError(f"{one.origin_name()}: not facts: {one.text[:40]!r}")
        for kind, records in json.loads(one.text).items():
            known = FACTS[kind].__struct_fields__
            names = {name: getattr(about, name) for name in ("node", "namespace", "pod") if name in known}
            origin = {"source": one.origin_name(), "line": 1, "text": f"a line about {kind}"}
            made.setdefault(kind, []).extend(msgspec.convert({"origin": origin} | names | record, FACTS[kind]) for record in records)
    return made


@pytest.fixture
def fake_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser `test.KIND` for every fact type, and `test.stream`, which reads nodes page by page."""
    for kind in FACTS:
        monkeypatch.setitem(registry.PARSERS, f"test.{kind}", Parser((kind,), "none:none"))
    monkeypatch.setitem(registry.PARSERS, "test.stream", Parser(("nodes",), "none:none", streams=True))
    real = registry.load
    monkeypatch.setattr(registry, "load", lambda name: read_facts if name.startswith("test.") else real(name))


def refused(reason: str) -> Output:
    """An answer that is none."""
    return Output(Command(()), exit=1, failure="refused", reason=reason)


class Fake:
    """A probe over a dict from command line to answer. `asked` holds the commands it was asked, `delays` are seconds by command."""

    def __init__(self, answers: Mapping[str, Answer], delays: Mapping[str, float] | None = None) -> None:
        self.answers, self.delays = dict(answers), dict(delays or {})
        self.asked: list[Command] = []
        self.lock = threading.Lock()

    def __call__(self, command: Command) -> Output:
        with self.lock:
            self.asked.append(command)
        name = f"{command.host}: {command.shown}" if command.host else command.shown
        time.sleep(self.delays.get(name, 0.0))
        answer = self.answers.get(name)
        if callable(answer):
            return answer(command)
        if isinstance(answer, Output):
            return msgspec.structs.replace(answer, command=command)
        if answer is None:
            return Output(command, failure="not-recorded", reason=f"no answer to {name}")
        return Output(command, pages=(answer,))

    def stream(self, command: Command) -> Iterator[Output]:
        yield self(command)

    many = one_by_one

    @property
    def lines(self) -> list[str]:
        """The command lines that were asked, sorted."""
        return sorted(f"{command.host}: {command.shown}" if command.host else command.shown for command in self.asked)


def cause(name: str, subject: str = "pod", explains: tuple[str, ...] = (), **more: Any) -> Cause:
    """An entry of the catalogue."""
    words = {"title": name, "severity": "warning", "layer": "test", "act": "watch", "who": "operator", "means": "…"}
    return msgspec.convert({"id": name, "subject": subject, "explains": list(explains), **words, **more}, Cause)


CAUSES = {
    one.id: one
    for one in (cause("sick-pod"), cause("sick-node", "node", explains=("sick-pod",)), cause("sick-gpu", "gpu", explains=("sick-node",)))
}


def problems_of(text: str, folder: Path, name: str = "book", library: Library | None = None) -> list[str]:
    """Everything that is wrong with a runbook, as `run` and `lint` show it."""
    path = folder / f"{name}.yaml"
    path.write_text(textwrap.dedent(text))
    given = library if library is not None else Library(causes=CAUSES)
    made, found = load.runbook(path, path.name, given)
    return [str(problem) for problem in (found if made is None else [*found, *lint.runbook(made, given)])]


def book(steps: str, folder: Path, name: str = "book", library: Library | None = None, inputs: str = "{}", expects: str = "[]") -> Runbook:
    """A runbook with the given steps and expectations that passes all checks."""
    steps = textwrap.indent(textwrap.dedent(steps), "  ")
    path = folder / f"{name}.yaml"
    path.write_text(f"schema: 1\nid: {name}\ntitle: A test\ninputs: {inputs}\nexpects: {expects}\nsteps:\n{steps}")
    given = library if library is not None else Library(causes=CAUSES)
    made, found = load.runbook(path, path.name, given)
    problems: list[Problem] = [*found, *(lint.runbook(made, given) if made else ())]
    assert made is not None
    assert not problems, problems
    return made


def run(steps: str, answers: Mapping[str, Answer] | Probe, folder: Path, *, library: Library | None = None, **more: Any) -> Report:
    """The report of a runbook with the given steps over a fake probe."""
    inputs = more.pop("inputs", {})
    given = library if library is not None else Library(causes=CAUSES)
    made = book(steps, folder, library=given, inputs=more.pop("declared", "{}"), expects=more.pop("expects", "[]"))
    probe = Fake(answers) if isinstance(answers, Mapping) else answers
    values = {key: declared.default for key, declared in made.inputs.items()} | inputs
    return diagnose(given, made, values, probe, timeout=more.pop("timeout", 20.0), **more)


def outcomes(report: Report) -> dict[str, str]:
    """What became of each cause and check that the report names: cause → finding, check → unknown."""
    seen: dict[str, set[str]] = {}
    for one in report.checks:
        seen.setdefault(one.cause, set()).add(one.outcome)
    return {
        **dict.fromkeys((one.cause for one in report.findings), "found"),
        **{cause: "clear" for cause, outcomes in seen.items() if outcomes <= {"clear", "skipped"} and "clear" in outcomes},
        **dict.fromkeys((one.check.partition(".")[2] for one in report.unknown), "unknown"),
    }


# Steps of a runbook: pods of which one may have failed, then the machines and what their kernels say.
READ_PODS = """\
- id: pods
  title: Read the pods
  run: [kubectl, get, pods]
  parse: test.pods
  checks:
    - {id: failed, each: pod in pods, when: pod.phase == 'Failed'}
    - {id: sick, each: pod in pods, when: pod.phase == 'Failed', finds: sick-pod, title: '${pod.pod} is sick'}
"""
READ_THEIR_NODES = """\
- id: nodes
  title: Read the nodes
  when: found.failed
  run: [kubectl, get, nodes]
  parse: test.nodes
  checks:
    - {id: down, each: node in nodes, when: '!node.ready', finds: sick-node, title: '${node.node} is down'}
- id: logs
  title: Read the kernel logs
  each: node in nodes
  host: ${node.node}
  run: [dmesg]
  parse: test.xids
  checks:
    - {id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: 'Xid 79 on ${xid.node}'}
"""
