"""What a real Prometheus says of exporters that answer, and of those that don't: its words, through its own API."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudoctor.facts import Subject
from gpudoctor.facts.monitoring import Exposition, ScrapeTarget
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.tools.prometheus.api import names, targets
from tests.kube.monitoring import SERVED
from tests.pasted import of_files
from tests.prometheus.real import running

ABOUT = Subject(kind="cluster")
ALL = 'count by (__name__) ({__name__=~"DCGM_.+"})'
TROUBLES = {
    "dcgm-exporter": "",
    "dcgm-refused": "refused",
    "dcgm-path": "not-found",
    "dcgm-slow": "timeout",
    "dcgm-page": "not-metrics",
    "dcgm-forbidden": "credentials",
    "dcgm-limit": "limit",
    "dcgm-name": "name",
}


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if not shutil.which("prometheus"):
        pytest.skip("prometheus isn't installed (Debian: apt-get install prometheus)")
    with running(tmp_path_factory.mktemp("prometheus")) as url:
        yield url


def asked(url: str, query: str) -> Output:
    """The answer to a question of the present."""
    output = Live()(Command(("promql", url, query), timeout=20))
    assert output.failure == "", output.reason
    return output


def test_the_words_for_each_trouble(prometheus: str) -> None:
    found = [one for one in targets(asked(prometheus, "/targets"), ABOUT)["scrape_targets"] if isinstance(one, ScrapeTarget)]
    assert {one.job: one.trouble for one in found} == TROUBLES, [one.error for one in found]
    assert {one.job for one in found if one.health == "up"} == {"dcgm-exporter"}
    assert all(one.exporter and one.port and one.scrape_interval == 1.0 for one in found)


def test_which_metrics_there_are(prometheus: str) -> None:
    (seen,) = names(asked(prometheus, ALL), ABOUT)["expositions"]
    assert isinstance(seen, Exposition)
    assert set(seen.names) == set(SERVED) - {"DCGM_FI_DEV_GPU_UTIL"}  # a rule drops it
    assert seen.whole


def test_what_became_of_the_labels(prometheus: str) -> None:
    (seen,) = names(asked(prometheus, "DCGM_FI_DEV_GPU_TEMP"), ABOUT)["expositions"]
    assert isinstance(seen, Exposition)
    assert (seen.gpus, seen.whole, seen.twice) == (2, False, "")
    assert {"gpu", "UUID", "modelName", "instance", "job"} <= set(seen.label_names)


def test_nothing_there_is_an_answer(prometheus: str) -> None:
    (seen,) = names(asked(prometheus, 'count by (__name__) ({__name__=~"DCGM_NONE.+"})'), ABOUT)["expositions"]
    assert isinstance(seen, Exposition)
    assert (seen.names, seen.whole) == ([], True)


def test_files_of_its_answers(prometheus: str, tmp_path: Path) -> None:
    report = of_files(tmp_path, {"targets.json": asked(prometheus, "/targets").text})
    assert {one.cause for one in report.findings} == {"prometheus-target-down", "scrape-port-mismatch", "scrape-limit-exceeded"}
    assert report.verdict == "problem"
