"""`python -m tests.fuzz COUNT [SEED [FOLDER]]`: feed so many inputs; what crashes or takes long is written into the folder.

One in eight inputs goes through cutting and recognising, one in forty through the whole of `analyze`, the others to the parsers in turn.
One in two thousand is long: a piece over and over, 200 kB of it.
"""

from __future__ import annotations

import hashlib
import random
import resource
import signal
import sys
import time
from pathlib import Path

from gpudoctor.runbook import conditions
from tests.fuzz.mutate import deep, mutated
from tests.fuzz.targets import others, place, seeds, targets

SLOW = 1.0  # s of the processor for one input
HANGS = 60  # s; then it is interrupted
TOLD = 10_000  # inputs between two lines of progress
LONG = 200_000  # bytes


class Hangs(BaseException):
    """An input took too long."""


def chosen(number: int, dice: random.Random) -> str:
    """The target of an input."""
    if number % 8 == 0:
        return "whole" if number % 40 == 0 else "sections"
    return dice.choice([name for name in targets() if name not in ("whole", "sections")])


def made(number: int, seed: int, name: str, dice: random.Random) -> bytes:
    """The input of a number: the same for the same seed."""
    sample = dice.choice(seeds(name))
    return deep(sample, LONG, dice) if number % 2000 == 1999 else mutated(sample, others(), dice)


def fed(number: int, seed: int) -> tuple[str, bytes]:
    """(target, input) of a number."""
    dice = random.Random(f"{seed} {number}")
    name = chosen(number, dice)
    return name, made(number, seed, name, dice)


def tried(name: str, data: bytes) -> tuple[str, float]:
    """("" or what went wrong, seconds of the processor)."""
    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(HANGS)
    started = time.process_time()
    try:
        targets()[name](data)
        found = ""
    except Hangs:
        found = f"hangs for {HANGS} s"
    except Exception as error:
        found = place(error)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    took = time.process_time() - started
    return found or (f"takes long ({len(data) // 1000} kB)" if took > SLOW else ""), took


def hangs(*_: object) -> None:
    """The alarm."""
    raise Hangs


def main(count: int, seed: int, folder: Path) -> None:
    """Feed them."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[tuple[str, str], int] = {}
    slowest = (0.0, "")
    for name in targets():  # what is compiled at the first use is no text's fault
        tried(name, seeds(name)[0])
    started = time.monotonic()
    for number in range(1, count + 1):
        name, data = fed(number, seed)
        wrong, took = tried(name, data)
        slowest = max(slowest, (took, f"{name}, input {number}, {len(data)} bytes"))
        if wrong:
            if (name, wrong) not in found:
                (folder / f"{name}--{hashlib.sha256(data).hexdigest()[:10]}").write_bytes(data)
                print(f"{name}: {wrong} (input {number}, {took:.2f} s)", flush=True)
            found[name, wrong] = found.get((name, wrong), 0) + 1
        if number % TOLD == 0 or number == count:
            conditions._compile.cache_clear()  # with what every expression remembers: no run of gpudoctor is as long as this one
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
            spent = f"{time.monotonic() - started:.0f} s, {time.process_time():.0f} s of the processor, {memory} MiB at most"
            print(f"{number} inputs of seed {seed}: {len(found)} findings, {spent}; slowest {slowest[0]:.2f} s ({slowest[1]})", flush=True)


if __name__ == "__main__":
    words = [*sys.argv[1:], *["20000", "1", "fuzz-findings"][len(sys.argv) - 1 :]]
    main(int(words[0]), int(words[1]), Path(words[2]))
