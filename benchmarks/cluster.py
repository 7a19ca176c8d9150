"""One Pending pod in a cluster of 5,000 GPU nodes and 50,000 pods, served by tests/kube with answers that are made beforehand."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

from benchmarks.measure import GPUDOCTOR, Broken, Run, compare, in_turn, run, wall
from tests.kube.fixtures import Served, serve
from tests.kube.objects import cluster, event, pod

NODES, PODS = 5000, 50_000
MEMORY = 150  # MiB, at most
NO_VICTIMS = f"preemption: 0/{NODES} nodes are available: {NODES} No preemption victims found for incoming pod."
NO_HELP = f"preemption: 0/{NODES} nodes are available: {NODES} Preemption is not helpful for scheduling."


class Variant(NamedTuple):
    """A cluster in which train-0 waits, and the cause that must be found."""

    name: str
    reason: str
    bulk: str
    cause: str


VARIANTS = (
    Variant(
        "taint (needs no pods)",
        f"0/{NODES} nodes are available: {NODES} node(s) had untolerated taint {{nvidia.com/gpu: present}}. {NO_HELP}",
        "taint=nvidia.com/gpu",
        "untolerated-taint",
    ),
    Variant(
        "full (needs all pods)",
        f"0/{NODES} nodes are available: {NODES} Insufficient nvidia.com/gpu. {NO_VICTIMS}",
        "used=8",
        "gpu-capacity-exhausted",
    ),
)
TIMES = 3  # kubectl needs most of a minute for 50,000 pods


def measure() -> None:
    """Print, for both variants, the ratios of time, the peak of memory and the number of requests."""
    for variant in VARIANTS:
        with served(variant) as server:
            diagnose = [GPUDOCTOR, "diagnose", "pod", "train-0", "-n", "ml", "--kubeconfig", str(server.kubeconfig)]

            def ours(argv: list[str] = diagnose, server: Served = server, variant: Variant = variant) -> Run:
                return run(argv, exit=1, says=variant.cause, env=server.env)

            server.clear()
            ours()
            requests = server.clear()
            lists = whole_lists(requests)
            pages = [quoted(request) for request in requests]
            mine, everything, paged, raw = in_turn(
                TIMES,
                ours,
                lambda server=server: run(["kubectl", "get", "pods", "-A", "-o", "json"], env=server.env),  # type: ignore[misc]
                lambda server=server, pages=pages: fetched(pages, server),  # type: ignore[misc]
                lambda server=server, lists=lists: fetched(lists, server),  # type: ignore[misc]
            )
        name = f"{variant.name}, {NODES} nodes and {PODS} pods: gpudoctor diagnose pod"
        compare(f"{name} / kubectl get pods -A -o json", wall(mine), wall(everything), 0.1)
        compare(f"{name} / kubectl get --raw of its {len(pages)} pages", wall(mine), wall(paged), 3.0)
        compare(f"{name} / kubectl get --raw of its {len(lists)} lists in one page each", wall(mine), wall(raw), 3.0)
        peaks = [f"{max(one.peak for one in runs):.0f}" for runs in (mine, everything)]
        print(f"{name}: peak memory {peaks[0]} MiB (at most {MEMORY}); kubectl get pods -A -o json {peaks[1]} MiB")
        print(f"{name}: {len(requests)} requests for {len(lists)} lists and objects", flush=True)


@contextmanager
def served(variant: Variant) -> Iterator[Served]:
    """The variant's cluster on a local port; all pages are ready when it begins."""
    waiting: Any = pod("train-0", "ml", gpus=8, age="20m", unschedulable=variant.reason)
    objects = [waiting, event(waiting, "FailedScheduling", variant.reason, component="default-scheduler")]
    with tempfile.TemporaryDirectory(prefix="gpudoctor-bench-") as folder:
        server = serve(cluster(objects), Path(folder), "--bulk", f"nodes={NODES},pods={PODS},{variant.bulk}")
        try:
            yield server
        finally:
            server.process.kill()
            server.process.wait()


def quoted(request: str, *, without: tuple[str, ...] = ()) -> str:
    """The path and query of a logged request `GET /api/v1/pods?limit=500`, without some of its parameters."""
    path, _, query = request.partition(" ")[2].partition("?")
    asked = [(key, value) for key, value in parse_qsl(query, keep_blank_values=True) if key not in without]
    return quote(path) + (f"?{urlencode(asked)}" if asked else "")


def whole_lists(requests: list[str]) -> list[str]:
    """Each list behind the requests once, without its paging: the fewest processes of kubectl that fetch the same objects."""
    return list(dict.fromkeys(quoted(request, without=("limit", "continue")) for request in requests))


def fetched(paths: list[str], server: Served) -> Run:
    """Fetch every path with one `kubectl get --raw` each, one after the other."""
    runs = [run(["kubectl", "get", "--raw", path], env=server.env) for path in paths]
    if not runs:
        raise Broken("gpudoctor diagnose pod asked the API server nothing")
    return Run(sum(one.wall for one in runs), sum(one.processor for one in runs), max(one.peak for one in runs))
