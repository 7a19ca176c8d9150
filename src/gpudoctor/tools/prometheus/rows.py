"""Answers of Prometheus as rows: a table with a header of labels, or what a jq program took out of the JSON, in its order.

Hostname,exported_pod,gpu,value                            jq -r '.data.result[] | [.metric.Hostname, .metric.gpu, .value[1]] | @tsv'
gpu-02,train-0,3,96.4                                      gpu-02  3       96.4
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex

# .metric.gpu  |  .metric["gpu"]  |  .value[1]
TAKEN = regex(r"""\.metric(?:\.(\w{1,100})|\[\\?["'](\w{1,100})\\?["']\])|\.value\[(1)\]""")
# labels by which a GPU is known: without one of them a row is of no GPU
OF_GPU = frozenset({"gpu", "UUID", "pci_bus_id"})
VALUE = frozenset({"value", "val", "values"})
NUMBER = regex(r"-?\d{1,15}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?\Z")
ESCAPED = regex(r"%([2-7][0-9A-Fa-f])")
BRACKETS = '[]"'


def unescape_query(text: str) -> str:
    """Decode a query that was percent-encoded for an address.

    >>> unescape_query("query=count%28DCGM_FI_DEV_GPU_TEMP%29")
    'query=count(DCGM_FI_DEV_GPU_TEMP)'
    """
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def order_of(line: str) -> list[str]:
    """The labels in the order of the columns, "" for the value; [] where a line says nothing of it.

    >>> order_of("Hostname,gpu,value"), order_of("jq -r '.data.result[]|[.metric.gpu,.value[1]]|@tsv'"), order_of("gpu,name")
    (['Hostname', 'gpu', ''], ['gpu', ''], [])
    """
    taken = [label or quoted for label, quoted, _ in TAKEN.findall(line)]
    if not taken:
        cells = [cell.strip().strip('"') for cell in line.split("," if "," in line else None)]
        taken = ["" if cell.lower() in VALUE else cell for cell in cells]
    return taken if taken.count("") == 1 and OF_GPU.intersection(taken) else []


def row_of(line: str, order: Sequence[str]) -> tuple[dict[str, str], float] | None:
    """Labels and value of a row that has as many cells.

    >>> row_of("gpu-02,3,96.4", ["Hostname", "gpu", ""]), row_of('["3","0.5"]', ["gpu", ""]), row_of("total 3", ["Hostname", "gpu", ""])
    (({'Hostname': 'gpu-02', 'gpu': '3'}, 96.4), ({'gpu': '3'}, 0.5), None)
    """
    cells = [cell.strip(f"{BRACKETS} ") for cell in (line.split(",") if "," in line else line.split())]
    if len(cells) != len(order):
        return None
    value = cells[list(order).index("")]
    if not NUMBER.match(value):
        return None
    return {label: cell for label, cell in zip(order, cells, strict=True) if label and cell not in ("", "null")}, float(value)
