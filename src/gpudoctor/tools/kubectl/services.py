"""Services as `kubectl get` and `kubectl describe` show them."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import Port, Service
from gpudoctor.knowledge import components
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.line_numbers import gaps
from gpudoctor.tools.kubectl.columns import Row, cells, header
from gpudoctor.tools.parser import LINE

EXPORTER = "dcgm-exporter"
COLUMNS = {"NAME", "TYPE", "CLUSTER-IP", "PORT(S)"}
# 9400/TCP  |  9400:30940/TCP
LISTED = regex(r"(\d{1,5})(?::\d{1,5})?/(?:TCP|UDP|SCTP)")
# Port:                     gpu-metrics  9400/TCP        TargetPort:               9400/TCP
DESCRIBED = regex(r"(Name|Namespace|Labels|Annotations|Selector|Type|IP|Port|TargetPort|Endpoints):\s*(.*)")
PORT = regex(r"(\S+)\s+(\d{1,5})/")
NOTE = regex(r"prometheus\.io/(scrape|port|path):\s*(\S+)")
PAIR = regex(r"([\w./-]{1,317})=([\w.-]{0,63})")


def score(lines: list[str]) -> int:
    """A table or a description of Services."""
    if any({title for _, title in header(line)} >= COLUMNS for line in lines):
        return 66
    return 65 if any(line.startswith("TargetPort:") for line in lines) and any(line.startswith("Selector:") for line in lines) else 0


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
            found += of_row(cells(line, titles), about, Origin(output.origin_name(), number, line.strip()))
    starts = [number for number, line in enumerate(lines) if line.startswith("Name:")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        found += of_description(lines[start:end], Origin(output.origin_name(), start + 1, lines[start].strip()))
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
