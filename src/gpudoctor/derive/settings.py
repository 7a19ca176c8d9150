"""Environment variables against each other and against the machine: where each value is set, and which interfaces and adapters it means."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.infiniband import IbPort, Interface
from gpudoctor.facts.job import Setting, SettingMatch, SettingRow
from gpudoctor.facts.kubernetes import Pod
from gpudoctor.nodesets import fold
from gpudoctor.patterns import regex

# Variables that choose among the interfaces, and among the adapters, of their machine. UCX_NET_DEVICES mixes both.
INTERFACES = ("NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")
ADAPTERS = ("NCCL_IB_HCA",)
EXACT = ("GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME")  # names, not prefixes
OF_HOST = ("en", "=en", "ib", "=ib", "bond", "=bond", "hsn", "=hsn")  # a pod's own network has no such names
UNSET = "(not set)"
JOB = ("SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "MASTER_ADDR")  # what tells the jobs on one machine apart
NUMBER = regex(r"[-.]?\d{1,6}$")  # train-0
OWN = ("elastic", "image")  # the launcher's numbers differ by nature, and what an image notes decides nothing
SHOWN = 12  # names of interfaces that a sentence lists


class Place(NamedTuple):
    """Whose environment it is: a container's, a process', a rank's, or a machine's."""

    node: str
    namespace: str
    pod: str
    container: str
    rank: int | None
    pid: int | None

    @classmethod
    def of(cls, one: Setting) -> Place:
        """A container is one place, whether its manifest or a program in it says what is set."""
        own = one.pod == ""
        return cls(one.node, one.namespace, one.pod, one.container, one.rank if own else None, one.pid if own else None)

    @property
    def kind(self) -> str:
        """What a machine's file sets holds for its processes, and they don't show it, so the two are never compared."""
        return "pod" if self.pod else "machine" if self.rank is None and self.pid is None else "process"

    @property
    def named(self) -> bool:
        """Whether the text says whose it is; two scripts can't be told from two machines."""
        return bool(self.node or self.pod or self.rank is not None)


def compare_settings(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The rows of the table, those that differ first, and what the filters mean on their machines."""
    settings = [one for one in facts.get("settings", []) if isinstance(one, Setting)]
    work = {(pod.namespace, pod.pod): pod.workload for pod in facts.get("pods", []) if isinstance(pod, Pod)}
    return {"setting_rows": [*setting_rows(settings, work)], "setting_matches": [*matches(settings, facts)]}


def setting_rows(settings: Iterable[Setting], work: Mapping[tuple[str, str], str]) -> list[SettingRow]:
    """One row for each value of each variable in each job."""
    found: defaultdict[Place, dict[str, Setting]] = defaultdict(dict)
    for one in settings:
        there = found[Place.of(one)]
        if one.whole or one.name not in there:
            there[one.name] = one
    jobs: defaultdict[str, list[Place]] = defaultdict(list)
    for place, there in found.items():
        jobs[job_of(place, there, work)].append(place)
    made = [row for places in jobs.values() for row in of_job({place: found[place] for place in places})]
    return sorted(made, key=lambda row: (not row.usual, row.name, -row.count))


def job_of(place: Place, there: Mapping[str, Setting], work: Mapping[tuple[str, str], str]) -> str:
    """What the places of one job have in common: the pods' owner or the stem of their names, the launcher's job, where rank 0 listens."""
    if place.pod:
        return f"{place.namespace} {work.get((place.namespace, place.pod)) or NUMBER.sub('', place.pod)}"
    named = [there[name].value for name in JOB if name in there]
    return f"{place.kind} {named[0] if named else ''}"


def of_job(places: Mapping[Place, Mapping[str, Setting]]) -> Iterator[SettingRow]:
    """The rows of one job."""
    whole = {place: any(one.whole for one in there.values()) for place, there in places.items()}
    names = {name: one for there in places.values() for name, one in there.items() if one.library not in OWN or one.same}
    for name in names:
        yield from of_name(name, {place: there[name] for place, there in places.items() if name in there}, whole)


def of_name(name: str, there: Mapping[Place, Setting], places: Mapping[Place, bool]) -> Iterator[SettingRow]:
    """The rows of one variable. It is not set where a whole environment was read without it."""
    groups: defaultdict[str, list[Place]] = defaultdict(list)
    for place, one in there.items():
        groups[one.value].append(place)
    lacking = [place for place, whole in places.items() if whole and place not in there]
    counts = Counter({value: sum(place.named for place in group) for value, group in groups.items()})
    if lacking and any(place.named for place in there):
        counts[UNSET] = sum(place.named for place in lacking)
    counts = +counts
    usual, most = counts.most_common(1)[0] if len(counts) > 1 else ("", 0)
    example = next(iter(there.values()))
    for value, group in [*groups.items(), *([(UNSET, lacking)] if counts[UNSET] else [])]:
        nodes = {place.node for place in group}
        yield SettingRow(
            name=name,
            value=value,
            does=example.does or "not known",
            default=example.default,
            state=example.state or "unknown",
            where=places_text(group),
            count=len(group),
            of=len(places),
            node=nodes.pop() if len(nodes) == 1 else "",
            same=example.same,
            usual=usual,
            odd=bool(usual) and value != usual and counts[value] <= most,
            origin=there[group[0]].origin if group[0] in there else example.origin,
        )


def places_text(group: Iterable[Place]) -> str:
    """The places as text, folded: ranks, pods, or machines."""
    made = list(group)
    pods = {
        namespace: [place.pod for place in made if place.pod and place.namespace == namespace] for namespace in {p.namespace for p in made}
    }
    nodes = {place.node for place in made if place.node and not place.pod}
    ranks = {str(place.rank) for place in made if place.rank is not None}
    folded = [f"{namespace}/{fold(names)}" if namespace else fold(names) for namespace, names in sorted(pods.items()) if names]
    return ", ".join([*folded, *([fold(nodes)] if nodes else []), *([f"rank {fold(ranks).strip('[]')}"] if ranks else [])])


def matches(settings: Iterable[Setting], facts: Mapping[str, list[Fact]]) -> Iterator[SettingMatch]:
    """What each filter means where the interfaces or adapters of its machine are known."""
    interfaces: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    adapters: defaultdict[str, list[str]] = defaultdict(list)
    for one in facts.get("interfaces", []):
        if isinstance(one, Interface) and not one.ca:  # those behind adapters are not all
            interfaces[one.node, one.pod].append(one.interface)
    for port in facts.get("ib_ports", []):
        if isinstance(port, IbPort) and port.ca not in adapters[port.node]:
            adapters[port.node].append(port.ca)
    for one in settings:
        is_adapter = one.name in ADAPTERS
        there = adapters.get(one.node, []) if is_adapter else interfaces.get((one.node, one.pod), [])
        if not there and not is_adapter and one.value.startswith(OF_HOST):
            there = foreign_interfaces(list(interfaces.values()), one)
        if one.name in INTERFACES + ADAPTERS and one.value and there:
            yield match(one, there, "adapter" if is_adapter else "interface")


def foreign_interfaces(lists: Sequence[list[str]], one: Setting) -> list[str]:
    """The interfaces of another place, where the filter fits those of no place that was read."""
    exact = one.name in EXACT
    return lists[0] if lists and not any(chosen(one.value, there, exact=exact) for there in lists) else []


def match(one: Setting, there: list[str], kind: str) -> SettingMatch:
    """What one filter means."""
    names = chosen(one.value, there, exact=one.name in EXACT)
    listed = {name for name, _, _ in parts(one.value)} & set(there)
    excluding, exact = one.value.startswith("^"), "=" in one.value[:2] or one.name in EXACT
    prefixed = [name for name in names if name not in listed and name.startswith(tuple(listed))]
    text = ", ".join(there[:SHOWN]) + (f" and {len(there) - SHOWN} more" if len(there) > SHOWN else "")
    return SettingMatch(
        node=one.node,
        namespace=one.namespace,
        pod=one.pod,
        name=one.name,
        value=one.value,
        kind=kind,
        there=there,
        matches=names,
        text=text,
        wider=[] if excluding or exact else prefixed,
        origin=one.origin,
    )


def chosen(value: str, there: Iterable[str], *, exact: bool = False) -> list[str]:
    """The names that a filter lets through, as NCCL reads it: `^` first for "all but", then `=` for whole names, then a list.

    >>> chosen("mlx5_1", ["mlx5_0", "mlx5_1", "mlx5_10"]), chosen("^=lo,docker0", ["lo", "eth0"]), chosen("=mlx5_1:1", ["mlx5_10"])
    (['mlx5_1', 'mlx5_10'], ['eth0'], [])
    """
    excluding = value.startswith("^")
    exact = exact or value.removeprefix("^").startswith("=")
    wanted = [name for name, _, _ in parts(value)]
    return [name for name in there if any(name == one if exact else name.startswith(one) for one in wanted) is not excluding]


def parts(value: str) -> list[tuple[str, str, str]]:
    """The elements of a filter: name, colon, port."""
    return [part.strip().partition(":") for part in value.removeprefix("^").removeprefix("=").split(",") if part.strip()]
