"""A kernel log of 1 GiB with 100,000 Xids: finding out what is wrong, against counting its lines with grep.

grep counts the lines that hold one of the literals that the parser triggers on, generated from its patterns.
"""

from __future__ import annotations

import os
import random
import tempfile
from pathlib import Path

from benchmarks import literals
from benchmarks.measure import GPUDOCTOR, compare, in_turn, run, wall

MIB = int(os.environ.get("BENCH_MIB", "1024"))
XIDS = 100_000 * MIB // 1024
TIMES = 3
MEMORY = 200.0  # MiB, at most

NOISE = (
    "systemd[1]: Started Session {n} of user root.",
    "device veth{n:06x} entered promiscuous mode",
    "cni0: port {n}(veth{n:06x}) entered forwarding state",
    'audit: type=1400 audit(1772366400.{n}:12): apparmor="STATUS" operation="profile_load" name="cri-containerd.apparmor.d"',
    "EXT4-fs (dm-{n}): mounted filesystem with ordered data mode. Quota mode: none.",
    "perf: interrupt took too long ({n} > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
    "nvidia 0000:1b:00.0: enabling device (0140 -> 0142), request {n}",
)
PLACES = ("0000:1b:00", "0000:43:00", "0000:52:00", "0000:61:00", "0000:9d:00", "0000:c3:00", "0000:d1:00", "0000:df:00")


def write(path: Path) -> None:
    """The log: two years of a machine, on which programs fail now and then."""
    chance = random.Random(79)
    lines = MIB * 1024 * 1024 // 91
    every = lines // XIDS
    uptime = 100.0
    with path.open("w", buffering=1 << 20) as log:
        pool = [pattern.format(n=chance.randrange(100_000)) for pattern in NOISE for _ in range(500)]
        for block in range(XIDS):
            log.write("".join([f"[{uptime + n / 7:15.6f}] {pool[(block * 31 + n * 17) % len(pool)]}\n" for n in range(every)]))
            uptime += every / 7
            pid, place, code = 10_000 + block // 50, PLACES[block // 50 % 8], chance.choice((13, 31, 43, 45))
            log.write(f"[{uptime:15.6f}] NVRM: Xid (PCI:{place}): {code}, pid={pid}, name=python3, Ch {block % 64:08x}\n")


def measure() -> None:
    """Print the ratio and the peak of the memory."""
    from gpudoctor.tools.common.messages import entries
    from gpudoctor.tools.kernel.log import MARKS

    found = literals.of(pattern for _, pattern in [*entries(), *MARKS])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.log")
        write(path)
        listed = literals.written(found, Path(folder))
        sides = (
            lambda: run([GPUDOCTOR, "xid", str(path)], exit=1, says="application-illegal-memory-access"),
            lambda: run(["grep", "-cE", "-f", listed, str(path)], says="\n"),  # without a reader it would stop at the first line
        )
        in_turn(1, *sides)
        ours, grep = in_turn(TIMES, *sides)
        size = path.stat().st_size / (1 << 20)
    name = f"a kernel log of {size:.0f} MiB with {XIDS} Xids / grep -cE of {len(found)} literals"
    compare(name, wall(ours), wall(grep), 2.0)
    print(f"its memory: {max(one.peak for one in ours):.0f} MiB (at most {MEMORY:.0f})", flush=True)
