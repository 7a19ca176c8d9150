"""A bundle holds one run, no secret, and gives the same answers again; a damaged or hostile one is refused in one sentence."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.probes import bundle
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.bundle import BundleError
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay

PODS = Command(("kubectl", "get", "pods", "-n", "ml", "-o", "json"))
DMESG = Command(("dmesg",), host="gpu-02")


class Canned:
    """A probe with prepared answers, which counts what it was asked."""

    def __init__(self, answers: dict[Command, Output]) -> None:
        self.answers, self.lock = answers, threading.Lock()
        self.asked: list[Command] = []

    def __call__(self, command: Command) -> Output:
        with self.lock:
            self.asked.append(command)
        return self.answers.get(command) or Output(command, failure="not-found", reason=f"no {command.argv[0]} here")

    def stream(self, command: Command) -> Iterator[Output]:
        whole = self(command)
        for page in whole.pages[:-1]:
            yield msgspec.structs.replace(whole, pages=(page,), failure="", reason="", exit=0, seconds=0.0)
        yield msgspec.structs.replace(whole, pages=whole.pages[-1:])


def pod(name: str, **spec: object) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": name, "managedFields": [1]}, "spec": {"containers": [{"name": "main", **spec}]}}


def pods(*items: dict[str, Any]) -> bytes:
    return json.dumps({"kind": "PodList", "items": items}).encode()


ANSWERS = {
    PODS: Output(PODS, pages=(pods(pod("train-0")), pods(pod("train-1"))), seconds=0.25, time=1772366400.5),
    DMESG: Output(
        DMESG, exit=1, pages=(b"NVRM: Xid (PCI:0000:1b:00): 79\n\xff\n",), stderr=b"dmesg: read kernel buffer failed\n", seconds=1.5
    ),
}
REFUSED = Command(("kubectl", "get", "nodes", "-o", "json"))


def recorded(folder: Path, answers: dict[Command, Output] = ANSWERS) -> Path:
    """A bundle of these answers and one that failed."""
    recorder = Recorder(Canned(answers), folder, "diagnose-pod", {"name": "train-0", "namespace": "ml"})
    for command in (*answers, REFUSED):
        recorder(command)
    recorder.close()
    return folder


def edited(folder: Path, **changes: Any) -> Path:
    """The bundle with other entries in bundle.json."""
    index = folder / "bundle.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), **changes}))
    return folder


def test_a_replay_answers_what_the_recorder_answered(tmp_path: Path) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "diagnose-pod", {"name": "train-0"})
    live = {command: recorder(command) for command in (*ANSWERS, REFUSED)}
    recorder.close()
    replay = Replay(tmp_path / "b")
    assert {command: replay(command) for command in live} == live
    assert live[DMESG].pages == ANSWERS[DMESG].pages
    assert (live[REFUSED].failure, live[REFUSED].reason) == ("not-found", "no kubectl here")
    assert b"managedFields" not in live[PODS].pages[0]
    assert (replay.bundle.runbook, replay.bundle.inputs) == ("diagnose-pod", {"name": "train-0"})


def test_streams_are_replayed_page_by_page(tmp_path: Path) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "r", {})
    live = list(recorder.stream(PODS))
    recorder.close()
    replay = Replay(tmp_path / "b")
    assert list(replay.stream(PODS)) == live == list(recorder.stream(PODS))
    assert [len(piece.pages) for piece in live] == [1, 1]
    assert (live[0].seconds, live[1].seconds) == (0.0, 0.25)
    assert replay(PODS).pages == tuple(piece.pages[0] for piece in live)


def test_a_stream_that_fails_half_way_fails_there_again(tmp_path: Path) -> None:
    broken = msgspec.structs.replace(ANSWERS[PODS], failure="broken", reason="the connection was cut")
    recorder = Recorder(Canned({PODS: broken}), tmp_path / "b", "r", {})
    live = list(recorder.stream(PODS))
    recorder.close()
    assert [(len(piece.pages), piece.failure) for piece in live] == [(1, ""), (1, ""), (0, "broken")]
    assert list(Replay(tmp_path / "b").stream(PODS)) == live


def test_a_stream_that_its_reader_leaves_is_no_complete_answer(tmp_path: Path) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "r", {})
    stream = recorder.stream(PODS)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    recorder.close()
    pieces = list(Replay(tmp_path / "b").stream(PODS))
    assert [(len(piece.pages), piece.failure) for piece in pieces] == [(1, ""), (0, "broken")]


def test_a_command_is_asked_and_recorded_once(tmp_path: Path) -> None:
    probe = Canned(ANSWERS)
    recorder = Recorder(probe, tmp_path / "b", "r", {})
    assert recorder(PODS) == recorder(PODS)
    assert list(recorder.stream(PODS))[-1].seconds == 0.25
    assert len(probe.asked) == 1
    again = msgspec.structs.replace(PODS, sample=1)
    recorder(again)
    assert probe.asked == [PODS, again]
    assert [answer.sample for answer in Replay(tmp_path / "b").bundle.outputs] == [0, 1]


def test_many_threads_record_one_bundle(tmp_path: Path) -> None:
    commands = [Command(("nvidia-smi", str(number % 5)), host=f"gpu-{number % 3}") for number in range(120)]
    recorder = Recorder(Canned({one: Output(one, pages=(one.shown.encode(),)) for one in commands}), tmp_path / "b", "r", {})
    with ThreadPoolExecutor(8) as pool:
        live = list(pool.map(recorder, commands))
    recorder.close()
    replay = Replay(tmp_path / "b")
    assert len(replay.bundle.outputs) == 15
    assert [replay(command) for command in commands] == live
    assert len(list((tmp_path / "b").iterdir())) == 16


class Moving:
    """A cluster that changes between two questions, and answers slowly."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, command: Command) -> Output:
        self.asked += 1
        number = self.asked
        time.sleep(0.05)
        return Output(command, pages=(pods(pod(f"train-{number}")),))

    def stream(self, command: Command) -> Iterator[Output]:
        yield self(command)


@pytest.mark.parametrize("streamed", [False, True])
def test_two_threads_that_ask_the_same_are_told_what_was_recorded(tmp_path: Path, streamed: bool) -> None:
    probe = Moving()
    recorder = Recorder(probe, tmp_path / "b", "r", {})
    asks = [lambda: list(recorder.stream(PODS)) if streamed else [recorder(PODS)], lambda: [recorder(PODS)]]
    with ThreadPoolExecutor(2) as pool:
        live = [[output.pages for output in future.result()] for future in [pool.submit(ask) for ask in asks]]
    assert live[0] == live[1] == [Replay(tmp_path / "b")(PODS).pages]
    assert probe.asked == 1


def test_a_stream_that_is_left_early_lets_others_ask(tmp_path: Path) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "r", {})
    stream = recorder.stream(PODS)
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert recorder(PODS).failure == "broken"


def test_an_interrupted_recording_can_be_read(tmp_path: Path) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "r", {})
    assert Replay(tmp_path / "b").bundle.outputs == []
    recorder(PODS)  # and no close
    (tmp_path / "b" / "bundle.json.new").write_bytes(b'{"bundle": 1, "outp')  # interrupted while it wrote the next list
    assert Replay(tmp_path / "b")(PODS).pages
    recorder(DMESG)
    assert Replay(tmp_path / "b")(DMESG).exit == 1


def test_unknown_commands_say_so(tmp_path: Path) -> None:
    replay = Replay(recorded(tmp_path / "b"))
    output = replay(Command(("nvidia-smi", "-L"), host="gpu-02"))
    assert output.failure == "not-recorded"
    assert "`nvidia-smi -L` on gpu-02" in output.reason
    assert [piece.failure for piece in replay.stream(Command(("dmesg",)))] == ["not-recorded"]


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "b")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_recording_again_replaces_a_bundle_and_touches_nothing_else(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "b")
    (folder / "notes.txt").write_text("mine")
    Recorder(Canned({}), folder, "other", {}).close()
    assert sorted(file.name for file in folder.iterdir()) == ["bundle.json", "notes.txt"]
    assert Replay(folder).bundle.runbook == "other"


def first_page(folder: Path) -> str:
    """The file of the first answer that has one."""
    return next(name for answer in Replay(folder).bundle.outputs for name in answer.stdout)


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(BundleError, match="not empty and holds no complete bundle: give --record a folder that is new or empty"):
        Recorder(Canned({}), tmp_path, "r", {})
    with pytest.raises(BundleError, match="is a file"):
        Recorder(Canned({}), tmp_path / "thesis.tex", "r", {})
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_bundle_with_hostile_names_deletes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    folder = edited(recorded(tmp_path / "b"), outputs=[{"argv": ["x"], "stdout": ["../precious"]}])
    with pytest.raises(BundleError, match="no complete bundle"):
        Recorder(Canned({}), folder, "r", {})
    assert (tmp_path / "precious").exists()


def test_a_disk_that_fills_up_stops_the_recording_and_not_the_diagnosis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder(Canned(ANSWERS), tmp_path / "b", "r", {})
    recorder(DMESG)

    def full(folder: Path, name: str, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(bundle, "write_file", full)
        assert len(recorder(PODS).pages) == 2
    with pytest.raises(BundleError, match=r"incomplete: kubectl-get-pods-[0-9a-f]{8}\.json: No space left on device"):
        recorder.close()
    assert [answer.argv for answer in Replay(tmp_path / "b").bundle.outputs] == [DMESG.argv]


def test_a_page_too_large_for_a_bundle_is_left_out_and_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST", 3000)
    big = Output(PODS, pages=(pods(pod("a" * 5000)),))
    recorder = Recorder(Canned({PODS: big}), tmp_path / "b", "r", {})
    live = recorder(PODS)
    assert (live.failure, live.pages) == ("too-large", ())
    assert Replay(tmp_path / "b")(PODS) == live


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"bundle": 2}, r"written by a newer gpudoctor \(bundle format 2, this one reads 1\): upgrade gpudoctor"),
        ({"bundle": 2, "outputs": "another shape"}, "upgrade gpudoctor"),
        ({"bundle": 0}, "is not a bundle"),
        ({"bundle": "one"}, "bundle.json: Expected `int`"),
        ({"outputs": [{"argv": "kubectl"}]}, "Expected `array`"),
        ({"outputs": [{"argv": ["x"], "time": 1e300}]}, "bundle.json: Expected `float` <="),
        ({"outputs": [{"argv": ["x"], "failure": "because"}]}, "Invalid enum value 'because'"),
        ({"outputs": [{"argv": ["x"], "stdout": ["../../etc/hostname"]}]}, "could lie outside the bundle"),
        ({"outputs": [{"argv": ["x"], "stdout": ["/etc/hostname"]}]}, "could lie outside the bundle"),
        ({"outputs": [{"argv": ["x"], "stderr": ".."}]}, "could lie outside the bundle"),
        ({"outputs": [{"argv": ["x"], "stdout": ["a\\b\u0000"]}]}, "could lie outside the bundle"),
        ({"outputs": [{"argv": ["x"], "stdout": ["bundle.json"]}]}, "could lie outside the bundle"),
        ({"outputs": [{"argv": ["x"], "stdout": ["99-gone.json"]}]}, "the file 99-gone.json is missing; copy the bundle again"),
    ],
)
def test_a_bundle_that_was_tampered_with_is_refused(tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    folder = edited(recorded(tmp_path / "b"), **changes)
    with pytest.raises(BundleError, match=says) as refused:
        Replay(folder)
    assert "\n" not in str(refused.value)


def test_links_special_files_and_large_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = recorded(tmp_path / "b")
    page = folder / first_page(folder)
    page.unlink()
    page.symlink_to("/etc/hostname")
    with pytest.raises(BundleError, match="is a link or a special file"):
        Replay(folder)
    page.unlink()
    os.mkfifo(page)
    with pytest.raises(BundleError, match="is a link or a special file"):
        Replay(folder)
    page.unlink()
    page.write_bytes(b"x" * 3001)
    monkeypatch.setattr(bundle, "LARGEST", 3000)
    with pytest.raises(BundleError, match="is larger than"):
        Replay(folder)


def test_a_file_that_is_swapped_for_a_link_after_the_check_is_not_followed(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "b")
    replay = Replay(folder)
    page = folder / first_page(folder)
    page.unlink()
    page.symlink_to("/etc/hostname")
    assert (replay(PODS).failure, replay(PODS).pages) == ("broken", ())


def test_what_is_no_bundle_or_half_of_one(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"it has no bundle\.json; give the folder that --record wrote"):
        Replay(tmp_path)
    with pytest.raises(BundleError, match=r"neither that folder nor nothing\.txt is there"):
        Replay(tmp_path / "nothing")
    index = recorded(tmp_path / "b") / "bundle.json"
    whole = index.read_bytes()
    for cut in (0, 1, len(whole) // 2, len(whole) - 3):
        index.write_bytes(whole[:cut])
        with pytest.raises(BundleError, match=r"bundle\.json is cut or damaged"):
            Replay(index.parent)
    index.write_bytes(b"\xff\xfe")
    with pytest.raises(BundleError):
        Replay(index.parent)


@given(data=st.binary(max_size=120))
def test_no_bundle_json_raises_anything_else(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("b")
    (folder / "bundle.json").write_bytes(b'{"bundle": 1, "outputs": [' + data)
    with pytest.raises(BundleError):
        Replay(folder)


@given(argv=st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_hostile_commands_never_become_paths(tmp_path_factory: pytest.TempPathFactory, argv: list[str]) -> None:
    folder = tmp_path_factory.mktemp("b") / "bundle"
    command = Command(("../../x", "$(touch y)", "/etc/passwd", *argv))
    recorder = Recorder(Canned({command: Output(command, pages=(b"x",), stderr=b"y")}), folder, "r", {})
    output = recorder(command)
    recorder.close()
    names = {file.name for file in folder.iterdir()}
    assert {re.sub("-[0-9a-f]{8}", "", name) for name in names} == {
        "bundle.json",
        "x-touch-y-etc-passwd.txt",
        "x-touch-y-etc-passwd.stderr.txt",
    }
    assert Replay(folder)(output.command).pages == (b"x",)


SECRET = st.text("abcdefgh23456789ABCDEFGH!#%*+-._~", min_size=20, max_size=30).map(lambda text: f"Zq7{text}x")
# Every place of an answer, and of the question, that may carry a secret.
PLACES = ["env", "list", "argument", "annotation", "log", "stderr", "argv", "reason", "input", "manifest"]


@pytest.mark.parametrize("place", PLACES)
@given(secret=SECRET)
def test_a_planted_secret_is_in_no_byte_of_the_bundle(tmp_path_factory: pytest.TempPathFactory, place: str, secret: str) -> None:
    pages: dict[str, bytes] = {
        "env": pods(pod("p", env=[{"name": "LICENSE", "value": secret}])),
        "list": pods(pod("p", env=[{"name": "NCCL_TOKEN", "value": secret}])),
        "argument": pods(pod("p", args=["--lr=1", "--api-token", secret, f"--password={secret}"])),
        "annotation": pods({"metadata": {"annotations": {"example.com/password": secret}}}),
        "log": f"step 1\nlogin token={secret}\nLICENSE={secret}\nhttps://a:{secret}@b/c\n".encode(),
        "manifest": json.dumps({"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": secret}}}).encode(),
    }
    command = Command(("tool", "--token", secret)) if place == "argv" else Command(("tool",))
    output = Output(
        command,
        pages=(pages.get(place, b"{}"),),
        stderr=f"cannot log in: password={secret}\n".encode() if place == "stderr" else b"",
        failure="unreachable" if place == "reason" else "",
        reason=f"GET https://a:{secret}@b/c" if place == "reason" else "",
    )
    folder = tmp_path_factory.mktemp("b") / "bundle"
    recorder = Recorder(Canned({command: output}), folder, "r", {"token": secret} if place == "input" else {})
    live = recorder(command)
    recorder.close()
    for file in folder.iterdir():
        assert secret.encode() not in file.read_bytes()
        assert secret.lower() not in file.name
    assert Replay(folder)(live.command) == live
