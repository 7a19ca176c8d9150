"""Work that goes on slowly or not at all: what programs say of their steps, file systems, sleeping processes, and how GPUs are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from gpudoctor.analyze.gather import gather
from gpudoctor.derive.gpu_use import measure_gpu_use
from gpudoctor.derive.job import pace_of
from gpudoctor.derive.job_ranks import members
from gpudoctor.engine.diagnose import analyze
from gpudoctor.facts import Fact, Subject
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample
from gpudoctor.facts.job import Rank
from gpudoctor.facts.kubernetes import Message, Node
from gpudoctor.facts.stall import FileSystem, GpuUse, NodeUse, Pace, Process
from gpudoctor.intake import long_texts
from gpudoctor.intake.recognise import recognise
from gpudoctor.knowledge.trend import change, steady_rise
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.common import measures
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.training import log as training_log
from gpudoctor.tools.training.step_lines import Step, step_in
from tests.nodes.smi_table import smi_table
from tests.nodes.watched import IDLE, cards
from tests.pasted import diagnosed, judge

NOW = 1772366400.0
ABOUT = Subject(kind="node", node="gpu-01")

# One line as each library prints it → what it says.
STEPS = {
    " iteration      120/    1000 | consumed samples:  30720 | elapsed time per iteration (ms): 2500.0 |": (Step(120, 1000, 2.5)),
    "steps: 10 loss: 2.3012 iter time (s): 3.25 samples/sec: 78.7": Step(10, None, 3.25),
    "micro_step=10/global_step=10, RunningAvgSamplesPerSec=12.3, CurrSamplesPerSec=8.0, MemAllocated=4.0GB, MaxMemAllocated=30.1GB": (
        Step(10, None, None, 0.125, None, 4096.0)
    ),
    "[titan] 2026-03-01 12:00:00,1 - root - INFO - step: 10  loss:  7.9  memory: 40.50GiB(42.60%)  tps: 8,000  mfu: 41.9%": (
        Step(10, None, None, 0.000125, None, 41472.0)
    ),
    " 12%|█▏        | 120/1000 [04:11<30:40,  2.50s/it]": Step(120, 1000, 2.5, elapsed=251.0),
    "Epoch 0:  12%|█▏        | 120/1000 [01:00<07:20,  2.00it/s, v_num=0, train_loss=2.3]": Step(120, 1000, 0.5, elapsed=60.0),
    "Training epoch 0, iteration 10/99 | lr: 3e-06 | train_step_timing in s: 3.5 | consumed_samples: 5632": Step(10, 99, 3.5),
    "iter 100: loss 2.3312, time 250.00ms, mfu 40.10%": Step(100, None, 0.25),
    "2026/03/01 12:00:00 - mmengine - INFO - Epoch(train) [1][  50/1000]  lr: 1.0e-02  time: 0.5  data_time: 0.2  memory: 11234": (
        Step(50, 1000, 0.5, None, 0.2)
    ),
    "Epoch: [0]  [ 120/5004]  eta: 0:32:10  lr: 0.1  img/s: 300.1  loss: 6.1 (6.5)  time: 0.4  data: 0.2  max mem: 9123": (
        Step(120, 5004, 0.4, None, 0.2, None, 9123.0)
    ),
    "Epoch: [0][  10/5005]\tTime  0.520 ( 0.610)\tData  0.260 ( 0.402)\tLoss 6.9e+00": Step(10, 5005, 0.52, None, 0.26),
    "Train: 0 [  50/1251 (  4%)]  Loss: 6.93 (6.9)  Time: 0.400s, 2485.32/s  (0.5s, 2000.11/s)  LR: 1e-05  Data: 0.200 (0.251)": (
        Step(50, 1251, 0.4, None, 0.2)
    ),
    "[03/01 12:00:00 d2.utils.events]:  eta: 1:10:10  iter: 119  total_loss: 1.2  time: 0.3  data_time: 0.1  max_mem: 5012M": (
        Step(119, None, 0.3, None, 0.1, None, 5012.0)
    ),
}


@pytest.mark.parametrize(("line", "step"), STEPS.items(), ids=[str(number) for number in range(len(STEPS))])
def test_a_step_in_the_words_of_each_library(line: str, step: Step) -> None:
    assert step_in(line) == step


@pytest.mark.parametrize(
    "line",
    [
        "Downloading shards: 100%|██████████| 30/300 [00:10<00:00,  3.5s/it]",
        "gpu-02:812:930 [3] NCCL INFO Channel 00/16 : 0[0] -> 1[1] via P2P/CUMEM",
        "step 10 of the installer",
        "Map (num_proc=8): 40%|████ | 4000/10000 [00:03<00:05, 1100.10 examples/s]",
        "slurmstepd: error: *** STEP 4242.0 ON gpu-01 CANCELLED AT 2026-03-01T12:00:00 DUE TO TIME LIMIT ***",
    ],
)
def test_other_lines_are_no_steps(line: str) -> None:
    assert step_in(line) is None


@settings(max_examples=40)
@given(st.text(max_size=200))
def test_no_line_is_too_odd(line: str) -> None:
    step_in(line)
    step_in(f" iteration  5/ 10 | elapsed time per iteration (ms): 10.0 | {line}")


def said(text: str, name: str, now: float = NOW, **more: Any) -> list[Any]:
    """What a parser makes of a text, all types together."""
    output = Output(Command(("cat", "x")), pages=(text.encode(),), time=now, source="x.txt", **more)
    facts: dict[str, list[Any]] = load(name)(output, ABOUT)
    return [one for found in facts.values() for one in found]


def log(seconds: list[float], every: int = 10, start: int = 0) -> str:
    """A program's log: a step every so many seconds."""
    rows = []
    for number, taken in enumerate(seconds):
        at = start + every * number
        moment = f"2026-03-01T{11 + at // 3600:02d}:{at // 60 % 60:02d}:{at % 60:02d}Z"
        rows.append(f"{moment} iteration {number + 1:6d}/ 5000 | elapsed time per iteration (ms): {1000 * taken:.1f} | lm loss: 2.3 |")
    return "\n".join(rows) + "\n"


def test_the_pace_of_a_program() -> None:
    one: Pace = said(log([2.0 + number % 3 / 100 for number in range(60)]), "training.log")[0]
    assert (one.step, one.total, one.lines, one.slower, one.every) == (60, 5000, 60, 1.0, 10.0)
    assert one.seconds == pytest.approx(2.01)
    assert one.silent == 3600 - 590


def test_since_when_it_is_slower() -> None:
    one: Pace = said(log([2.0] * 40 + [3.0] * 40), "training.log")[0]
    assert (one.slower, one.since) == (1.5, 41)


def test_a_single_long_step_is_no_change() -> None:
    assert said(log([2.0] * 30 + [90.0] + [2.0] * 30), "training.log")[0].slower == 1.0


def test_a_new_life_forgets_the_old_one() -> None:
    again = said(log([2.0] * 40) + log([4.0] * 30, start=500), "training.log")[0]
    assert (again.step, again.seconds, again.slower) == (30, 4.0, 1.0)


def test_the_pace_of_a_long_log_by_its_ends(tmp_path: Path) -> None:
    file = tmp_path / "train.log"
    file.write_text(log([2.0] * 3000 + [3.0] * 3000, every=2))
    assert file.stat().st_size > 2 * long_texts.LOG
    gathered = gather([str(file)])
    one: Pace = gathered.facts["paces"][0]  # type: ignore[assignment]
    assert (one.step, one.slower, one.origin.line) == (6000, 1.5, 6000)
    assert gathered.inputs[0].recognised_as == ["logs.text", "training.log"]


def test_a_bar_that_writes_over_itself() -> None:
    bar = "\r".join(f" {number}%|█ | {number}0/1000 [00:{number:02d}<01:00,  1.00s/it]" for number in range(10, 40)) + "\n"
    assert said(bar, "training.log")[0].step == 390


def test_what_rises_and_what_changes() -> None:
    assert steady_rise([float(number) for number in range(40)]) == 30.0
    assert steady_rise([1.0] * 40) == 0.0
    assert change([1.0, 2.0]) == (None, None)
    assert change([3.0] * 20 + [2.0] * 20) == (1.0, None)  # faster is no fault


@settings(max_examples=30)
@given(st.lists(st.floats(0.001, 1000.0), max_size=60))
def test_any_readings(readings: list[float]) -> None:
    factor, place = change(readings)
    assert (factor is None) == (len(readings) < 4)
    assert place is None or (factor is not None and factor > 1)


DF = """Filesystem                      1K-blocks        Used   Available Use% Mounted on
/dev/nvme0n1p2                  459850824   121340036   315078636  28% /
tmpfs                           132006528           0   132006528   0% /dev/shm
/dev/loop3                          65536       65536           0 100% /snap/core20/2318
10.1.2.3@o2ib:10.1.2.4@o2ib:/fs 1048576000 1048576000           0 100% /lustre/ml
a-very-long-name-of-a-server.cluster.example:/export/scratch
                                1048576000   524288000   524288000  50% /scratch
"""


def test_df() -> None:
    found: list[FileSystem] = said(DF, "linux.df")
    assert [(one.mount, one.remote, one.full) for one in found] == [
        ("/", False, False),
        ("/lustre/ml", True, True),
        ("/scratch", True, False),
    ]
    assert found[0].size == 459850824 * 1024


def test_df_with_units_types_and_inodes() -> None:
    human = "Filesystem     Type    Size  Used Avail Use% Mounted on\nbeegfs_nodev   beegfs  1.2P  1.2P     0 100% /work\n"
    assert said(human, "linux.df")[0].full
    inodes = "Filesystem      Inodes   IUsed   IFree IUse% Mounted on\n/dev/sda1      6553600 6553600       0  100% /var\n"
    one: FileSystem = said(inodes, "linux.df")[0]
    assert (one.counts, one.full, one.remote, one.size) == ("inodes", True, False, 6553600.0)


def test_df_that_hangs_says_so() -> None:
    assert said("", "linux.df", failure="timeout", reason="no answer within 20 s")[0].problem == "timeout"
    with pytest.raises(ParseError, match=r"x\.txt"):
        said("hello\n", "linux.df")


def test_ps() -> None:
    text = """USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND
root           1  0.0  0.0 168140 11000 ?        Ss   Feb20   0:10 /sbin/init
ml         48213 99.0  1.2 999999 99999 ?        Dl   10:00 120:00 /usr/bin/python3 train.py --rank 3
ml         48214  0.0  0.0      0     0 ?        Z    10:00   0:00 [python3] <defunct>
"""
    found: list[Process] = said(text, "linux.ps")
    assert [(one.pid, one.process, one.state) for one in found] == [(48213, "python3", "D"), (48214, "[python3]", "Z")]
    assert said("S   PID COMMAND\nS     1 init\n", "linux.ps") == []


@pytest.mark.parametrize(
    ("channel", "waits"),
    [("rpc_wait_bit_killable", "network_file_system"), ("cl_sync_io_wait", "network_file_system"), ("os_acquire_rwlock_write", "driver")],
)
def test_what_a_process_sleeps_in(channel: str, waits: str) -> None:
    assert said(f"S PID ELAPSED WCHAN COMMAND\nD 7 20 {channel} x\n", "linux.ps")[0].waits_in == waits


# --- how GPUs are used


def samples(utilisation: list[float], power: list[float], index: int = 0, every: float = 30.0, **more: Any) -> list[GpuSample]:
    """What one GPU did, the last moment now."""
    count = len(utilisation)
    return [
        GpuSample(
            node="gpu-01",
            gpu=f"GPU-{index}",
            uuid=f"GPU-{index}",
            index=index,
            product="NVIDIA H100 80GB HBM3",
            time=NOW - every * (count - 1 - at),
            utilisation=utilisation[at],
            power=power[at % len(power)],
            power_limit=700.0,
            memory_used=61020.0,
            memory_free=20100.0,
            **more,
        )
        for at in range(count)
    ]


def measured(*gpus: list[GpuSample], **more: list[Fact]) -> tuple[list[GpuUse], NodeUse]:
    """The measurements of one node."""
    facts = measure_gpu_use({"gpu_samples": [one for gpu in gpus for one in gpu], **more}, {}, NOW)
    return facts["gpu_use"], facts["node_use"][0]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("utilisation", "power", "state"),
    [
        ([100.0] * 9, [120.0], "spins"),
        ([100.0] * 9, [640.0, 400.0], "works"),
        ([0.0] * 9, [70.0], "idle"),
        ([100.0, 0.0] * 4, [120.0, 80.0], "works"),  # small, but work: it pauses
    ],
)
def test_the_state_of_a_gpu(utilisation: list[float], power: list[float], state: str) -> None:
    assert measured(samples(utilisation, power))[0][0].state == state


def test_what_it_did_before_counts_apart() -> None:
    uses, node = measured(samples([98.0] * 30 + [100.0] * 21, [120.0]))
    assert (uses[0].state, uses[0].worked_before, node.fell) == ("spins", True, 1)


def test_power_of_a_lowered_limit_is_compared_with_the_default() -> None:
    low = [
        GpuSample(node="a", gpu="g", time=NOW + at, utilisation=100.0, power=110.0, power_limit=200.0, power_limit_default=700.0)
        for at in (0, 1)
    ]
    assert measured(low)[0][0].state == "spins"


def test_one_that_is_apart() -> None:
    gpus = [samples([99.0] * 10, [600.0], index, sm_active=0.8 if index != 2 else 0.5, holder="ml/train-0") for index in range(5)]
    uses, node = measured(*gpus)
    assert [round(one.apart, 2) if one.apart is not None else None for one in uses] == [None, None, -0.3, None, None]
    assert node.together


def test_who_holds_a_gpu() -> None:
    gpu = Gpu(node="gpu-01", gpu="GPU-0", uuid="GPU-0", index=0, processes=0)
    empty = [replace(one, memory_used=4.0) for one in samples([0.0] * 9, [70.0])]
    assert measured(empty, gpus=[gpu])[0][0].held is False
    program = GpuProcess(node="gpu-01", gpu="GPU-0", uuid="GPU-0", pid=7, process="/usr/bin/python3 x", kind="C")
    uses, _ = measured(empty, gpus=[gpu], gpu_processes=[program])
    assert (uses[0].held, uses[0].processes) == (True, 1)


# --- distributed jobs


def test_a_job_is_slow() -> None:
    assert pace_of("running", {"paces": [Pace(slower=1.4)]}) == "slow"
    assert pace_of("running", {"paces": [Pace(slower=1.05)]}) == "running"
    assert pace_of("hang", {"paces": [Pace(slower=1.4)]}) == "hang"
    assert pace_of("running", {"messages": [Message(name="ranks_named_slow", source="log")]}) == "slow"


def test_an_address_that_ras_names_is_the_host_that_has_it() -> None:
    logs = [Rank(rank=0, node="gpu-11", address="10.20.0.11"), Rank(rank=1, node="gpu-12", address="10.20.0.12")]
    ras = Rank(rank=5, node="10.20.0.12", ras="unresponsive")
    other = Rank(rank=6, node="10.20.0.13", ras="unresponsive")
    nodes = [Node(node="gpu-13", addresses=["10.20.0.13", "gpu-13"])]
    found = members({"ranks": [*logs, ras, other], "nodes": [*nodes]})[""]
    assert [one.node for one in found] == ["gpu-11", "gpu-12", "gpu-12", "gpu-13"]


# --- pasted texts, from the text to the cause


def causes(folder: Path, *texts: str) -> tuple[str, list[str], list[str]]:
    """Verdict, causes that are found and candidates, of files with these texts."""
    for number, text in enumerate(texts):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    read = gather([str(folder)])
    report = analyze(library(), read.facts, read.inputs, read.now)
    return report.verdict, [one.cause for one in report.findings], [one.cause for one in report.candidates]


def loop(rows: list[tuple[int, float, int]], gpus: int = 4, every: int = 5) -> str:
    """`nvidia-smi --query-gpu=… --format=csv -l 5` of equal GPUs: utilisation, power, memory at some moments."""
    made = ["timestamp, index, utilization.gpu [%], power.draw [W], power.limit [W], memory.used [MiB], memory.total [MiB]"]
    for number, (busy, watts, held) in enumerate(rows):
        at = number * every
        moment = f"2026/03/01 12:{at // 60:02d}:{at % 60:02d}.100"
        made += [f"{moment}, {index}, {busy} %, {watts + index / 10:.2f} W, 700.00 W, {held} MiB, 81559 MiB" for index in range(gpus)]
    return "\n".join(made) + "\n"


DMON = "# gpu    pwr  gtemp  mtemp     sm    mem     fb   mclk   pclk\n# Idx      W      C      C      %      %     MB    MHz    MHz\n"


def test_a_loop_of_nvidia_smi_in_a_hang(tmp_path: Path) -> None:
    assert causes(tmp_path, loop([(100, 121.0, 61020)] * 8))[1] == ["collective-hang", "gpu-util-misleading-low-real-use"]


def test_a_loop_at_work_is_quiet(tmp_path: Path) -> None:
    assert causes(tmp_path, loop([(100, 640.0, 61020), (97, 402.0, 61020)] * 6))[:2] == ("healthy", [])


def test_idle_gpus_that_nobody_holds_are_quiet(tmp_path: Path) -> None:
    assert causes(tmp_path, loop([(0, 70.0, 4)] * 12))[:2] == ("healthy", [])


def test_dmon_of_one_gpu_that_is_outside(tmp_path: Path) -> None:
    rows = [
        f"{n:5d}  {85 if n == 3 else 118:5d}     38     40  {0 if n == 3 else 100:5d}      0  61020   2619   1980\n"
        for _ in range(6)
        for n in range(8)
    ]
    assert causes(tmp_path, DMON + "".join(rows))[1][0] == "hang-one-rank-outside-collective"


def test_power_alone_is_no_verdict(tmp_path: Path) -> None:
    verdict, found, candidates = causes(tmp_path, "".join(f"{66 + number}.25 W, 700.00 W\n" for number in range(8)))
    assert (verdict, found, candidates) == ("inconclusive", [], ["collective-hang"])


def test_the_exporters_text_of_a_gpu_that_only_seems_busy(tmp_path: Path) -> None:
    labels = 'gpu="0",UUID="GPU-5a0c1f2e-0000-4000-8000-000000000000",modelName="NVIDIA H100 80GB HBM3",Hostname="gpu-02"'
    values = {
        "DEV_GPU_UTIL": 100,
        "PROF_GR_ENGINE_ACTIVE": 1.0,
        "PROF_PIPE_TENSOR_ACTIVE": 0.0,
        "PROF_DRAM_ACTIVE": 0.001,
        "DEV_FB_USED": 61020,
    }
    text = "".join(f"DCGM_FI_{name}{{{labels}}} {value}\n" for name, value in values.items())
    assert causes(tmp_path, text)[:2] == ("inconclusive", ["gpu-util-misleading-low-real-use"])


def test_memory_that_stays_full(tmp_path: Path) -> None:
    assert causes(tmp_path, loop([(93, 600.0, 80300)] * 30, gpus=1, every=10))[1] == ["gpu-memory-pressure"]


def test_a_full_file_system(tmp_path: Path) -> None:
    assert causes(tmp_path, DF)[1] == ["shared-filesystem-full"]


def test_a_list_of_sleeping_processes_is_a_candidate(tmp_path: Path) -> None:
    text = "S     PID ELAPSED WCHAN                            COMMAND\nD   48213   51034 rpc_wait_bit_killable            python3\n"
    assert causes(tmp_path, text)[2] == ["shared-filesystem-hang"]


def test_a_log_that_went_on_without_steps(tmp_path: Path) -> None:
    text = log([2.0] * 40) + "2026-03-01T11:59:00Z heartbeat of the metrics server\n"
    assert causes(tmp_path, text)[1] == ["training-stalled"]


def test_a_log_that_got_slower(tmp_path: Path) -> None:
    assert causes(tmp_path, log([2.0] * 40 + [2.8] * 40))[1] == ["slow-gpu-straggler"]


def test_a_log_that_came_to_its_end_is_quiet(tmp_path: Path) -> None:
    text = log([2.0] * 40).replace("/ 5000", "/   40") + "2026-03-01T11:59:00Z done\n"
    assert causes(tmp_path, text)[:2] == ("healthy", [])


def test_steps_that_wait_for_data(tmp_path: Path) -> None:
    rows = [
        f"Epoch: [0][{10 * number:5d}/5005]\tTime  0.9{number % 10}0 ( 0.910)\tData  0.550 ( 0.540)\tLoss 6.9e+00" for number in range(30)
    ]
    assert causes(tmp_path, "\n".join(rows))[1] == ["gpu-starved-by-input"]


def test_the_functions_of_many_ranks(tmp_path: Path) -> None:
    stack = 'Thread 7 (idle): "MainThread"\n    wait (threading.py:306)\n    _try_get_data (torch/utils/data/dataloader.py:1011)\n'
    assert causes(tmp_path, stack, "gpu-07\n" + "    all_reduce\n" * 7 + "    wait\n")[1] == ["dataloader-worker-deadlock"]


def test_prose_is_no_list_of_functions() -> None:
    from gpudoctor.intake.hints import of_section

    text = "broadcast\nall_reduce\nall_reduce\nbarrier\nand then the job hung for an hour\n"
    assert [one.name for one in recognise(text, of_section("x.txt", ""))] != ["python.functions"]


def test_the_holder_is_the_workload_and_not_the_exporter() -> None:
    metric = {
        "__name__": "DCGM_FI_DEV_GPU_UTIL",
        "UUID": "GPU-1",
        "pod": "dcgm-exporter-x7",
        "exported_pod": "train-0",
        "exported_namespace": "ml",
    }
    text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": [{"metric": metric, "values": [[NOW, "7"]]}]}})
    assert said(text, "prometheus.range")[0].holder == "ml/train-0"


@pytest.mark.parametrize("since", [0, 31_000])
def test_a_long_log_is_read_in_parts_and_says_the_same(since: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def took(step: int) -> float:
        return 1.0 if not since or step < since else 3.0

    text = "\n".join(f"step {step}/90000 | loss 2.{step % 10} | step_time: {took(step)} s" for step in range(60_000))
    output = Output(Command(()), pages=(text.encode(),))
    (some,) = training_log.pace(output, Subject(kind="cluster"))["paces"]
    monkeypatch.setattr(training_log, "MANY", 1_000_000)
    monkeypatch.setattr(training_log, "MOST", 1_000_000)
    (every,) = training_log.pace(output, Subject(kind="cluster"))["paces"]
    assert isinstance(some, Pace)
    assert isinstance(every, Pace)
    assert some.lines < 15_000 < every.lines
    assert (some.step, some.total, some.origin.line > 0) == (every.step, every.total, True) == (59_999, 90_000, True)
    assert some.seconds == pytest.approx(every.seconds)
    if since:
        assert some.slower == pytest.approx(every.slower or 0.0, rel=0.1)
        assert some.since is not None
        assert abs(some.since - since) < 100


def test_lines_that_are_alike_are_measured_once_in_a_while() -> None:
    lines = [f"step {n} data 0.{n % 10} s fwd 1.0 s" for n in range(10_000)]
    lines[5_000] = "p99 latency: 812 ms"
    kept = measures.numbered_lines(lines)
    assert len(kept) == measures.ALIKE + 1 + measures.LAST
    assert (5_001, "p99 latency: 812 ms") in kept
    assert kept[-1][0] == 10_000


@pytest.mark.parametrize(("below", "candidates"), [("", ["gpu-allocated-idle"]), ("step:{0}/1000 train_loss:4.21 step_time:120ms\n", [])])
def test_a_table_that_a_program_prints_as_it_begins_tells_of_no_rest(tmp_path: Path, below: str, candidates: list[str]) -> None:
    report = diagnosed(tmp_path, smi_table(list(cards(**IDLE))) + "\n" + "".join(below.format(step) for step in range(1, 40)))
    assert [one.cause for one in report.candidates] == candidates
    assert not [one for one in report.findings if one.severity != "info"]


STAGES = [40] * 300 + [63] * 300
STAGED = "".join(f"step:{at}/600 train_time:{sum(STAGES[:at])}ms step_avg:{sum(STAGES[:at]) / at:.2f}ms\n" for at in range(2, 600))
LONGER = "".join(f"step:{at}/600 train_time:{sum(STAGES[:at])}ms step_time:{STAGES[at]}ms\n" for at in range(2, 600))


def test_a_schedule_with_longer_steps_moves_a_mean_and_is_no_change(tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, STAGED), "")


def test_steps_that_take_longer(tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, LONGER), "slow-gpu-straggler")
