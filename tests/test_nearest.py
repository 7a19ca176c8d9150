"""Causes that are named for their words alone: near ones for texts that no check decides, and never more than a place to begin."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.analyze.gather import SECTION, WORDS, Words, gather
from gpudoctor.engine import nearest
from gpudoctor.engine.diagnose import analyze
from gpudoctor.report import Report
from gpudoctor.runbook.index import library

# What people wrote in their own words → the cause that must be among those named
TOLD = {
    "exporter-oomkilled": "restarts: the dcgm exporter's pods reach their memory limit and are OOMKilled, working set 508Mi of 512Mi",
    "shm-too-small": "the data workers die of a bus error as soon as there are 16 of them; the container's shared memory has 64M",
    "shared-filesystem-hang": "processes sleep in state D since the storage froze, nothing on the mount of the file system answers",
    "mig-strategy-mismatch": "seven MIG devices exist, the node offers one plain GPU, strategy is set to none",
    "nccl-socket-ifname-invalid": "the variable for the socket names an interface that this host doesn't have",
}


def judged(folder: Path, text: str) -> Report:
    """The report on a pasted text, with its words."""
    file = folder / "notes.txt"
    file.write_text(text)
    gathered = gather([str(file)])
    return analyze(library(), gathered.facts, gathered.inputs, gathered.now, words=gathered.words)


@pytest.mark.parametrize("cause", TOLD)
def test_what_is_told_in_own_words_is_near_its_cause(cause: str) -> None:
    assert cause in [one.cause for one in nearest.nearest(library(), TOLD[cause])]


def test_they_are_candidates_of_an_inconclusive_report_and_decide_nothing(tmp_path: Path) -> None:
    report = judged(tmp_path, f"{TOLD['exporter-oomkilled']}\nsince the upgrade of last week\n")
    assert (report.verdict, report.findings) == ("inconclusive", [])
    named = next(one for one in report.candidates if one.cause == "exporter-oomkilled")
    assert not named.check
    assert "exporter" in named.words
    assert "exporter" in named.why
    assert named.settle_with == ["gpudoctor explain exporter-oomkilled"]
    assert len(report.candidates) <= nearest.MOST


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n", "problem"),
        (
            "[   12.1] nvidia 0000:1b:00.0: enabling device (0140 -> 0142)\n[   13.0] NVRM: loading NVIDIA UNIX x86_64 Kernel Module\n",
            "healthy",
        ),
    ],
)
def test_nothing_is_named_where_something_is_known(tmp_path: Path, text: str, verdict: str) -> None:
    report = judged(tmp_path, text)
    assert report.verdict == verdict
    assert not [one for one in report.candidates if one.words]


def test_a_candidate_of_a_check_stands_alone(tmp_path: Path) -> None:
    report = judged(tmp_path, "RuntimeError: CUDA error: unknown error\nterminate called after throwing an instance of 'c10::Error'\n")
    assert [(bool(one.check), one.words) for one in report.candidates] == [(True, [])]


@pytest.mark.parametrize("text", ["", "hello world\n", "0x1f 12345 10.0.0.1\n", "日本語のメモ\n", "the and of it is\n" * 100])
def test_words_that_say_nothing_name_nothing(text: str) -> None:
    assert nearest.nearest(library(), text) == []


def test_what_is_only_information_is_not_named() -> None:
    information = {name for name, cause in library().causes.items() if cause.severity == "info"}
    named = {one.cause for cause in library().causes.values() for one in nearest.nearest(library(), cause.means)}
    assert named
    assert not named & information


def test_an_entry_is_found_by_its_own_meaning() -> None:
    alarming = [cause for cause in library().causes.values() if cause.severity != "info"][::10]
    first = [nearest.nearest(library(), f"{cause.title} {cause.means}")[0].cause for cause in alarming]
    assert sum(name == cause.id for name, cause in zip(first, alarming, strict=True)) >= 0.95 * len(alarming)


def test_a_huge_text_gives_a_bounded_number_of_words(tmp_path: Path) -> None:
    file = tmp_path / "huge.txt"
    file.write_text("a line that nobody knows\n\n" * 200_000)
    assert len(gather([str(file)]).words) <= WORDS


def test_many_sections_keep_no_more_words_than_a_few() -> None:
    held = Words()
    for _ in range(100):
        held.add("a line that nobody knows\n" * 10_000)
    assert len("\n".join(held.texts)) <= WORDS
    assert len(held.texts) <= WORDS // SECTION + 1
