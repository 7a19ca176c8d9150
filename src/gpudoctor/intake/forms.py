"""The forms of all packages, in the order in which one wins over another of an equal score: tools first, then what is left to notes."""

from __future__ import annotations

from gpudoctor import registry
from gpudoctor.notes import forms as notes
from gpudoctor.tools.container_runtime import forms as container_runtime
from gpudoctor.tools.dcgm import forms as dcgm
from gpudoctor.tools.form import Form, Parse
from gpudoctor.tools.infiniband import forms as infiniband
from gpudoctor.tools.job import forms as job
from gpudoctor.tools.kernel import forms as kernel
from gpudoctor.tools.kubectl import forms as kubectl
from gpudoctor.tools.kubernetes import forms as kubernetes
from gpudoctor.tools.linux import forms as linux
from gpudoctor.tools.logs import forms as logs
from gpudoctor.tools.nccl import forms as nccl
from gpudoctor.tools.nvidia_smi import forms as nvidia_smi
from gpudoctor.tools.prometheus import forms as prometheus
from gpudoctor.tools.serving import forms as serving
from gpudoctor.tools.slurm import forms as slurm
from gpudoctor.tools.torch import forms as torch
from gpudoctor.tools.training import forms as training

FORMS: tuple[Form, ...] = (
    *torch.FORMS,
    *kubectl.FORMS,
    *kubernetes.FORMS,
    *nvidia_smi.FORMS,
    *kernel.FORMS,
    *slurm.FORMS,
    *container_runtime.FORMS,
    *dcgm.FORMS,
    *infiniband.FORMS,
    *linux.FORMS,
    *nccl.FORMS,
    *prometheus.FORMS,
    *serving.FORMS,
    *job.FORMS,
    *logs.FORMS,
    *training.FORMS,
    *notes.FORMS,
)
# What no other one knows.
LINES = Form("text", lambda text: 1, "logs.text")


def reader(form: Form) -> Parse:
    """The function that reads a text of a form."""
    if callable(form.parse):
        return form.parse
    name = form.parse or form.name
    if registry.PARSERS[name].streams:
        return lambda output, about: registry.load(name)([output], about)  # type: ignore[arg-type]
    return registry.load(name)
