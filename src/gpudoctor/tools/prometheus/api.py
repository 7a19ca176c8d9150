"""Answers of Prometheus' HTTP API (https://prometheus.io/docs/prometheus/latest/querying/api/): targets, and which metrics there are.

/api/v1/targets            {"status":"success","data":{"activeTargets":[{"labels":{…},"scrapePool":"…","scrapeUrl":"…","health":"up",…}],…}}
/api/v1/query              {"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"DCGM_FI_…"},"value":[…]}]}}
/api/v1/label/…/values     {"status":"success","data":["DCGM_FI_DEV_GPU_TEMP",…]}
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import ScrapeTarget
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.kubernetes.api_json import seconds
from gpudoctor.tools.parser import ParseError
from gpudoctor.tools.prometheus.exposition import NAME, Summary

TARGETS = 20_000  # that are read; a cluster of 5,000 nodes has about as many
SERIES = 200_000
EXPORTER = regex(r"dcgm|gpu-metrics|nvidia-gpu-exporter")
OWN_PORTS = (9400, 9401)  # dcgm-exporter's own, and the one that composes with a second exporter use
# http://10.0.0.7:9400/metrics  |  https://[fd00::7]/metrics
URL = regex(r"(https?)://(?:\[[0-9a-fA-F:.%]{1,60}\]|[^/:\s]{1,253})(?::(\d{1,5}))?(?:/|\Z)")
ALL = '"activeTargets"'  # in an answer that nobody has picked from
BLANKS = regex(r"\s*")
DURATION = regex(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

# What the last error of a target says → a neutral word; the texts are those of Go's net, of Prometheus 2.x and 3.x (scrape/scrape.go,
# scrape/target.go, model/textparse), with a line of each.
TROUBLES: tuple[tuple[str, re.Pattern[str]], ...] = (
    # sample limit exceeded  |  body size limit exceeded  |  label_limit exceeded (metric: "…", number of labels: 12, limit: 10)
    ("limit", regex(r"(?:sample|body size|label\w{0,20}|bucket|target)[_ ]limit exceeded|exceeds label_\w{4,12}_limit")),
    # Get "http://10.0.0.7:9400/metrics": dial tcp 10.0.0.7:9400: connect: connection refused
    ("refused", regex(r"connection refused")),
    # Get "…": context deadline exceeded  |  … i/o timeout  |  (Client.Timeout exceeded while awaiting headers)
    ("timeout", regex(r"context deadline exceeded|i/o timeout|[Tt]imeout exceeded")),
    # dial tcp 10.0.0.7:9400: connect: no route to host
    ("unreachable", regex(r"no route to host|network is unreachable|connection reset by peer|: EOF\s*\Z")),
    # dial tcp: lookup dcgm-exporter on 10.96.0.10:53: no such host
    ("name", regex(r"no such host|server misbehaving|\blookup \S{1,253}")),
    # tls: failed to verify certificate: x509: …  |  http: server gave HTTP response to HTTPS client
    ("tls", regex(r"x509:|\btls:|gave HTTP response to HTTPS|malformed HTTP response")),
    # server returned HTTP status 403 Forbidden
    ("credentials", regex(r"HTTP status (?:401|403)")),
    ("not-found", regex(r"HTTP status 404")),
    ("http", regex(r"HTTP status [1-5]\d\d")),
    # "INVALID" is not a valid start token (2.42)  |  expected a valid start token, got "<" ("INVALID") while parsing: "<"
    # received unsupported Content-Type "text/html" and no fallback
    ("not-metrics", regex(r"a valid start token|expected (?:\w+ after|value|label|equal)|unsupported Content-Type|while parsing:")),
)


class _Target(msgspec.Struct, frozen=True):
    labels: dict[str, str] = {}
    discoveredLabels: dict[str, str] = {}
    scrapePool: str = ""
    scrapeUrl: str = ""
    lastError: str = ""
    lastScrape: str = ""
    health: str = ""
    scrapeInterval: str = ""


class _Targets(msgspec.Struct, frozen=True):
    activeTargets: list[msgspec.Raw] | None = None


class _OfTargets(msgspec.Struct, frozen=True):
    status: str = ""
    data: _Targets | None = None


class _Series(msgspec.Struct, frozen=True):
    metric: dict[str, str] = {}


class _Result(msgspec.Struct, frozen=True):
    result: list[msgspec.Raw] = []


class _OfQuery(msgspec.Struct, frozen=True):
    status: str = ""
    data: _Result | list[str] | None = None


def targets(output: Output, about: Subject) -> Facts:
    """The active targets; one that can't be read is left out."""
    found = []
    known = decoder(_Target)  # made before `convert` needs it, see there
    for raw in itertools.islice(targets_in(output), TARGETS):
        try:
            read = known.decode(raw) if isinstance(raw, msgspec.Raw) else msgspec.convert(raw, _Target)
            found.append(target(read, output))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
    if ALL in output.text[:4000]:
        return {"scrape_targets": [*found]}
    exporters = [one for one in found if one.exporter]  # among picked ones the lack of an exporter's says nothing
    return {"scrape_targets": [*exporters]} if exporters else {}


def targets_in(output: Output) -> Iterator[Any]:
    """The targets of an answer, or those that somebody picked from one: a list of them, or one after the other, as jq prints them."""
    text = output.text
    if ALL in text[:4000]:
        answer = decode_answer(output, _OfTargets)
        if answer.data is None or answer.data.activeTargets is None:
            raise ParseError(f"{output.origin_name()}: no targets of Prometheus: {text[:120]!r}")
        yield from answer.data.activeTargets
        return
    at = after_blanks(text, 0)
    while at < len(text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
        except (ValueError, RecursionError):
            raise ParseError(f"{output.origin_name()}: not an answer of Prometheus: {text[at : at + 120]!r}") from None
        yield from value if isinstance(value, list) else [value]
        at = after_blanks(text, end)


def after_blanks(text: str, at: int) -> int:
    """Where a text goes on."""
    match = BLANKS.match(text, at)
    return match.end() if match else at


def target(one: _Target, output: Output) -> ScrapeTarget:
    """The record of one target."""
    labels, found = one.labels, one.discoveredLabels
    url = one.scrapeUrl[:500]
    job, pool = labels.get("job", ""), one.scrapePool
    port = port_of(url)
    service = labels.get("service") or found.get("__meta_kubernetes_service_name", "")
    pod = labels.get("pod") or found.get("__meta_kubernetes_pod_name", "")
    says = " ".join((job, pool, service, pod, labels.get("container", ""), url))
    last = seconds(one.lastScrape)
    state = f"{one.health}: {one.lastError}" if one.lastError else one.health
    return ScrapeTarget(
        job=job,
        pool=pool,
        url=url,
        port=port,
        health=one.health,
        error=one.lastError[:500],
        trouble=trouble(one.lastError),
        scrape_interval=duration(one.scrapeInterval),
        age=output.time - last if last and output.time and 0 < last <= output.time else None,
        namespace=labels.get("namespace") or found.get("__meta_kubernetes_namespace", ""),
        target_pod=pod,
        service=service,
        exporter=bool(EXPORTER.search(says.lower())) or port in OWN_PORTS,
        time=last if last and last > 0 else None,
        origin=Origin(output.origin_name(), 0, f"{url} {state}"[:1000]),
    )


def port_of(url: str) -> int | None:
    """The port that a URL names or means, None for what is no URL.

    >>> port_of("http://10.0.0.7:9400/metrics"), port_of("https://[fd00::7]/metrics"), port_of("somewhere")
    (9400, 443, None)
    """
    match = URL.match(url)
    return (int(match[2]) if match[2] else {"http": 80, "https": 443}[match[1]]) if match else None


def trouble(error: str) -> str:
    """The word for an error, "" for none."""
    if not error:
        return ""
    return next((word for word, pattern in TROUBLES if pattern.search(error[:2000])), "other")


def duration(text: str) -> float | None:
    """Seconds of a Prometheus duration.

    >>> duration("1m30s"), duration("")
    (90.0, None)
    """
    parts = DURATION.findall(text[:40])
    return sum(float(number) * UNITS[unit] for number, unit in parts) if parts else None


def names(output: Output, about: Subject) -> Facts:
    """Which metrics of DCGM an answer has: an instant query's vector, or the values of the label __name__."""
    answer = decode_answer(output, _OfQuery)
    if answer.data is None:
        raise ParseError(f"{output.origin_name()}: no result of a query: {output.text[:120]!r}")
    summary = Summary()
    bare = True
    for labels in series(answer.data):
        name = labels.get("__name__", "")
        if NAME.fullmatch(name):
            summary.add(name, labels)
            bare &= len(labels) == 1
    # Only an answer that counts by name has nothing but names; any other may have been asked for some of them.
    whole = bare and (bool(summary.names) or asks_for_all(output))
    return {"expositions": [summary.fact(place="prometheus", whole=whole, source=output.origin_name())]}


def asks_for_all(output: Output) -> bool:
    """Whether the query was for all metrics of DCGM, so that an empty answer means that there is none."""
    return any("__name__" in word for word in output.command.argv)


def series(data: _Result | list[str]) -> Iterator[dict[str, str]]:
    """The labels of each series."""
    if isinstance(data, list):
        yield from ({"__name__": name} for name in data[:SERIES])
        return
    for raw in data.result[:SERIES]:
        try:
            yield decoder(_Series).decode(raw).metric
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue


def decode_answer(output: Output, shape: type[Any]) -> Any:
    """The answer, if it is a successful one of Prometheus. Raises `ParseError`."""
    try:
        answer = decoder(shape).decode(b"".join(output.pages))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise ParseError(f"{output.origin_name()}: not an answer of Prometheus: {output.text[:120]!r}") from None
    if answer.status != "success":
        raise ParseError(f"{output.origin_name()}: Prometheus has no answer: {output.text[:120]!r}")
    return answer
