"""Readers of how a service answers, and of how it shall: load tests, servers' own lines, answers of Prometheus, agreements in words.

What is measured and what is agreed on get the same label (`ttft p99`), whatever text each stands in. Sources of the forms:
https://github.com/vllm-project/vllm/blob/main/vllm/benchmarks/serve.py, https://github.com/locustio/locust/blob/master/locust/stats.py,
https://github.com/grafana/k6 (summary), https://github.com/rakyll/hey, https://github.com/wg/wrk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.notes.measure import SECONDS, Line, N, Reading
from gpudoctor.patterns import regex

# What a time is of, by the words before it; anything else is the whole answer.
KINDS = (
    ("ttft", regex(r"ttft|first[ _-]token", 2)),
    ("tpot", regex(r"tpot|\bitl\b|inter[ _-]?token|(?:time[ _])?per[ _](?:output[ _])?token", 2)),
)
# P99 TTFT (ms):  22059.13  |  p95=12.1s  |  p(95)=1.2s  |  p99 latency: 812 ms
MEASURED = regex(rf"\b[pP]\(?(\d\d(?:\.\d)?)\)?((?:[ _][A-Za-z]{{1,12}}){{0,3}})(?: \((ms|s)\))? ?[:=] *{N} ?(ms|s|m)?\b")
# p95 < 3 s  |  P99 TTFT <= 500ms  |  p99 ttft must stay under 2 s  |  p(95)<500 (k6: ms)
AGREED = regex(
    rf"\b[pP]\(?(\d\d(?:\.\d)?)\)?([^<≤=\d]{{0,40}}?)(?:<=?|≤|\b(?:under|below|within|at most|less than)\b) ?{N} ?(ms|s|sec|seconds)?\b"
)
# SLO: p99 TTFT 2s  |  objective p95 latency: 800 ms
NAMED = regex(r"\b(?:SL[OA]s?|objectives?|targets?|goals?|agreed|contract|budget|thresholds?)\b", 2)
PLAIN = regex(rf"\b[pP](\d\d(?:\.\d)?)([^<\d]{{0,30}}?)[ :=]+{N} ?(ms|s|sec)\b")
# p99 TTFT = 7.9s (threshold 2s)  |  p95 latency 4100 ms, SLO 1500 ms
BOTH = regex(
    rf"\b[pP]\(?(\d\d(?:\.\d)?)\)?([^<\d]{{0,30}}?)[ :=]+{N} ?(ms|s|sec)\b.{{0,20}}?"
    rf"\b(?:SL[OA]|objective|target|threshold|limit|budget|agreed)\b[^\d]{{0,12}}{N} ?(ms|s|sec)\b"
)
# 99% of requests get the first token within 2 s
SHARE = regex(
    rf"\b(\d\d(?:\.\d{{1,3}})?) ?% of (?:all )?(?:the )?(?:requests|calls|answers|responses)\b"
    rf"(.{{0,60}}?)\b(?:in|within|under|below|<) ?{N} ?(ms|s|sec|seconds)\b"
)
# ttft_p99_ms: 2000 (in a file of that name)  |  SLO_P95_LATENCY_MS=800  |  "p99_ttft_slo": "2s"
KEYED = regex(rf"""^[\s-]*(?:export )?["']?(\w{{0,40}}?[pP](\d\d)\w{{0,40}})["']? ?[:=] ?["']?{N} ?(ms|s|sec)?["']?,?\s*$""")
AGREEING = regex(r"slo|sla(?![a-z])|objective|target|threshold|budget", 2)
# histogram_quantile(0.99, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket{…}[30m])))
QUANTILE = regex(r"histogram_quantile\(\s*(0\.\d{1,4})\s*,(.{1,600})")
# {} => 8.914 @[1751024400]  |  {model="m"} 8.914  |  8.914
ANSWER = regex(r"^(?:\{.{0,400}?\})?\s*(?:=> ?)?(\d{1,12}(?:\.\d{1,20})?)(?: @\[.{1,30}\])?\s*$")
# sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))
RATIO = regex(r"(?:error|fail|abort|=~?\"5|!~?\"2|reject|timeout).{0,300}\)\s*/\s*\(?sum", 2)
# errors < 0.5 %  |  error rate under 1%  |  5xx <= 0.1 %
ERRORS_AGREED = regex(rf"\b(?:errors?|error[ _]rate|failures?|failed|5xx)\b[^<%\d]{{0,24}}(?:<=?|≤|under|below|at most) ?{N} ?%", 2)
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
# vLLM: Avg prompt throughput: 0.0 tokens/s, …, Running: 1 reqs, Waiting: 5 reqs
ENGINE = regex(
    rf"Avg prompt throughput: {N} tokens/s.{{0,100}}Running: (\d{{1,6}}) reqs,(?: Swapped: \d+ reqs,)?"
    r" (?:Waiting|Pending): (\d{1,6}) reqs"
)
# time() - max by (job_name) (trainer_last_step_timestamp_seconds{job_name="a"})
SINCE = regex(r"time\(\) ?- ?.{0,80}\b\w{0,40}(?:step|iteration|progress|heartbeat|batch|epoch)\w{0,60}", 2)
FEWEST = 100  # requests of which a share is told


def service(lines: Sequence[Line]) -> Iterator[Reading]:
    """What is measured of a service, and what is agreed on."""
    for reader in (stated_percentiles, agreed_percentiles, prometheus_quantiles, statistics, benchmarks, load_tests, engine):
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


def stated_percentiles(lines: Sequence[Line]) -> Iterator[Reading]:
    """Percentiles beside their number: an agreement where it is compared with it, else a measurement."""
    for number, text in lines:
        if "p9" not in text and "P9" not in text and "p(" not in text and "%" not in text:
            continue
        here, agreed = (number, text), False
        if match := BOTH.search(text):
            name = label(text[: match.start()] + match[2], match[1])
            yield Reading("latency", seconds(match[3], match[4]), here, label=name)
            yield Reading("latency_objective", seconds(match[5], match[6]), here, label=name)
            continue
        for match in AGREED.finditer(text):
            agreed = True
            yield Reading("latency_objective", seconds(match[3], match[4]), here, label=label(match[2] + text[: match.start()], match[1]))
        if match := SHARE.search(text):
            agreed = True
            yield Reading("latency_objective", seconds(match[3], match[4]), here, label=label(match[2], match[1]))
        if match := ERRORS_AGREED.search(text):
            agreed = True
            yield Reading("error_objective", float(match[1]) / 100, here, label="errors")
        if not agreed and NAMED.search(text):
            for match in PLAIN.finditer(text):
                agreed = True
                yield Reading(
                    "latency_objective", seconds(match[3], match[4]), here, label=label(text[: match.start()] + match[2], match[1])
                )
        if agreed:
            text = AGREED.sub("", text)
        for match in () if agreed and NAMED.search(text) else MEASURED.finditer(text):
            unit = match[5] or match[3]
            if unit:
                words = text[: match.start()] + match[2]
                yield Reading("latency", seconds(match[4], unit), here, label=label(words, match[1]))


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


def prometheus_quantiles(lines: Sequence[Line]) -> Iterator[Reading]:
    """Quantiles that Prometheus was asked for, with the number in the next lines."""
    asked: tuple[str, int] | None = None
    for place, (number, text) in enumerate(lines):
        if "histogram_quantile" in text and (match := QUANTILE.search(text)):
            percent = f"{float(match[1]) * 100:g}"
            asked = (label(match[2], percent), place)
        elif "time()" in text and SINCE.search(text):
            asked = ("", place)
        elif "sum" in text and RATIO.search(text):
            asked = ("errors", place)
        elif asked and place - asked[1] <= 2 and (match := ANSWER.match(text.strip())):
            quantity = {"errors": "error_share", "": "since_progress"}.get(asked[0], "latency")
            yield Reading(quantity, float(match[1]), (number, text), label=asked[0])
            asked = None


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


TABLE, AMOUNT = regex(r"[|│┃]"), regex(r"^\d{1,3}(?:,?\d{3})*(?:\.\d{1,6})?$")


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


def load_tests(lines: Sequence[Line]) -> Iterator[Reading]:
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
