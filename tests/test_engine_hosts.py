"""Asking many hosts: one round trip each, so many at a time, and none that hangs, fails or lies costs the others. Probes are fakes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.engine.ask import LATEST, NEVER
from gpudoctor.engine.steps import Trouble, fold_troubles, host_set_text
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay
from gpudoctor.report import Report
from tests.engine_fakes import Fake, facts, fake_parsers, outcomes, refused, run  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("fake_parsers")

STEPS = """\
- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}
- id: log
  each: node in nodes
  host: ${node.node}
  limit: 10000
  run: [dmesg]
  timeout: 1s
  parse: test.xids
  checks: [{id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: 'Xid 79 on ${xid.node}'}]
- {id: bus, each: node in nodes, host: '${node.node}', limit: 10000, timeout: 1s, run: [lspci], parse: test.pci_devices}
- {id: again, each: node in nodes, host: '${node.node}', limit: 10000, timeout: 1s, run: [dmesg], parse: test.xids}
"""


def nodes(*names: str) -> bytes:
    return facts(nodes=[{"node": name} for name in names])


class Hosts(Fake):
    """A probe whose hosts answer as `answer` says. `trips` are the round trips, `most` how many ran at the same time."""

    def __init__(self, names: Sequence[str], answer: Any = None) -> None:
        super().__init__({"kubectl get nodes": nodes(*names)})
        self.answer = answer or (lambda commands: (self.said(command) for command in commands))
        self.trips: list[list[Command]] = []
        self.running = self.most = 0

    def said(self, command: Command, code: int = 13) -> Output:
        records = {"xids": [{"code": code, "gpu": "g"}]} if command.argv[0] == "dmesg" else {"pci_devices": []}
        return Output(command, pages=(facts(**records),))

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        with self.lock:
            self.trips.append(list(commands))
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            yield from self.answer(commands)
        finally:
            with self.lock:
                self.running -= 1


def asked(probe: Hosts, folder: Path, **more: Any) -> Report:
    return run(STEPS, probe, folder, **more)


def test_a_host_is_asked_everything_in_one_round_trip_and_equal_commands_once(tmp_path: Path) -> None:
    probe = Hosts("ab")
    report = asked(probe, tmp_path)
    assert sorted([[c.host, *(d.shown for d in trip)] for trip in probe.trips for c in trip[:1]]) == [
        ["a", "dmesg", "lspci"],
        ["b", "dmesg", "lspci"],
    ]
    assert (report.coverage.asked, report.coverage.answered, report.coverage.missing) == (7, 7, [])
    assert outcomes(report) == {"sick-gpu": "clear"}


def test_so_many_hosts_at_a_time(tmp_path: Path) -> None:
    def slowly(commands: Sequence[Command]) -> Iterator[Output]:
        time.sleep(0.02)
        for command in commands:
            yield probe.said(command)

    probe = Hosts([f"n{number}" for number in range(12)], slowly)
    seen: list[tuple[int, int]] = []
    report = asked(probe, tmp_path, fanout=3, on_hosts=lambda ended, total: seen.append((ended, total)))
    assert len(probe.trips) == 12
    assert 1 < probe.most <= 3
    assert seen[-1] == (12, 12)
    assert seen == sorted(seen)
    assert report.coverage.answered == 37


def test_the_order_of_answers_does_not_matter(tmp_path: Path) -> None:
    backwards = Hosts("ab", lambda commands: (backwards.said(command, 79) for command in reversed(commands)))
    forwards = Hosts("ab", lambda commands: (forwards.said(command, 79) for command in commands))
    assert asked(backwards, tmp_path) == asked(forwards, tmp_path)


def test_a_host_that_hangs_is_left_behind_and_named(tmp_path: Path) -> None:
    hang = threading.Event()

    def answer(commands: Sequence[Command]) -> Iterator[Output]:
        yield probe.said(commands[0], 79 if commands[0].host == "b" else 13)  # the log comes, then nothing
        if commands[0].host == "b":
            hang.wait(20)
        for command in commands[1:]:
            yield probe.said(command)

    probe = Hosts("abc", answer)
    started = time.monotonic()
    try:
        report = asked(probe, tmp_path, beyond=0.2, fanout=1)
    finally:
        hang.set()
    assert time.monotonic() - started < 5
    assert outcomes(report) == {"sick-gpu": "found"}  # what it had said counts
    assert [(one.what, one.why) for one in report.coverage.missing] == [("b: lspci", "no answer from b in 1.2 s")]
    assert len(probe.trips) == 3  # its place was free for the next host


def test_what_an_abandoned_host_says_later_is_not_taken(tmp_path: Path) -> None:
    late = threading.Event()

    def answer(commands: Sequence[Command]) -> Iterator[Output]:
        if commands[0].host == "a":
            late.wait(20)
        for command in commands:
            yield probe.said(command, 79)
        done.set()

    probe, done = Hosts("a", answer), threading.Event()
    report = asked(probe, tmp_path, beyond=0.1)
    late.set()
    assert done.wait(5)
    assert outcomes(report) == {"lost": "unknown"}


def test_the_time_of_the_whole_run_ends_a_host_too(tmp_path: Path) -> None:
    hang = threading.Event()

    def answer(commands: Sequence[Command]) -> Iterator[Output]:
        if commands[0].host == "b":
            hang.wait(20)
        yield from (probe.said(command) for command in commands)

    probe = Hosts("abc", answer)
    started = time.monotonic()
    try:
        report = asked(probe, tmp_path, timeout=0.3)
    finally:
        hang.set()
    assert time.monotonic() - started < 0.3 + LATEST + 2
    assert [(one.what, one.why) for one in report.coverage.missing] == [("b: 2 commands", NEVER)]
    assert report.coverage.answered == 7


def crash(commands: Sequence[Command]) -> Iterator[Output]:
    raise ValueError("a bug in the probe")
    yield


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (crash, "an error in gpudoctor: ValueError: a bug in the probe"),
        (lambda commands: iter(()), "no answer came back"),
        (lambda commands: iter([Output(Command(("rm", "-rf", "/")), pages=(b"{}",))]), "no answer came back"),
    ],
    ids=["raises", "says nothing", "answers what nobody asked"],
)
def test_a_host_whose_probe_fails_costs_only_itself(answer: Any, why: str, tmp_path: Path) -> None:
    probe = Hosts("abc", lambda commands: answer(commands) if commands[0].host == "b" else (probe.said(c, 79) for c in commands))
    report = asked(probe, tmp_path)
    assert outcomes(report) == {"sick-gpu": "found"}
    assert [(one.what, one.why) for one in report.coverage.missing] == [("b: 2 commands", why)]


def test_an_answer_that_comes_twice_counts_once(tmp_path: Path) -> None:
    probe = Hosts("a", lambda commands: (probe.said(command, code) for command in commands for code in (13, 79)))
    assert outcomes(asked(probe, tmp_path)) == {"sick-gpu": "clear"}


def test_a_bug_in_a_parser_is_that_of_its_answer(tmp_path: Path) -> None:
    probe = Hosts("ab", lambda commands: (Output(command, pages=(b"crash",)) for command in commands))
    report = asked(probe, tmp_path)
    assert any("a bug in the parser" in missing.why for missing in report.coverage.missing)
    assert report.verdict == "inconclusive"


def test_a_probe_without_a_round_trip_is_asked_one_by_one(tmp_path: Path) -> None:
    class Plain:
        def __call__(self, command: Command) -> Output:
            return fake(command)

        def stream(self, command: Command) -> Iterator[Output]:
            yield fake(command)

    fake = Fake({"kubectl get nodes": nodes("a"), "a: dmesg": facts(xids=[{"code": 79}]), "a: lspci": facts(pci_devices=[])})
    assert outcomes(run(STEPS, Plain(), tmp_path)) == {"sick-gpu": "found"}


def test_a_recorded_run_over_hosts_is_replayed_equally(tmp_path: Path) -> None:
    probe = Hosts("abc", lambda commands: (probe.said(command, 79) for command in reversed(commands) if command.host != "b"))
    recorder = Recorder(probe, tmp_path / "kept", "book", {})
    live = asked(recorder, tmp_path)
    recorder.close()
    again = asked(Replay(tmp_path / "kept"), tmp_path, recorded=True)
    assert [(one.cause, one.subject.name, one.also) for one in again.findings] == [("sick-gpu", "a/g", ["c/g"])]
    assert (again.findings, again.verdict, again.unknown) == (live.findings, live.verdict, live.unknown)


# --- what is said of many hosts


def test_equal_troubles_of_many_hosts_are_one_line(tmp_path: Path) -> None:
    names = [f"gpu-{number:02}" for number in range(1, 17)]

    def answer(commands: Sequence[Command]) -> Iterator[Output]:
        for command in commands:
            well = command.host in ("gpu-16", "gpu-08") or (command.host == "gpu-03" and command.argv == ("lspci",))
            why = f"ssh: connect to host {command.host} port 22: Connection timed out"
            yield probe.said(command) if well else Output(command, failure="unreachable", reason=why)

    probe = Hosts(names, answer)
    report = asked(probe, tmp_path)
    assert [(one.what, one.why) for one in report.coverage.missing] == [
        (
            "gpu-[01-02,04-07,09-15] (13): 2 commands",
            "ssh: connect to host gpu-[01-02,04-07,09-15] port 22: Connection timed out",
        ),
        ("gpu-03: dmesg", "ssh: connect to host gpu-03 port 22: Connection timed out"),
    ]
    assert report.unknown[0].why == "ssh: connect to host gpu-[01-07,09-15] port 22: Connection timed out"
    assert report.steps[1].host == "gpu-[01-16] (16)"


def test_a_check_names_few_of_many_reasons(tmp_path: Path) -> None:
    probe = Hosts("abcdef", lambda commands: (refused(f"reason {ord(c.host)}") for c in commands))
    probe.answer = lambda commands: (Output(c, failure="refused", reason=f"reason {ord(c.host)}") for c in commands)
    report = asked(probe, tmp_path)
    assert report.unknown[0].why == "reason 97; reason 98; reason 99; and 3 more reasons"


@pytest.mark.parametrize(
    ("troubles", "wanted"),
    [
        ([], []),
        ([Trouble("step x", "w")], [([], "step x", "w")]),
        ([Trouble("dmesg", "w", "a")] * 2, [(["a"], "dmesg", "w")]),
        ([Trouble("dmesg", "w a", "a"), Trouble("dmesg", "w b", "b")], [(["a", "b"], "dmesg", "w a,b")]),
        ([Trouble("dmesg", "w", "a"), Trouble("lspci", "w", "a")], [(["a"], "2 commands", "w")]),
        ([Trouble("get pods", "w"), Trouble("get nodes", "w")], [([], "get pods", "w"), ([], "get nodes", "w")]),
    ],
)
def test_folding(troubles: list[Trouble], wanted: list[Any]) -> None:
    assert list(fold_troubles(troubles)) == wanted


def test_node_sets_say_how_many() -> None:
    assert (host_set_text(["gpu-02"]), host_set_text(["gpu-02", "gpu-01"])) == ("gpu-02", "gpu-[01-02] (2)")
    assert host_set_text([f"{number}x{number * 7}y" for number in range(100)]).endswith(" more")


def test_thousands_of_hosts_cost_little(tmp_path: Path) -> None:
    def cost(many: int) -> float:
        probe = Hosts([f"n{number:05}" for number in range(many)])
        started = time.process_time()
        report = asked(probe, tmp_path, timeout=60.0)
        assert report.coverage.answered == 1 + 3 * many
        return time.process_time() - started

    cost(10)
    # Eight times as many: linear, with room for a machine whose speed changes between the two.
    assert any(cost(1600) < 12 * cost(200) + 0.5 for _ in range(3))
