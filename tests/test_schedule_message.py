"""The scheduler's message in all its wordings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.tools.kubernetes.scheduler_message import schedule_reasons


def said(text: str) -> list[tuple[int, str, str]]:
    """Count, reason and the detail of each clause."""
    return [(r.count, r.reason, r.resource or "=".join(filter(None, (r.key, r.value)))) for r in schedule_reasons(text)]


def test_a_message_with_all_parts() -> None:
    found = schedule_reasons(
        "0/12 nodes are available: 4 Insufficient nvidia.com/gpu, 3 node(s) had untolerated taint {nvidia.com/gpu: present}, "
        "5 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, "
        "preemption: 0/12 nodes are available: 4 No preemption victims found for incoming pod, 8 Preemption is not helpful for scheduling.",
        namespace="ml",
        pod="train-0",
    )
    assert [(r.count, r.reason, r.resource, r.key, r.value) for r in found] == [
        (4, "insufficient", "nvidia.com/gpu", "", ""),
        (3, "taint", "", "nvidia.com/gpu", "present"),
        (5, "node_affinity", "", "", ""),
    ]
    assert {(r.namespace, r.pod, r.total, r.no_victims, r.not_helpful) for r in found} == {("ml", "train-0", 12, 4, 8)}


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("2 Insufficient nvidia.com/mig-1g.10gb", (2, "insufficient", "nvidia.com/mig-1g.10gb")),
        ("2 Insufficient cpu", (2, "insufficient", "cpu")),
        ("2 node(s) had taint {dedicated: infra}, that the pod didn't tolerate", (2, "taint", "dedicated=infra")),
        ("2 node(s) had taints that the pod didn't tolerate", (2, "taint", "")),
        ("2 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }", (2, "taint", "node.kubernetes.io/disk-pressure")),
        ("2 node(s) had untolerated taint(s)", (2, "taint", "")),
        ("2 node(s) were unschedulable", (2, "unschedulable", "")),
        ("2 node(s) didn't match node selector", (2, "node_affinity", "")),
        ("2 node(s) didn't match Pod's node affinity", (2, "node_affinity", "")),
        ("2 node(s) didn't match pod affinity rules", (2, "pod_affinity", "")),
        ("2 node(s) didn't match pod affinity/anti-affinity", (2, "pod_affinity", "")),
        ("2 node(s) didn't satisfy existing pods anti-affinity rules", (2, "pod_affinity", "")),
        ("2 node(s) didn't match pod topology spread constraints (missing required label)", (2, "topology_spread", "")),
        ("2 node(s) didn't have free ports for the requested pod ports", (2, "ports", "")),
        ("2 Too many pods", (2, "too_many_pods", "")),
        ("2 node(s) had volume node affinity conflict", (2, "volume_affinity", "")),
        ("2 node(s) had no available volume zone", (2, "volume_affinity", "")),
        ("2 node(s) didn't find available persistent volumes to bind", (2, "volume_binding", "")),
        ("2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)", (2, "volume_binding", "")),
        ("2 pod has unbound immediate PersistentVolumeClaims", (2, "volume_unbound", "")),
        ("pod has unbound immediate PersistentVolumeClaims", (7, "volume_unbound", "")),
        ('persistentvolumeclaim "data" not found', (7, "volume_unbound", "")),
        ("2 node(s) exceed max volume count", (2, "volume_count", "")),
        ("2 node(s) didn't match the requested node name", (2, "node_name", "")),
        ("waiting for dynamic resource allocation", (7, "resource_claim", "")),
        ("2 cannot allocate all claims", (2, "resource_claim", "")),
        ('resourceclaim "gpu" not found', (7, "resource_claim", "")),
        ("2 node(s) were struck by lightning", (2, "other", "")),
    ],
)
def test_each_clause_alone_and_among_others(clause: str, expected: tuple[int, str, str]) -> None:
    head = "0/7 nodes are available: "
    assert said(f"{head}{clause}.") == [expected]
    assert said(f"{head}{clause}, 5 Insufficient memory.") == [expected, (5, "insufficient", "memory")]
    assert said(f"{head}5 Insufficient memory, {clause}.")[0] == (5, "insufficient", "memory")
    assert said(f"{head}{clause}. preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.") == [expected]


def test_a_clause_pasted_alone_counts_and_prose_does_not() -> None:
    assert said("1 node(s) had untolerated taint {nvidia.com/gpu: present}") == [(1, "taint", "nvidia.com/gpu=present")]
    assert said("3 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable.") == [
        (3, "insufficient", "nvidia.com/gpu"),
        (1, "unschedulable", ""),
    ]
    assert said("no nodes available to schedule pods") == [(0, "no_nodes", "")]
    assert said("Pulling image, 3 layers left; node affinity is documented elsewhere") == []
    assert said("preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.") == []


def test_a_message_wrapped_over_lines() -> None:
    assert said(
        "0/4 nodes are available: 4 Insufficient\n    nvidia.com/gpu.\npreemption: 0/4 nodes are\n available: 4 Preemption is not helpful"
    ) == [(4, "insufficient", "nvidia.com/gpu")]


def test_commas_and_braces_in_a_taint_do_not_cut_it() -> None:
    assert said("0/5 nodes are available: 2 node(s) had untolerated taint {team: a, 3 b}, 3 Insufficient cpu.") == [
        (2, "taint", "team=a, 3 b"),
        (3, "insufficient", "cpu"),
    ]
    assert said("0/5 nodes are available: 2 node(s) had untolerated taint {team: a}b}, 3 Insufficient cpu.") == [
        (2, "taint", "team=a}b"),
        (3, "insufficient", "cpu"),
    ]
    assert said("0/5 nodes are available: 2 node(s) had untolerated taint {team: {a}, 3 Insufficient cpu.")[1] == (3, "insufficient", "cpu")


def test_preemption_that_was_not_tried_has_no_counts() -> None:
    never = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu. preemption: not eligible due to preemptionPolicy=Never."
    assert [(r.reason, r.no_victims, r.not_helpful) for r in schedule_reasons(never)] == [("insufficient", None, None)]
    tried = (
        "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    )
    assert [(r.no_victims, r.not_helpful) for r in schedule_reasons(tried)] == [(3, 0)]


def test_volcano_says_it_without_numbers_in_the_head() -> None:
    assert said("all nodes are unavailable: 2 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable.") == [
        (2, "insufficient", "nvidia.com/gpu"),
        (1, "unschedulable", ""),
    ]


names = st.text("abcdefghijklmnop-./", min_size=1, max_size=20).map(lambda name: f"x{name}x")
clauses = st.one_of(
    st.tuples(st.integers(1, 5000), names).map(lambda pair: (f"{pair[0]} Insufficient {pair[1]}", (pair[0], "insufficient", pair[1]))),
    st.tuples(st.integers(1, 5000), names, names).map(
        lambda one: (f"{one[0]} node(s) had untolerated taint {{{one[1]}: {one[2]}}}", (one[0], "taint", f"{one[1]}={one[2]}"))
    ),
    st.integers(1, 5000).map(lambda n: (f"{n} node(s) were unschedulable", (n, "unschedulable", ""))),
)


@given(st.lists(clauses, min_size=1, max_size=8), st.booleans(), st.booleans())
def test_what_is_written_is_read_back(parts: list[tuple[str, tuple[int, str, str]]], head: bool, preemption: bool) -> None:
    text = ("0/9 nodes are available: " if head else "") + ", ".join(clause for clause, _ in parts) + "."
    text += " preemption: 0/9 nodes are available: 9 Preemption is not helpful for scheduling." if preemption else ""
    assert said(text) == [expected for _, expected in parts]


@given(st.text(max_size=300), st.text(max_size=100))
def test_any_text_is_safe(text: str, more: str) -> None:
    for whole in (
        text,
        f"0/3 nodes are available: {text}",
        f"3 node(s) had untolerated taint {{{text}, 2 {more}",
        f"{text}. preemption: {more}",
    ):
        assert all(record.count >= 0 and record.reason for record in schedule_reasons(whole))


@pytest.mark.parametrize(
    "text", ["{" * 10**6, ", 1 " * 250_000, "0/1 nodes are available: " + "1 a, " * 200_000, ". preemption: " * 80_000]
)
def test_a_megabyte_takes_no_time(text: str) -> None:
    started = time.perf_counter()
    schedule_reasons(text)
    assert time.perf_counter() - started < 10
