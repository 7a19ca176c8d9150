"""What the lines are that a finding rests on: the decisive one first, cut around what it says, with the values that it hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.report import Evidence
from gpudoctor.reporters.text import cut_around, excerpt
from tests.pasted import diagnosed

LONG = "E0105 08:00:10.000800       1 main.go:123] " + "a word and " * 30
SCHEDULER = (
    "Warning  FailedScheduling  2m  default-scheduler  0/12 nodes are available: 4 node(s) were unschedulable, 3 node(s) didn't match "
    "pod affinity/anti-affinity, 8 node(s) didn't satisfy existing pods anti-affinity rules."
)
OVERHEATED = """\
timestamp, index, uuid, name, pstate, temperature.gpu, power.draw [W], power.limit [W], power.default_limit [W], clocks.sm [MHz]
2026/03/01 12:00:04.250, 0, GPU-5a0c1f2e-0000-4000-8000-000000000000, NVIDIA H100 80GB HBM3, P0, 55, 200.00 W, 350.00 W, 700.00 W, 1200 MHz
"""
WRAPPED = """\
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  7h    default-scheduler  0/12 nodes are available: 4 node(s) had untolerated taint {dedicated: infra},
                                                      8 node(s) didn't match Pod's node affinity/selector. preemption: 0/12 nodes are
                                                      available: 12 Preemption is not helpful for scheduling.
"""
QUERIED = """\
==============NVSMI LOG==============

Timestamp                                 : Sun Mar  1 12:03:11 2026
Driver Version                            : 550.127.08
Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    GPU UUID                              : GPU-5a0c1f2e-0000-4000-8000-000000000000
    Clocks Event Reasons
        Idle                              : Not Active
        HW Slowdown                       : Active
            HW Thermal Slowdown           : Active
        SW Thermal Slowdown               : Active
    Temperature
        GPU Current Temp                  : 93 C
        GPU T.Limit Temp                  : -3 C
"""


def first(folder: Path, text: str) -> Evidence:
    return diagnosed(folder, text).findings[0].evidence[0]


def said(piece: Evidence) -> str:
    return piece.text[slice(*piece.match)]


def test_a_known_message_is_the_part_that_matched(tmp_path: Path) -> None:
    piece = first(tmp_path, "Created by us. RuntimeError: CUDA out of memory. Tried to allocate 96.00 MiB\n")
    assert said(piece) == "CUDA out of memory"


def test_of_a_schedulers_message_the_clause_is_kept_with_its_count(tmp_path: Path) -> None:
    piece = first(tmp_path, SCHEDULER + "\n")
    assert said(piece).startswith(("3 node(s) didn't", "8 node(s) didn't"))
    assert said(piece) in excerpt(piece, 90)


def test_of_an_xid_the_number_and_what_follows(tmp_path: Path) -> None:
    piece = first(tmp_path, "[ 100.1] NVRM: Xid (PCI:0000:41:00): 79, pid=11, name=python, GPU has fallen off the bus.\n")
    assert said(piece) == "79, pid=11, name=python, GPU has fallen off the bus."


def test_a_row_of_many_columns_is_shown_with_the_values_that_decided(tmp_path: Path) -> None:
    piece = first(tmp_path, OVERHEATED)
    assert piece.values[:2] == ["power limit: 350", "power limit default: 700"]
    assert "(power limit: 350, power limit default: 700" in excerpt(piece, 160)


def test_a_line_has_its_own_time(tmp_path: Path) -> None:
    piece = first(
        tmp_path, "2026-03-01T11:31:07,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid='<unknown>', GPU has fallen off the bus.\n"
    )
    assert piece.time == "2026-03-01T11:31:07Z"


@pytest.mark.parametrize("longest", range(40, 200, 7))
def test_what_matched_is_never_cut_where_there_is_room_for_it(longest: int) -> None:
    part = "failed to register: no such file"
    text = LONG + part + " and more words" * 20
    shown = cut_around(text, len(LONG), len(LONG) + len(part), longest)
    assert len(shown) <= longest
    assert part in shown
    assert set(shown.replace("…", "").split()) <= set(text.split())


def test_a_line_without_spaces_is_cut_around_what_matched_too() -> None:
    shown = cut_around("x" * 400 + "DOWN" + "y" * 400, 400, 404, 60)
    assert "DOWN" in shown
    assert len(shown) <= 60


def test_a_part_that_alone_is_too_long_keeps_its_beginning() -> None:
    assert cut_around("a " + "word " * 40, 2, 202, 24) == "… word word word word …"


def test_a_line_in_which_nothing_matched_keeps_both_ends() -> None:
    shown = cut_around("failed to start: " + "failed to create: " * 9 + "no such file", 0, 0, 40)
    assert shown.startswith("failed to start")
    assert shown.endswith("no such file")


def test_of_an_event_that_is_wrapped_each_clause_is_found_on_its_line(tmp_path: Path) -> None:
    made = diagnosed(tmp_path, WRAPPED)
    lines = {one.cause: one.evidence[0] for one in (*made.findings, *made.candidates)}
    assert said(lines["affinity-mismatch"]) == "8 node(s) didn't match Pod's node affinity/selector"
    assert said(lines["untolerated-taint"]) == "4 node(s) had untolerated taint {dedicated: infra}"
    assert {one.line for one in lines.values()} == {4}


def test_the_time_of_nvidia_smi_has_no_zone(tmp_path: Path) -> None:
    hot = next(one for one in diagnosed(tmp_path, QUERIED).findings if one.cause == "thermal-slowdown")
    assert hot.time == hot.evidence[0].time == "2026-03-01T12:03:11"
