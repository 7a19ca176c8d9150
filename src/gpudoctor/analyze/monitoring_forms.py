"""How the metrics pipeline is recognised in files, and Services as `kubectl get` and `kubectl describe` show them."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.analyze import endpoint_columns
from gpudoctor.analyze.columns import Row, cells, header
from gpudoctor.analyze.place import gaps
from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import Port, Service
from gpudoctor.knowledge import components
from gpudoctor.parsers import LINE
from gpudoctor.parsers.exposition import NAME, WHOLE, Summary
from gpudoctor.parsers.metric_rules import COUNTER, KEY, ROW
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

EXPORTER = "dcgm-exporter"
# DCGM_FI_DEV_SM_CLOCK  |  # TYPE DCGM_FI_DEV_SM_CLOCK gauge, after `grep` and `awk`
METRIC = regex(r"(?:# (?:HELP|TYPE) )?(DCGM_(?:FI|EXP)_[A-Z0-9_]{1,80})(?: (?:gauge|counter))?")
# curl -s http://prometheus:9090/api/v1/label/__name__/values | jq -r ".data[]" | grep DCGM        (all names of it, however few)
ALL_NAMES = regex(r"__name__/values|:\d{4,5}/metrics")
GREP = regex(
    r"\bgrep (?:-\w+ )*[\"']?\^?DCGM(?:_(?:FI_?)?)?[^\w\s]{0,20}(?:A-Z\S{0,20})?(?:[\"']|\s|$)|^[^|]*(?:\| ?(?:jq|sort|uniq)\b[^|]*)*$"
)
FEW = 3
PANEL = regex(r'"expr": ?"[^"]{0,2000}DCGM_')
COLUMNS = {"NAME", "TYPE", "CLUSTER-IP", "PORT(S)"}
# 9400/TCP  |  9400:30940/TCP
LISTED = regex(r"(\d{1,5})(?::\d{1,5})?/(?:TCP|UDP|SCTP)")
# Port:                     gpu-metrics  9400/TCP        TargetPort:               9400/TCP
DESCRIBED = regex(r"(Name|Namespace|Labels|Annotations|Selector|Type|IP|Port|TargetPort|Endpoints):\s*(.*)")
PORT = regex(r"(\S+)\s+(\d{1,5})/")
NOTE = regex(r"prometheus\.io/(scrape|port|path):\s*(\S+)")
PAIR = regex(r"([\w./-]{1,317})=([\w.-]{0,63})")


def of_listing(lines: list[str], argv: tuple[str, ...]) -> int:
    """Names of metrics alone, one a line, where the command or the number of them says that these are all."""
    filled = [line.strip() for line in lines if line.strip() and not line.startswith(("#", "$"))]
    named = [line for line in filled if METRIC.fullmatch(line)]
    fewest = FEW if ALL_NAMES.search(" ".join(argv)) and GREP.search(" ".join(argv)) else WHOLE
    return 63 if len(named) >= fewest and len(named) * 10 >= len(filled) * 9 else 0


def listing(output: Output, about: Subject) -> Facts:
    """The summary of such a list."""
    summary = Summary()
    for line in output.text.split("\n"):
        if match := METRIC.fullmatch(line.strip()):
            summary.add(match[1], {})
    return {"expositions": [summary.fact(place="exporter", whole=True, source=output.named(), node=about.node, pod=about.pod)]}


def of_targets(whole: str) -> int:
    """Prometheus' answer to /api/v1/targets, or targets picked from it."""
    head = whole.lstrip()[:4000]
    return 93 if head[:1] in ("{", "[") and ('"activeTargets"' in head or ('"scrapeUrl"' in head and '"health"' in head)) else 0


def of_names(whole: str) -> int:
    """Prometheus' answer to an instant query, or the values of a label, with metrics of DCGM."""
    head = whole.lstrip()[:400]
    answer = head[:1] == "{" and '"status"' in head and '"data"' in head and '"matrix"' not in head
    return 60 if answer and '"activeTargets"' not in head and ("DCGM_" in whole[:100_000] or "dcgm_" in whole[:100_000]) else 0


def of_rules(lines: list[str], whole: str) -> int:
    """Alerting rules or a dashboard over metrics of DCGM: an expression on a line of its own, or below its key."""
    if "DCGM_" not in whole[:1_000_000]:
        return 0
    if any(ROW.match(line) for line in lines):
        return 84
    keys = [match for line in lines if (match := KEY.match(line))]
    if "triggers:" in whole and any(match[1] == "query" and NAME.search(match[2]) for match in keys):
        return 23  # KEDA's, beside the object
    if not any(match[1] == "expr" for match in keys):
        return 84 if whole.lstrip()[:1] in ("{", "[") and PANEL.search(whole[:1_000_000]) else 0
    return 84 if any(match[1] == "expr" and (NAME.search(match[2]) or not match[2].strip(" |>-+")) for match in keys) else 0


def of_counters(lines: list[str]) -> int:
    """The exporter's list of counters."""
    return 85 if sum(COUNTER.match(line) is not None for line in lines) >= 3 else 0


def of_services(lines: list[str]) -> int:
    """A table or a description of Services."""
    if any({title for _, title in header(line)} >= COLUMNS for line in lines):
        return 66
    return 65 if any(line.startswith("TargetPort:") for line in lines) and any(line.startswith("Selector:") for line in lines) else 0


of_endpoints, endpoints = endpoint_columns.score, endpoint_columns.endpoints


def services(output: Output, about: Subject) -> Facts:
    """The Services of tables and descriptions."""
    lines = [line[:LINE].rstrip("\r ") for line in output.text.split("\n")]
    found: list[Service] = []
    titles: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if columns := header(line):
            titles = columns if {title for _, title in columns} >= COLUMNS else []
        elif not line.strip():
            titles = []
        elif titles:
            found += of_row(cells(line, titles), about, Origin(output.named(), number, line.strip()))
    starts = [number for number, line in enumerate(lines) if line.startswith("Name:")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found += of_description(lines[start:end], Origin(output.named(), start + 1, lines[start].strip()))
    return {"services": [*found]} if found else {}


def of_row(row: Row, about: Subject, origin: Origin) -> Iterable[Service]:
    """A row; its labels are a gap, and without -o wide its selector too. A port has no name there, and where it leads isn't shown."""
    name = row.get("NAME", "").removeprefix("service/").removeprefix("svc/")
    ports = [Port(number=int(text)) for text in LISTED.findall(row.get("PORT(S)", ""))]
    selector = dict(PAIR.findall(row.get("SELECTOR", "")))
    if not name or not ports:
        return
    labels = dict(PAIR.findall(row.get("LABELS", "")))
    shown = (
        {"namespace", "service", "numbers", "exporter", "address"}
        | ({"selector"} if selector else set())
        | ({"labels"} if labels else set())
    )
    yield Service(
        namespace=row.get("NAMESPACE", "") or about.namespace,
        service=name,
        labels=labels,
        selector=selector,
        numbers=[str(port.number) for port in ports],
        exporter=components.of_name(name) == EXPORTER,
        address=row.get("CLUSTER-IP", ""),
        gaps=gaps(Service, shown, "not shown by kubectl get services"),
        origin=origin,
    )


def of_description(lines: list[str], origin: Origin) -> Iterable[Service]:
    """One described Service. `Labels:` and `Annotations:` go on in the lines below."""
    values: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if match := DESCRIBED.match(line):
            key = match[1]
            values.setdefault(key, []).append(match[2])
        elif line.startswith(" ") and key:
            values[key].append(line.strip())
        else:
            key = ""
    if "TargetPort" not in values or "Selector" not in values:
        return
    targets = [text.split("/")[0] for text in values["TargetPort"]]
    named = [PORT.match(text) for text in values.get("Port", [])]
    ports = [
        Port("" if match[1].startswith("<") else match[1], int(match[2]), target)
        for match, target in zip(named, targets, strict=False)
        if match
    ]
    labels, selector = dict(PAIR.findall(" ".join(values.get("Labels", [])))), dict(PAIR.findall(" ".join(values["Selector"])))
    notes = dict(NOTE.findall(" ".join(values.get("Annotations", []))))
    name = values["Name"][0].strip()
    yield Service(
        namespace=next(iter(values.get("Namespace", [])), "").strip(),
        service=name,
        labels=labels,
        selector=selector,
        ports=ports,
        numbers=list(dict.fromkeys(text for port in ports for text in (str(port.number), port.target) if text.isdecimal())),
        exporter=EXPORTER in (components.of_name(name), components.of_labels(labels), components.of_labels(selector)),
        address=next(iter(values.get("IP", [])), "").strip(),
        scrape=notes.get("scrape", ""),
        scrape_port=notes.get("port", ""),
        scrape_path=notes.get("path", ""),
        origin=origin,
    )
