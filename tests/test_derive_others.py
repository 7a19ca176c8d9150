"""The scheduler's plugins that look at other pods, against what kubernetes/pkg/scheduler says in the same case; and proposals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpudoctor import registry
from gpudoctor.facts import Fact, Subject
from gpudoctor.facts.kubernetes import HostPort, Neighbour, NodeUsage, Pod, PodTerm, Requirement, ScheduleReason, Spread, Taint
from gpudoctor.facts.monitoring import NamespaceLabels
from gpudoctor.probes.base import Command, Output
from tests.test_derive_scheduling import GPU, fits, groups, node, numbers, pod, run

ZONE, HOST, NAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "kubernetes.io/metadata.name"
RING = (Requirement("app", "In", ("ring",)),)
TAINT = [Taint(key="team", value="vision", effect="NoSchedule")]


def place(name: str, zone: str, gpus: int = 8, **more: Any) -> Any:
    return node(name, gpus, labels={HOST: name, ZONE: zone} | more.pop("labels", {}), **more)


def there(on: str, *pods: Neighbour, gpus: int = 0, noted: str = "all", holders: tuple[str, ...] = ()) -> NodeUsage:
    return NodeUsage(node=on, requested={GPU: gpus}, pods=len(pods), neighbours=[*pods], noted=noted, gpu_holders=[*holders])


def ring(name: str = "ring-0", ns: str = "ml", **more: Any) -> Neighbour:
    return Neighbour(ns, name, {"app": "ring"}, **more)


def about(topology: str = ZONE, **more: Any) -> PodTerm:
    return PodTerm(topology, RING, **({"namespaces": ("ml",)} | more))


def asks(**rules: Any) -> Pod:
    """A pod with the label app=ring and these rules."""
    words = {"beside": "rules about other pods", "apart": "rules about other pods", "spread": "topology spread constraints"}
    words |= {"host_ports": "host ports"}
    return pod(labels={"app": "ring"}, further_rules=[words[name] for name in rules], **rules)


A, B = place("gpu-a", "a"), place("gpu-b", "b")


def fitting(waiting: Pod, nodes: list[Any], usage: list[NodeUsage], **more: list[Any]) -> set[str]:
    """The nodes on which the pod fits."""
    facts = run(waiting, nodes, usage + [there(one.node) for one in nodes if one.node not in {each.node for each in usage}], **more)
    return {
        name for reason, _, _, names in groups(facts) if reason == "fits" for name in names.replace("gpu-[a-b]", "gpu-a,gpu-b").split(",")
    }


@pytest.mark.parametrize(
    ("waiting", "neighbour", "expected"),
    [
        pytest.param(asks(beside=[about()]), ring(), {"gpu-a"}, id="beside its like"),
        pytest.param(asks(apart=[about()]), ring(), {"gpu-b"}, id="apart from its like"),
        pytest.param(asks(apart=[about()]), ring(leaving=True), {"gpu-b"}, id="one that ends is still there"),
        pytest.param(asks(apart=[about()]), ring(ns="vision"), {"gpu-a", "gpu-b"}, id="of another namespace"),
        pytest.param(asks(apart=[about(namespaces=("vision",))]), ring(ns="vision"), {"gpu-b"}, id="of a named namespace"),
        pytest.param(asks(apart=[about(namespaces=(), namespace_selector=())]), ring(ns="vision"), {"gpu-b"}, id="of all namespaces"),
        pytest.param(
            asks(apart=[about(namespaces=(), namespace_selector=(Requirement(NAME, "In", ("vision",)),))]),
            ring(ns="vision"),
            {"gpu-b"},
            id="of a namespace by the label that is its name",
        ),
        pytest.param(asks(apart=[about(topology="rack")]), ring(), {"gpu-a", "gpu-b"}, id="no place, nobody there"),
        pytest.param(asks(beside=[about(topology="rack")]), ring(), set(), id="no place to be beside anybody"),
        pytest.param(asks(apart=[PodTerm(ZONE, None, ("ml",))]), ring(), {"gpu-a", "gpu-b"}, id="no selector finds no pod"),
        pytest.param(asks(beside=[about()]), Neighbour("ml", "other"), {"gpu-a", "gpu-b"}, id="the first of its kind"),
        pytest.param(
            asks(beside=[PodTerm(ZONE, (Requirement("app", "In", ("cache",)),), ("ml",))]), ring(), set(), id="nobody to be beside"
        ),
        pytest.param(
            asks(beside=[about(), PodTerm(ZONE, (Requirement("app", "In", ("cache",)),), ("ml",))]),
            ring(),
            set(),
            id="both terms have to find one and the same pod",
        ),
        pytest.param(pod(labels={"app": "ring"}), Neighbour("ml", "guard", apart=(about(),)), {"gpu-b"}, id="others keep it away"),
        pytest.param(pod(), Neighbour("ml", "guard", apart=(about(),)), {"gpu-a", "gpu-b"}, id="others keep somebody else away"),
        pytest.param(asks(spread=[Spread(ZONE, RING)]), ring(), {"gpu-b"}, id="spread"),
        pytest.param(asks(spread=[Spread(ZONE, RING, max_skew=2)]), ring(), {"gpu-a", "gpu-b"}, id="spread, less strictly"),
        pytest.param(asks(spread=[Spread(ZONE, RING)]), ring(leaving=True), {"gpu-a", "gpu-b"}, id="one that ends is not counted"),
        pytest.param(asks(spread=[Spread(ZONE, RING, min_domains=3)]), ring(), {"gpu-b"}, id="fewer places than there have to be"),
        pytest.param(pod(spread=[Spread(ZONE, RING)]), ring(), {"gpu-a", "gpu-b"}, id="what it does not count itself among"),
        pytest.param(asks(spread=[Spread("rack", RING)]), ring(), set(), id="spread over no place"),
        pytest.param(asks(host_ports=[HostPort(80)]), ring(ports=(HostPort(80),)), {"gpu-b"}, id="a port"),
        pytest.param(asks(host_ports=[HostPort(80)]), ring(ports=(HostPort(80, "UDP"),)), {"gpu-a", "gpu-b"}, id="of another protocol"),
        pytest.param(asks(host_ports=[HostPort(80)]), ring(ports=(HostPort(80, "TCP", "10.0.0.1"),)), {"gpu-b"}, id="of one address"),
        pytest.param(
            asks(host_ports=[HostPort(80, "TCP", "10.0.0.2")]),
            ring(ports=(HostPort(80, "TCP", "10.0.0.1"),)),
            {"gpu-a", "gpu-b"},
            id="of another address",
        ),
    ],
)
def test_where_a_pod_may_be(waiting: Pod, neighbour: Neighbour, expected: set[str]) -> None:
    assert fitting(waiting, [A, B], [there("gpu-a", neighbour)]) == expected


def test_what_counts_as_a_place_to_spread_over() -> None:
    tainted = place("gpu-c", "c", taints=TAINT)
    here = [there("gpu-a", ring()), there("gpu-b", ring())]
    assert fitting(asks(spread=[Spread(ZONE, RING)]), [A, B, tainted], here) == set()  # the zone c has none
    assert fitting(asks(spread=[Spread(ZONE, RING, honors_taints=True)]), [A, B, tainted], here) == {"gpu-a", "gpu-b"}
    chosen = {"node_selector": {"pool": "x"}}
    nodes = [place("gpu-a", "a", labels={"pool": "x"}), B]
    assert fitting(pod(labels={"app": "ring"}, spread=[Spread(ZONE, RING)], **chosen), nodes, here[:1]) == {"gpu-a"}
    ignores = [Spread(ZONE, RING, honors_affinity=False)]
    assert fitting(pod(labels={"app": "ring"}, spread=ignores, **chosen), nodes, here[:1]) == set()


def test_a_change_that_another_rule_makes_useless_is_not_proposed() -> None:
    """Each of two tainted nodes would do but for the taint; in one zone there is already one of its like."""
    nodes = [place("gpu-a", "a", taints=TAINT), place("gpu-b", "b", taints=TAINT)]
    found = fits(run(asks(apart=[about()]), nodes, [there("gpu-a", ring()), there("gpu-b")]))
    assert found == [("tolerate", "team=vision:NoSchedule", "gpu-b")]


def test_a_change_is_judged_with_all_that_it_alters() -> None:
    """To choose another zone makes that zone a place to spread over; a label makes its node one; who frees a GPU was to be near."""
    nodes = [place("gpu-a", "a", 4, labels={"pool": "x"}), B]
    rules = {"spread": [Spread(ZONE, RING)], "further_rules": ["topology spread constraints"]}
    waiting = pod(labels={"app": "ring"}, node_selector={"pool": "x"}, **rules)
    here = [there("gpu-a"), there("gpu-b", ring())]
    assert fits(run(waiting, nodes, here)) == [("fewer_gpus", f"8 → 4 {GPU}", "gpu-a")]  # on gpu-b it would be the second
    full = [there("gpu-a", ring(), gpus=8, holders=("ml/ring-0 (8)",)), there("gpu-b", gpus=8, holders=("ml/x (8)",))]
    cached = pod(labels={"app": "reader"}, beside=[about()], further_rules=["rules about other pods"])
    found = fits(run(cached, [A, B], full))
    assert not [change for change, _, nodes in found if change == "free_gpus" and nodes == "gpu-a"]


def test_a_rule_is_dropped_or_a_port_changed_where_that_is_all() -> None:
    rule = fits(run(asks(apart=[about(HOST)]), [A], [there("gpu-a", ring())]))
    assert rule == [("prefer", f"podAntiAffinity to app=ring per {HOST}", "gpu-a")]
    ports = (HostPort(29500), HostPort(29501))
    taken = fits(run(asks(host_ports=[HostPort(29500)]), [A], [there("gpu-a", ring(ports=ports), noted="demanding")]))
    assert taken == [("port", "29500/TCP → 29502", "gpu-a")]
    guard = Neighbour("ml", "guard", apart=(about(HOST),))
    facts = run(pod(labels={"app": "ring"}), [A], [there("gpu-a", guard, noted="demanding")])
    assert fits(facts)[0][0] == "none"
    assert (numbers(facts).ruled_out, numbers(facts).rule) == (1, "the podAntiAffinity of a pod that runs there")


def test_what_is_not_known_is_said() -> None:
    """Labels of the running pods that weren't read, namespaces that weren't, a spread that the scheduler's configuration adds."""
    waiting = asks(apart=[about()])
    [found] = fits(run(waiting, [A], [there("gpu-a", noted="demanding")]))
    assert "rules about other pods" in found[1]
    by_team = about(namespaces=(), namespace_selector=(Requirement("team", "In", ("a",)),))
    waiting = pod(labels={"app": "ring"}, apart=[by_team], further_rules=["rules about other pods", "labels of namespaces"])
    [found] = fits(run(waiting, [A], [there("gpu-a", ring(ns="x"))]))
    assert "labels of namespaces" in found[1]
    spaces: list[Fact] = [NamespaceLabels(namespace="x", labels={"team": "a"})]
    assert fits(run(waiting, [A], [there("gpu-a", ring(ns="x"))], namespace_labels=spaces))[0][0] == "prefer"
    said = [ScheduleReason(namespace="ml", pod="train-0", reason="topology_spread", count=1, total=1)]
    [found] = fits(run(pod(), [A], [there("gpu-a")], schedule_reasons=said))
    assert "topology spread constraints" in found[1]


def test_two_pods_that_differ_in_labels_alone_are_one_case() -> None:
    """An index in a label splits nothing; being kept away by somebody does."""
    waiting = [pod(f"p{number}", labels={"app": "ring", "index": str(number)}, apart=[about()]) for number in range(3)]
    assert len({fact.rule for fact in run(waiting, [A], [there("gpu-a", ring())])["scheduling"]}) == 1  # type: ignore[attr-defined]
    other = pod("p9", labels={"app": "quiet"})
    facts = run([pod("p1", labels={"app": "ring"}), other], [A], [there("gpu-a", Neighbour("ml", "guard", apart=(about(),)))])
    assert [one.fitting for one in facts["scheduling"]] == [0, 1]  # type: ignore[attr-defined]


def test_the_nearest_of_several_reasons() -> None:
    """What all of the nearest have in common is the reason; a lost GPU on one of them isn't."""
    lost = place("gpu-b", "b", 7, capacity=8)
    one = numbers(run(pod(node_selector={"pool": "x"}), [place("gpu-a", "a", taints=TAINT), lost], [there("gpu-a"), there("gpu-b")]))
    assert (one.unmatched, one.tainted, one.lost, one.together) == (2, 0, 0, 2)
    assert one.obstacles == "the pod's choice of pool=x and something else each"


def read(rules: dict[str, Any], labels: dict[str, str]) -> Pod:
    """A pod as the API has it."""
    made = {"kind": "Pod", "metadata": {"name": "a", "namespace": "ml", "labels": labels}, "spec": {"containers": [{}], **rules}}
    output = Output(Command(("kubectl", "get", "pods")), pages=(json.dumps(made).encode(),))
    [found] = registry.load("kubernetes.pods")(output, Subject(kind="cluster"))["pods"]
    assert isinstance(found, Pod)
    return found


def test_rules_as_they_are_read() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "ring"}}}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    found = read({"affinity": {"podAffinity": {required: [term]}, "podAntiAffinity": {required: [term | {"namespaceSelector": {}}]}}}, {})
    assert found.beside == [PodTerm(ZONE, RING, ("ml",))]
    assert found.apart == [PodTerm(ZONE, RING, (), ())]
    spread = term | {"maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["hash", "absent"], "nodeTaintsPolicy": "Honor"}
    [constraint] = read({"topologySpreadConstraints": [spread]}, {"hash": "1"}).spread
    assert constraint == Spread(ZONE, (*RING, Requirement("hash", "In", ("1",))), max_skew=2, honors_taints=True)
    ports = {
        "ports": [{"hostPort": 80, "hostIP": "0.0.0.0"}, {"hostPort": 81, "protocol": "UDP", "hostIP": "10.0.0.1"}, {"containerPort": 1}]
    }
    boxes = {
        "containers": [ports],
        "initContainers": [{"ports": [{"hostPort": 9}]}, {"restartPolicy": "Always", "ports": [{"hostPort": 82}]}],
    }
    assert read(boxes, {}).host_ports == [HostPort(80), HostPort(81, "UDP", "10.0.0.1"), HostPort(82)]
