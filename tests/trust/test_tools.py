"""Machines made of programs, with each program broken in each way, with a part that is sick, and with both.

Whatever breaks: nothing is healthy that was not seen, no cause is named that the machine doesn't have, what failed is named, and the run
ends in its time. A part of all is tried, another one for each seed, as in test_trust.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.probes import process, ssh
from gpudoctor.probes.live import Live
from gpudoctor.report import Report
from gpudoctor.runbook.model import Library
from tests.nodes import hgx
from tests.nodes.case import Said
from tests.nodes.defects import DEFECTS, TOOLS, Tool, broken, without
from tests.nodes.hgx import SICK, Answers, Sick, every, machine
from tests.nodes.programs import install
from tests.nodes.smi import smi_xml
from tests.ssh.server import SSHD, Sshd
from tests.trust.test_trust import part, some

BOOKS = ("node-health", "gpu-health", "nccl", "thermal-throttle", "xid-triage", "fabric", "nvlink-fabric", "dcgm-health")
INPUTS: dict[str, dict[str, Any]] = {"nccl": {"ras": "gpu-01"}, "thermal-throttle": {"for": 0.1}}
SHARE, SHARE_OF_SICK = float(part), float(part) ** 1.5  # these are more
PATIENCE, SHORT = 30.0, 3.0  # seconds of a whole run, and of one in which something hangs
LATE = 20.0  # seconds after that until it has ended: what hangs is granted six (`engine.ask`), a busy machine takes more

ROUGH = ("is not installed", "fails with a word", "crashes", "says nothing", "says what nobody knows", "leaves lines out", "hangs")
ASKED: dict[tuple[str, str], set[str]] = {}  # the command lines of a run, by what another program is asked for, and the runbook

Look = Callable[..., Report]

# What needs not be seen, and why: (program, its defects, the runbooks); () is all of them.
FEW, ALL = ("leaves lines out",), ()
NEEDLESS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("dmesg", ALL, ALL),  # journalctl has the same log; and one may begin and end anywhere
    ("journalctl", FEW, ALL),
    ("grep", ALL, ALL),  # ibstat has the ports
    ("ibstat", ("says nothing", "is not installed"), ("nccl",)),  # a job may need no adapter
    ("perfquery", ("is not installed",), ("nccl",)),
    ("ip", ("is not installed",), ALL),  # whether a port is up its own state says
    ("tail", ALL, ALL),  # the cards say themselves whether they are registered, and a log has any words
    ("systemctl", ("is not installed", *FEW), ALL),  # so is a service that isn't there
    ("dcgmi", ("is not installed",), ("node-health",)),  # a machine without DCGM is not sick
    ("lspci", ("says nothing", *FEW), ("nccl", "nvlink-fabric")),  # NVLink is what the driver says of it
    ("cat /proc/modules", FEW, ALL),  # that the driver is loaded its own file says
    ("", ("writes decimal commas",), ALL),  # the numbers can be read
]
# Causes that are about the program itself.
OWN = {("nvidia-smi", "hangs"): {"gpu-hung"}, ("nvidia-smi", "hangs in the middle"): {"gpu-hung"}}


def needless(tool: Tool, defect: str, book: str) -> bool:
    """Whether a machine may be healthy with this defect."""
    return any(
        tool.begins.startswith(begins) and (not defects or defect in defects) and (not books or book in books)
        for begins, defects, books in NEEDLESS
    )


def quick() -> Library:
    """The library, with samples that follow each other at once."""

    def at_once(step: Any) -> Any:
        return msgspec.structs.replace(step, sample=msgspec.structs.replace(step.sample, every=0.05)) if step.sample else step

    books = {
        name: msgspec.structs.replace(
            book, steps=[at_once(step) if not (step.sample and step.sample.span) else step for step in book.steps]
        )
        for name, book in library().runbooks.items()
    }
    return msgspec.structs.replace(library(), runbooks=books)


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Look:
    """What a runbook says of this machine where its programs answer so."""
    known, made = quick(), iter(range(100_000))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setattr(process, "SYSTEM", "")  # the programs of the machine that runs the tests

    def looked(answers: Mapping[str, str | Said], book: str, timeout: float = PATIENCE) -> Report:
        folder = tmp_path / str(next(made))
        install(answers, folder)
        monkeypatch.setenv("PATH", str(folder))
        asked = known.runbooks[book]
        inputs = {name: one.default for name, one in asked.inputs.items()} | {"nodes": "gpu-01", "local": True} | INPUTS.get(book, {})
        live = Live(hosts=["gpu-01"])
        try:
            return diagnose(known, asked, inputs, live, started=time.time(), timeout=timeout)
        finally:
            live.close()

    return looked


def causes(report: Report) -> set[str]:
    """All that it names or holds to be possible."""
    return {one.cause for one in (*report.findings, *report.candidates)}


def asks(report: Report) -> set[str]:
    """The command lines of a run."""
    return {" ".join(step.argv) for step in report.steps}


# --- sound machines --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("book", BOOKS)
def test_a_sound_machine_is_healthy(book: str, look: Look) -> None:
    for instead in ("", "dmesg", "grep"):  # and where another program has to give the answer
        report = look(without(instead, machine()) if instead else machine(), book)
        assert (report.verdict, report.findings, report.not_shown, report.unexplained) == ("healthy", [], [], [])
        assert report.coverage.missing == []


# --- broken programs -------------------------------------------------------------------------------------------------------------------


def wrong(tool: Tool, defect: str, book: str, look: Look) -> Iterator[str]:
    """What is not as it must be where a program of a sound machine has a defect."""
    limit = SHORT if "hangs" in defect else PATIENCE
    begun = time.monotonic()
    report = look(broken(tool, defect), book, limit)
    if (seconds := time.monotonic() - begun) > limit + LATE:
        yield f"took {seconds:.0f} s"
    if strange := causes(report) - OWN.get((tool.program, defect), set()):
        yield f"names {strange}"
    said = [f"{one.what} {one.why}" for one in report.coverage.missing]
    if any("a bug of gpudoctor" in text for text in said):
        yield "is not read by a bug"
    if needless(tool, defect, book):
        return
    if report.verdict == "healthy":
        yield "is healthy"
    said += [" ".join([one.why, *one.settle_with]) for one in report.not_shown]
    if not any(tool.name in text for text in said):
        yield "is not named"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.begins)
def test_a_broken_program_is_named_and_no_cause_of_its_own(tool: Tool, look: Look) -> None:
    chance, found = some(tool.begins), []
    base = without(tool.instead, machine()) if tool.instead else machine()
    # a file may be missing, but not a part of a program
    in_part = tool.program != "cat" and any(line.split()[0] == tool.program and not tool.of(line) for line in base)
    for book in BOOKS:
        key = (tool.instead, book)
        ASKED[key] = ASKED.get(key) or asks(look(base, book))
        for defect in DEFECTS if any(map(tool.of, ASKED[key])) else ():
            if not (in_part and defect == "is not installed") and chance.random() < SHARE:
                found += [f"{book}: {tool.begins} {defect}: {what}" for what in wrong(tool, defect, book, look)]
    assert found == []


HANDLE = "Unable to determine the device handle for GPU0000:DF:00.0: Unknown Error\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.195\n"
# what nvidia-smi says of a machine → the causes that it may be, all of them in the programs around the driver
SAYS: dict[str, tuple[Answers, set[str]]] = {
    "seven of eight": (hgx.smi(hgx.SEVEN), {"gpu-not-initialised"}),
    "no handle": (every("nvidia-smi", Said(HANDLE, exit=255)), {"gpu-fallen-off-bus"}),
    "no devices": (every("nvidia-smi", Said("No devices were found\n", exit=6)), {"gpu-not-initialised"}),
    "another library": (every("nvidia-smi", Said(MISMATCH, exit=18)), {"driver-library-version-mismatch"}),
    "a document without a GPU": ({"nvidia-smi -q -x": smi_xml([], hgx.DRIVER)}, {"gpu-not-initialised"}),
}


@pytest.mark.parametrize("name", SAYS)
def test_what_nvidia_smi_says_of_fewer_gpus_is_never_healthy(name: str, look: Look) -> None:
    answers, maybe = SAYS[name]
    for book in BOOKS:
        report = look({**machine(), **answers}, book)
        assert causes(report) <= maybe
        # who asks nvidia-smi alone can't know how many there are, and a kernel log or a watch speaks of what it has
        blind = book in ("xid-triage", "fabric", "dcgm-health") or (name == "seven of eight" and book in ("gpu-health", "thermal-throttle"))
        assert blind or report.verdict != "healthy"
    assert look({**machine(), **answers}, "node-health").findings[0].cause in maybe


# --- sick machines ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SICK)
def test_the_cause_comes_first_and_stays_when_another_program_is_broken(name: str, look: Look) -> None:
    sick: Sick = SICK[name]
    answers = {**machine(), **sick.answers}
    report = look(answers, sick.book)
    assert report.findings[0].cause == sick.cause
    assert report.exit_code == (0 if name in hgx.NOTED else 1)
    asked, chance, changed = asks(report), some(name), []
    for tool in TOOLS:
        if tool.program in sick.shown_by or tool.instead or not any(tool.of(line) for line in asked):
            continue
        for defect in ROUGH:
            if chance.random() < SHARE_OF_SICK:
                other = look(broken(tool, defect, answers), sick.book, SHORT if "hangs" in defect else PATIENCE)
                if [one.cause for one in other.findings[:1]] != [sick.cause]:
                    changed.append(f"{tool.begins} {defect}: {[one.cause for one in other.findings]}")
    assert changed == []


# --- the whole program, here and by ssh ------------------------------------------------------------------------------------------------


def gpudoctor(*words: str, env: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    """The exit code and the report of `diagnose node`."""
    command = [sys.executable, "-m", "gpudoctor", "diagnose", "node", *words, "--format", "json"]
    done = subprocess.run(command, env={**env, "KUBECONFIG": "/nowhere"}, capture_output=True, text=True, timeout=180, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def test_diagnose_node_of_this_machine(tmp_path: Path) -> None:
    for name, answers, code in (("sound", machine(), 0), ("sick", {**machine(), **SICK["a row waits"].answers}, 1)):
        install(answers, tmp_path / name)
        exit_code, report = gpudoctor("--local", env={**os.environ, "PATH": str(tmp_path / name)})
        assert (exit_code, report["verdict"]) == (code, "healthy" if code == 0 else "problem")


@pytest.mark.skipif(not SSHD, reason="sshd is not installed (openssh-server)")
def test_machines_behind_ssh_each_with_its_own_cause(tmp_path: Path) -> None:
    """One is sound, and each other has a sickness; what a machine's programs say is by its name."""
    names = [name for name in SICK if SICK[name].book != "fabric" and name not in ("Xid 48", *hgx.NOTED)]
    hosts = {"gpu-01": machine()} | {f"gpu-{number:02}": {**machine(), **SICK[name].answers} for number, name in enumerate(names, 2)}
    server = Sshd(tmp_path / "ssh", hosts)
    server.machines({f"{host}: {line}": said for host, answers in hosts.items() for line, said in answers.items()})
    server.start()
    try:
        env = {**os.environ, ssh.CONFIG: str(server.config)}
        code, report = gpudoctor("gpu-01", "--via", "ssh", env=env)
        assert (code, report["verdict"], report["findings"], report["coverage"]["missing"]) == (0, "healthy", [], [])
        code, report = gpudoctor("gpu-[01-02]", "--via", "ssh", env=env)
        assert (code, report["findings"][0]["subject"]["node"]) == (1, "gpu-02")
        code, report = gpudoctor(f"gpu-[01-{len(hosts):02}]", "--via", "ssh", env=env)
    finally:
        server.stop()
    first: dict[str, str] = {}
    for one in report["findings"]:
        for subject in (one["subject"].get("node") or one["subject"]["name"], *(also.partition("/")[0] for also in one["also"])):
            first.setdefault(subject, one["cause"])
    assert code == 1
    assert first == {f"gpu-{number:02}": SICK[name].cause for number, name in enumerate(names, 2)}
