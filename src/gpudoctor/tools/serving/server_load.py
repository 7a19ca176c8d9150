"""How long requests wait for a server of models, and how many it turns away: its counters, its own
lines, access logs.

vllm:time_to_first_token_seconds_sum{model_name="m"} 301221.0   nv_inference_queue_duration_us{model="m",version="1"} 981120112201
… total_time="48.1s" validation_time="1.2ms" queue_time="41.2s" inference_time="6.9s" …     "POST /v1/chat/completions HTTP/1.1" 504 …
Sources: https://docs.vllm.ai/en/latest/design/metrics.html, https://github.com/triton-inference-server/server/blob/main/docs/user_guide/metrics.md,
https://github.com/huggingface/text-generation-inference (router/src/server.rs), the access logs of Envoy, nginx and uvicorn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import SECONDS, Line, N, Reading

# A sum of seconds beside its count, by what it is of.
KINDS = {
    "vllm:time_to_first_token_seconds": "first_token_seconds",
    "sglang:time_to_first_token_seconds": "first_token_seconds",
    "vllm:request_queue_time_seconds": "queue_seconds",
    "sglang:queue_time_seconds": "queue_seconds",
    "tgi_request_queue_duration": "queue_seconds",
    "vllm:request_prefill_time_seconds": "prefill_seconds",
    "vllm:request_decode_time_seconds": "decode_seconds",
    "tgi_request_inference_duration": "decode_seconds",
    "vllm:e2e_request_latency_seconds": "whole",
    "sglang:e2e_request_latency_seconds": "whole",
    "tgi_request_duration": "whole",
}
SUM = regex(r"^((?:vllm|sglang):\w{1,60}|tgi_request\w{1,60})_(sum|count)(?:\{.{0,400}\})? (\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)\s*$")
TRITON = regex(
    r"^nv_inference_(request_success|request_failure|queue_duration_us|request_duration_us|compute_(?:input|infer|output)_duration_us)"
    r"(?:\{.{0,400}\})? (\d{1,18}(?:\.\d{1,6})?(?:e[+-]?\d{1,3})?)\s*$"
)
QUEUED = regex(rf'\btotal_time="{N}(ms|µs|s|m)".{{0,80}}\bqueue_time="{N}(ms|µs|s|m)"')
# "POST /v1/chat/completions HTTP/1.1" 504 …
CALL = regex(
    r'"POST /(?:v1/(?:chat/)?completions|v1/(?:embeddings|messages|models/.{1,100}:predict)|generate(?:_stream)?|v2/models/.{1,100}/infer'
    r'|predictions/.{1,100}|invocations|predict|infer)\b.{0,200} HTTP/[\d.]{1,3}" (\d{3})\b'
)
REFUSED = frozenset(("408", "429", "503", "504"))  # too late or too much; any other failure has a cause of its own
FEWEST, LINES, TURNED = 100, 3, 3  # requests of which a mean is told; lines of a log; requests that were turned away
# vLLM: Avg prompt throughput: 0.0 tokens/s, …, Running: 1 reqs, Waiting: 5 reqs
ENGINE = regex(
    rf"Avg prompt throughput: {N} tokens/s.{{0,100}}Running: (\d{{1,6}}) reqs,(?: Swapped: \d+ reqs,)?"
    r" (?:Waiting|Pending): (\d{1,6}) reqs"
)


def server_load(lines: Sequence[Line]) -> Iterator[Reading]:
    """All of these."""
    for reader in (counters, triton, tgi_queue_times, access, engine):
        yield from reader(lines)


def counters(lines: Sequence[Line]) -> Iterator[Reading]:
    """Means since the server began, of sums and counts over all its models."""
    sums: dict[str, dict[str, float]] = {}
    where: dict[str, Line] = {}
    for number, text in lines:
        if ("_sum" in text or "_count" in text) and (match := SUM.match(text)) and match[1] in KINDS:
            of = sums.setdefault(KINDS[match[1]], {"sum": 0.0, "count": 0.0})
            of[match[2]] += float(match[3])
            if match[2] == "sum":
                where[KINDS[match[1]]] = (number, text)
    means = {kind: of["sum"] / of["count"] for kind, of in sums.items() if of["count"] >= FEWEST and kind in where}
    for kind in ("first_token_seconds", "queue_seconds", "prefill_seconds", "decode_seconds"):
        if kind in means:
            yield Reading(kind, means[kind], where[kind], of=means.get("whole"))


def triton(lines: Sequence[Line]) -> Iterator[Reading]:
    """Triton: the mean time in its queue of the whole, the share that failed."""
    sums: dict[str, float] = {}
    where: dict[str, Line] = {}
    for number, text in lines:
        if text.startswith("nv_inference_") and (match := TRITON.match(text)):
            sums[match[1]] = sums.get(match[1], 0.0) + float(match[2])
            where.setdefault(match[1], (number, text))
    done, failed = sums.get("request_success", 0.0), sums.get("request_failure", 0.0)
    if done + failed >= FEWEST and failed:
        yield Reading("error_share", failed / (done + failed), where["request_failure"], label="errors")
    if done >= FEWEST and "queue_duration_us" in sums:
        computed = sum(value for name, value in sums.items() if name.startswith("compute_"))
        queue = sums["queue_duration_us"]
        whole = sums.get("request_duration_us") or queue + computed
        if computed or "request_duration_us" in sums:
            yield Reading("queue_seconds", queue / done / 1e6, where["queue_duration_us"], of=whole / done / 1e6)


def tgi_queue_times(lines: Sequence[Line]) -> Iterator[Reading]:
    """TGI's line of each request: the medians."""
    found: list[tuple[float, float, Line]] = []
    for number, text in lines:
        if "queue_time" in text and (match := QUEUED.search(text)):
            found.append((float(match[3]) * SECONDS[match[4]], float(match[1]) * SECONDS[match[2]], (number, text)))
    if len(found) >= LINES:
        yield Reading("queue_seconds", median(one[0] for one in found), found[-1][2], of=median(one[1] for one in found))


def access(lines: Sequence[Line]) -> Iterator[Reading]:
    """The share of the requests for a model's answer that came too late or were turned away."""
    total = turned = 0
    last: Line = (0, "")
    for number, text in lines:
        if '"POST /' in text and (match := CALL.search(text)):
            total += 1
            if match[1] in REFUSED:
                turned, last = turned + 1, (number, text)
    if turned >= TURNED:
        yield Reading("error_share", turned / total, last, label="errors")


def engine(lines: Sequence[Line]) -> Iterator[Reading]:
    """vLLM: how many requests wait for each that runs, where no prompt is taken in and at least two lines in a row say so."""
    before = 0.0
    for number, text in lines:
        if "throughput" not in text or not (match := ENGINE.search(text)):
            continue
        running, waiting = int(match[2]), int(match[3])
        ratio = waiting / running if running and waiting >= 4 and float(match[1]) == 0.0 else 0.0
        if ratio and before:
            yield Reading("queue_ratio", min(ratio, before), (number, text))
        before = ratio
