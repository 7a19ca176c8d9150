"""From files to facts: what is read and what is refused, and that neither names nor order matter."""

from __future__ import annotations

import gzip
import os
import random
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpudoctor.analyze import gather as gather_module
from gpudoctor.analyze.gather import Gathered, gather
from gpudoctor.facts import FACTS, Fact
from gpudoctor.intake import files, long_texts
from gpudoctor.tools.common import messages

KNOWN = [("no_runtime_handler", r'no runtime for "([^"]+)" is configured'), ("waits_for_mps_daemon", r"waiting for MPS daemon")]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    made = messages.compile_scanner(KNOWN)
    monkeypatch.setattr(messages, "scanner", lambda: made)


def write(folder: Path, **texts: str | bytes) -> str:
    for name, text in texts.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / f"{name}.txt").write_bytes(data)
    return str(folder)


def all_facts(gathered: Gathered) -> list[Any]:
    return [fact for records in gathered.facts.values() for fact in records]


DESCRIBED = """\
Name:         llm-0
Namespace:    ml
Node:         gpu-7/10.0.0.7
Status:       Running
Containers:
  main:
    Image:          registry.example/cuda:12
    State:          Waiting
      Reason:       CreateContainerError
      Message:      no runtime for "nvidia" is configured
    Ready:          False
    Restart Count:  0
    Limits:
      nvidia.com/gpu:  4
Node-Selectors:     <none>
"""
TABLE = """\
NAME    READY   STATUS                 RESTARTS   AGE
llm-0   0/1     CreateContainerError   0          65m
llm-1   1/1     Running                0          65m
"""
LOG = "I0301 09:00:00.1 1 main.go:1] start\nE0301 09:00:01.1 1 main.go:9] error waiting for MPS daemon\n"
DMESG = "[ 12.000001] usb 1-1\n[ 13.000001] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.\n"
YAML = """\
apiVersion: v1
kind: Pod
metadata:
  name: llm-2
  creationTimestamp: "2026-03-01T11:00:00Z"
spec: {containers: []}
status: {phase: Pending}
"""
EVENTS = "5m   Warning   FailedScheduling   pod/llm-2   0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\n"
SMI = "Failed to initialize NVML: Unknown Error\n"
ALL = {"a": DESCRIBED, "b": TABLE, "c": LOG, "d": DMESG, "e": YAML, "f": EVENTS, "g": SMI, "h": "hello\n"}


def test_a_folder_of_everything(tmp_path: Path) -> None:
    got = gather([write(tmp_path, **ALL)])
    assert {Path(i.path).stem: i.recognised_as for i in got.inputs} == {
        "a": ["kubectl.describe"],
        "b": ["kubectl.get"],
        "c": ["logs.text"],
        "d": ["kernel.log"],
        "e": ["kubernetes.objects"],
        "f": ["kubectl.events"],
        "g": ["nvidia.smi"],
        "h": [],
    }
    assert got.now == 1_772_362_800.0
    assert set(got.facts) <= set(FACTS)
    for kind, records in got.facts.items():
        assert all(type(record) is FACTS[kind] for record in records)
    for fact in all_facts(got):
        text = ALL[Path(fact.origin.source).stem].split("\n")
        assert fact.origin.text
        assert fact.origin.text in text[fact.origin.line - 1].strip() or fact.origin.text == text[fact.origin.line - 1].strip()


def test_what_two_files_say_of_one_pod_is_one_record(tmp_path: Path) -> None:
    got = gather([write(tmp_path, a=DESCRIBED, b=TABLE)])
    pods: dict[str, Any] = {pod.pod: pod for pod in got.facts["pods"]}  # type: ignore[attr-defined]
    assert len(got.facts["pods"]) == 2
    assert (pods["llm-0"].namespace, pods["llm-0"].gpus, pods["llm-0"].age) == ("ml", 4, 3900)
    assert pods["llm-1"].namespace == ""


def comparable(got: Gathered) -> list[str]:
    """The facts without the name of the file, in any order."""
    return sorted(str(msgspec.structs.replace(fact, origin=msgspec.structs.replace(fact.origin, source=""))) for fact in all_facts(got))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.permutations(sorted(ALL)), st.permutations(sorted(ALL)))
def test_names_and_order_of_files_change_no_fact(tmp_path_factory: pytest.TempPathFactory, named: list[str], listed: list[str]) -> None:
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    write(one, **ALL)
    write(other, **{new: ALL[old] for new, old in zip(named, sorted(ALL), strict=True)})
    first = gather([str(one / f"{name}.txt") for name in sorted(ALL)])
    second = gather([str(other / f"{name}.txt") for name in listed])
    assert comparable(first) == comparable(second)
    assert {k: [str(f.origin.text) for f in v] for k, v in first.facts.items()} == {
        k: [str(f.origin.text) for f in v] for k, v in second.facts.items()
    }


def test_one_paste_of_several_outputs_keeps_lines_and_commands(tmp_path: Path) -> None:
    paste = (
        "Here is what I see:\n```\nme@laptop:~$ kubectl -n ml describe pod llm-0\n" + DESCRIBED + "```\nand\n"
        "```\n$ kubectl exec -n ml llm-0 -- nvidia-smi\n"
        + SMI
        + "$ kubectl -n gpu-operator logs nvidia-device-plugin-daemonset-x\n"
        + LOG
        + "```\n"
    )
    got: Any = gather([write(tmp_path, a=paste)])
    assert got.inputs[0].recognised_as == ["kubectl.describe", "nvidia.smi", "logs.text"]
    (smi,) = got.facts["smi"]
    assert (smi.inside, smi.namespace, smi.pod, smi.problem) == ("pod", "ml", "llm-0", "unknown_error")
    waits = next(m for m in got.facts["messages"] if m.name == "waits_for_mps_daemon")
    assert (waits.component, waits.namespace, waits.source) == ("device-plugin", "gpu-operator", "log")
    lines = paste.split("\n")
    assert lines[waits.origin.line - 1] == waits.origin.text
    assert lines[smi.origin.line - 1] == smi.origin.text


def test_a_file_name_is_a_hint_and_nothing_more(tmp_path: Path) -> None:
    (tmp_path / "kubectl-logs-nvidia-device-plugin.txt").write_text(LOG)
    (tmp_path / "nvidia-smi-in-pod.txt").write_text(SMI)
    (tmp_path / "dmesg.txt").write_text(TABLE)
    got: Any = gather([str(tmp_path)])
    assert got.facts["messages"][0].component == "device-plugin"
    assert got.facts["smi"][0].inside == "pod"
    assert len(got.facts["pods"]) == 2
    assert "xids" not in got.facts


def test_nvidia_smi_inside_a_log_is_read_and_so_is_the_log(tmp_path: Path) -> None:
    got: Any = gather([write(tmp_path, a="2026-03-01 10:00:00 INFO begin\nGPU 0: NVIDIA L4 (UUID: GPU-11112222-aaaa)\n" + LOG)])
    assert got.inputs[0].recognised_as == ["nvidia.smi", "logs.text"]
    assert got.facts["gpus"][0].product == "NVIDIA L4"
    assert [m.name for m in got.facts["messages"]] == ["waits_for_mps_daemon"]


def test_unknown_text_is_scanned_also_where_it_is_wrapped(tmp_path: Path) -> None:
    got: Any = gather([write(tmp_path, a='Failed to create pod sandbox: no runtime for\n"nvidia" is configured\n', b="nothing here\n")])
    assert {Path(i.path).stem: i.recognised_as for i in got.inputs} == {"a": ["text"], "b": []}
    (message,) = got.facts["messages"]
    assert (message.source, message.detail, message.origin.line) == ("file", "nvidia", 1)


def test_what_looks_like_objects_but_is_broken_is_scanned_and_noted(tmp_path: Path) -> None:
    broken = 'apiVersion: v1\nkind: Pod\nmetadata: {name: [\nstatus:\n  message: no runtime for "nvidia" is configured\n'
    got: Any = gather([write(tmp_path, a=broken)])
    assert [m.name for m in got.facts["messages"]] == ["no_runtime_handler"]
    assert "not YAML" in got.inputs[0].note


@pytest.mark.parametrize(
    ("data", "note"),
    [
        (b"", "empty"),
        (b"\x7fELF\x02\x01\x01\x00\x00", "binary"),
        (bytes(range(1, 32)) * 20, "binary"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"BZh91AY", "bzip2 data that is cut off"),
        (b"\xfd7zXZ\x00x", "xz data that is cut off"),
        (b"\x28\xb5\x2f\xfdx", "zstd data"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "7z archive"),
        (gzip.compress(b"\x00" * 64), "binary"),
        (gzip.compress(DMESG.encode())[:-12], "cut off"),
        (b"\x1f\x8b\x08\x00garbage that is no deflate", "damaged"),
    ],
    # gzip writes the time into its data: made of the data, a test's name would differ between the processes that run the tests
    ids=["nothing", "elf", "control", "zip", "bzip2", "xz", "zstd", "7z", "binary-gz", "cut-gz", "damaged-gz"],
)
def test_what_is_not_read_gets_one_note(tmp_path: Path, data: bytes, note: str) -> None:
    (only,) = gather([write(tmp_path, a=data)]).inputs
    assert note in only.note


def test_gzip_utf16_and_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(DMESG.encode()) + gzip.compress(LOG.encode()))
    (tmp_path / "b.txt").write_bytes(TABLE.encode("utf-16"))
    (tmp_path / "c.txt").write_bytes(b"\xef\xbb\xbf" + YAML.encode())
    got = gather([str(tmp_path)])
    assert [len(got.facts[kind]) for kind in ("xids", "messages", "pods")] == [1, 2, 3]
    assert {i.note for i in got.inputs} == {""}


def test_bad_paths_are_notes_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x").write_text(DMESG)
    got = gather([str(tmp_path), str(tmp_path / "missing"), "a\0b", "/dev/null"])
    assert not got.facts.get("xids")
    notes = {Path(i.path).name: i.note for i in got.inputs}
    assert "not a file" in notes["pipe"]
    assert "No such file" in notes["gone"]
    assert "No such file" in notes["missing"]
    assert "not a file" in notes["null"]
    assert "loop" not in notes or "not a file" in notes["loop"]
    assert len(got.inputs) <= 6


def test_a_folder_of_too_many_files_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILES", 3)
    got = gather([write(tmp_path, **{f"f{n}": "x" for n in range(9)})])
    assert len(got.inputs) == 4
    assert got.inputs[-1].note == "more than 3 files: the rest was not read"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(DMESG)
    with (tmp_path / "x").open() as given:
        monkeypatch.setattr("sys.stdin", given)
        got = gather(["-"])
    assert (got.inputs[0].path, got.facts["xids"][0].origin.source) == ("-", "-")


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a few KiB what is otherwise many MiB."""
    for module, name, value in ((files, "LONG", 2048), (files, "END", 1024), (gather_module, "SPLIT", 8192), (gather_module, "HELD", 0)):
        monkeypatch.setattr(module, name, value)
    for name, value in (("LOG", 4096), ("WINDOW", 2048), ("SECTION", 8192)):
        monkeypatch.setattr(long_texts, name, value)


def test_a_large_log_is_read_in_pieces_with_the_right_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    lines = [f"[ {n}.000001] noise {n}" for n in range(2000)]
    lines[1500] = "[ 1500.000001] NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus."
    lines[1700] = "[ 1700.000001] error waiting for MPS daemon"
    lines[30] = "[ 30.000001] error waiting for MPS daemon"
    got: Any = gather([write(tmp_path, a="\n".join(lines))])
    assert got.inputs[0].recognised_as == ["kernel.log"]
    assert [(x.code, x.origin.line) for x in got.facts["xids"]] == [(79, 1501)]
    assert sorted((m.name, m.count, m.origin.line) for m in got.facts["messages"]) == [
        ("nvrm_gpu_lost", 1, 1501),
        ("waits_for_mps_daemon", 2, 31),
    ]


def test_a_large_paste_is_cut_as_a_small_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = "".join(f"[ {n}.000001] usb 1-1: noise\n" for n in range(14, 300))
    answers = {
        "kubectl -n ml describe pod llm-0": DESCRIBED,
        "kubectl get pods -n ml": TABLE,
        "dmesg": DMESG + noise,
        "kubectl logs x": LOG * 40,
    }
    paste = "".join(f"$ {command}\n{answer}" for command, answer in answers.items())
    folder = write(tmp_path, a=paste)
    small = gather([folder])
    large(monkeypatch)
    cut = gather([folder])
    assert sorted(cut.inputs[0].recognised_as) == sorted(small.inputs[0].recognised_as)
    assert len(cut.inputs[0].recognised_as) == 4
    assert comparable(cut) == comparable(small)


def test_a_long_log_with_a_failed_allocation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    said = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.25 GiB "
        "is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated."
    )
    lines = [f"2026-03-01 10:00:{n % 60:02d} INFO step" for n in range(1000)]
    lines[500] = said
    got: Any = gather([write(tmp_path, a="\n".join(lines))])
    assert [(one.tried, one.origin.line) for one in got.facts["allocations"]] == [(2 << 30, 501)]


def test_what_is_not_held_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path, **ALL)
    held = gather([folder])
    monkeypatch.setattr(gather_module, "HELD", 0)
    again = gather([folder])
    assert (comparable(held), held.inputs, held.now) == (comparable(again), again.inputs, again.now)


def test_a_large_answer_in_json_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large(monkeypatch)
    items = [{"kind": "Pod", "apiVersion": "v1", "metadata": {"name": f"p-{n}", "namespace": "ml"}} for n in range(500)]
    folder = write(tmp_path, a=msgspec.json.encode({"kind": "List", "apiVersion": "v1", "items": items}))
    assert len(gather([folder]).facts["pods"]) == 500
    monkeypatch.setattr(long_texts, "ANSWER", 1024)
    assert "ask for less of it" in gather([folder]).inputs[0].note


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_shuffled_and_cut_pieces_of_real_looking_text_never_raise(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng = random.Random(seed)
    pieces = re.split(r"(\s+)", "".join(ALL.values()))
    rng.shuffle(pieces)
    text = "".join(pieces)[rng.randrange(200) : -rng.randrange(1, 200)]
    folder = tmp_path_factory.mktemp("x")
    write(folder, a=text, b=text.encode()[rng.randrange(50) :: 2])
    gathered = gather([str(folder)])
    assert all(isinstance(fact, Fact) for fact in all_facts(gathered))


@pytest.mark.parametrize(
    "unit",
    [
        "Name: x\n",
        "x\n\n",
        "$ a\n",
        "---\n",
        "Warning  A  5s  kubelet  b\n",
        "a 0/1 Running 0 5s\n",
        "NAME READY STATUS RESTARTS AGE\n",
        "    x: y\n",
    ],
)
def test_ten_thousands_of_lines_cost_time_in_proportion(tmp_path: Path, unit: str) -> None:
    started = time.monotonic()
    gather([write(tmp_path, a=unit * 30_000)])
    assert time.monotonic() - started < 20  # a quadratic one takes minutes


def test_ten_thousand_described_objects_cost_time_in_proportion(tmp_path: Path) -> None:
    started = time.monotonic()
    gathered = gather([write(tmp_path, a="Name: x\nNode: y\nQoS Class: z\n" * 10_000)])
    assert gathered.inputs[0].recognised_as == ["kubectl.describe"]
    assert time.monotonic() - started < 15  # a quadratic one takes minutes
