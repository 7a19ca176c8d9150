"""Which metrics of DCGM are there: the summary of what an exporter serves, and of what Prometheus has, made of labelled series."""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.facts import Origin
from gpudoctor.facts.monitoring import Exposition
from gpudoctor.patterns import regex

# DCGM_FI_DEV_GPU_TEMP, DCGM_EXP_XID_ERRORS_COUNT; dcgm_gpu_temp (1.x, and --use-old-namespace)
NAME = regex(r"\b(?:DCGM_(?:FI|EXP)_[A-Z0-9_]{1,80}|dcgm_[a-z][a-z0-9_]{1,80})\b")
POD_LABELS = ("pod", "pod_name", "exported_pod")  # pod_name: --use-old-namespace
WHOLE = 8  # different metrics: the shortest list of counters that the exporter comes with has 15, and who cuts out cuts out a few
MANY = 2000  # different names

Labels = Mapping[str, str]


class Summary:
    """Adds up series."""

    def __init__(self) -> None:
        self.names: dict[str, None] = {}
        self.labels: dict[str, None] = {}
        self.gpus: set[str] = set()
        self.sources: dict[tuple[str, ...], str] = {}
        self.mapped = self.series = 0
        self.maps_pods = False
        self.twice = ""

    def add(self, name: str, labels: Labels) -> None:
        """One series of a metric of DCGM."""
        if len(self.names) < MANY:
            self.names.setdefault(name)
        for label in labels:
            self.labels.setdefault(label)
        self.series += 1
        if uuid := labels.get("UUID"):
            self.gpus.add(uuid)
            self.note_repetition(name, labels, uuid)
        # Of a scraped series without honorLabels, `pod` is the exporter's own; what it says itself is then called exported_pod.
        said = POD_LABELS[2:] if "instance" in labels else POD_LABELS
        self.maps_pods |= any(label in labels for label in said)
        self.mapped += any(labels.get(label) for label in said)

    def note_repetition(self, name: str, labels: Labels, uuid: str) -> None:
        """Note a metric of one GPU that two jobs or instances have. MIG instances and pods that share a GPU are others, not the same."""
        source = f"{labels.get('job', '')} {labels.get('instance', '')}".strip()
        if not source:
            return
        pod = next((labels[label] for label in reversed(POD_LABELS) if labels.get(label)), "") if "exported_pod" in labels else ""
        same = (name, uuid, labels.get("GPU_I_ID", ""), labels.get("err_code", ""), pod)
        before = self.sources.setdefault(same, source)
        if before != source and not self.twice:
            self.twice = f"{name} of {uuid} from {before} and {source}"

    def fact(self, *, place: str, whole: bool, source: str, node: str = "", namespace: str = "", pod: str = "") -> Exposition:
        """The record."""
        return Exposition(
            namespace=namespace,
            pod=pod,
            node=node,
            place=place,
            names=list(self.names),
            whole=whole,
            gpus=len(self.gpus),
            label_names=list(self.labels)[:100],
            mapped=self.mapped,
            maps_pods=self.maps_pods,
            twice=self.twice,
            origin=Origin(source, 0, f"{len(self.names)} metrics of DCGM, {self.series} series, {len(self.gpus)} GPUs"),
        )
