"""What load tests print of how a service answers: vLLM's and SGLang's benchmark, genai-perf, AIPerf, k6, locust, wrk, hey;
and what an alert or a file of settings says was agreed on.

What is measured and what is agreed on get the same label (`ttft p99`), whatever text each stands in. Sources of the forms:
https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py, https://github.com/locustio/locust/blob/master/locust/stats.py,
https://github.com/grafana/k6 (summary), https://github.com/rakyll/hey, https://github.com/wg/wrk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import SECONDS, Line, N, Reading

# What a time is of, by the words before it; anything else is the whole answer.
KINDS = (
    ("ttft", regex(r"ttft|first[ _-]token", 2)),
    ("tpot", regex(r"tpot|\bitl\b|inter[ _-]?token|(?:time[ _])?per[ _](?:output[ _])?token", 2)),
)
# P99 TTFT (ms):  22059.13  |  p95=12.1s  |  p(95)=1.2s  |  p99 latency: 812 ms
MEASURED = regex(rf"\b[pP]\(?(\d\d(?:\.\d)?)\)?((?:[ _][A-Za-z]{{1,12}}){{0,3}})(?: \((ms|s)\))? ?[:=] *{N} ?(ms|s|m)?\b")
# http_req_duration: ✗ 'p(95)<500' p(95)=812.31ms      (a threshold of k6; ms)
THRESHOLD = regex(rf"['\"]?\bp\((\d\d(?:\.\d)?)\) ?<=? ?{N}['\"]?")
# SLO: p99 TTFT 2s  |  objective p95 latency: 800 ms
NAMED = regex(r"\b(?:SL[OA]s?|objectives?|targets?|goals?|agreed|contract|budget|thresholds?)\b", 2)
# p99 TTFT = 7.9s (threshold 2s)  |  p95 latency 4100 ms, SLO 1500 ms
BOTH = regex(
    rf"\b[pP]\(?(\d\d(?:\.\d)?)\)?([^<\d]{{0,30}}?)[ :=]+{N} ?(ms|s|sec)\b.{{0,20}}?"
    rf"\b(?:SL[OA]|objective|target|threshold|limit|budget|agreed)\b[^\d]{{0,12}}{N} ?(ms|s|sec)\b"
)
# ttft_p99_ms: 2000 (in a file of that name)  |  SLO_P95_LATENCY_MS=800  |  "p99_ttft_slo": "2s"
KEYED = regex(rf"""^[\s-]*(?:export )?["']?(\w{{0,40}}?[pP](\d\d)\w{{0,40}})["']? ?[:=] ?["']?{N} ?(ms|s|sec)?["']?,?\s*$""")
AGREEING = regex(r"slo|sla(?![a-z])|objective|target|threshold|budget", 2)
# vllm bench: Request throughput (req/s): 9.81  |  Request goodput (req/s): 0.31
BENCH = regex(rf"^Request (throughput|goodput) \(req/s\): +{N}\s*$")
BENCH_FAILED = regex(r"^(Successful|Failed) requests: +(\d{1,9})\s*$")
# locust: |Aggregated|   18211  1302(7.15%) |
LOCUST = regex(rf"\bAggregated\s+(\d{{1,9}})\s+\d{{1,9}}\({N}%\)")
LOCUST_HEAD = regex(r"\b50%\s.*\b95%\s.*\b99%\s.*# reqs")
# k6: http_req_failed................: 7.15% ✓ 130 ✗ 1690
K6 = regex(rf"\bhttp_req_failed\.*: {N}%")
# wrk: 18211 requests in 15.00m, …  |  Non-2xx or 3xx responses: 1302
WRK, WRK_FAILED = regex(r"^\s*(\d{1,10}) requests in "), regex(r"^\s*Non-2xx or 3xx responses: (\d{1,10})")
# hey: [200]	16909 responses
HEY = regex(r"^\s*\[(\d{3})\]\s+(\d{1,10}) responses")
FEWEST = 100  # requests of which a share is told
TABLE, AMOUNT = regex(r"[|│┃]"), regex(r"^\d{1,3}(?:,?\d{3})*(?:\.\d{1,6})?$")


def load_tests(lines: Sequence[Line]) -> Iterator[Reading]:
    """What is measured of a service, and what is agreed on."""
    for reader in (percentiles, agreed_percentiles, statistics, benchmarks, failures):
        yield from reader(lines)


def kind(words: str) -> str:
    """What a time is of.

    >>> kind(" TTFT "), kind("time_per_output_token_seconds"), kind(" latency")
    ('ttft', 'tpot', 'latency')
    """
    return next((name for name, pattern in KINDS if pattern.search(words)), "latency")


def label(words: str, quantile: str) -> str:
    """The name of a time: ttft p99."""
    number = quantile.rstrip("0").rstrip(".") if "." in quantile else quantile
    return f"{kind(words)} p{number}"


def seconds(amount: str, unit: str | None) -> float:
    """Seconds of an amount; a bare number is in milliseconds, as k6 and flags of servers have it."""
    return float(amount) * SECONDS.get((unit or "ms").removesuffix("onds"), 1.0)


def percentiles(lines: Sequence[Line]) -> Iterator[Reading]:
    """Percentiles beside their number, and beside the threshold that k6 or an alert names with them."""
    for number, text in lines:
        if "p9" not in text and "P9" not in text and "p(" not in text:
            continue
        here = (number, text)
        if match := BOTH.search(text):
            name = label(text[: match.start()] + match[2], match[1])
            yield Reading("latency", seconds(match[3], match[4]), here, label=name)
            yield Reading("latency_objective", seconds(match[5], match[6]), here, label=name)
            continue
        for match in THRESHOLD.finditer(text):
            yield Reading("latency_objective", seconds(match[2], None), here, label=label(text[: match.start()], match[1]))
        for match in () if NAMED.search(text) else MEASURED.finditer(text):
            if unit := match[5] or match[3]:
                yield Reading("latency", seconds(match[4], unit), here, label=label(text[: match.start()] + match[2], match[1]))


def agreed_percentiles(lines: Sequence[Line]) -> Iterator[Reading]:
    """Percentiles as keys of what is agreed on: the key says so, the command that shows the file, or a line that opens the block."""
    block = False
    for number, text in lines:
        match = KEYED.match(text)
        if match and (block or AGREEING.search(match[1])):
            unit = match[4] or ("s" if match[1].lower().endswith(("_s", "_sec", "_seconds")) else "ms")
            yield Reading("latency_objective", seconds(match[3], unit), (number, text), label=label(match[1], match[2]))
        elif not match and (not number or text.rstrip().endswith((":", "{"))):
            block = bool(AGREEING.search(text))


def statistics(lines: Sequence[Line]) -> Iterator[Reading]:
    """genai-perf's and AIPerf's table: a time in a row, its percentiles by the titles."""
    titles: list[str] = []
    for number, text in lines:
        if "p99" not in text and "(ms)" not in text:
            continue
        cells = [cell.strip() for cell in TABLE.split(text) if cell.strip()]
        if cells and cells[0] in ("Statistic", "Metric"):
            titles = cells
        elif titles and len(cells) == len(titles) and "(ms)" in cells[0]:
            for name, cell in zip(titles, cells, strict=True):
                if name[:1] == "p" and name[1:].isdecimal() and AMOUNT.match(cell):
                    yield Reading("latency", float(cell.replace(",", "")) / 1000, (number, text), label=label(cells[0], name[1:]))


def benchmarks(lines: Sequence[Line]) -> Iterator[Reading]:
    """vLLM's and SGLang's benchmark: how many of the requests met the objectives that it was given, how many failed."""
    throughput: float | None = None
    good = 0
    for number, text in lines:
        if match := BENCH.match(text):
            if match[1] == "throughput":
                throughput = float(match[2])
            elif throughput:
                yield Reading("goodput_share", float(match[2]) / throughput, (number, text))
        elif match := BENCH_FAILED.match(text):
            if match[1] == "Successful":
                good = int(match[2])
            elif good + int(match[2]) >= FEWEST:
                yield Reading("error_share", int(match[2]) / (good + int(match[2])), (number, text), label="errors")


def failures(lines: Sequence[Line]) -> Iterator[Reading]:
    """locust, k6, wrk, hey: the share of requests that failed; locust's percentiles (ms)."""
    titles: list[str] = []
    total, failed, answers, last = 0, 0, 0, (0, "")
    for number, text in lines:
        here = (number, text)
        if LOCUST_HEAD.search(text):
            titles = text.replace("# reqs", "#").split()[2:]
        elif titles and len(words := text.split()) >= len(titles) and words[-1].isdecimal():
            row = dict(zip(reversed(titles), reversed(words), strict=False))
            for percent in ("95", "99"):
                if (cell := row.get(f"{percent}%", "")).isdecimal():
                    yield Reading("latency", float(cell) / 1000, here, label=f"latency p{percent}")
        elif "Aggregated" in text and (match := LOCUST.search(text)):
            if int(match[1]) >= FEWEST:
                yield Reading("error_share", float(match[2]) / 100, here, label="errors")
        elif "http_req_failed" in text and (match := K6.search(text)):
            yield Reading("error_share", float(match[1]) / 100, here, label="errors")
        elif match := WRK.match(text):
            total = int(match[1])
        elif (match := WRK_FAILED.match(text)) and total >= FEWEST:
            yield Reading("error_share", int(match[1]) / total, here, label="errors")
        elif match := HEY.match(text):
            answers, failed, last = answers + int(match[2]), failed + int(match[2]) * (match[1] >= "400"), here
    if answers >= FEWEST:
        yield Reading("error_share", failed / answers, last, label="errors")
