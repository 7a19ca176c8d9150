"""Names from the user or from the cluster never become an option, a path, a shell word or a control sequence on the screen."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.cli import main
from gpudoctor.engine.evaluate import pasteable_command
from gpudoctor.engine.remedies import Names, filled
from gpudoctor.facts import Subject
from gpudoctor.library.index import library
from gpudoctor.probes import bundle
from gpudoctor.probes.kube_request import NotAllowed, parse
from gpudoctor.report import StepResult
from gpudoctor.reporters.progress import line
from gpudoctor.reporters.text import command
from tests.kube import objects as build
from tests.kube.switch import Switched

HOSTILE = {
    "option": "--all",
    "short option": "-n",
    "end of options": "--",
    "help": "--help",
    "parent": "../../../../tmp/escaped",
    "absolute": "/etc/passwd",
    "command": "$(touch escaped)",
    "backticks": "`touch escaped`",
    "and": "a; touch escaped",
    "quotes": "a' \"b",
    "newline": "a\nPROBLEM  b",
    "return": "a\rHEALTHY",
    "clear screen": "\x1b[2J\x1b[H",
    "title": "\x1b]0;owned\x07",
    "link": "\x1b]8;;https://example.com\x1b\\click\x1b]8;;\x1b\\",
    "C1": "\x9b2J",
    "right to left": "a\u202egnp.exe",
    "zero width": "a\u200bb",
    "long": "a" * 300,
    "upper": "Train_0",
    "unicode": "поезд-０",
    "percent": "a%2f..%2fb",
    "query": "a?limit=1&watch=true",
    "dot": "..",
}
# What colour looks like: ESC [ numbers m. Nothing else may remain.
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switched]:
    server = Switched(tmp_path_factory.mktemp("kube"))
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder of its own, and no cluster of this machine."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)
    assert not list(Path.cwd().iterdir())
    assert not Path("/tmp/escaped").exists()


def gpudoctor(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The command line in this process, through the same funnel of errors."""
    monkeypatch.setattr(sys, "argv", ["gpudoctor", *arguments])
    return main.run_guarded()


# diagnose-pod: 1 of 2 hosts, and the blanks that wipe it away: the next line overwrites them
COUNTER = re.compile(r"(?:[a-z-]+: [0-9]+ of [0-9]+ hosts| +)\r")


def harmless(text: str) -> bool:
    """Whether a terminal would print this, and obey nothing in it."""
    return all(part.isprintable() for part in SGR.sub("", text).split("\n"))


# ---- given by the user


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_hostile_name_reaches_the_cluster(
    name: str, served: Switched, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served.show(build.cluster([build.pod("train-0", gpus=1)]))
    served.server.seen.clear()
    cluster = ["--kubeconfig", str(served.kubeconfig)]
    for words in (
        ["diagnose", "pod", *cluster, "--", name],
        ["diagnose", "pod", *cluster, "--", f"job/{name}"],
        ["diagnose", "pod", "train-0", *cluster, f"--namespace={name}"],
        ["diagnose", "pod", "train-0", *cluster, f"--context={name}"],
        ["run", "pods-pending", *cluster, "--set", f"name={name}"],
        ["run", "gpu-stack", *cluster, "--set", f"node={name}"],
        ["run", *cluster, "--", name],
        ["explain", "--", name],
        ["demo", "--", name],
    ):
        assert gpudoctor(monkeypatch, *words) == 2, words
        said = capsys.readouterr()
        assert said.out == ""
        assert harmless(said.err)
        assert len(said.err) < 1500
    assert served.server.seen == []


@pytest.mark.parametrize("selector", ["-o", "--all", "a=$(touch escaped)", "a\nb", "a=\x1b[2J", "a&b", "a" * 600])
def test_no_hostile_selector_either(
    selector: str, served: Switched, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served.server.seen.clear()
    assert gpudoctor(monkeypatch, "diagnose", "pod", "--kubeconfig", str(served.kubeconfig), f"--selector={selector}") == 2
    assert harmless(capsys.readouterr().err)
    assert served.server.seen == []


# ---- read from the cluster


def hostile_cluster(name: str) -> dict[str, Any]:
    """Everything that a cluster can name or say is this text; only what is asked for keeps its name."""
    taint = {"taints": [(name, name, "NoSchedule")]}
    looping = build.pod("train-0", gpus=1, node="gpu-01", waiting=("CrashLoopBackOff", name), last=(name, 1), restarts=5, age="1h")
    waiting = build.pod(
        "train-1", gpus=1, age="1h", unschedulable=f"0/1 nodes are available: 1 node(s) had untolerated taint {{{name}: {name}}}."
    )
    everything = [
        looping,
        waiting,
        build.pod(name, gpus=1, node=name, waiting=("CrashLoopBackOff", name), last=(name, 1), restarts=5, age="1h"),
        build.pod("train-2", gpus=1, node=name, age="1h", owner=f"Job/{name}", waiting=("CreateContainerError", name)),
        build.event(looping, "Failed", f"Error: {name}"),
        build.event(waiting, "FailedScheduling", name),
        build.node("gpu-01", **taint),
        build.node(name, allocatable_gpus=0),
        *build.gpu_stack(name),
    ]
    copy: dict[str, Any] = json.loads(json.dumps(build.cluster(everything)))
    for each in copy["objects"]:
        for container in each.get("spec", {}).get("containers", []):
            container["image"] = name
        each["metadata"].setdefault("labels", {})[name] = name
    copy["logs"] = {"ml/train-0/main": f"{name}\n", "ml/train-0/main:previous": f"RuntimeError: {name}\n"}
    return copy


def plain_objects(name: str) -> bool:
    """Whether an API server would take this as a name at all."""
    return bool(re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", name))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_cluster_is_only_quoted(
    name: str, served: Switched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served.show(hostile_cluster(name))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    for number, words in enumerate((["train-0"], ["train-1"], ["-A"])):
        folder = tmp_path / f"kept-{number}"
        code = gpudoctor(monkeypatch, "diagnose", "pod", *words, "--kubeconfig", str(served.kubeconfig), "--record", str(folder), "-v")
        said = capsys.readouterr()
        assert code in (1, 3), said.err
        assert harmless(said.out)
        assert harmless(COUNTER.sub("", said.err))
        asked_nothing_else(folder, name)
        inside(folder)
        assert gpudoctor(monkeypatch, "run", "--replay", str(folder), "--format", "json") == code
        said = capsys.readouterr()
        assert harmless(said.out)
        pasted(json.loads(said.out), name)


def asked_nothing_else(folder: Path, name: str) -> None:
    """Every command that was asked is a plain read, and the name stands in it only where a name belongs."""
    for answer in bundle.load(folder).outputs:
        if name not in (bare(word) for word in answer.argv) or plain_objects(name):
            continue
        assert answer.argv[0] == "kubectl"
        with pytest.raises(NotAllowed):  # it was refused before it left
            parse(answer.argv)


def bare(word: str) -> str:
    """A word without the option before its value."""
    return word.partition("=")[2] or word


def inside(folder: Path) -> None:
    """The bundle holds plain files only, and nothing was written beside it."""
    assert all(file.is_file() and bundle.FILE_NAME.fullmatch(file.name) for file in folder.iterdir())
    assert {path.name.split("-")[0] for path in folder.parent.iterdir()} <= {"kept", "here"}


def pasted(report: dict[str, Any], name: str) -> None:
    """Every command that the report proposes reads, in a shell, as one command whose words are the name or have nothing of it."""
    for found in report["findings"]:
        for argv in (argv for one in found["fixes"] for argv in (one["run"], one["undo"], one["verify"]) if argv):
            assert not argv[0].startswith("-")
            assert command(argv) == "" or not name.isprintable() or shlex.split(command(argv)) == argv
    for open_ in (*report["candidates"], *report["unknown"]):
        for text in open_["settle_with"]:
            if ";" in name and text.startswith("kubectl "):
                assert not re.search(r"(^|\s)touch escaped(\s|$)", " ".join(unquoted(text)))


def unquoted(text: str) -> list[str]:
    """The parts of a shell line that stand in no quotes."""
    return re.split(r"'[^']*'|\"[^\"]*\"", text)


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_in_a_fix_is_one_argument_and_no_option(name: str) -> None:
    """Every fix of the catalogue, filled with this name wherever a name goes, and read as a shell and then kubectl would."""
    subject = Subject(kind="pod", **dict.fromkeys(("namespace", "pod", "container", "workload", "node", "gpu", "component"), name))
    for cause in library().causes.values():
        for template in cause.fixes:
            seen = {f"seen.{group}": "x" for group in re.compile(template.seen).groupindex}  # hostile ones are refused: test_remedies
            made = filled(template, Names(subject, cause=cause.id, **seen), "kubernetes")
            for wanted, argv in ((template.run, made.run), (template.undo, made.undo), (template.verify, made.verify)):
                assert [word.startswith("-") for word in argv] == [word.startswith("-") for word in wanted], argv
                if argv and name.isprintable():
                    assert shlex.split(command(argv)) == argv


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_in_a_command_that_would_settle_it(name: str) -> None:
    types = {"pod.pod": str, "pod.namespace": str}
    shown = pasteable_command("kubectl logs ${pod.pod} -n ${pod.namespace}", types, {"pod.pod": name, "pod.namespace": "ml"})
    assert shlex.split(shown) == ["kubectl", "logs", "<pod>" if name.startswith("-") else name, "-n", "ml"]


def test_a_plain_name_in_a_command_that_would_settle_it() -> None:
    assert pasteable_command("kubectl logs ${pod.pod}", {"pod.pod": str}, {"pod.pod": "train-0"}) == "kubectl logs train-0"
    assert pasteable_command("kubectl logs ${pod.pod}", {"pod.pod": str}, {}) == "kubectl logs '<pod>'"


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_line_of_progress_is_one_line(name: str) -> None:
    step = StepResult(id=name, title=name, outcome="found", argv=[name], host=name, note=name)
    assert line(step, 80).isprintable()
    assert len(line(step, 80)) <= 80
