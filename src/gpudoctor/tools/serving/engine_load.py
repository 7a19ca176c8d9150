"""How many requests each engine of one server has: the lines that data-parallel engines write side by side.

(APIServer pid=88) INFO 03-01 06:40:12 [loggers.py:123] Engine 000: …, Running: 256 reqs, Waiting: 311 reqs, GPU KV …  (vLLM)
[2026-03-01 06:40:12 DP1 TP0] Decode batch. #running-req: 4, #token: 812, …, #queue-req: 0                             (SGLang)
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import EngineLoad
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

VLLM = regex(
    r"(?:\bEngine (\d{1,4}): .{1,200}?)?\bRunning: (\d{1,6}) reqs,(?: Swapped: \d{1,7} reqs,)? (?:Waiting|Pending): (\d{1,7}) reqs"
)
SGLANG = regex(r"(?:\bDP(\d{1,4})\b[^\]]{0,30}\] )?\bDecode batch.{0,40} #running-req: (\d{1,6}),.{0,300}#queue-req: (\d{1,7})")
NEWEST = 12  # reports of each engine that are compared: one is written every ten seconds


def load_of_line(text: str) -> tuple[str, int, int] | None:
    """(engine, requests that run, that wait) of a line.

    >>> load_of_line("Engine 003: Avg prompt throughput: 0.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.3%")
    ('3', 1, 0)
    """
    if " reqs, " not in text and "Decode batch" not in text:
        return None
    match = VLLM.search(text) or SGLANG.search(text)
    return (str(int(match[1] or 0)), int(match[2]), int(match[3])) if match else None


def loads(output: Output, about: Subject) -> Facts:
    """A record for each engine."""
    found: dict[str, list[tuple[int, int, Origin]]] = {}
    for number, text in lines(output):
        if told := load_of_line(text):
            found.setdefault(told[0], []).append((told[1], told[2], Origin(output.origin_name(), number, text.strip())))
    if not output.text.strip() and output.failure:
        raise ParseError(f"{output.origin_name()}: no log")
    usual = {name: (median(one[0] for one in own[-NEWEST:]), median(one[1] for one in own[-NEWEST:])) for name, own in found.items()}
    return {
        "engine_loads": [
            EngineLoad(
                node=about.node,
                namespace=about.namespace,
                pod=about.pod,
                engine=name,
                engines=len(usual),
                running=running,
                waiting=waiting,
                others_running=max((other[0] for key, other in usual.items() if key != name), default=0),
                others_waiting=max((other[1] for key, other in usual.items() if key != name), default=0),
                origin=found[name][-1][2],
            )
            for name, (running, waiting) in usual.items()
        ]
    }


def score(rows: Iterable[str]) -> int:
    """Reports of two engines at least."""
    return 21 if len({told[0] for row in rows if (told := load_of_line(row))}) > 1 else 0
