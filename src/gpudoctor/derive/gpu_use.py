"""How GPUs are used: each from its samples, then those of one node together, since ranks of a job wait for each other.

`utilization.gpu` (DCGM_FI_DEV_GPU_UTIL) is the share of time in which a kernel ran, however small (nvidia-smi(1)): a GPU whose kernel
only waits for another rank is at 100 %. What it really does shows in its power, and in DCGM's profiling counters where they are on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from msgspec.structs import replace

from gpudoctor.derive.gpu_balance import activity_spread, beside_nodes, compare_gpus, with_faster
from gpudoctor.derive.job_ranks import of_type
from gpudoctor.derive.throttling import by_gpu, field_mean, first_name, lookup_keys, values
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample
from gpudoctor.facts.slurm import SlurmJob
from gpudoctor.facts.stall import GpuUse, NodeUse
from gpudoctor.knowledge.trend import climb, lives, steady_rise

# Per cent of the time, and the share of it: what cullers of idle GPUs call idle (gpu-pruner, --idle-threshold 0.01: the counters' noise).
IDLE, IDLE_ENGINE = 1.0, 0.01
BUSY, BUSY_ENGINE = 95.0, 0.95  # a kernel runs all the time
# Of the power limit. A kernel that polls for its peer holds a few SMs at full clock: 90 to 180 W of 700 on an H100, 80 to 100 of 400 on
# an A100; the least demanding work that keeps a GPU busy draws 40 % and more. Between them (our choice).
LITTLE = 0.30
SMS = 0.25  # of the SMs: such a kernel has a block for each of its 16 to 32 channels, on 108 SMs and more (DCGM calls 0.5 ineffective)
NEARLY_NONE = 0.05  # of the SMs, averaged over the time: about as many as such a kernel holds (our choice)
TENSOR, DRAM = 0.01, 0.02  # what such a kernel uses of the tensor pipe and of the memory's bandwidth, at most
STEADY = 0.05  # share by which power may vary from the mean, for "nothing happens": steps of a program make waves (our choice)
RECENT = 600.0  # s: what a GPU does now; a collective's own time-out is 10 minutes (PyTorch, NCCL process groups)
AVERAGED = 120.0  # s
WORKED = 30.0  # per cent of utilisation, above which a GPU had work before
EMPTY = 100  # MiB: a CUDA context alone takes more
CONTEXT = 1024  # MiB: above it a program has data on the GPU; a CUDA context or a desktop takes some hundred
COMPUTE = ("C", "M", "C+G", "M+C", "")  # kinds of process that compute
LACKED = (("utilisation", "utilisation"), ("memory_share", "memory_used"))  # in MIG mode; where GPU and host share their memory


def measure_gpu_use(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """A GpuUse for each GPU that was sampled, and a NodeUse for each node."""
    gpus = of_type(facts.get("gpus", []), Gpu)
    known = {key: gpu for gpu in gpus for key in lookup_keys(gpu)}
    programs = holders(of_type(facts.get("gpu_processes", []), GpuProcess))
    made: dict[str, list[GpuUse]] = defaultdict(list)
    names: dict[str, list[set[str]]] = defaultdict(list)
    for samples in by_gpu(of_type(facts.get("gpu_samples", []), GpuSample), gpus):
        gpu = next((known[key] for sample in samples for key in lookup_keys(sample) if key in known), Gpu())
        mine = programs.get((samples[0].node, gpu.gpu or first_name(samples, "gpu")))
        one = of_gpu(samples, gpu, mine)
        made[one.node].append(one)
        if one.held:
            names[one.node].append({one.holder} if one.holder else mine or set())
    uses = {node: compare_gpus(own, held_by_one_job(names[node])) for node, own in made.items()}
    faster = beside_nodes(one for own in uses.values() for one in own)
    jobs = [job for job in of_type(facts.get("slurm_jobs", []), SlurmJob) if job.state == "RUNNING" and not job.step and job.elapsed]
    return {
        "gpu_use": [with_faster(one, faster) for own in uses.values() for one in of_job(own, jobs)],
        "node_use": [of_node(node, own, held_by_one_job(names[node])) for node, own in uses.items()],
    }


def of_job(uses: list[GpuUse], jobs: Sequence[SlurmJob]) -> list[GpuUse]:
    """The GPUs of a node; those with nothing in their memory are the job's where it has all of them, or no other uses one."""
    empty = [one for one in uses if is_empty(one)]
    job = next((job for job in jobs if job.gpus == len(uses) or (job.gpus is None and len(empty) == len(uses))), None)
    if job is None or 2 * len(empty) < len(uses):
        return uses
    mine = f"job {job.workload}"
    return [replace(one, held=True, holder=mine, held_for=job.elapsed) if is_empty(one) and not one.holder else one for one in uses]


def is_empty(one: GpuUse) -> bool:
    """Whether nothing runs on it and nothing is in its memory."""
    return one.state == "idle" and not one.processes and one.memory_used is not None and one.memory_used < EMPTY


def holders(processes: Iterable[GpuProcess]) -> dict[tuple[str, str], set[str]]:
    """(node, GPU) → the names of the programs that compute on it, without their folders."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in processes:
        if one.kind in COMPUTE and one.gpu:
            found[one.node, one.gpu].add(one.process.split(" ")[0].rpartition("/")[2] or "?")
    return found


def of_gpu(samples: list[GpuSample], gpu: Gpu, programs: set[str] | None) -> GpuUse:
    """One GPU. What it does is told by its last ten minutes; how long it has been idle, and whether its memory grows, by all samples."""
    last = samples[-1]
    times = values(samples, "time")
    now = [one for one in samples if one.time is None or last.time is None or one.time >= last.time - RECENT]
    before = values(samples[: len(samples) - len(now)], "utilisation")
    use = sorted(values(now, "utilisation"))
    power = values(now, "power")
    idle = [quiet for one in samples if (quiet := without_work(one)) is not None]
    holder = first_name(samples, "holder")
    memory = last_of(samples, "memory_used")
    held = lives(values(samples, "memory_used"))
    count = len(programs) if programs is not None else gpu.processes if gpu.processes is not None else last_of(samples, "processes")
    doing = state(now)
    return GpuUse(
        node=last.node,
        gpu=first_name(samples, "uuid") or first_name(samples, "pci") or gpu.gpu or first_name(samples, "gpu"),
        uuid=first_name(samples, "uuid"),
        pci=first_name(samples, "pci"),
        index=next((one.index for one in samples if one.index is not None), gpu.index),
        product=first_name(samples, "product") or gpu.product,
        samples=len(samples),
        seconds=max(max(times) - min(times) if times else 0.0, *(one.span for one in samples)),
        averaged=any(one.span >= AVERAGED for one in samples),
        state=doing,
        utilisation=fmean(use) if use else None,
        utilisation_lowest=use[len(use) // 20] if use else None,
        utilisation_highest=use[-1 - len(use) // 20] if use else None,
        idle_share=idle.count(True) / len(idle) if idle else None,
        # One reading after a long pause may be the end of a program, or one more of its pauses.
        worked_before=fmean(before) >= WORKED if before and len(now) > 1 else None,
        sm_active=field_mean(now, "sm_active"),
        tensor_active=field_mean(now, "tensor_active"),
        power=fmean(power) if power else None,
        power_share=power_share(now),
        power_limit=last_of(samples, "power_limit"),
        power_steady=max(abs(one - fmean(power)) for one in power) <= STEADY * fmean(power) if len(power) > 1 else None,
        sm_clock=field_mean(now, "sm_clock"),
        temperature=field_mean(now, "temperature"),
        memory_used=memory,
        memory_share=memory_share(now, gpu),
        memory_rise=steady_rise(values(samples, "memory_used")),
        memory_climb=climb(values(samples, "memory_used")) if len(held) < 2 else max(0.0, *(climb(one) or 0.0 for one in held)),
        memory_lives=sum((climb(one) or 0.0) > 0 for one in held),
        processes=None if count is None else int(count),
        held=is_held(count, holder, memory, running=doing in ("spins", "works")),
        holder=holder,
        gaps={made: last.gaps[read] for made, read in LACKED if read in last.gaps and not values(samples, read)},
        origin=last.origin,
        time=last.time,
    )


def is_held(programs: float | None, holder: str, memory: float | None, *, running: bool) -> bool | None:
    """Whether somebody has the GPU: a pod, a program, data in its memory; where none of that is known, a kernel that runs."""
    if holder or programs:
        return True
    if memory is None:
        return False if programs == 0 else True if running else None
    return memory >= CONTEXT


def without_work(sample: GpuSample) -> bool | None:
    """Whether nothing ran in a sample."""
    if sample.utilisation is not None:
        return sample.utilisation <= IDLE
    active = sample.engine_active if sample.engine_active is not None else sample.sm_active
    return None if active is None else active <= IDLE_ENGINE


def state(samples: Sequence[GpuSample]) -> str:
    """What a GPU does in all of its samples: idle, spins, works; "" where its utilisation isn't known."""
    told = [sample for sample in samples if without_work(sample) is not None]
    # Where each metric was asked for by itself, only the samples of one of them tell of pauses.
    told = [sample for sample in told if sample.utilisation is not None or sample.engine_active is not None] or told
    if not told:
        return ""
    if all(map(without_work, told)):
        return "idle"
    if not all(map(without_pause, told)):
        return "works"
    little = does_little(samples)
    return "" if little is None else "spins" if little else "works"


def without_pause(sample: GpuSample) -> bool:
    """Whether a kernel ran all the time."""
    if sample.utilisation is not None:
        return sample.utilisation >= BUSY
    return (sample.engine_active or 0.0) >= BUSY_ENGINE


def does_little(samples: Sequence[GpuSample]) -> bool | None:
    """Whether power, and the counters of tensor cores and memory where they were read, say that next to nothing is computed."""
    tensor, dram, copied = (field_mean(samples, field) for field in ("tensor_active", "dram_active", "memory_utilisation"))
    share = power_share(samples)
    if share is not None and share > LITTLE:
        return False
    sms = field_mean(samples, "sm_active")
    if sms is not None and sms <= NEARLY_NONE:
        return True
    if tensor is not None and dram is not None:
        return tensor <= TENSOR and dram <= DRAM
    if tensor is not None and sms is not None and share is None:  # a kernel that waits holds a few of the SMs
        return tensor <= TENSOR and sms <= SMS
    if share is None and copied is not None:
        return copied <= IDLE
    return None if share is None else True


def power_share(samples: Sequence[GpuSample]) -> float | None:
    """The mean power over the limit: the default one where somebody lowered the limit."""
    limits = [limit for one in samples if (limit := max(one.power_limit or 0.0, one.power_limit_default or 0.0))]
    power = field_mean(samples, "power")
    return power / max(limits) if limits and power is not None else field_mean(samples, "power_share")


def memory_share(samples: Sequence[GpuSample], gpu: Gpu) -> float | None:
    """The lowest share of the memory in use, of what programs can have: what the driver reserves is in neither used nor free."""
    shares = []
    for one in samples:
        total = one.memory_total if one.memory_total is not None else gpu.memory_total
        free = one.memory_free if one.memory_free is not None else None
        if one.memory_used is None or (free is None and total is None):
            continue
        whole = one.memory_used + free if free is not None else (total or 0.0) - (gpu.memory_reserved or 0)
        shares.append(min(1.0, one.memory_used / whole) if whole > 0 else 0.0)
    return min(shares, default=None)


def last_of(samples: Sequence[GpuSample], field: str) -> float | None:
    """The newest reading of a field."""
    return next(iter(reversed(values(samples, field))), None)


def held_by_one_job(names: Sequence[set[str]]) -> bool:
    """Whether one pod, or programs of one name, have all GPUs that are held."""
    return len(names) > 1 and bool(names[0]) and all(one == names[0] for one in names)


def of_node(node: str, uses: list[GpuUse], one_job: bool) -> NodeUse:
    """The GPUs of one node together."""
    held = [one for one in uses if one.held]
    spinning = [one for one in held if one.state == "spins"]
    odd = [one for one in held if one.state == "idle"] if 2 * len(spinning) >= len(held) and spinning else []
    shares = [one.power_share for one in uses if one.power_share is not None]
    first = next(iter(spinning or held or uses))
    waves = [one.power_steady for one in spinning if one.power_steady is not None]
    names = ["?" if one.index is None else str(one.index) for one in odd]
    return NodeUse(
        node=node,
        gpus=len(uses),
        held=len(held),
        idle=sum(one.state == "idle" for one in held),
        spinning=len(spinning),
        working=sum(one.state == "works" for one in held),
        unsaid=sum(one.held is None for one in uses),
        unread=sum(one.state == "" for one in uses),
        odd=names,
        odd_text=", ".join(names),
        steady=all(waves) if waves else None,
        together=one_job,
        spread=activity_spread(held),
        fell=sum(one.worked_before is True and one.state in ("idle", "spins") for one in held),
        samples=min(one.samples for one in uses),
        seconds=max(one.seconds for one in uses),
        power_share=fmean(shares) if shares else None,
        power_share_highest=max(shares, default=None),
        origin=first.origin,
        time=first.time,
    )
