"""The parsers of all tools and of notes, by the name that runbooks use."""

from __future__ import annotations

from collections.abc import Callable

from gpudoctor import notes
from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output
from gpudoctor.tools import (
    common,
    container_runtime,
    dcgm,
    infiniband,
    job,
    kernel,
    kubernetes,
    linux,
    logs,
    nccl,
    nvidia_smi,
    prometheus,
    serving,
    slurm,
    torch,
    training,
)
from gpudoctor.tools.parser import Parser

PACKAGES = (
    kubernetes,
    prometheus,
    common,
    logs,
    kernel,
    notes,
    job,
    nvidia_smi,
    linux,
    container_runtime,
    infiniband,
    nccl,
    torch,
    training,
    dcgm,
    serving,
    slurm,
)

PARSERS: dict[str, Parser] = {name: parser for package in PACKAGES for name, parser in package.PARSERS.items()}
PLACES = {name: package.__name__ for package in PACKAGES for name in package.PARSERS}


def load(name: str) -> Callable[[Output, Subject], Facts]:
    """The function behind a name of the table."""
    from importlib import import_module

    module, _, function = PARSERS[name].function.partition(":")
    loaded: Callable[[Output, Subject], Facts] = getattr(import_module(f"{PLACES[name]}.{module}"), function)
    return loaded
