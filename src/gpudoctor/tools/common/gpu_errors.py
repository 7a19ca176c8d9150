"""What DCGM's counters of errors say of each GPU, wherever they were read: at an exporter, in an answer of Prometheus, of `dcgmi dmon`.

A counter is an `ErrorReading` of its moment. What no sound card has is a field of a `Gpu`, as nvidia-smi has it. A code of the gauge that
keeps the last Xid, or of the exporter's own count of Xids, is an `Xid`, as the kernel log has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any

from gpudoctor.facts import Fact, Facts, Origin
from gpudoctor.facts.dcgm import ErrorReading
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import Xid
from gpudoctor.knowledge import dcgm_fields, error_metrics
from gpudoctor.knowledge.xids import book

CODES = 1000  # an Xid is below; what is above is DCGM's "no value"
WINDOW = 300.0  # s: dcgm-exporter's window for its count of Xids, where it doesn't say (--xid-count-window-size)
NOW = 300.0  # s: what was read within is of now; Prometheus goes on so long with the last value of a series
MOST = 1e9

Key = tuple[str, str, str, str, str]  # node, UUID, PCI address, index, product
Points = list[tuple[float, float]]  # moment and value, in order


class Errors:
    """Collects what series say. `read_at` is when they were read, `ago` how long before that they are asked about."""

    def __init__(self, read_at: float, ago: float = 0.0) -> None:
        self.read_at, self.ago = read_at, ago
        self.alarms: dict[Key, dict[int, tuple[float, Origin]]] = {}  # GPU → field → its newest value, and where that stands
        self.counted: list[Fact] = []
        self.readings: list[Fact] = []
        self.began: dict[Key, float] = {}  # when the first series of a GPU begins
        self.kept: dict[tuple[Key, str], list[tuple[float, float, Origin]]] = {}  # of the gauge that keeps the last Xid
        self.of_xids = False

    def add(self, who: Key, name: str, labels: Mapping[str, str], points: Points, where: Origin) -> None:
        """One series of one GPU."""
        if not points or not any(who[1:4]):
            return
        points = [(moment - self.ago, value) for moment, value in points]
        self.began[who] = min(points[0][0], self.began.get(who, points[0][0]))
        if not (about := error_metrics.about(name)):
            return
        self.of_xids |= about == "xid"
        if name == error_metrics.XID_COUNTS:
            self.count(who, name, labels, points[-1], where)
            return
        self.readings += [
            ErrorReading(**named(who), metric=name, about=about, value=value, time=moment, origin=where) for moment, value in turns(points)
        ]
        if about == "xid":
            self.kept.setdefault((who, name), []).extend((moment, value, where) for moment, value in points)
        elif not self.ago and (field := dcgm_fields.find_field(name)):
            self.alarms.setdefault(who, {})[field.id] = (points[-1][1], where)

    def count(self, who: Key, name: str, labels: Mapping[str, str], point: tuple[float, float], where: Origin) -> None:
        """The exporter's count of one code in its window."""
        moment, value = point
        text = labels.get("xid") or labels.get("err_code") or ""
        code = int(text) if text.isdecimal() and len(text) < 4 else 0
        if not self.ago and value >= 1 and code:
            window = labels.get("window_size_in_ms", "")
            within = int(window) / 1000 if window.isdecimal() and len(window) < 12 else WINDOW
            self.counted.append(
                xid(who, code, name, where, time=moment, last=moment, age=within, moment=moment, count=int(min(value, MOST)))
            )

    def last_xids(self) -> Iterator[Xid]:
        """The codes of the gauge. One that comes while the GPU is watched has its time; one that was there from the beginning has an age
        that is the least.
        """
        for (who, name), points in self.kept.items():
            before, since = 0.0, self.began[who]
            for moment, value, where in sorted(points, key=itemgetter(0, 1)):
                if value != before and 0 < value < CODES and value == int(value):
                    age = max(0.0, self.read_at - moment) if self.read_at else 0.0
                    if since < moment:
                        yield xid(who, int(value), name, where, time=moment, last=moment, age=age if self.read_at else None, moment=moment)
                    elif age >= NOW or is_of_gpu(int(value)):
                        yield xid(who, int(value), name, where, age=age if age >= NOW else None, moment=moment)
                before, since = value, moment

    def cards(self) -> Iterator[Gpu]:
        """The GPUs with what no sound card has."""
        for who, values in self.alarms.items():
            bad = {field: made for field, (value, _) in values.items() if (made := error_metrics.alarm(field, value))}
            if bad:
                said = [values[field][1] for field in bad]
                where = Origin(said[0].source, said[0].line, "; ".join(one.text for one in said)[:1000])
                yield Gpu(**named(who), **error_metrics.add_up(bad.values()), origin=where)

    def facts(self) -> Facts:
        """What was found; Xids only where a metric of them was there."""
        made: Facts = {"gpus": [*self.cards()], "error_readings": self.readings}
        if self.of_xids:
            made["xids"] = [*self.counted, *self.last_xids()]
        return made


def turns(points: Points) -> Points:
    """The first and the last point of a series, and the two at each change.

    >>> turns([(0, 1), (60, 1), (120, 1), (180, 3), (240, 3), (300, 3)])
    [(0, 1), (120, 1), (180, 3), (300, 3)]
    """
    last = len(points) - 1
    return [point for at, point in enumerate(points) if at in (0, last) or {points[at - 1][1], points[at + 1][1]} != {point[1]}]


def names(who: Key) -> dict[str, Any]:
    """The names of a GPU, as fields; by its index alone it is not known beyond its own machine."""
    node, uuid, address, index, model = who
    number = int(index) if index.isdecimal() else None
    return {"node": node, "gpu": uuid or address, "uuid": uuid, "pci": address, "index": number, "product": model}


def named(who: Key) -> dict[str, Any]:
    """The same, where what is found is to be told of a GPU that has an index only."""
    known = names(who)
    return known | {"gpu": known["gpu"] or (f"GPU {who[3]}" if who[3] else "")}


def xid(who: Key, code: int, metric: str, where: Origin, **when: Any) -> Xid:
    """An Xid of which DCGM keeps no more than the number."""
    known = book().xid(code)
    of_gpu = named(who)
    return Xid(
        node=of_gpu["node"],
        gpu=of_gpu["gpu"],
        uuid=of_gpu["uuid"],
        pci=of_gpu["pci"],
        named=f"GPU {of_gpu['gpu']}" if of_gpu["gpu"] else "a GPU",
        code=code,
        title=known.title if known else "",
        severity=known.severity if known else "",
        scope=known.scope if known else "",
        whose=known.whose if known else "",
        metric=metric,
        origin=where,
        **when,
    )


def is_of_gpu(code: int) -> bool:
    """Whether an Xid concerns more than a program: one of a program is mostly past where the gauge still has it."""
    known = book().xid(code)
    return known is None or (known.scope != "process" and known.severity in ("error", "critical"))
