"""The GPU pods of a list that aren't well. Pods that are well are counted and dropped, so that a large cluster costs little memory."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Pod, Target
from gpudoctor.parsers.kubernetes_json import whole_list
from gpudoctor.parsers.kubernetes_pods import read
from gpudoctor.probes.base import Output


def gpu_pods(outputs: Iterable[Output], about: Subject) -> Facts:
    """Pods that ask for a GPU, or look as if they should, and aren't well; `targets` says how many GPU pods there were at all.

    Pods of the GPU stack itself are left to the runbooks of the stack. Raises `ParseError` when the list breaks off: what wasn't read
    can't be called well.
    """
    kept: Facts = {"pods": [], "containers": [], "messages": [], "schedule_reasons": []}
    seen = 0
    for output in whole_list(outputs, "pods"):
        page = read(output, target=True, wanted=lambda item: True)
        ours = {key(pod) for pod in page["pods"] if isinstance(pod, Pod) and concerns_gpu(pod)}
        seen += len(ours)
        ill = {key(pod) for pod in page["pods"] if isinstance(pod, Pod) and key(pod) in ours and not well(pod)}
        for kind, records in page.items():
            kept[kind] += [record for record in records if key(record) in ill]
    return {**kept, "targets": [Target(kind="GPU pod", found=True, pods=seen)]}


def key(record: object) -> tuple[str, str]:
    """Namespace and name of the pod that a record is about."""
    return getattr(record, "namespace", ""), getattr(record, "pod", "")


def concerns_gpu(pod: Pod) -> bool:
    """Whether a pod asks for a GPU, or looks as if it should use one. The parts of the GPU stack don't count."""
    return not pod.component and (pod.gpus > 0 or bool(pod.gpu_resources) or bool(pod.wants_gpu_hint))


def well(pod: Pod) -> bool:
    """Whether nothing needs a look: it has ended well, or runs, is ready, and has the GPU that it should have."""
    return pod.phase == "Succeeded" or (pod.phase == "Running" and pod.ready and pod.gpus > 0)
