"""A sound machine is not called ill, whatever looks suspicious in what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from tests.nodes.healthy import HEALTHY

# What the texts alone can't decide: a slot with fewer lanes may be built so; in a program's log only known lines are looked for.
UNDECIDED = {
    "a server's noise",  # a slot lost its link
    "a GeForce in a slot of one lane",
    "two workstation cards in slots of different width",
    "a fabric manager that was restarted",
    "a kubelet that starts before the API server",
    # what these show isn't all that a healthy one shows
    "K80 at 99 % without persistence",
    "fields that a release can't read",
    "Jetson",
    "GB10 with a display",
    "a laptop",
    "NVLink 5's counters",
}


@pytest.mark.parametrize("name", HEALTHY)
def test_a_sound_machine_is_not_called_ill(name: str, tmp_path: Path) -> None:
    for file, text in HEALTHY[name].items():
        (tmp_path / f"{file}.txt").write_text(text)
    gathered = gather([str(tmp_path)])
    assert all(one.recognised_as for one in gathered.inputs)
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    assert [(one.cause, one.title) for one in report.findings if one.severity != "info"] == []
    assert report.verdict == ("inconclusive" if name in UNDECIDED else "healthy")
