"""The scheduling table against truth computed by hand, and properties that hold for any cluster."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ClusterShell.NodeSet import NodeSet
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.derive.scheduling import MOST_GROUPS, table
from gpudoctor.derive.scheduling_asks import MOST_SPECS
from gpudoctor.derive.scheduling_labels import failed_term, matches
from gpudoctor.derive.scheduling_plugins import tolerates
from gpudoctor.facts import Fact, Facts, Origin
from gpudoctor.facts.kubernetes import Claim, Node, NodeUsage, Pod, Requirement, ScheduleReason, Taint, Toleration, Volume
from gpudoctor.facts.scheduling import Fit, NodeGroup, Scheduling
from gpudoctor.nodesets import SHOWN, fold

GPU = "nvidia.com/gpu"
GI = 2**30


def node(name: str, gpus: int = 8, *, capacity: int | None = None, resource: str = GPU, **more: Any) -> Node:
    """A node with 96 cores, 1 TiB, 110 pod slots and `gpus` GPUs."""
    total = gpus if capacity is None else capacity
    fields: dict[str, Any] = {
        "allocatable": {"cpu": 96_000, "memory": 1024 * GI, "pods": 110} | ({resource: gpus} if total else {}),
        "capacity": {"cpu": 96_000, "memory": 1024 * GI, "pods": 110} | ({resource: total} if total else {}),
        "gpu_resources": [resource] if total else [],
        "gpus_capacity": total,
        "gpus_allocatable": gpus,
        "gpu_present": total > 0,
    }
    return Node(node=name, **(fields | more))


def pod(name: str = "train-0", gpus: int = 8, *, cpu: int = 8_000, memory: int = 64 * GI, **more: Any) -> Pod:
    """A pending pod that asks for GPUs."""
    requests = {"cpu": cpu, "memory": memory} | ({GPU: gpus} if gpus else {})
    fields: dict[str, Any] = {"phase": "Pending", "gpus": gpus, "gpu_resources": [GPU] if gpus else [], "requests": requests}
    return Pod(namespace="ml", pod=name, **(fields | more))


def busy(name: str, gpus: int = 0, *, cpu: int = 0, memory: int = 0, pods: int = 1, holders: tuple[str, ...] = ()) -> NodeUsage:
    return NodeUsage(node=name, requested={GPU: gpus, "cpu": cpu, "memory": memory}, pods=pods, gpu_holders=list(holders))


def run(pods: list[Pod] | Pod, nodes: list[Node], usage: list[NodeUsage] | None = None, **more: list[Any]) -> Facts:
    """The table; `usage` None = not read, else nodes that it doesn't name are idle."""
    facts: dict[str, list[Fact]] = {"pods": list(pods) if isinstance(pods, list) else [pods], "nodes": list(nodes), **more}
    if usage is not None:
        named = {one.node for one in usage}
        facts["node_usage"] = [*usage, *(busy(one.node) for one in nodes if one.node not in named)]
    return table(facts, {}, 0.0)


def numbers(facts: Facts) -> Scheduling:
    [one] = facts["scheduling"]
    assert isinstance(one, Scheduling)
    return one


def groups(facts: Facts) -> list[tuple[str, str, int, str]]:
    return [(one.reason, one.detail, one.count, one.nodes) for one in facts["node_groups"] if isinstance(one, NodeGroup)]


def fits(facts: Facts) -> list[tuple[str, str, str]]:
    found = [one for one in facts["fits"] if isinstance(one, Fit)]
    assert [one.rank for one in found] == list(range(1, len(found) + 1))
    return [(one.change, one.detail, one.nodes) for one in found]


def counts(facts: Facts) -> dict[str, int]:
    names = ("fitting", "tainted", "cordoned", "not_ready", "unmatched", "full", "lost", "other_resource", "pinned")
    return {name: value for name in names if (value := getattr(numbers(facts), name))}


PRESENT = Taint(key=GPU, value="present", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "taint", "expected"),
    [
        (Toleration(key=GPU, operator="Exists"), PRESENT, True),
        (Toleration(key=GPU, operator="Exists", effect="NoSchedule"), PRESENT, True),
        (Toleration(key=GPU, operator="Exists", effect="NoExecute"), PRESENT, False),
        (Toleration(key=GPU, operator="Equal", value="present"), PRESENT, True),
        (Toleration(key=GPU, operator="", value="present"), PRESENT, True),  # Equal is the default
        (Toleration(key=GPU, operator="Equal", value="true"), PRESENT, False),
        (Toleration(key=GPU, operator="Equal"), PRESENT, False),  # an empty value is a value
        (Toleration(operator="Exists"), PRESENT, True),  # the empty key tolerates everything
        (Toleration(operator="Exists", effect="NoExecute"), PRESENT, False),
        (Toleration(key="other", operator="Exists"), PRESENT, False),
        (Toleration(key=GPU, operator="exists"), PRESENT, False),  # not a word of the API
        (Toleration(key=GPU, operator="Gt", value="1"), PRESENT, False),
    ],
)
def test_tolerations_follow_the_api(toleration: Toleration, taint: Taint, expected: bool) -> None:
    assert tolerates([toleration], taint) is expected
    assert tolerates([Toleration(key="unrelated", operator="Exists"), toleration], taint) is expected


LABELLED = Node(node="gpu-01", labels={"type": "h100", "memory": "80", "empty": "", "word": "x", "huge": "9" * 30})


@pytest.mark.parametrize(
    ("key", "operator", "values", "expected"),
    [
        ("type", "In", ("a100", "h100"), True),
        ("type", "In", ("H100",), False),
        ("type", "In", (), False),
        ("absent", "In", ("",), False),
        ("empty", "In", ("",), True),
        ("type", "NotIn", ("h100",), False),
        ("type", "NotIn", ("a100",), True),
        ("absent", "NotIn", ("a100",), True),  # a missing label is not in any set
        ("type", "Exists", (), True),
        ("empty", "Exists", (), True),
        ("absent", "Exists", (), False),
        ("absent", "DoesNotExist", (), True),
        ("type", "DoesNotExist", (), False),
        ("memory", "Gt", ("40",), True),
        ("memory", "Gt", ("80",), False),
        ("memory", "Lt", ("81",), True),
        ("memory", "Lt", ("+81",), True),
        ("memory", "Gt", ("4 0",), False),
        ("memory", "Gt", ("1", "2"), False),
        ("word", "Gt", ("1",), False),
        ("huge", "Gt", ("1",), False),  # does not fit into 64 bits
        ("absent", "Lt", ("1",), False),
        ("type", "like", ("h100",), False),
    ],
)
def test_selector_operators(key: str, operator: str, values: tuple[str, ...], expected: bool) -> None:
    assert matches(Requirement(key=key, operator=operator, values=values), LABELLED) is expected


def test_fields_terms_and_empty_terms() -> None:
    by_name = Requirement(key="metadata.name", operator="In", values=("gpu-01",), field=True)
    right, wrong = Requirement(key="type", operator="Exists"), Requirement(key="absent", operator="Exists")
    assert matches(by_name, LABELLED)
    assert not matches(Requirement(key="spec.nodeName", operator="Exists", field=True), LABELLED)
    assert failed_term(None, LABELLED) == []
    assert failed_term([[wrong], [right, by_name]], LABELLED) == []  # terms are alternatives
    assert failed_term([[wrong, right], [wrong, wrong]], LABELLED) == [wrong]  # the closest one is reported
    assert failed_term([], LABELLED)  # no term, and an empty term, match no node
    assert failed_term([[]], LABELLED)


def test_a_free_node_fits() -> None:
    facts = run(pod(), [node("gpu-01"), node("cpu-1", 0)], [])
    assert groups(facts) == [("fits", "", 1, "gpu-01"), ("insufficient", f"{GPU}: asks 8, none offered", 1, "cpu-1")]
    assert fits(facts) == [("none", "1 of 2 nodes pass every check made here", "gpu-01")]
    assert counts(facts) == {"fitting": 1}
    one = numbers(facts)
    assert (one.nodes, one.gpu_nodes, one.offering, one.largest, one.most_free, one.gpus_total, one.gpus_used) == (2, 1, 1, 8, 8, 8, 0)
    assert facts["waits"] == []


def test_a_taint_and_its_toleration() -> None:
    nodes = [node(f"gpu-{i:02}", taints=[PRESENT]) for i in range(1, 17)] + [node("cpu-1", 0)]
    facts = run(pod(), nodes, [])
    assert groups(facts)[0] == ("taint", "nvidia.com/gpu=present:NoSchedule", 16, "gpu-[01-16]")
    assert fits(facts) == [("tolerate", "nvidia.com/gpu=present:NoSchedule", "gpu-[01-16]")]
    assert counts(facts) == {"tainted": 16}
    assert numbers(facts).taint == "nvidia.com/gpu=present:NoSchedule"
    assert counts(run(pod(tolerations=[Toleration(key=GPU, operator="Exists")]), nodes, [])) == {"fitting": 16}


def test_prefer_no_schedule_is_no_obstacle() -> None:
    assert counts(run(pod(), [node("gpu-01", taints=[Taint(key="busy", effect="PreferNoSchedule")])], [])) == {"fitting": 1}


def test_a_cordon_is_one_reason_though_it_brings_a_taint() -> None:
    cordoned = node("gpu-01", unschedulable=True, taints=[Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")])
    facts = run(pod(), [cordoned], [])
    assert groups(facts) == [("unschedulable", "cordoned", 1, "gpu-01")]
    assert fits(facts) == [("uncordon", "uncordon gpu-01", "gpu-01")]
    assert counts(facts) == {"cordoned": 1}
    tolerant = pod(tolerations=[Toleration(key="node.kubernetes.io/unschedulable", operator="Exists", effect="NoSchedule")])
    assert counts(run(tolerant, [cordoned], [])) == {"fitting": 1}


def test_taints_of_a_node_condition_are_not_to_be_tolerated() -> None:
    down = [Taint(key="node.kubernetes.io/unreachable", effect=effect) for effect in ("NoSchedule", "NoExecute")]
    facts = run(pod(), [node("gpu-01", taints=down)], [])
    assert groups(facts)[0][:2] == ("taint", "node.kubernetes.io/unreachable:NoSchedule")
    assert [change for change, _, _ in fits(facts)] == ["repair_node"]
    assert counts(facts) == {"not_ready": 1}


def test_the_first_reason_follows_the_schedulers_order() -> None:
    everything_wrong = node("gpu-01", 0, capacity=8, unschedulable=True, taints=[PRESENT])
    picky = pod(node_selector={"type": "h100"})
    assert groups(run(picky, [everything_wrong], []))[0][0] == "unschedulable"
    assert groups(run(picky, [node("gpu-01", 0, capacity=8, taints=[PRESENT])], []))[0][0] == "taint"
    assert groups(run(picky, [node("gpu-01", 0, capacity=8)], []))[0][0] == "node_affinity"
    assert fits(run(picky, [everything_wrong], []))[0][0] == "none"


def test_a_selector_that_names_another_label() -> None:
    nodes = [node("gpu-01", labels={"type": "H100"}), node("gpu-02", labels={})]
    facts = run(pod(node_selector={"type": "h100"}), nodes, [])
    assert groups(facts) == [("node_affinity", "type=h100 (there: no such label, H100)", 2, "gpu-[01-02]")]
    assert fits(facts) == [
        ("label", "type=h100", "gpu-[01-02]"),
        ("select", "drop type=h100", "gpu-02"),
        ("select", "type=h100 → H100", "gpu-01"),
    ]
    assert counts(facts) == {"unmatched": 2}


def test_required_affinity_as_well_as_selector() -> None:
    zone = [[Requirement(key="zone", operator="In", values=("a", "b"))], [Requirement(key="memory", operator="Gt", values=("79",))]]
    nodes = [
        node("gpu-01", labels={"type": "h100", "zone": "a"}),
        node("gpu-02", labels={"type": "h100", "zone": "c", "memory": "80"}),
        node("gpu-03", labels={"type": "h100", "zone": "c"}),
        node("gpu-04", labels={"zone": "a"}),
    ]
    facts = run(pod(node_selector={"type": "h100"}, node_affinity=zone), nodes, [])
    assert [(reason, text, where) for reason, text, _, where in groups(facts)] == [
        ("fits", "", "gpu-[01-02]"),
        ("node_affinity", "type=h100 (there: no such label)", "gpu-04"),
        ("node_affinity", "zone in (a, b) (there: c)", "gpu-03"),
    ]


def test_gpus_in_use_lost_and_too_few_are_three_things() -> None:
    nodes = [node("full-1"), node("lost-1", 7, capacity=8), node("small-1", 4), node("none-1", 0)]
    usage = [busy("full-1", 6, holders=("ml/big (4)", "ml/small (2)"))]
    facts = run(pod(), nodes, usage)
    assert {text for _, text, _, _ in groups(facts)} == {
        f"{GPU}: asks 8, at most 2 free",
        f"{GPU}: asks 8, offers 7 of 8",
        f"{GPU}: asks 8, offers at most 4",
        f"{GPU}: asks 8, none offered",
    }
    assert fits(facts) == [
        ("fewer_gpus", f"8 → 7 {GPU}", "lost-1"),
        ("restore_gpus", f"{GPU}: lost-1 offers 7 of 8", "lost-1"),
        ("free_gpus", f"free 6 {GPU} on full-1, held by ml/big (4), ml/small (2)", "full-1"),
    ]
    assert counts(facts) == {"full": 1, "lost": 1}
    one = numbers(facts)
    assert (one.most_free, one.gpus_total, one.gpus_used, one.largest, one.largest_capacity) == (7, 19, 6, 8, 8)
    assert [(wait.node, wait.lost) for wait in facts["waits"]] == [("lost-1", 1)]  # type: ignore[attr-defined]


def test_labels_can_promise_gpus_that_the_node_never_offered() -> None:
    bare = node("gpu-01", 0, gpus_expected=8, gpu_present=True)
    assert counts(run(pod(), [bare], [])) == {"lost": 1}
    mig = node("gpu-01", 7, resource="nvidia.com/mig-1g.10gb", gpus_expected=1)
    facts = run(pod(gpus=1), [mig], [])
    assert counts(facts) == {}  # labels count whole GPUs: nothing is lost on a MIG node
    assert numbers(facts).wrong_name == "nvidia.com/mig-1g.10gb"


def test_the_resource_under_another_name() -> None:
    assert numbers(run(pod(gpus=1), [node("gpu-01", 4, resource="nvidia.com/gpu.shared")], [])).wrong_name == "nvidia.com/gpu.shared"
    mixed = [node("gpu-01", 4, resource="nvidia.com/gpu.shared"), node("gpu-02", 0, capacity=8)]
    assert numbers(run(pod(gpus=1), mixed, [])).wrong_name == ""  # the asked name exists; its GPUs are lost


def test_the_same_gpus_free_but_another_resource_short() -> None:
    nodes = [node("gpu-01"), node("gpu-02")]
    facts = run(pod(cpu=64_000), nodes, [busy("gpu-01", cpu=48_000), busy("gpu-02", cpu=40_000)])
    assert groups(facts) == [("insufficient", "cpu: asks 64, at most 56 free", 2, "gpu-[01-02]")]
    assert fits(facts) == [("less_cpu", "64 → 56 cpu", "gpu-02")]
    assert counts(facts) == {"other_resource": 2}
    assert (numbers(facts).scarce, numbers(facts).beyond) == ("cpu", "")
    facts = run(pod(memory=2048 * GI), nodes, [])
    assert fits(facts) == [("less_memory", "2048Gi → 1024Gi memory", "gpu-[01-02]")]
    assert numbers(facts).beyond == "memory"


def test_several_resources_short_on_one_node_need_several_changes() -> None:
    facts = run(pod(cpu=200_000, memory=2048 * GI), [node("gpu-01", 4)], [])
    assert groups(facts)[0][1] == f"{GPU}: asks 8, offers at most 4; also short of cpu, memory"
    assert fits(facts)[0][0] == "none"
    assert "two changes" in fits(facts)[0][1]
    assert counts(facts) == {}
    facts = run(pod(cpu=200_000), [node("gpu-01", 4), node("gpu-02", taints=[PRESENT], unschedulable=True, gpus=4)], [])
    assert fits(facts) == [("fewer_gpus + less_cpu", f"8 → 4 {GPU} + 200 → 96 cpu", "gpu-01")]


def test_two_changes_are_named_only_where_one_is_not_enough() -> None:
    nodes = [node("gpu-01", taints=[PRESENT]), node("gpu-02", unschedulable=True)]
    used = [busy("gpu-01", 4), busy("gpu-02", 2)]
    assert fits(run(pod(), nodes, used)) == [
        ("uncordon + fewer_gpus", f"uncordon gpu-02 + 8 → 6 {GPU}", "gpu-02"),
        ("tolerate + fewer_gpus", f"nvidia.com/gpu=present:NoSchedule + 8 → 4 {GPU}", "gpu-01"),
        ("uncordon + free_gpus", f"uncordon gpu-02 + free 2 {GPU} on gpu-02", "gpu-02"),
        ("tolerate + free_gpus", f"nvidia.com/gpu=present:NoSchedule + free 4 {GPU} on gpu-01", "gpu-01"),
    ]
    assert fits(run(pod(), nodes, [])) == [
        ("tolerate", "nvidia.com/gpu=present:NoSchedule", "gpu-01"),
        ("uncordon", "uncordon gpu-02", "gpu-02"),
    ]


def test_the_nodes_that_a_pod_chooses_are_judged_and_no_other() -> None:
    """What the others lack says nothing about a pod that has chosen one by its name."""
    host = "kubernetes.io/hostname"
    nodes = [node("gpu-01", labels={host: "gpu-01"}), node("gpu-02", labels={host: "gpu-02"}, unschedulable=True)]
    pinned = pod(node_selector={host: "gpu-02"})
    facts = run(pinned, nodes, [])
    assert counts(facts) == {"cordoned": 1}
    assert numbers(facts).cordoned_nodes == "gpu-02"
    assert fits(facts) == [("uncordon", "uncordon gpu-02", "gpu-02"), ("select", f"drop {host}=gpu-02", "gpu-01")]
    facts = run(pod(node_selector={host: "gpu-01"}), nodes, [busy("gpu-01", 3, holders=("ml/a (3)",))])
    assert counts(facts) == {"full": 1}
    assert (numbers(facts).full_gpus, numbers(facts).gpus_total, numbers(facts).full_nodes) == (8, 8, "gpu-01")
    assert counts(run(pod(node_selector={host: "gpu-09"}), nodes, [])) == {"unmatched": 1}  # nobody is chosen: all are measured


@pytest.mark.parametrize("key", ["kubernetes.io/hostname", "topology.kubernetes.io/zone", "nvidia.com/gpu.product"])
def test_a_label_that_a_component_writes_is_never_to_be_set(key: str) -> None:
    facts = run(pod(node_selector={key: "b"}), [node("gpu-01", labels={key: "a"})], [])
    assert {change for change, _, _ in fits(facts)} == {"select"}


def test_a_resource_under_another_name_is_a_change() -> None:
    wrong = pod(gpus=1, gpu_resources=["nvidia.com/gpus"], requests={"nvidia.com/gpus": 1})
    facts = run(wrong, [node("gpu-01"), node("gpu-02", 4, resource="nvidia.com/mig-1g.10gb")], [busy("gpu-01", 7)])
    assert fits(facts) == [
        ("rename", "nvidia.com/gpus → nvidia.com/gpu", "gpu-01"),
        ("rename", "nvidia.com/gpus → nvidia.com/mig-1g.10gb", "gpu-02"),
    ]
    assert fits(run(wrong, [node("gpu-01")], [busy("gpu-01", 8)]))[0][0] == "none"


def test_pod_slots() -> None:
    facts = run(pod(), [node("gpu-01")], [busy("gpu-01", pods=110)])
    assert groups(facts)[0][0] == "too_many_pods"
    assert counts(facts) == {"other_resource": 1}
    assert counts(run(pod(), [node("gpu-01")], [busy("gpu-01", pods=109)])) == {"fitting": 1}


def test_a_bound_volume_pins_the_pod() -> None:
    zone = [[Requirement(key="zone", operator="In", values=("a",))]]
    nodes = [node("gpu-01", labels={"zone": "a"}), node("gpu-02", labels={"zone": "b"})]
    more: dict[str, list[Any]] = {
        "claims": [Claim(namespace="ml", claim="data", volume="pv-1"), Claim(namespace="other", claim="free", volume="pv-1")],
        "volumes": [Volume(volume="pv-1", node_affinity=zone), Volume(volume="pv-2")],
    }
    facts = run(pod(claims=["data"]), nodes, [busy("gpu-01", 8)], **more)
    assert ("volume_affinity", "volume pv-1: zone=a", 1, "gpu-02") in groups(facts)
    assert counts(facts) == {"pinned": 1, "full": 1}
    assert counts(run(pod(claims=["free", "unknown"]), nodes, [], **more)) == {"fitting": 2}  # claims go by namespace


def test_without_usage_nothing_is_called_full() -> None:
    facts = run(pod(), [node("gpu-01"), node("gpu-02", 4)])
    one = numbers(facts)
    assert one.most_free is None
    assert one.gpus_used is None
    assert "most_free" in one.gaps
    assert counts(facts) == {"fitting": 1}
    assert fits(facts) == [("none", "1 of 2 nodes pass every check made here; what runs on them was not read", "gpu-01")]
    assert numbers(run(pod(), [node("gpu-01")], node_usage=[])).most_free is None  # no pod anywhere: an answer that isn't one
    facts = run(pod(), [node("gpu-02", 4)])
    assert fits(facts) == [("fewer_gpus", f"8 → 4 {GPU}; what runs on them was not read", "gpu-02")]


def test_nodes_that_were_read_in_part_are_never_called_full_or_free() -> None:
    facts = run(pod(), [Node(node="gpu-01")], [])
    assert groups(facts) == [("other", "its resources were not read", 1, "gpu-01")]
    assert counts(facts) == {}
    assert fits(run(pod(), [], [])) == [("none", "There are no nodes.", "")]


def test_which_pods_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = [pod("a"), pod("b"), pod("c", 4)]
    others = [pod("d", node="gpu-01"), pod("e", phase="Running"), pod("f", target=False)]
    facts = run([*waiting, *others], [node("gpu-01")], [])
    assert [one.pod for one in facts["scheduling"]] == ["a", "b", "c"]  # type: ignore[attr-defined]
    many = [pod(f"p{i}", i % 8 + 1, cpu=i) for i in range(200)] + [pod("twin", 8, cpu=7)]
    assert len(run(many, [node("gpu-01")], [])["scheduling"]) == len(many)
    monkeypatch.setattr("gpudoctor.derive.scheduling_asks.MOST_WORK", 0)  # as on a cluster of ten thousands of nodes
    names = [one.pod for one in run(many, [node("gpu-01")], [])["scheduling"]]  # type: ignore[attr-defined]
    assert len(names) == MOST_SPECS + 1
    assert "twin" in names  # equal specs cost nothing; those that ask for the most GPUs come first


def test_no_more_groups_than_a_person_reads() -> None:
    nodes = [node(f"gpu-{i}", taints=[Taint(key=f"team-{i}", effect="NoSchedule")]) for i in range(100)]
    found = groups(run(pod(), nodes, []))
    assert len(found) == MOST_GROUPS
    assert sum(count for _, _, count, _ in found) == 100


def reason(word: str, count: int, total: int, *, at: float = 1.0, source: str = "events", resource: str = "") -> ScheduleReason:
    return ScheduleReason(
        namespace="ml", pod="train-0", reason=word, count=count, total=total, resource=resource, time=at, origin=Origin(source=source)
    )


def test_agreement_with_the_schedulers_words() -> None:
    nodes = [node("gpu-01", taints=[PRESENT]), node("gpu-02", taints=[PRESENT]), node("gpu-03"), node("cpu-1", 0)]
    usage = [busy("gpu-03", 8)]

    def said(*reasons: ScheduleReason, used: list[NodeUsage] | None = usage) -> str:
        one = numbers(run(pod(), nodes, used, schedule_reasons=list(reasons)))
        assert one.agrees is (one.difference == "")
        return one.difference

    assert said() == ""
    assert said(reason("taint", 1, 4), reason("taint", 1, 4), reason("insufficient", 2, 4, resource=GPU)) == ""
    assert said(reason("taint", 3, 4), reason("insufficient", 1, 4, resource=GPU)) == (
        "the scheduler counts 3 nodes with untolerated taints, we count 2"
    )
    assert said(reason("taint", 2, 5), reason("insufficient", 3, 5, resource=GPU)) == "the scheduler counts 5 nodes, we read 4"
    without = [reason("taint", 2, 4), reason("insufficient", 1, 4, resource=GPU), reason("insufficient", 1, 4, resource="cpu")]
    assert said(*without) == "the scheduler counts 1 nodes with insufficient cpu, we count 0"
    assert said(*without, used=None) == ""  # what was not read is not compared
    assert said(reason("volume_unbound", 0, 4)) == ""  # the scheduler looked at no node
    assert said(reason("ports", 1, 4), reason("insufficient", 3, 4, resource=GPU)) == ""
    old = [reason("taint", 4, 4, at=0.5, source="old")]
    assert said(*old, reason("taint", 2, 4), reason("insufficient", 2, 4, resource=GPU)) == ""  # the latest message counts


def test_several_resources_short_count_once_each_like_in_the_message() -> None:
    both = [reason("insufficient", 2, 2, resource=GPU), reason("insufficient", 1, 2, resource="cpu")]
    facts = run(pod(cpu=64_000), [node("gpu-01", 4), node("gpu-02", 4)], [busy("gpu-02", cpu=48_000)], schedule_reasons=both)
    assert numbers(facts).agrees


def test_a_pod_that_names_its_node_is_not_compared() -> None:
    """The scheduler drops all other nodes first (`didn't satisfy plugin(s) [NodeAffinity]`), so its counts follow another order."""
    here = [[Requirement(key="metadata.name", operator="In", values=("gpu-01",), field=True)]]
    nodes = [node("gpu-01", 4), node("gpu-02", taints=[PRESENT])]
    words = [reason("insufficient", 1, 2, resource=GPU), reason("node_affinity", 1, 2)]
    assert numbers(run(pod(node_affinity=here), nodes, [], schedule_reasons=words)).agrees
    assert not numbers(run(pod(), nodes, [], schedule_reasons=words)).agrees


# Any cluster

effects = st.sampled_from(["NoSchedule", "NoExecute", "PreferNoSchedule"])
taints = st.builds(
    Taint, key=st.sampled_from([GPU, "team", "node.kubernetes.io/not-ready"]), value=st.sampled_from(["", "a"]), effect=effects
)
tolerations = st.builds(
    Toleration,
    key=st.sampled_from(["", GPU, "team"]),
    operator=st.sampled_from(["Exists", "Equal", ""]),
    value=st.sampled_from(["", "a"]),
    effect=st.sampled_from(["", "NoSchedule", "NoExecute"]),
)
labels = st.dictionaries(st.sampled_from(["type", "zone"]), st.sampled_from(["a", "b"]))


@st.composite
def clusters(draw: st.DrawFn) -> tuple[Pod, list[Node], list[NodeUsage] | None]:
    """A pod, up to six nodes and, sometimes, what runs on them."""
    nodes, usage = [], []
    for index in range(draw(st.integers(0, 6))):
        capacity = draw(st.integers(0, 8))
        nodes.append(
            node(
                f"gpu-{index:02}",
                draw(st.integers(0, capacity)),
                capacity=capacity,
                taints=draw(st.lists(taints, max_size=2)),
                labels=draw(labels),
                unschedulable=draw(st.booleans()),
                gpus_expected=draw(st.none() | st.integers(0, 8)),
            )
        )
        usage.append(busy(f"gpu-{index:02}", draw(st.integers(0, capacity)), cpu=draw(st.sampled_from([0, 90_000]))))
    asked = pod(gpus=draw(st.integers(0, 8)), node_selector=draw(labels), tolerations=draw(st.lists(tolerations, max_size=2)))
    return asked, nodes, draw(st.sampled_from([usage, None]))


@given(clusters())
def test_every_node_is_in_exactly_one_group(cluster: tuple[Pod, list[Node], list[NodeUsage] | None]) -> None:
    asked, nodes, usage = cluster
    facts = run(asked, nodes, usage)
    members = [name for _, _, _, folded in groups(facts) for name in NodeSet(folded)]
    assert sorted(members) == [one.node for one in nodes]
    assert numbers(facts).fitting == sum(count for word, _, count, _ in groups(facts) if word == "fits")
    assert usage is not None or (numbers(facts).full == 0 and "free_gpus" not in [change for change, _, _ in fits(facts)])


@given(clusters())
def test_less_in_the_way_never_makes_fewer_nodes_fit(cluster: tuple[Pod, list[Node], list[NodeUsage] | None]) -> None:
    asked, nodes, usage = cluster
    before = numbers(run(asked, nodes, usage)).fitting
    untainted = [node_with(one, taints=[], unschedulable=False) for one in nodes]
    assert numbers(run(asked, untainted, usage)).fitting >= before
    assert numbers(run(pod_with(asked, node_selector={}), nodes, usage)).fitting >= before
    assert numbers(run(asked, nodes, [])).fitting >= before


@given(clusters())
def test_the_nearest_fit_keeps_its_word(cluster: tuple[Pod, list[Node], list[NodeUsage] | None]) -> None:
    """Making the change that a Fit names lets exactly the named nodes, or more, hold the pod."""
    asked, nodes, usage = cluster
    for changes, texts, folded in fits(run(asked, nodes, usage)):
        if changes == "none":
            continue
        named = set(NodeSet(folded)) if folded else set()
        after_pod, after_nodes, after_usage = asked, nodes, usage
        pairs = [*zip(changes.split(" + "), texts.split("; what runs")[0].split(" + "), strict=True)]
        for change, text in pairs:
            if change == "tolerate":
                keys = [key.partition("=")[0].partition(":")[0] for key in text.split(" and ")]
                further = [Toleration(key=key, operator="Exists") for key in keys]
                after_pod = pod_with(after_pod, tolerations=[*after_pod.tolerations, *further])
            elif change in ("label", "select"):
                after_pod = pod_with(after_pod, node_selector={})
            elif change == "uncordon":
                after_nodes = [node_with(one, unschedulable=False) for one in after_nodes]
            elif change == "repair_node":
                after_nodes = [node_with(one, taints=[t for t in one.taints if "not-ready" not in t.key]) for one in after_nodes]
            elif change == "fewer_gpus":
                fewer = int(text.split("→ ")[1].split()[0])
                after_pod = pod_with(after_pod, gpus=fewer, requests={**after_pod.requests, GPU: fewer})
            elif change == "less_cpu":
                after_pod = pod_with(after_pod, requests={**after_pod.requests, "cpu": int(text.split("→ ")[1].split()[0]) * 1000})
            elif change == "restore_gpus":
                whole = {one.node: max(one.gpus_capacity, one.gpus_expected or 0) for one in nodes}
                after_nodes = [node_with(one, allocatable={**one.allocatable, GPU: whole[one.node]}) for one in after_nodes]
            else:
                assert change == "free_gpus"
                assert usage is not None
                after_usage = [busy(one.node, cpu=one.requested["cpu"]) for one in usage]
        assert len(pairs) <= 2
        after = run(after_pod, after_nodes, after_usage)
        now_fitting = {name for word, _, _, where in groups(after) if word == "fits" for name in NodeSet(where)}
        assert named
        assert named <= now_fitting, (changes, texts)


@given(st.sets(st.from_regex(r"[a-z]{1,3}-?[0-9]{0,3}(\.x)?", fullmatch=True), min_size=1, max_size=20))
def test_folded_names_unfold_to_the_same_set(names: set[str]) -> None:
    folded = fold(names)
    assert " +" in folded or set(NodeSet(folded)) == names


@pytest.mark.parametrize("name", ["@all", "a[1-", "a,b&c", "\x1b[31m", "", "x" * 100_000, "ünï-1", "1" * 5000, "a.b.1"])
def test_hostile_names_fold_to_something_short(name: str) -> None:
    assert len(fold([name, "gpu-01"])) <= SHOWN + 40


def test_padding_and_domains_fold_like_people_write_them() -> None:
    assert fold(f"gpu-{i:02}" for i in range(1, 17)) == "gpu-[01-16]"
    assert fold(f"n{i}" for i in range(12)) == "n[0-11]"
    assert fold(f"ip-10-0-1-{i}.ec2.internal" for i in (4, 5, 9)) == "ip-10-0-1-[4-5,9].ec2.internal"
    assert fold(["x-1", "x-3"] + [f"{c}-{i}" for c in "abcdefghijklmnopqrstuvw" for i in (1, 3)]).endswith("more")


def test_hostile_facts_give_fewer_facts_and_no_exception() -> None:
    nasty: Any = run(
        pod(node_affinity=[[Requirement(key="k", operator="Gt", values=("x" * 5000,))], []], claims=["c"] * 50, requests={GPU: -5}),
        [node("n", allocatable={GPU: -(2**70)}), node("n"), node("", taints=[Taint(key="")])],
        [busy("n", 2**80), busy("absent")],
        claims=[Claim(namespace="ml", claim="c")],
        volumes=[Volume(volume="")],
        schedule_reasons=[reason("insufficient", -1, -7), reason("taint", 10**9, 3)],
    )
    assert len(nasty["scheduling"]) == 1
    assert table({}, {}, 0.0) == {"node_groups": [], "fits": [], "scheduling": [], "waits": []}
    assert table({"pods": [pod()]}, {}, 0.0)["scheduling"] == []  # the nodes were not read
    assert table({"pods": [pod()], "nodes": []}, {}, 0.0)["scheduling"]


def test_five_thousand_nodes_are_quick_and_linear() -> None:
    nodes = [
        node(f"gpu-{i:04}", 8 - i % 3, capacity=8, taints=[PRESENT] if i % 2 else [], labels={"type": f"t{i % 7}"}) for i in range(5000)
    ]
    usage = [busy(one.node, index % 9, cpu=1000) for index, one in enumerate(nodes)]

    def seconds(count: int) -> float:
        start = time.process_time()  # of the processor, so that a busy machine changes nothing
        run(pod(node_selector={"type": "t1"}), nodes[:count], usage)
        return time.process_time() - start

    seconds(500)
    assert min(seconds(5000) for _ in range(2)) < 40 * min(seconds(500) for _ in range(3))  # ten times the nodes; quadratic is a hundred


def node_with(one: Node, **changes: Any) -> Node:
    return Node(**({name: getattr(one, name) for name in Node.__struct_fields__} | changes))


def pod_with(one: Pod, **changes: Any) -> Pod:
    return Pod(**({name: getattr(one, name) for name in Pod.__struct_fields__} | changes))


def test_room_that_is_made_for_another_pod_is_not_free() -> None:
    usage = [NodeUsage(node="gpu-01", requested={GPU: 4}, nominated={GPU: 8})]
    found = numbers(run(pod(gpus=4), [node("gpu-01")], usage))
    assert (found.fitting, found.full, found.lost, found.most_free) == (0, 1, 0, 0)


def test_the_room_that_is_made_for_a_pod_is_its_own() -> None:
    usage = [NodeUsage(node="gpu-01", requested={GPU: 4}, nominated={GPU: 8, "cpu": 8_000, "memory": 64 * GI})]
    assert numbers(run(pod(gpus=8, nominated="gpu-01"), [node("gpu-01")], usage)).most_free == 4
