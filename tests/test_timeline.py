"""What happened to each GPU: an event that several sources tell is one row, under the one name of its card, by the clock that told it."""

from __future__ import annotations

from typing import Any

import pytest

from gpudoctor.derive.timeline import ROWS, timeline
from gpudoctor.facts import Origin
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.identity import Links, one_name_of_gpus
from gpudoctor.facts.kernel import TimelineEntry, Xid
from gpudoctor.facts.kubernetes import Message

UUID, OTHER = "GPU-6d1f2a50-0b0e-4c59-9a7e-3f1c5b8e0007", "GPU-6d1f2a50-0b0e-4c59-9a7e-3f1c5b8e0008"
NOON = 1772366400.0
LOST = "2026-03-01T12:00:00+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def in_kernel(code: int = 79, pci: str = "0000:ab:00", time: float | None = NOON, **more: Any) -> Xid:
    origin = Origin("dmesg", int(more.get("line", 1)), more.pop("text", LOST))
    more.pop("line", None)
    fields = {"uuid": "", **more}
    return Xid(node="n1", code=code, pci=pci, gpu=fields["uuid"] or pci, time=time, moment=time or 0.0, origin=origin, **fields)


def in_plugin(code: int = 79, uuid: str = UUID, time: float | None = NOON + 0.1) -> Xid:
    origin = Origin("plugin.log", 6, f"I0301 12:00:00.100000 1 health.go:185] XidCriticalError: Xid={code} on Device={uuid}")
    return Xid(node="n1", code=code, uuid=uuid, gpu=uuid, time=time, moment=time or 6.0, origin=origin)


def rows(*xids: Xid, **more: list[Any]) -> list[TimelineEntry]:
    return [row for row in timeline({"xids": [*xids], **more}, {}, NOON)["timeline"] if isinstance(row, TimelineEntry)]


def test_one_error_in_two_logs_is_one_row_of_one_card() -> None:
    (row,) = rows(in_plugin(), in_kernel())
    assert (row.gpu, row.sources, row.count) == (UUID, 2, 1)
    assert "2 sources" in row.what


def test_the_drivers_own_words_about_the_error_are_no_further_row() -> None:
    said = Message(
        name="nvrm_gpu_lost",
        node="n1",
        pci="0000:ab:00",
        moment=NOON,
        time=NOON,
        origin=Origin("dmesg", 2, "2026-03-01T12:00:00+00:00 NVRM: GPU 0000:ab:00.0: GPU has fallen off the bus."),
    )
    assert len(rows(in_kernel(), messages=[said])) == 1
    later = Message(
        name="aer", node="n1", pci="0000:ab:00", moment=NOON, time=NOON, origin=Origin("dmesg", 3, "nvidia 0000:ab:00.0: AER: error")
    )
    assert len(rows(in_kernel(), messages=[said, later])) == 2


def test_two_programs_in_one_log_are_two_rows() -> None:
    assert len(rows(in_kernel(13, pid=1), in_kernel(13, pid=2, line=2))) == 2


@pytest.mark.parametrize(
    "xids",
    [
        (in_kernel(), in_plugin(time=NOON + 60)),  # another moment
        (in_kernel(), in_plugin(time=None)),  # or nobody knows which
        (in_kernel(), in_plugin(code=48)),  # another error
        (in_kernel(), in_kernel(pci="0000:1b:00"), in_plugin()),  # one of two
        (in_kernel(), in_plugin(), in_plugin(uuid=OTHER)),
    ],
)
def test_what_may_be_another_card_keeps_its_name(xids: tuple[Xid, ...]) -> None:
    assert one_name_of_gpus([], xids) == {}


def test_an_event_ties_no_card_that_is_known_by_another_address() -> None:
    known = Gpu(node="n1", gpu=UUID, uuid=UUID, pci="0000:1b:00", index=0)
    assert one_name_of_gpus([known], [in_kernel(), in_plugin()]) == {("n1", "0000:1b:00"): UUID, ("n1", "GPU 0"): UUID}


def test_findings_on_both_names_are_on_one_subject() -> None:
    links = Links([], [], [], xids=[in_kernel(), in_plugin()])
    assert links.unify(in_kernel().subject()) == links.unify(in_plugin().subject())


def test_a_clock_without_a_zone_is_printed_without_one() -> None:
    assert [row.when for row in rows(in_kernel())] == ["2026-03-01 12:00:00Z"]
    assert [row.when for row in rows(in_kernel(text="[Sun Mar  1 12:00:00 2026] NVRM: Xid (PCI:0000:ab:00): 79"))] == [
        "2026-03-01 12:00:00"
    ]


def test_of_a_long_history_the_first_the_worst_and_the_last_are_kept_and_the_gaps_say_how_many() -> None:
    many = [in_kernel(31, time=NOON + 100 * number, line=number, severity="warning") for number in range(200)]
    many[120] = in_kernel(79, time=NOON + 12_000, line=120, severity="critical")
    made = rows(*many)
    assert [row.code for row in made if row.telling] == [31, 79, 31]
    assert [row.first for row in made if row.telling] == [True, False, False]
    gaps = [row.what for row in made if row.code is None]
    assert gaps == ["81 rows left out", "59 rows left out"]
    assert len(made) <= ROWS + 2
    assert sum(row.count for row in made) == len(many)
