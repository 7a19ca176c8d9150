"""What must hold for HEALTHY to be believed, over outputs that are sound, outputs that are not, and both together.

A part of all is tried, another one for each seed: `GPUDOCTOR_TRUST="1 7"` tries all, as `make trust` does. `GPUDOCTOR_INCIDENTS` names a
folder of incidents, each with `raw/` and a `truth.yaml` that names the `cause`: they are tried too.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.report import Report
from gpudoctor.runbook.model import Library
from tests.recorded_cases import BOOKS, executed, problems, without
from tests.trust.mutants import RULES, mutants
from tests.trust.sound import texts

part, seed = (os.environ.get("GPUDOCTOR_TRUST") or "0.05 1").split()
INCIDENTS = Path(os.environ.get("GPUDOCTOR_INCIDENTS") or "/nowhere")
NEIGHBOURS = 20  # sound outputs, beside which a sick one stays sick
KNOWN_BY_RULES = 0.2  # share of recorded problems that only their own check sees
KINDS = 60  # of bad values that are tried at least

SOUND = texts()
SICK = sorted(INCIDENTS.glob("*/*/truth.yaml"))


def some(name: str) -> random.Random:
    """Chance for one test: the same with the same seed."""
    return random.Random(f"{seed} {name}")


def read(folder: Path, known: Library | None = None) -> Report:
    """The report on a folder."""
    gathered = gather([str(folder)])
    return analyze(known or library(), gathered.facts, gathered.inputs, gathered.now)


def loud(report: Report) -> list[str]:
    """The first finding that is more than a note."""
    return [one.cause for one in report.findings if one.severity != "info"][:1]


def named(report: Report) -> set[str]:
    """All causes of a report."""
    return {one.cause for one in (*report.findings, *report.candidates, *report.overridden)}


# --- one value of a sound output made bad ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_output_with_one_bad_value_is_not_healthy(name: str, tmp_path: Path) -> None:
    chance = some(name)
    healthy = []
    for rule, text in mutants(SOUND[name]):
        if chance.random() < float(part):
            (tmp_path / name).write_text(text, encoding="utf-8")
            healthy += [rule.name] if read(tmp_path).verdict == "healthy" else []
    assert healthy == []


def test_enough_kinds_of_bad_values_are_tried() -> None:
    tried = {rule.name for text in SOUND.values() for rule, _ in mutants(text)}
    assert len(tried) >= KINDS
    assert len({rule.name for rule in RULES}) == len(RULES)


# --- recorded problems ----------------------------------------------------------------------------------------------------------------


def test_few_recorded_problems_whose_cause_nobody_knows_are_healthy() -> None:
    """What only a rule knows (a setting, a threshold, a label that is missing) no expectation can see."""
    tried = healthy = 0
    for path in BOOKS:
        for _, book, inputs, replay in problems(path, float(part), seed):
            seen = executed(book, inputs, replay)
            blind = seen and executed(book, inputs, replay, without(named(seen[1])))
            tried, healthy = tried + bool(blind), healthy + bool(blind and blind[1].verdict == "healthy")
    assert healthy <= KNOWN_BY_RULES * tried


# --- incidents of others --------------------------------------------------------------------------------------------------------------


def sick(every: float) -> Iterator[tuple[Path, set[str]]]:
    """A part of the incidents whose cause is known or can't be told: (the folder of their outputs, the true causes)."""
    import yaml

    for path in SICK:
        truth = yaml.safe_load(path.read_text(encoding="utf-8"))
        if truth["cause"] != "none" and some(str(path)).random() < every:
            yield path.parent / "raw", {truth["cause"], *(truth.get("acceptable_causes") or [])}


def label(raw: Path) -> str:
    """The name of an incident among those of all areas."""
    return f"{raw.parent.parent.name}-{raw.parent.name}"


needs_incidents = pytest.mark.skipif(not SICK, reason="GPUDOCTOR_INCIDENTS names no folder with incidents")


@needs_incidents
def test_no_incident_is_healthy_nor_its_cause_ruled_out() -> None:
    wrong = []
    for raw, causes in sick(min(1.0, 10 * float(part))):
        report = read(raw)
        if report.verdict == "healthy" or (causes & {*report.ruled_out} and not {*loud(report)} & causes):
            wrong.append(label(raw))
    assert wrong == []


@needs_incidents
def test_no_incident_whose_cause_nobody_knows_is_healthy() -> None:
    healthy = []
    for raw, causes in sick(min(1.0, 10 * float(part))):
        healthy += [label(raw)] if read(raw, without(causes | named(read(raw)))).verdict == "healthy" else []
    assert healthy == []


@needs_incidents
def test_sound_outputs_beside_an_incident_change_nothing(tmp_path: Path) -> None:
    changed = []
    for raw, _ in sick(min(1.0, 4 * float(part))):
        alone = read(raw)
        for name in some(str(raw)).sample(sorted(SOUND), max(1, round(NEIGHBOURS * float(part)))):
            folder = tmp_path / f"{label(raw)}-{name}"
            shutil.copytree(raw, folder)
            (folder / f"beside-{name}").write_text(SOUND[name], encoding="utf-8")
            both = read(folder)
            changed += [f"{label(raw)} beside {name}"] if both.verdict == "healthy" or loud(both) != loud(alone) else []
    assert changed == []
