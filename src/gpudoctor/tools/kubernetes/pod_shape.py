"""The fields of a pod that the parsers read: of pods themselves and of the templates in workloads."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from gpudoctor.facts.kubernetes import Requirement, Toleration
from gpudoctor.tools.kubernetes.api_json import Condition, Object, Quantities, Strings, strings


class Resources(msgspec.Struct):
    """`resources` of a container or a whole pod."""

    requests: Quantities = None
    limits: Quantities = None


class Env(msgspec.Struct):
    """One environment variable with a literal value."""

    name: str | None = None
    value: str | int | float | bool | None = None  # only a string in the API; a manifest may have forgotten the quotes


class Capabilities(msgspec.Struct):
    """What a container may do beyond, or short of, the runtime's defaults."""

    add: list[str] | None = None


class SecurityContext(msgspec.Struct):
    """What lets a container see every device, and lock memory beyond its limit."""

    privileged: bool | None = None
    capabilities: Capabilities | None = None

    @property
    def may_lock(self) -> bool:
        """CAP_IPC_LOCK: no limit of locked memory holds."""
        added = {name.upper().removeprefix("CAP_") for name in (self.capabilities and self.capabilities.add) or ()}
        return bool(self.privileged) or bool(added & {"IPC_LOCK", "ALL"})


class Probe(msgspec.Struct):
    """When a probe gives up; the API fills in 0, 10 and 3."""

    initialDelaySeconds: int | None = None
    periodSeconds: int | None = None
    failureThreshold: int | None = None

    @property
    def patience(self) -> float:
        """Seconds from the start to the last failure that it waits for."""
        return float((self.initialDelaySeconds or 0) + (self.periodSeconds or 10) * (self.failureThreshold or 3))


class ContainerSpec(msgspec.Struct):
    """One container as it was asked for."""

    name: str | None = None
    image: str | None = None
    resources: Resources | None = None
    env: list[Env] | None = None
    ports: list[Port] | None = None
    restartPolicy: str | None = None
    securityContext: SecurityContext | None = None
    livenessProbe: Probe | None = None
    startupProbe: Probe | None = None

    def variable(self, name: str) -> str | None:
        """The literal value of an environment variable, None when it isn't set or comes from elsewhere."""
        return next((str(env.value) for env in self.env or () if env.name == name and env.value is not None), None)


class TolerationSpec(msgspec.Struct):
    """One toleration; `operator` defaults to Equal."""

    key: str | None = None
    operator: str | None = None
    value: str | int | bool | None = None
    effect: str | None = None


class Expression(msgspec.Struct):
    """One requirement of a node selector term."""

    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class Term(msgspec.Struct):
    """One node selector term: all its expressions must hold."""

    matchExpressions: list[Expression] | None = None
    matchFields: list[Expression] | None = None


class NodeSelector(msgspec.Struct):
    """A node selector: one of its terms must hold."""

    nodeSelectorTerms: list[Term] | None = None


class NodeAffinity(msgspec.Struct):
    """Only what is required; preferences keep no pod from running."""

    requiredDuringSchedulingIgnoredDuringExecution: NodeSelector | None = None


class LabelSelector(msgspec.Struct):
    """A label selector of the API."""

    matchLabels: Strings = None
    matchExpressions: list[Expression] | None = None


class PodAffinityTerm(msgspec.Struct):
    """One rule about other pods. The API server has already added what the label keys say to the selector; older ones had no such keys."""

    topologyKey: str | None = None
    labelSelector: LabelSelector | None = None
    namespaces: list[str] | None = None
    namespaceSelector: LabelSelector | None = None


class PodAffinity(msgspec.Struct):
    """Rules about other pods: only what is required."""

    requiredDuringSchedulingIgnoredDuringExecution: list[PodAffinityTerm] | None = None


class Affinity(msgspec.Struct):
    """Affinity to nodes, and to and against other pods."""

    nodeAffinity: NodeAffinity | None = None
    podAffinity: PodAffinity | None = None
    podAntiAffinity: PodAffinity | None = None


class SpreadSpec(msgspec.Struct):
    """A topology spread constraint; `DoNotSchedule` by default."""

    topologyKey: str | None = None
    whenUnsatisfiable: str | None = None
    labelSelector: LabelSelector | None = None
    matchLabelKeys: list[str] | None = None
    maxSkew: int | None = None
    minDomains: int | None = None
    nodeAffinityPolicy: str | None = None
    nodeTaintsPolicy: str | None = None


class Port(msgspec.Struct):
    """A port of a container, and the port of the node that it takes."""

    hostPort: int | None = None
    protocol: str | None = None
    hostIP: str | None = None


class Named(msgspec.Struct):
    """A scheduling gate."""

    name: str | None = None


class ResourceClaimSource(msgspec.Struct):
    """A claim for a device: one that is there, or a template of which the pod gets a claim of its own."""

    name: str | None = None
    resourceClaimName: str | None = None
    resourceClaimTemplateName: str | None = None


class ClaimSource(msgspec.Struct):
    """A volume's claim."""

    claimName: str | None = None


class VolumeSpec(msgspec.Struct):
    """One volume; an ephemeral one has the claim POD-VOLUME."""

    name: str | None = None
    persistentVolumeClaim: ClaimSource | None = None
    ephemeral: Named | None = None


class PodSpec(msgspec.Struct):
    """What was asked for."""

    nodeName: str | None = None
    containers: list[ContainerSpec] | None = None
    initContainers: list[ContainerSpec] | None = None
    overhead: Quantities = None
    resources: Resources | None = None
    runtimeClassName: str | None = None
    nodeSelector: Strings = None
    affinity: Affinity | None = None
    tolerations: list[TolerationSpec] | None = None
    topologySpreadConstraints: list[SpreadSpec] | None = None
    schedulerName: str | None = None
    schedulingGates: list[Named] | None = None
    resourceClaims: list[ResourceClaimSource] | None = None
    volumes: list[VolumeSpec] | None = None


class Waiting(msgspec.Struct):
    """A container that doesn't run yet, or not again."""

    reason: str | None = None
    message: str | None = None


class Running(msgspec.Struct):
    """A container that runs."""

    startedAt: str | None = None


class Terminated(msgspec.Struct):
    """A container that has ended."""

    reason: str | None = None
    message: str | None = None
    exitCode: int | None = None
    signal: int | None = None
    startedAt: str | None = None
    finishedAt: str | None = None


class State(msgspec.Struct):
    """One of the three."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(msgspec.Struct):
    """What became of one container."""

    name: str | None = None
    ready: bool | None = None
    started: bool | None = None
    restartCount: int | None = None
    state: State | None = None
    lastState: State | None = None

    @property
    def now(self) -> State:
        """The present state."""
        return self.state or State()


class PodStatus(msgspec.Struct):
    """What became of the pod."""

    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    nominatedNodeName: str | None = None
    conditions: list[Condition] | None = None
    containerStatuses: list[ContainerStatus] | None = None
    initContainerStatuses: list[ContainerStatus] | None = None


class PodObject(Object):
    """A pod."""

    spec: PodSpec | None = None
    status: PodStatus | None = None


class PodTemplate(msgspec.Struct):
    """The pod that a workload makes."""

    spec: PodSpec | None = None


def is_sidecar(container: ContainerSpec) -> bool:
    """Whether an init container keeps running beside the main ones."""
    return container.restartPolicy == "Always"


def terms(selector: NodeSelector | None) -> list[list[Requirement]] | None:
    """A node selector as an OR of ANDs. A term without expressions holds for no node, so it is left out; None = no requirement."""
    if selector is None:
        return None
    made = [[*expressions(term.matchExpressions), *expressions(term.matchFields, field=True)] for term in selector.nodeSelectorTerms or ()]
    return [term for term in made if term]


def expressions(found: Iterable[Expression] | None, *, field: bool = False) -> list[Requirement]:
    """The requirements of one term."""
    return [Requirement(e.key, e.operator, tuple(strings(e.values)), field) for e in found or () if e.key and e.operator]


def selector(given: LabelSelector | None) -> list[Requirement] | None:
    """A label selector as requirements, None where there is none."""
    if given is None:
        return None
    equal = [Requirement(key, "In", (value,)) for key, value in (given.matchLabels or {}).items()]
    more = [Requirement(one.key or "", one.operator or "", tuple(strings(one.values))) for one in given.matchExpressions or ()]
    return [*equal, *more]


def tolerations(found: Iterable[TolerationSpec] | None) -> list[Toleration]:
    """Tolerations with the defaults that the API fills in."""
    return [
        Toleration(key=t.key or "", operator=t.operator or "Equal", value="" if t.value is None else str(t.value), effect=t.effect or "")
        for t in found or ()
    ]
