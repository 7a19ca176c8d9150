"""`dcgmi stats -v -j JOB` and `-v -p PID`: what a job or process did on each GPU. Without -v one box sums up all GPUs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.dcgm import DcgmStats, ErrorReading
from gpudoctor.facts.gpu import GpuSample
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import amount, box_rows, gpu_name, not_read, number, problem

# Successfully retrieved statistics for job: train-7.   |   Successfully retrieved process info for PID: 4242. Process ran on 2 GPUs.
JOB = regex(r"Successfully retrieved statistics for job: (\S{1,64}?)\.?\s*\Z")
PID = regex(r"Successfully retrieved process info for PID: (\d{1,9})\.")
GPU = regex(r"GPU ID: (\d{1,4})\Z")
# Avg: 1395, Max: 1410, Min: 1380
AVERAGE = regex(r"Avg: (\S{1,20}?),")
# Avg: 0, Max: 0, Min: 0
HIGHEST = regex(r"Avg: \S{1,20}?, Max: (\S{1,20}?)(?:,|$)")
# Due to - Power (%)   |          - Thermal (%)
SLOWDOWN = regex(r"(?:Due to )?- (\w[\w ]{1,20}?) \(%\)")
REASONS = {
    "Power": "power",
    "Thermal": "thermal",
    "Reliability": "reliability",
    "Board Limit": "board_limit",
    "Low Utilization": "low_utilisation",
    "Sync Boost": "sync_boost",
}
Box = tuple[int | None, dict[str, str], Origin]


def stats(output: Output, about: Subject) -> Facts:
    """One record for each GPU, or one for the summary; a record with a `problem` where dcgmi says why there is none."""
    job, pid = "", None
    for _, line in lines(output):
        if named := JOB.search(line):
            job = named.group(1)
        elif process := PID.search(line):
            pid = int(process.group(1))
    boxes: list[Box] = []
    for row in box_rows(output):
        left, right = row.left.strip(" *"), row.right.strip()
        gpu = GPU.match(left)
        if gpu or left == "Summary":
            boxes.append((int(gpu.group(1)) if gpu else None, {}, row.origin(output)))
        elif boxes and left and right:
            boxes[-1][1].setdefault(left, right)
    if not boxes:
        word, origin = problem(output)
        if not word and not job and pid is None:
            raise not_read(output, "an answer of `dcgmi stats`")
        return {"dcgm_stats": [DcgmStats(node=about.node, job=job, pid=pid, problem=word, origin=origin)] if word else []}
    made = [record(box, job, pid, about) for box in boxes]
    return {
        "dcgm_stats": list(made),
        "gpu_samples": [sample for box, one in zip(boxes, made, strict=True) for sample in idle_samples(box, one)],
        "error_readings": [reading for one in made for reading in error_readings(one)],
    }


def error_readings(one: DcgmStats) -> Iterator[ErrorReading]:
    """What was counted while the job ran: none when it began, and so many when it ended."""
    counts = (("Double Bit ECC Errors", "ecc_uncorrected", one.ecc_double), ("PCIe Replay Warnings", "pcie_replays", one.pcie_replays))
    for metric, about, count in counts:
        if count is not None and one.seconds is not None and one.gpu:
            for value, moment in ((0.0, 0.0), (float(count), one.seconds)):
                yield ErrorReading(
                    node=one.node, gpu=one.gpu, index=one.index, metric=metric, about=about, value=value, time=moment, origin=one.origin
                )


def idle_samples(box: Box, one: DcgmStats) -> Iterator[GpuSample]:
    """Of a GPU whose highest utilisation in the whole time was 0: what it did at the beginning and at the end. Nothing for any other."""
    _, values, _ = box
    highest = HIGHEST.match(values.get("SM Utilization (%)", ""))
    start = began(values.get("Start Time", ""))
    if one.index is None or one.seconds is None or start is None or highest is None or amount(highest[1]) != 0:
        return
    memory = amount(values.get("Max GPU Memory Used (bytes)", ""))
    for time in (start, start + one.seconds):
        yield GpuSample(
            node=one.node,
            gpu=one.gpu,
            index=one.index,
            time=time,
            utilisation=0.0,
            memory_used=memory / (1 << 20) if memory is not None else None,
            origin=one.origin,
        )


def began(text: str) -> float | None:
    """The time that ctime(3) writes, in seconds; without a zone it is taken for UTC, since only differences matter."""
    try:
        return datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def record(box: Box, job: str, pid: int | None, about: Subject) -> DcgmStats:
    """One box. Slowdowns are printed as per cent of the run's time."""
    index, values, origin = box
    seconds = amount(values.get("Total Execution Time (sec)", ""))
    shares = {REASONS.get(match.group(1), ""): amount(text) for name, text in values.items() if (match := SLOWDOWN.match(name))}
    clock = AVERAGE.match(values.get("SM Clock (MHz)", ""))
    return DcgmStats(
        node=about.node,
        gpu=gpu_name("GPU", index),
        index=index,
        job=job,
        pid=pid,
        seconds=seconds,
        energy=amount(values.get("Energy Consumed (Joules)", "")),
        sm_clock=amount(clock.group(1)) if clock else None,
        throttled={name: share * seconds / 100 for name, share in shares.items() if name and share is not None and seconds is not None},
        ecc_double=number(values.get("Double Bit ECC Errors")),
        pcie_replays=number(values.get("PCIe Replay Warnings")),
        xid_count=number(values.get("Critical XID Errors")),
        gaps={} if seconds is not None else {"seconds": values.get("Total Execution Time (sec)", "not shown")[:40]},
        origin=origin,
    )
