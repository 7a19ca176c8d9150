"""The scenarios, where the programs of the control plane are in the user's cache: `make cluster-test` builds them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.control_plane import ControlPlane, missing
from tests.cluster.fits import proofs
from tests.cluster.scenario import Setting, Stage, answers, settings
from tests.cluster.stand import load

SETTINGS = settings()
absent = pytest.mark.skipif(bool(missing()), reason=f"not built: {', '.join(missing())} (make cluster-test builds them)")


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    running = ControlPlane(tmp_path_factory.mktemp("cluster"))
    try:
        load(running.api)
        yield running
    finally:
        running.stop()


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
        tried = [*proofs(stage, given)]
    wrong = [f"{one.case.name}: {one.wrong}" for one in given if one.wrong]
    wrong += [f"{one.case.name}: {each.change} {each.what}: {each.wrong}" for one, proved in tried for each in proved if each.wrong]
    assert wrong == []
