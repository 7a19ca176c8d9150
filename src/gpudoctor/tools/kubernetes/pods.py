"""Pods and their containers: what they ask for, what became of them, and why the scheduler or a container keeps them back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.job import Setting
from gpudoctor.facts.kubernetes import Container, Message, Pod, Requirement, ScheduleReason
from gpudoctor.knowledge import components
from gpudoctor.knowledge.nccl_settings import is_job_setting
from gpudoctor.knowledge.resources import gpu_count, gpu_names
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import fold, scan_text
from gpudoctor.tools.common.setting import RANKS, printable_value, setting
from gpudoctor.tools.kubernetes import pod_rules
from gpudoctor.tools.kubernetes.api_json import Meta, age, controller, evidence, objects, seconds
from gpudoctor.tools.kubernetes.pod_containers import container_facts
from gpudoctor.tools.kubernetes.pod_requests import pod_requests
from gpudoctor.tools.kubernetes.pod_shape import PodObject, PodSpec, PodStatus, terms, tolerations
from gpudoctor.tools.kubernetes.pod_status import condition, restarts, shown_status
from gpudoctor.tools.kubernetes.scheduler_message import schedule_reasons

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
# nvcr.io/nvidia/pytorch:24.10-py3, vllm/vllm-openai:latest, ghcr.io/acme/train:cuda12.4
GPU_IMAGE = regex(r"nvcr\.io|cuda|pytorch|tensorflow|vllm|triton|deepspeed|text-generation-inference|sglang|ollama|rapids")
CPU_IMAGE = regex(r"[-_:.]cpu\b")
GPU_OFF = ("", "void", "none")  # values of NVIDIA_VISIBLE_DEVICES that ask for no GPU


def pods(output: Output, about: Subject) -> Facts:
    """The pods that the question is about, with their containers, the known messages of their states, and the scheduler's reasons."""
    return read(output, target=True, wanted=lambda item: True)


def stack(output: Output, about: Subject) -> Facts:
    """The pods of the GPU stack among those of the answer; other pods are left out."""
    return read(output, target=False, wanted=lambda item: bool(component_of(item.meta)))


def read(output: Output, *, target: bool, wanted: Callable[[PodObject], bool]) -> Facts:
    """All facts of the wanted pods of one answer."""
    found: list[Pod] = []
    containers: list[Container] = []
    known: list[Message] = []
    reasons: list[ScheduleReason] = []
    variables: list[Setting] = []
    for item in objects(output, PodObject, ("Pod",)):
        if item.meta.name and wanted(item):
            pod = pod_fact(item, output, target=target)
            made = list(container_facts(item, pod, output))
            found.append(pod)
            containers += made
            known += state_messages(pod, made)
            reasons += reasons_of(pod, output)
            variables += of_manifest(item, pod, output) if target else ()
    made_facts: Facts = {"pods": [*found], "containers": [*containers], "messages": [*fold(known)], "schedule_reasons": [*reasons]}
    return made_facts | ({"settings": [*variables]} if target else {})


def of_manifest(item: PodObject, pod: Pod, output: Output) -> Iterator[Setting]:
    """The variables of the manifest by which the pod's job communicates."""
    for container in (item.spec or PodSpec()).containers or ():
        rank = next((number for name in RANKS if (number := container.variable(name) or "").isdecimal()), None)
        for variable in container.env or ():
            if variable.name and variable.value is not None and is_job_setting(variable.name):
                yield setting(
                    variable.name,
                    str(variable.value),
                    node=pod.node,
                    namespace=pod.namespace,
                    pod=pod.pod,
                    container=container.name or "",
                    rank=int(rank[:7]) if rank else None,
                    origin=evidence(output, f"{variable.name}={printable_value(variable.name, str(variable.value))}"),
                )


def component_of(meta: Meta) -> str:
    """The part of the GPU stack that a pod is, "" for other pods."""
    return components.of_pod(meta.name or "", controller(meta).partition("/")[2], meta.labels or {})


def pod_fact(item: PodObject, output: Output, *, target: bool) -> Pod:
    """The record of one pod."""
    meta, spec, status = item.meta, item.spec or PodSpec(), item.status or PodStatus()
    labels = meta.labels or {}
    placed, why, words = condition(status, "PodScheduled")
    requests = pod_requests(spec)
    shown = shown_status(item)
    name = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
    said = status.message or (words if placed == "False" else "")
    return Pod(
        namespace=meta.namespace or "",
        pod=meta.name or "",
        target=target,
        uid=meta.uid or "",
        node=spec.nodeName or "",
        phase=status.phase or "",
        status=shown,
        reason=status.reason or "",
        message=status.message or "",
        age=age(seconds(meta.creationTimestamp), output),
        ready=condition(status, "Ready")[0] == "True",
        deleting=meta.deletionTimestamp is not None,
        restarts=restarts(item),
        workload=controller(meta),
        component=component_of(meta),
        labels=labels,
        images=[container.image for container in spec.containers or () if container.image],
        scheduled=bool(spec.nodeName) or placed == "True",
        schedule_reason=why if placed == "False" else "",
        schedule_message=words if placed == "False" else "",
        nominated=status.nominatedNodeName or "",
        scheduler_name=spec.schedulerName or "default-scheduler",
        scheduling_gates=[gate.name for gate in spec.schedulingGates or () if gate.name],
        runtime_class=spec.runtimeClassName or "",
        node_selector=spec.nodeSelector or {},
        node_affinity=node_affinity(spec),
        tolerations=tolerations(spec.tolerations),
        requests=requests,
        gpus=gpu_count(requests),
        gpu_resources=gpu_names(requests),
        claims=list(claim_names(meta, spec)),
        claim_templates=[one.resourceClaimTemplateName for one in spec.resourceClaims or () if one.resourceClaimTemplateName],
        beside=(near := pod_rules.required_affinity(meta, spec)),
        apart=(far := pod_rules.required_anti_affinity(meta, spec)),
        spread=[*pod_rules.spread_constraints(meta, spec)],
        host_ports=[*pod_rules.host_ports(spec)],
        further_rules=pod_rules.further_rules(spec, near + far),
        device_claims=[one.resourceClaimName for one in spec.resourceClaims or () if one.resourceClaimName],
        queue_name=labels.get(QUEUE_LABEL, ""),
        wants_gpu_hint="" if gpu_names(requests) or component_of(meta) or controller(meta).startswith("DaemonSet/") else wants_gpu(spec),
        origin=evidence(output, f"{name} {shown}: {said}" if said else f"{name} {shown}"),
    )


def node_affinity(spec: PodSpec) -> list[list[Requirement]] | None:
    """The required node affinity, None without one."""
    affinity = spec.affinity.nodeAffinity if spec.affinity else None
    return terms(affinity.requiredDuringSchedulingIgnoredDuringExecution) if affinity else None


def claim_names(meta: Meta, spec: PodSpec) -> Iterator[str]:
    """The names of the pod's PersistentVolumeClaims."""
    for volume in spec.volumes or ():
        if volume.persistentVolumeClaim and volume.persistentVolumeClaim.claimName:
            yield volume.persistentVolumeClaim.claimName
        elif volume.ephemeral is not None and volume.name:
            yield f"{meta.name}-{volume.name}"


def wants_gpu(spec: PodSpec) -> str:
    """Why a pod that asks for no GPU probably should use one, as a short phrase; "" where nothing hints at it.

    A pod with resource claims (DRA) may get its GPU by one of them.
    """
    if spec.resourceClaims:
        return ""
    for container in spec.containers or ():
        if container.variable("NVIDIA_VISIBLE_DEVICES") not in (None, *GPU_OFF):
            return f"NVIDIA_VISIBLE_DEVICES={container.variable('NVIDIA_VISIBLE_DEVICES')}"
    if (spec.runtimeClassName or "").startswith("nvidia"):
        return f"runtimeClassName {spec.runtimeClassName}"
    for key, value in (spec.nodeSelector or {}).items():
        if key.startswith("nvidia.com/") or key == "cloud.google.com/gke-accelerator":
            return f"nodeSelector {key}={value}"
    if any(toleration.key == "nvidia.com/gpu" for toleration in spec.tolerations or ()):
        return "tolerates nvidia.com/gpu"
    images = ((container.image or "")[:512] for container in spec.containers or ())
    return next((f"image {image}" for image in images if GPU_IMAGE.search(image) and not CPU_IMAGE.search(image)), "")


def reasons_of(pod: Pod, output: Output) -> list[ScheduleReason]:
    """The scheduler's clauses. The condition's message is rewritten at every attempt, so it is as new as the answer."""
    if pod.scheduled or not pod.schedule_message:
        return []
    where = evidence(output, pod.schedule_message)
    return schedule_reasons(pod.schedule_message, namespace=pod.namespace, pod=pod.pod, origin=where, time=output.time or None)


def state_messages(pod: Pod, containers: list[Container]) -> Iterator[Message]:
    """The known messages in the pod's own status, in the scheduler's word, and in its containers' present and last states."""
    for text in (pod.message, pod.schedule_message):
        if text:
            yield from scan_text(text, source="status", about=pod.subject(), origin=pod.origin)
    for container in containers:
        for text in dict.fromkeys((container.message, container.last_message)):
            if text:
                yield from scan_text(
                    text, source="status", about=container.subject(), origin=container.origin, age=container.age, time=container.time
                )
