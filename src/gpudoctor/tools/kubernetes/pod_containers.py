"""The containers of a pod as records: what each asks for, its state, and the state before."""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts.kubernetes import Container, Pod
from gpudoctor.knowledge.resources import gpu_count, gpu_names
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import age, evidence, seconds
from gpudoctor.tools.kubernetes.pod_requests import container_requests
from gpudoctor.tools.kubernetes.pod_shape import (
    ContainerSpec,
    ContainerStatus,
    PodObject,
    PodSpec,
    PodStatus,
    State,
    Terminated,
    is_sidecar,
)
from gpudoctor.tools.kubernetes.pod_status import by_name, stuck_at
from gpudoctor.tools.kubernetes.quantity import quantity


def container_facts(item: PodObject, pod: Pod, output: Output) -> Iterator[Container]:
    """One record per container in start order: init containers and sidecars first, then the main ones."""
    spec, status = item.spec or PodSpec(), item.status or PodStatus()
    states = by_name((*(status.initContainerStatuses or ()), *(status.containerStatuses or ())))
    stuck = stuck_at(item)
    kinds = [(c, "sidecar" if is_sidecar(c) else "init") for c in spec.initContainers or ()] + [(c, "main") for c in spec.containers or ()]
    for container, kind in kinds:
        name = container.name or ""
        yield container_fact(container, kind, states.get(name, ContainerStatus()), pod, output, stuck=bool(name) and name == stuck)


def container_fact(spec: ContainerSpec, kind: str, status: ContainerStatus, pod: Pod, output: Output, *, stuck: bool) -> Container:
    """The record of one container."""
    requests = container_requests(spec.resources)
    limits = (spec.resources.limits if spec.resources else None) or {}
    state, reason, message, since = state_of(status.now)
    last = (status.lastState.terminated if status.lastState else None) or Terminated()
    what = " ".join(word for word in (f"{pod.namespace}/{pod.pod}" if pod.namespace else pod.pod, spec.name, state, reason) if word)
    exit_code = status.now.terminated.exitCode if status.now.terminated else None
    return Container(
        namespace=pod.namespace,
        pod=pod.pod,
        container=spec.name or "",
        target=pod.target,
        node=pod.node,
        kind=kind,
        component=pod.component,
        image=spec.image or "",
        state=state,
        reason=reason,
        message=message,
        exit_code=exit_code,
        last_reason=last.reason or "",
        last_message=last.message or "",
        last_exit_code=last.exitCode,
        restarts=max(status.restartCount or 0, 0),
        ready=bool(status.ready),
        age=age(since, output),
        gpus=gpu_count(requests),
        gpu_resources=gpu_names(requests),
        memory_limit=quantity(limits["memory"]) if "memory" in limits else None,
        visible_devices=spec.variable("NVIDIA_VISIBLE_DEVICES"),
        cuda_visible_devices=spec.variable("CUDA_VISIBLE_DEVICES"),
        driver_capabilities=spec.variable("NVIDIA_DRIVER_CAPABILITIES"),
        last_seconds=run_duration(last),
        # a startup probe holds the liveness probe back
        probe_patience=spec.livenessProbe.patience if spec.livenessProbe and not spec.startupProbe else None,
        privileged=bool(spec.securityContext and spec.securityContext.privileged),
        may_lock=bool(spec.securityContext and spec.securityContext.may_lock),
        first_not_ready=stuck,
        time=since,
        origin=evidence(output, f"{what}: {message or last.message}" if message or last.message else what),
    )


def run_duration(run: Terminated) -> float | None:
    """The duration of a run in seconds, None unless both times are known."""
    begun, over = seconds(run.startedAt), seconds(run.finishedAt)
    return over - begun if begun is not None and over is not None and over >= begun else None


def state_of(state: State) -> tuple[str, str, str, float | None]:
    """The state's name, its reason and message, and since when it lasts, as far as the state says so."""
    if state.terminated:
        ended = state.terminated
        return "terminated", ended.reason or "", ended.message or "", seconds(ended.finishedAt)
    if state.running:
        return "running", "", "", seconds(state.running.startedAt)
    if state.waiting:
        return "waiting", state.waiting.reason or "", state.waiting.message or "", None
    return "", "", "", None
