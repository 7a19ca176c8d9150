"""The scenarios, where the programs of the control plane are in the user's cache: `make cluster-test` builds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import fixes
from tests.cluster.api import Refused
from tests.cluster.control_plane import ControlPlane, missing
from tests.cluster.fits import proofs
from tests.cluster.scenario import Setting, Stage, answers, settings
from tests.cluster.stand import load

SETTINGS = settings()
absent = pytest.mark.skipif(bool(missing()), reason=f"not built: {', '.join(missing())} (make cluster-test builds them)")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    running, why = None, ""
    for number in range(2):  # another program may have taken a port
        try:
            running = started(tmp_path_factory.mktemp(f"cluster{number}"))
            break
        except (OSError, Refused) as problem:  # TimeoutError is one
            why = str(problem)
    if running is None:
        pytest.skip(f"the control plane did not come up on this machine: {why}")
    try:
        yield running
    finally:
        running.stop()


def started(folder: Path) -> ControlPlane:
    """A control plane with the nodes of the stand."""
    running = ControlPlane(folder)
    try:
        load(running.api)
    except BaseException:
        running.stop()
        raise
    return running


def test_names_are_taken_once() -> None:
    spaces = [one.namespace for one in SETTINGS]
    assert len(set(spaces)) == len(spaces)
    names = [(one.namespace, case.name) for one in SETTINGS for case in one.cases]
    assert len(set(names)) == len(names)


@absent
@pytest.mark.parametrize("setting", SETTINGS, ids=[one.namespace for one in SETTINGS])
def test_setting(plane: ControlPlane, setting: Setting) -> None:
    with Stage(plane, setting) as stage:
        given = [*answers(stage)]
        wrong = [*fixes.tried(stage, given)]
        tried = [*proofs(stage, given)]
    wrong += [f"{one.case.name}: {one.wrong}" for one in given if one.wrong]
    wrong += [f"{one.case.name}: {each.change} {each.what}: {each.wrong}" for one, proved in tried for each in proved if each.wrong]
    assert wrong == []
