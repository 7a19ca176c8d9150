"""GPUs whose memory is full, held by another program, or grows; and workers that outlive their server."""

from __future__ import annotations

from dataclasses import replace

from tests.nodes.case import Case, Said
from tests.nodes.smi import Card, Process, smi_xml
from tests.nodes.watched import (
    AT_REST,
    FREE,
    FULL_LOAD,
    USED,
    UTIL,
    WAVES,
    cards,
    changed,
    kept,
    log,
    megatron,
    node,
    seen_by,
    table,
    unready,
)

OUT = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
PARENTS = "    PID    PPID COMMAND\n      1       0 {}\n   1204       1 sshd\n  48231 {:>7} VLLM::EngineCor\n"


def held(*each: tuple[Process, ...]) -> tuple[Card, ...]:
    """GPUs with these programs on them."""
    return tuple(replace(card, processes=programs) for card, programs in zip(cards(len(each), **AT_REST), each, strict=True))


RANKS = tuple((Process(500, memory=30112), *(Process(501 + other, memory=519) for other in range(3))) if not one else
              (Process(500 + one, memory=30112),) for one in range(4))  # fmt: skip
GROWN = "timestamp, gpu_uuid, pid, process_name, used_gpu_memory [MiB]\n" + "".join(
    f"2026/03/01 {hour:02d}:00:02.700, {cards(1)[0].uuid}, 7712, /opt/venv/bin/uvicorn, {14210 + 670 * hour} MiB\n" for hour in range(12)
)


def titan(step: int) -> str:
    """torchtitan's line of progress, of a program that leaks."""
    return f"step: {step}  loss:  2.31  memory: {30 + step / 2:.2f}GiB({40 + step / 2:.2f}%)  tps: 7,12{step % 10}  mfu: 41.9%"


def parents(text: str) -> Case:
    """A program ran out of memory, and who started whom on its machine."""
    made = node(*WAVES, log=log(OUT))
    return made._replace(answers={**made.answers, "gpu-01: ps -eo pid,ppid,comm": text})


CASES: dict[str, Case] = seen_by(
    "gpu-memory",
    {
        "memory-well": node(*WAVES, log=log(*megatron(60))),
        "memory-pod-not-ready": unready(node(*WAVES, log=log(*megatron(60)))),
        "memory-full-at-once": node(changed(cards(), 0, memory_used=80900), inputs={"for": 0.0}),
        "memory-kept-full": kept(
            {
                UTIL: [[93.0] * 40] * 2,
                USED: [[79800.0] * 40, [40000.0 + 500 * number for number in range(40)]],
                FREE: [[1200.0] * 40, [41000.0 - 500 * number for number in range(40)]],
            }
        ),
        "memory-kept-climbs": kept(
            {
                UTIL: [[93.0] * 40],
                USED: [[9000.0 + 1500 * (at % 20) for at in range(40)]],
                FREE: [[72000.0 - 1500 * (at % 20) for at in range(40)]],
            }
        ),
        "memory-small-beside-large": node(
            *WAVES,
            smi=smi_xml(list(held((Process(40119, memory=61438), Process(40877, memory=480))))),
            log=log("jax: CUDA_ERROR_OUT_OF_MEMORY"),
        ),
        "memory-unseen": node(
            cards(1, **AT_REST), smi=smi_xml([replace(cards(1, **AT_REST)[0], processes=(), memory_used=76903)]), log=log(OUT)
        ),
        "memory-table-unseen": table((replace(FULL_LOAD[0], utilisation=0, power=88.0, temperature=36, processes=()),)),
        "memory-named": node(
            *WAVES,
            log=log(OUT + " GPU 0 has a total capacity of", "which 1.25 GiB is free. Process 41377 has 71.30 GiB memory in use.", gap=1),
        ),
        "memory-contexts": node(*WAVES, smi=smi_xml(list(held(*RANKS)))),
        "memory-program-grows": node(*WAVES, smi=GROWN),
        "memory-by-steps": node(
            *WAVES,
            log=log(
                *(titan(number) for number in range(1, 81)),
                after="[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB.",
            ),
        ),
        "memory-by-steps-still": node(
            *WAVES,
            log=log(*(titan(number) for number in range(1, 81))),
        ),
        "memory-seen-to-grow": node(*WAVES, log=log(OUT, "In nvidia-smi the GPU memory keeps growing from epoch to epoch.", gap=1)),
        "memory-allocator": node(
            *WAVES,
            log=log(
                "[rank0]:[titan] 2026-03-01 11:02:18,377 - root - WARNING - 4 CUDA memory allocation retries.",
                "EPLB step: 1204 for model x: avg_tokens=812.10, max_tokens=3902, balancedness=0.2081",
            ),
        ),
        "memory-orphan": parents(PARENTS.format("systemd", 1)),
        "memory-orphan-perhaps": parents(PARENTS.format("python3", 1)),
        "memory-no-orphan": parents(PARENTS.format("systemd", 48100)),
        "memory-no-answer": node(*WAVES, smi=Said(failure="timeout")),
    },
)
