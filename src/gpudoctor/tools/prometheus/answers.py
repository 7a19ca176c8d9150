"""What a PromQL expression says by itself: how much a counter of DCGM grew, which share of a GPU's memory is in use, how long a quantile
of the requests takes, which share of them fails, when a program last made a step.

increase(DCGM_FI_DEV_ECC_SBE_VOL_TOTAL[1h])
{Hostname="gpu-12", gpu="4"} 18211
100 * DCGM_FI_DEV_FB_USED / (DCGM_FI_DEV_FB_USED + DCGM_FI_DEV_FB_FREE)
{Hostname="inf-03", gpu="0"} 98.71
Sources: https://prometheus.io/docs/prometheus/latest/querying/functions/, https://docs.nvidia.com/datacenter/dcgm/latest/dcgm-api/dcgm-api-field-ids.html.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common import measures
from gpudoctor.tools.common.measures import Line, Reading
from gpudoctor.tools.serving.load_tests import label

# What is asked → what its rows then are.
QUERIES = (
    (
        "ecc_corrected_rise",
        regex(
            r"\b(?:increase|delta|idelta)\(\(?\s{0,4}DCGM_FI_DEV_ECC_SBE_(?:VOL|AGG)_TOTAL.{0,300}?\[\w{2,8}(?::\w{0,8})?\]",
        ),
    ),
    (
        "gpu_memory_share",
        regex(
            r"\bDCGM_FI_DEV_FB_USED(?:\{.{0,200}?\})? ?/ ?(?:ignoring\(.{0,60}?\) ?)?"
            r"\(? ?DCGM_FI_DEV_FB_(?:TOTAL|USED(?:\{.{0,200}?\})? ?\+ ?DCGM_FI_DEV_FB_FREE|FREE(?:\{.{0,200}?\})? ?\+"
            r" ?DCGM_FI_DEV_FB_USED)\b"
        ),
    ),
)
ROW = regex(r"^\s*\{(.{1,2000})\} *(?:=>)? *(\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?)(?: @\[\S{1,20}\])?\s*$")
LABEL = regex(r'\b(Hostname|node|instance|gpu|exported_pod|pod)="([^"]{1,253})"')
WHOLE = 1.5  # above it a share is told in per cent
# histogram_quantile(0.99, sum by (le) (rate(vllm:time_to_first_token_seconds_bucket{…}[30m])))
QUANTILE = regex(r"histogram_quantile\(\s*(0\.\d{1,4})\s*,(.{1,600})")
# {} => 8.914 @[1751024400]  |  {model="m"} 8.914  |  8.914
ANSWER = regex(r"^(?:\{.{0,400}?\})?\s*(?:=> ?)?(\d{1,12}(?:\.\d{1,20})?)(?: @\[.{1,30}\])?\s*$")
# sum(rate(http_requests_total{code=~"5.."}[5m])) / sum(rate(http_requests_total[5m]))
RATIO = regex(r"(?:error|fail|abort|=~?\"5|!~?\"2|reject|timeout).{0,300}\)\s*/\s*\(?sum", 2)
# time() - max by (job_name) (trainer_last_step_timestamp_seconds{job_name="a"})
SINCE = regex(r"time\(\) ?- ?.{0,80}\b\w{0,40}(?:step|iteration|progress|heartbeat|batch|epoch)\w{0,60}", 2)


def queries(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest row of each expression."""
    asked = ""
    best: Reading | None = None
    for number, text in lines:
        if "DCGM_FI_" in text and (kind := next((name for name, pattern in QUERIES if pattern.search(text)), "")):
            if best:
                yield best
            asked, best = kind, None
        elif asked and (match := ROW.match(text)):
            value = float(match[2])
            value = value / 100 if asked == "gpu_memory_share" and value > WHOLE else value
            if best is None or value > best.value:
                where = " ".join(f"{name} {said}" for name, said in LABEL.findall(match[1]))
                best = Reading(asked, value, (number, text), label=where[:120])
        elif text.strip() and not text.lstrip().startswith(("#", "{")):
            asked = ""
    if best:
        yield best


def quantiles(lines: Sequence[Line]) -> Iterator[Reading]:
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


READERS = (queries, quantiles)
numbers = measures.parser(READERS)
