# ruff: noqa: E501 - lines as programs print them
"""Who reaches whom, as matrices, rows and the neighbours of a switch tell it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.linux import reachability
from gpudoctor.tools.parser import ParseError

LLDP = "Interface:    ens1f0np0, via: LLDP, RID: 1, Time: 0 day, 00:10:22\n  Chassis:\n    SysName:      gpu-02\n  Port:\n    PortDescr:    ens1f0np0\n"


def output(text: str) -> Output:
    return Output(Command(("cat",)), pages=(text.encode("utf-8", "surrogateescape"),), source="x.txt")


def test_neighbours_of_lldpcli() -> None:
    (cable,) = reachability.neighbours(output(LLDP), Subject(kind="node", node="gpu-01"))["cables"]
    assert (cable.node, cable.interface, cable.neighbour) == ("gpu-01", "ens1f0np0", "gpu-02")  # type: ignore[attr-defined]
    with pytest.raises(ParseError, match=r"x\.txt"):
        reachability.neighbours(output("nothing of this"), Subject(kind="cluster"))


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from(["gpu-01 gpu-02 PASS", "gpu-01 gpu-03 FAIL", "mlx5_0 ok -", "\x00\x1b[31m", "", "é" * 50, "k1 -> k2: timed out"]),
        max_size=30,
    )
)
def test_no_line_between_them_costs_a_pair(texts: list[str]) -> None:
    pairs, _ = reachability.read(output("\r\n".join(texts)))
    assert len([one for one in pairs if one.other == "gpu-02"]) == texts.count("gpu-01 gpu-02 PASS")
    assert len([one for one in pairs if one.other == "gpu-03"]) == texts.count("gpu-01 gpu-03 FAIL")
