"""One environment variable with what is known of it, wherever it was read: a manifest, a process, a script, NCCL's own log.

Apart from `tools.linux.environment`, so that reading pods doesn't compile the notations of scripts.
"""

from __future__ import annotations

from gpudoctor.facts.job import Setting
from gpudoctor.knowledge import environment, nccl_settings
from gpudoctor.knowledge.secrets import is_evidence, looks_random

VALUE = 300  # characters of a value: a list of adapters is shorter
HIDDEN = "<hidden>"
# Who numbers ranks: torchrun, Slurm, Open MPI, PMI
RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")


def setting(name: str, value: str, **where: object) -> Setting:
    """One variable with what is known of it; `where` are further fields of the Setting."""
    entry = nccl_settings.known_setting(name)
    value = printable_value(name, value)
    if entry is None:
        return Setting(name=name, value=value, known=False, like=nccl_settings.nearest_name(name), **where)  # type: ignore[arg-type]
    return Setting(
        name=name,
        value=value,
        state=entry.state,
        does=entry.does,
        default=entry.defaults,
        library=entry.library,
        instead=entry.instead,
        same=entry.same,
        fits=entry.fits(value),
        **where,  # type: ignore[arg-type]
    )


def printable_value(name: str, value: str) -> str:
    """The value as it may be shown.

    >>> printable_value("NCCL_DEBUG", "INFO"), printable_value("UCX_ACCESS_TOKEN", "x7")
    ('INFO', '<hidden>')
    >>> printable_value("FI_OPX_UUID", "d41d8cd98f00b204e9800998ecf8427e")
    '<hidden>'
    """
    secret = looks_random(value) or (environment.may_be_evidence(name) and not is_evidence(name, value))
    return HIDDEN if secret or environment.names_secret(name) else value[:VALUE]
