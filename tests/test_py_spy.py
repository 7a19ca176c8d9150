"""py-spy's dumps: the threads, and what each waits in."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.job import Stack
from gpudoctor.knowledge.stack_waits import waits_in
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError

DUMP = """Process 2201: /usr/bin/python3 train.py --rank 6 --config big.yaml
Python v3.12.3 (/usr/bin/python3.12)

Thread 2201 (active): "MainThread"
    barrier (torch/distributed/distributed_c10d.py:4159)
    wrapper (torch/distributed/c10d_logger.py:81)
    train (train.py:214)
        Locals:
            step: 4211
            note: "Thread 7 (active)"
    <module> (train.py:340)
Thread 2290 (idle): "Thread-1 (_pin_memory_loop)"
    wait (threading.py:359)
    get (queue.py:180)
    do_one_step (torch/utils/data/_utils/pin_memory.py:30)
Thread 0x7ED3637AE700 (active+gil)
    run (trainer/loop.py:12)
"""

STATES = {
    "collective": [
        ["all_reduce (torch/distributed/distributed_c10d.py:2811)", "step (train.py:9)"],
        ["synchronize (torch/cuda/__init__.py:985)", "wait (torch/distributed/c10d_logger.py:81)", "main (train.py:1)"],
    ],
    "data_loader": [
        ["select (selectors.py:415)", "wait (multiprocessing/connection.py:1136)", "_try_get_data (torch/utils/data/dataloader.py:1133)"],
        ["read (os.py:1)", "__getitem__ (torch/utils/data/dataset.py:50)", "main (train.py:3)"],
    ],
    "file_system": [
        ["flush (logging/__init__.py:1137)", "emit (logging/__init__.py:1113)", "info (train.py:3)"],
        ["__write (libc.so.6)", "log (train.py:31)"],
        ["open (pathlib.py:1013)", "tokens (train.py:12)"],
    ],
    "checkpoint": [
        ["write (zipfile.py:1188)", "save (torch/serialization.py:965)", "main (train.py:3)"],
        ["barrier (torch/distributed/distributed_c10d.py:4159)", "save_checkpoint (megatron/training/checkpointing.py:511)"][1:],
        ["wait (threading.py:359)", "save_state_dict (torch/distributed/checkpoint/state_dict_saver.py:40)"],
    ],
    "lock": [
        ["acquire (threading.py:1)", "main (app.py:3)"],
        ["_wait_for_tstate_lock (threading.py:1167)", "join (threading.py:1147)", "main (app.py:9)"],
        ["acquire (filelock/_api.py:214)", "load_dataset (app.py:3)"],
    ],
    "compile": [
        ["result (concurrent/futures/_base.py:451)", "wait (torch/_inductor/async_compile.py:290)", "main (train.py:1)"],
        ["autotune (kernels.py:88)", "forward (model.py:20)"],
    ],
    "": [["forward (model.py:20)", "main (train.py:1)"], []],
}


def read(text: str, stderr: bytes = b"") -> Facts:
    return load("python.stacks")(
        Output(Command(("py-spy", "dump")), pages=(text.encode(),), stderr=stderr), Subject(kind="node", node="gpu-01")
    )


def stacks(text: str) -> list[Stack]:
    return [one for one in read(text)["stacks"] if isinstance(one, Stack)]


def test_a_dump() -> None:
    main, loader, other = stacks(DUMP)
    assert (main.pid, main.rank, main.thread, main.active, main.waits_in, main.node) == (
        2201,
        6,
        "MainThread",
        True,
        "collective",
        "gpu-01",
    )
    assert main.frames[0] == "barrier (torch/distributed/distributed_c10d.py:4159)"
    assert len(main.frames) == 4
    assert (loader.thread, loader.active, loader.waits_in) == ("Thread-1 (_pin_memory_loop)", False, "data_loader")
    assert (other.thread, other.active, other.waits_in) == ("0x7ED3637AE700", True, "")


def test_colours_and_carriage_returns_change_nothing() -> None:
    coloured = DUMP.replace("2201", "\x1b[1m\x1b[33m2201\x1b[0m").replace("4159", "\x1b[2m4159\x1b[0m").replace("\n", "\r\n")
    told = [(one.thread, one.frames, one.waits_in) for one in stacks(coloured)]
    assert told == [(one.thread, one.frames, one.waits_in) for one in stacks(DUMP)]


def test_several_processes() -> None:
    told = stacks(DUMP + DUMP.replace("2201", "2202").replace("--rank 6", "--rank 7"))
    assert [one.pid for one in told] == [2201] * 3 + [2202] * 3
    assert {one.rank for one in told} == {6, 7}


@pytest.mark.parametrize("state", STATES, ids=lambda state: state or "none")
def test_what_a_thread_waits_in(state: str) -> None:
    for frames in STATES[state]:
        assert waits_in(frames) == state, frames


def test_what_is_no_dump_says_why() -> None:
    with pytest.raises(ParseError, match="Permission Denied"):
        read("", b"Permission Denied: Try running again with elevated permissions by going 'sudo env \"PATH=$PATH\" !!'\n")


@settings(max_examples=40, derandomize=True)
@given(st.text(max_size=80), st.integers(0, 16))
def test_a_line_of_anything_loses_no_thread(junk: str, at: int) -> None:
    lines = DUMP.split("\n")
    place = 3 + at % 14
    told = stacks("\n".join([*lines[:place], "~" + junk.replace("\n", " "), *lines[place:]]))
    assert [one.waits_in for one in told] == ["collective", "data_loader", ""]


def test_cut_anywhere() -> None:
    raw = DUMP.encode()
    for end in range(len(raw)):
        with contextlib.suppress(ParseError):
            read(raw[:end].decode())


def test_a_megabyte_of_hostile_lines() -> None:
    begun = time.perf_counter()
    for line in ("    " + "a " * 2000, "    x (" + "(" * 4000, "Thread " + "(" * 4000, "    " + "save_" * 800 + " (a.py:1)"):
        read(DUMP + f"{line}\n" * 250)
    assert time.perf_counter() - begun < 10


def test_analyze_knows_it(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "stacks.txt"
    path.write_text(DUMP)
    gathered = gather([str(path)])
    assert gathered.inputs[0].recognised_as == ["python.stacks"]
    assert len(gathered.facts["stacks"]) == 3
