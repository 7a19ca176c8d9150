"""A recorded run as one text: it reads as the folder does that `--record` wrote, and what is wrong in it is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor.probes import transcript
from gpudoctor.probes.base import Command
from gpudoctor.probes.bundle import Answer, Bundle, BundleError
from gpudoctor.probes.replay import Replay
from tests.fixture_files import cases, unpacked

TEXT = """runbook: node-health
recorded: 2026-03-01T12:00:00Z
inputs: {"nodes": "gpu-02", "local": false}
=== gpu-02: nvidia-smi -L
GPU 0: NVIDIA H100 80GB HBM3

=== kubectl get nodes -o 'jsonpath={.items[*]}'
=== gpu-02: dcgmi discovery -l
--- exit 127
--- not-found: dcgmi: command not found
=== gpu-02: perfquery
--- sample 1
--- at 2026-03-01T12:00:10Z
--- took 2.5 s
--- via ssh
--- page
one
--- page
two
--- stderr
ibwarn: slow
"""


def run_of(folder: Path, text: str) -> Replay:
    (folder / "case.txt").write_text(text)
    return Replay(folder / "case")


def test_every_answer_is_what_its_lines_say(tmp_path: Path) -> None:
    replay = run_of(tmp_path, TEXT)
    assert (replay.bundle.runbook, replay.bundle.inputs) == ("node-health", {"nodes": "gpu-02", "local": False})
    listed = replay(Command(("nvidia-smi", "-L"), host="gpu-02"))
    assert (listed.pages, listed.exit, listed.time) == ((b"GPU 0: NVIDIA H100 80GB HBM3\n\n",), 0, 1772366400.0)
    assert replay(Command(("kubectl", "get", "nodes", "-o", "jsonpath={.items[*]}"))).pages == ()
    absent = replay(Command(("dcgmi", "discovery", "-l"), host="gpu-02"))
    assert (absent.exit, absent.failure, absent.reason) == (127, "not-found", "dcgmi: command not found")
    counters = replay(Command(("perfquery",), host="gpu-02", sample=1))
    assert (counters.pages, counters.stderr) == ((b"one\n", b"two\n"), b"ibwarn: slow\n")
    assert (counters.time, counters.seconds, counters.via) == (1772366410.0, 2.5, "ssh")
    assert replay(Command(("perfquery",), host="gpu-02")).failure == "not-recorded"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("runbook: a\nrecorder: b\n=== x\n", "case.txt:1: there is no 'recorder'"),
        ("runbook: a\n=== x\n1\n=== y\n--- exits 3\n", "case.txt:4: '--- exits' says nothing of an answer"),
        ("runbook: a\n=== x\n--- exit soon\n", "case.txt:2: invalid literal"),
        ("runbook: a\n=== x 'y\n", "case.txt:2: No closing quotation"),
        ("runbook: a\n=== x\n--- see ../../etc/passwd\n", "could lie outside"),
        ("runbook: a\n=== \n", "names no command"),
        ("runbook: a\n=== gpu-01:\n", "names no command"),
        ("runbook: a\n=== x\n--- took nan s\n", "nan is not between 0"),
        ("runbook: a\n=== x\n--- took 1e400 s\n", "1e400 is not between 0"),
        ("runbook: a\n=== x\n--- sample -1\n", "-1 is not between 0"),
        ("runbook: a\n=== x\n--- see nowhere.txt\n", "there is no nowhere.txt"),
        ("runbook: a\nrecorded: yesterday\n=== x\n", "case.txt:3: Invalid isoformat"),
        ("runbook: a\ninputs: [1]\n=== x\n", "case.txt:1: Expected `object`"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match=r"case\.txt") as told:
        run_of(tmp_path, text)
    assert said in str(told.value)


def test_a_text_that_begins_otherwise_is_no_recorded_run(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="is not a bundle"):
        run_of(tmp_path, "=== x\n")


@pytest.mark.parametrize("case", cases()[::97], ids=lambda path: path.stem)
def test_a_case_and_its_folder_are_one_run(case: Path, tmp_path: Path) -> None:
    text, folder = Replay(case), Replay(unpacked(case, tmp_path / "kept"))
    assert (text.bundle.runbook, text.bundle.inputs, len(text.bundle.outputs)) == (
        folder.bundle.runbook,
        folder.bundle.inputs,
        len(folder.bundle.outputs),
    )
    for answer in text.bundle.outputs:
        command = Command(answer.argv, host=answer.host, sample=answer.sample)
        assert text(command) == folder(command)


LINES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)
PAGES = st.lists(LINES, max_size=4).map(lambda lines: "".join(f"{line}\n" for line in lines).encode())
ANSWERS = st.builds(
    Answer,
    host=st.sampled_from(["", "gpu-01"]),
    argv=st.lists(LINES.filter(lambda word: not word.endswith(":")), min_size=1, max_size=3).map(tuple),
    exit=st.integers(0, 255),
    sample=st.integers(0, 2),
    seconds=st.sampled_from([0.1, 2.5]),
    time=st.just(1772366400.0),
    failure=st.sampled_from(["", "timeout"]),
)


@given(answers=st.lists(st.tuples(ANSWERS, st.lists(PAGES, max_size=2)), max_size=4))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read(answers: list[tuple[Answer, list[bytes]]], tmp_path: Path) -> None:
    pages: dict[str, bytes] = {}
    outputs = []
    for answer, contents in answers:
        names = []
        for content in contents:
            names.append(f"page-{len(pages)}")
            pages[names[-1]] = content
        outputs.append(Answer(**{name: getattr(answer, name) for name in answer.__struct_fields__} | {"stdout": tuple(names)}))
    shelf = tmp_path / transcript.ANSWERS
    shelf.mkdir(exist_ok=True)
    shared = {
        content: f"shared-{number}.txt" for number, content in enumerate(pages.values()) if not transcript.fits_between_lines(content)
    }
    for content, name in shared.items():
        (shelf / name).write_bytes(content)
    head = Bundle(runbook="r", recorded="2026-03-01T12:00:00Z", inputs={"a": 1}, outputs=outputs)
    (tmp_path / "case.txt").write_text(transcript.transcript_text(head, pages, shared))
    read, again = transcript.load(tmp_path / "case.txt")
    assert [answer.key for answer in read.outputs] == [answer.key for answer in outputs]
    for one, other in zip(read.outputs, outputs, strict=True):
        assert [again[name] for name in one.stdout] == [pages[name] for name in other.stdout]
        assert (one.exit, one.failure, one.seconds) == (other.exit, other.failure, other.seconds)


WORDS = st.sampled_from(
    ["=== ", "=== x", "=== h: 'a", "--- ", "--- exit 1", "--- exit", "--- page", "--- stderr", "--- see a.txt", "--- at 1", "{", ""]
)


@given(lines=st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=12))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_it_is_read_or_told(lines: list[str], tmp_path: Path) -> None:
    file = tmp_path / "case.txt"
    file.write_bytes("\n".join(["runbook: a", *lines]).encode("utf-8", "surrogatepass"))
    told = ""
    try:
        run, pages = transcript.load(file)
    except BundleError as error:
        told = str(error)
    assert "case.txt" in told if told else {name for answer in run.outputs for name in answer.files} <= pages.keys()
