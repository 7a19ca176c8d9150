"""What stands behind Services, as `kubectl get endpoints` prints it."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.monitoring import ServiceEndpoints
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubectl.columns import cells, header
from gpudoctor.tools.parser import LINE, ParseError

TITLES = {"NAME", "ENDPOINTS"}
# 10.244.0.3:53,10.244.0.4:53 + 4 more...  |  <none>  |  of EndpointSlices: <unset>
NONE = ("<none>", "<unset>", "")
PREFIX = regex(r"(?:endpoints|ep)/")
SLICE = regex(r"-[a-z0-9]{5}\Z")  # an EndpointSlice is named after its Service


def score(lines: list[str]) -> int:
    """0 or 67."""
    return 67 if any({title for _, title in header(line)} >= TITLES for line in lines) else 0


def endpoints(output: Output, about: Subject) -> Facts:
    """A record for each row. Raises `ParseError` for a text without a row."""
    found: list[ServiceEndpoints] = []
    titles: list[tuple[int, str]] = []
    for number, line in enumerate(output.text.split("\n"), 1):
        line = line[:LINE].rstrip("\r ")
        if columns := header(line):
            titles = columns if {title for _, title in columns} >= TITLES else []
        elif titles and line.strip():
            row = cells(line, titles)
            sliced = any(title == "ADDRESSTYPE" for _, title in titles)
            name = PREFIX.sub("", row.get("NAME", ""))
            text = row.get("ENDPOINTS", "")
            found.append(
                ServiceEndpoints(
                    namespace=row.get("NAMESPACE", "") or about.namespace,
                    service=SLICE.sub("", name) if sliced else name,
                    ready=0 if text in NONE else text.count(",") + 1,
                    origin=Origin(output.origin_name(), number, line.strip()),
                )
            )
    if not found:
        raise ParseError(f"{output.origin_name()}: no endpoints: {output.text.strip()[:80]!r}")
    return {"service_endpoints": [*found]}
