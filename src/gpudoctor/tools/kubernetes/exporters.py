"""Pods and pod templates of dcgm-exporter: where it listens, which counters it exports, whether it asks the kubelet for pods.

Its options are environment variables or arguments (https://github.com/NVIDIA/dcgm-exporter/blob/main/pkg/cmd/app.go): DCGM_EXPORTER_LISTEN,
`-a`, `--address` (":9400"); DCGM_EXPORTER_KUBERNETES, `-k`, `--kubernetes`; DCGM_EXPORTER_COLLECTORS, `-f`, `--collectors`;
DCGM_EXPORTER_CONFIGMAP_DATA, `-m`, `--configmap-data` (NAMESPACE:NAME).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.monitoring import Exporter, Port
from gpudoctor.knowledge import components
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Meta, Object, Strings, controller, evidence, objects
from gpudoctor.tools.kubernetes.pod_shape import Env, PodStatus
from gpudoctor.tools.kubernetes.pod_status import condition
from gpudoctor.tools.kubernetes.pods import stack

NAME = "dcgm-exporter"
OWN = 9400  # the port of the program, where nothing else is said
TEMPLATES = ("DaemonSet", "Deployment", "StatefulSet", "ReplicaSet")
PORT = regex(r":?(\d{1,5})\Z|.{0,200}:(\d{1,5})\Z")  # 9400 | :9400 | 0.0.0.0:9400
OPTIONS = {
    **dict.fromkeys(("-a", "--address"), "LISTEN"),
    **dict.fromkeys(("-k", "--kubernetes"), "KUBERNETES"),
    **dict.fromkeys(("-f", "--collectors"), "COLLECTORS"),
    **dict.fromkeys(("-m", "--configmap-data"), "CONFIGMAP_DATA"),
}
TRUE, FALSE = ("1", "t", "true"), ("0", "f", "false")  # strconv.ParseBool, in any case


class ContainerPort(msgspec.Struct):
    """A port that a container declares; declaring it opens nothing."""

    name: str | None = None
    containerPort: int | None = None


class Box(msgspec.Struct):
    """A container, as far as its options."""

    name: str | None = None
    image: str | None = None
    args: list[str] | None = None
    command: list[str] | None = None
    env: list[Env] | None = None
    ports: list[ContainerPort] | None = None

    def options(self) -> dict[str, str]:
        """The exporter's options by the ends of their variables; an argument goes before the variable."""
        found = {
            (env.name or "").removeprefix("DCGM_EXPORTER_"): str(env.value).lower() if isinstance(env.value, bool) else str(env.value)
            for env in self.env or ()
            if env.value is not None and (env.name or "").startswith("DCGM_EXPORTER_")
        }
        words = [*(self.command or ()), *(self.args or ())]
        for word, following in itertools.pairwise([*words, ""]):
            option, equals, value = word.partition("=")
            if key := OPTIONS.get(option):
                flag = key == "KUBERNETES"
                found[key] = value if equals else "true" if flag else following
        return found


class Spec(msgspec.Struct):
    """A pod's spec."""

    nodeName: str | None = None
    containers: list[Box] | None = None


class TemplateMeta(msgspec.Struct):
    """A template's metadata."""

    labels: Strings = None
    annotations: Strings = None


class Template(msgspec.Struct):
    """A pod template."""

    metadata: TemplateMeta | None = None
    spec: Spec | None = None


class EitherSpec(Spec):
    """The spec of a pod or of what has a template."""

    template: Template | None = None


class EitherObject(Object):
    """A pod, or a controller with a template."""

    spec: EitherSpec | None = None
    status: PodStatus | None = None


def pods(output: Output, about: Subject) -> Facts:
    """The exporters' pods as those of the GPU stack are read, and what their manifests say of metrics."""
    return stack(output, about) | {"exporters": [*read(output)]}


def templates(output: Output, about: Subject) -> Facts:
    """Only what manifests say of metrics; nothing where there is no exporter among them."""
    found = list(read(output))
    return {"exporters": [*found]} if found else {}


def read(output: Output) -> Iterator[Exporter]:
    """One record for each pod or template."""
    for item in objects(output, EitherObject, ("Pod", *TEMPLATES)):
        meta, spec = item.meta, item.spec or EitherSpec()
        if item.kind == "Pod":
            if components.of_pod(meta.name or "", controller(meta).partition("/")[2], meta.labels or {}) == NAME:
                ready = condition(item.status, "Ready")[0] == "True" if item.status else None
                yield exporter(meta, spec, meta.labels or {}, output, pod=meta.name or "", ready=ready, notes=meta.annotations)
        elif spec.template and spec.template.spec:
            inner = spec.template.metadata or TemplateMeta()
            labels = inner.labels or {}
            if components.of_pod(meta.name or "", "", labels) == NAME:
                yield exporter(meta, spec.template.spec, labels, output, workload=f"{item.kind}/{meta.name}", notes=inner.annotations)


def exporter(
    meta: Meta,
    spec: Spec,
    labels: dict[str, str],
    output: Output,
    *,
    pod: str = "",
    workload: str = "",
    ready: bool | None = None,
    notes: Strings = None,
) -> Exporter:
    """The record of one; the container is the one whose name or image says so, else the first."""
    boxes = spec.containers or [Box()]
    box = next((one for one in boxes if "dcgm" in f"{one.name} {one.image}"), boxes[0])
    options = box.options()
    listens = port_of(options.get("LISTEN", ""))
    maps = options.get("KUBERNETES", "").lower()
    declared = [Port(port.name or "", port.containerPort or 0) for port in box.ports or ()]
    space, _, name = options.get("CONFIGMAP_DATA", "").partition(":")  # "none" without one
    said = " ".join(f"DCGM_EXPORTER_{key}={options[key]}" for key in ("LISTEN", "KUBERNETES", "COLLECTORS") if key in options)
    return Exporter(
        namespace=meta.namespace or "",
        pod=pod,
        workload=workload,
        node=spec.nodeName or "",
        labels=labels,
        ready=ready,
        listens=listens,
        port=listens or next((port.number for port in declared if port.number), OWN),
        ports=declared,
        maps_pods=True if maps in TRUE else False if maps in FALSE else None,
        collectors=options.get("COLLECTORS", ""),
        config_map=name,
        config_namespace=space,
        image=box.image or "",
        scrape_port=(notes or {}).get("prometheus.io/port") or "",
        origin=evidence(output, f"{meta.namespace}/{pod or workload} {said} ports {[port.number for port in declared]}"),
    )


def port_of(text: str) -> int | None:
    """The number in an address, None where there is none.

    >>> port_of(":9400"), port_of("0.0.0.0:9401"), port_of("9400"), port_of("${PORT}")
    (9400, 9401, 9400, None)
    """
    match = PORT.match(text)
    number = int(match[1] or match[2]) if match else 0
    return number if 0 < number < 65536 else None
