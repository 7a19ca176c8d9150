"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.form import Form
from gpudoctor.tools.kubernetes import autoscaler_status
from gpudoctor.tools.kubernetes.kubelet_config import FIELD, FLAG

TOP = regex(r"^([A-Za-z][\w-]{0,40}):(?:\s|$)")
FEW = 19  # the score of a line or two that were picked out by grep: what stands around them is read, too


def of_stack(lines: Sequence[str]) -> int:
    """What the device plugin (sharing) or the MIG manager (layouts) is configured with, without the ConfigMap around it."""
    keys = {match[1] for line in lines if (match := TOP.match(line))}
    if "kind" in keys or "apiVersion" in keys:
        return 0
    inner = {line.strip() for line in lines[:400]}
    shares = any(line.startswith("replicas:") for line in inner)
    sharing = "sharing" in keys and (shares or inner & {"timeSlicing:", "mps:"})
    return 90 if "mig-configs" in keys or sharing or (keys & {"timeSlicing", "mps"} and shares) or keys == {"timeSlicing"} else 0


def of_kubelet(lines: Sequence[str], whole: str) -> int:
    """A KubeletConfiguration, or /configz of a node."""
    if '"kubeletconfig"' in whole[:200]:
        return 96
    if any(line.strip().rstrip(",") in ("kind: KubeletConfiguration", '"kind": "KubeletConfiguration"') for line in lines[:400]):
        return 96
    return FEW if any(FLAG.search(line) or FIELD.match(line) for line in lines) else 0


FORMS: tuple[Form, ...] = (
    Form("runtime.stack_config", lambda text: of_stack(text.lines)),
    Form("kubelet.config", lambda text: of_kubelet(text.lines, text.whole), beside=True),
    Form("autoscaler.status", lambda text: autoscaler_status.score(text.lines), autoscaler_status.status, embedded=True),
)
