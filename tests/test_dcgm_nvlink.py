"""`dcgmi nvlink -e`: what is read of each release's box, and that it leads where the counters of nvidia-smi lead."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpudoctor.derive.fabric import measure_fabric
from gpudoctor.facts import Subject
from gpudoctor.facts.fabric import NvLinkSum
from gpudoctor.facts.gpu import NvLink
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.tools.parser import ParseError
from tests.nodes import dcgmi, nvlink
from tests.nodes.cases_nvlink import CARDS
from tests.pasted import diagnosed

UNREAD = "Warning: Unable to retrieve nvlink CRC FLIT Error count for link 1 for gpuId 0 - Unknown error\n"


def links(text: str) -> list[NvLink]:
    output = Output(Command(("dcgmi", "nvlink", "-e", "-g", "0")), pages=(text.encode(),))
    return [one for one in load("dcgm.nvlink")(output, Subject(kind="node", node="gpu-01"))["nvlinks"] if isinstance(one, NvLink)]


@pytest.mark.parametrize("box", [dcgmi.nvlink, dcgmi.nvlink1])
def test_each_link_is_read_with_its_gpu_and_the_line_that_tells(box: Callable[..., str]) -> None:
    counts = {(1, "CRC FLIT Error"): 3, (1, "CRC Data Error"): 4, (1, "Recovery Error"): 2}
    first, second = links(box(3, 2, counts))
    assert (first.node, first.index, first.link, first.crc_errors) == ("gpu-01", 3, 0, 0)
    assert (second.link, second.replay_errors, second.recovery_errors, second.crc_errors) == (1, 0, 2, 7)
    assert second.origin.text.rstrip(" |").endswith("2")


def test_blackwell_has_one_list_for_all_links_under_the_names_of_nvidia_smi() -> None:
    (one,) = links(dcgmi.nvlink5(1, {"Rx Error": 4, "Symbol BER": "1.5e-254"}))
    assert (one.index, one.link, one.other_errors["Rx Errors"]) == (1, None, 4)
    assert not any("BER" in name for name in one.other_errors)


@pytest.mark.parametrize("text", [UNREAD + dcgmi.nvlink(), dcgmi.nvlink(counts={(1, "CRC FLIT Error"): "Not Specified"})])
def test_a_counter_without_a_number_is_a_gap_and_not_zero(text: str) -> None:
    one = next(one for one in links(text) if one.link == 1)
    assert "crc_errors" in one.gaps
    assert one.crc_errors is None


@pytest.mark.parametrize("text", ["", "GPU ID 9 is not valid, return: Bad parameter passed to function\n", dcgmi.UNREACHABLE])
def test_what_holds_no_counters_is_no_answer(text: str) -> None:
    with pytest.raises(ParseError):
        links(text)


def test_the_same_counters_of_both_tools_are_not_added_up() -> None:
    smi = Output(Command(("nvidia-smi", "nvlink", "-e")), pages=(nvlink.errors(CARDS, 2, {(0, 1, "Replay"): 60}).encode(),))
    facts = load("nvidia.nvlink")(smi, Subject(kind="node", node="gpu-01"))
    of_dcgm = links(dcgmi.nvlink(0, 2, {(1, "Replay Error"): 61}))
    rows = measure_fabric({"gpus": facts["gpus"], "nvlinks": [*facts["nvlinks"], *of_dcgm]}, {}, 0.0)["nvlink_sums"]
    assert [(row.replays, row.worst) for row in rows if isinstance(row, NvLinkSum)] == [(61, 1), (0, None)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (dcgmi.nvlink(3, 4, {(1, "Recovery Error"): 1}), "NVLinks of GPU 3 were retrained or lost packets, most of all link 1"),
        (dcgmi.nvlink(3, 4, {(1, "CRC Data Error"): 100}), "NVLinks of GPU 3 repeat transfers, most of all link 1"),
        (dcgmi.nvlink5(3, {"Link Integrity Error": 1}), "NVLinks of GPU 3 were retrained or lost packets"),
        (dcgmi.nvlink(3, 4, {(1, "CRC Data Error"): 99}), ""),
    ],
)
def test_it_leads_where_the_counters_of_nvidia_smi_lead(text: str, title: str, tmp_path: Path) -> None:
    found = diagnosed(tmp_path, text).findings
    assert [(one.cause, one.title) for one in found] == ([("nvlink-error-counters-rising", title)] if title else [])
