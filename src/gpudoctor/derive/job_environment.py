"""How many ranks a job has, and on how many hosts, by the launcher's variables that stand beside its logs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gpudoctor.facts.job import Setting

MOST = 65_536  # ranks that a text may claim
# torchrun; Slurm; Open MPI
WORLD = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")
HERE = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")


class Environment(NamedTuple):
    """`world` is the number of ranks where all say the same; `nodes` 1 where they are all on one host, else 0 = not told."""

    world: int | None = None
    nodes: int = 0


def environment(settings: Iterable[Setting]) -> Environment:
    """What the variables say, nothing where two of them disagree.

    >>> environment([Setting(name="WORLD_SIZE", value="4"), Setting(name="LOCAL_WORLD_SIZE", value="4")])
    Environment(world=4, nodes=1)
    >>> environment([Setting(name="WORLD_SIZE", value="4"), Setting(name="WORLD_SIZE", value="8")])
    Environment(world=None, nodes=0)
    """
    found = [(one.name, int(one.value)) for one in settings if one.value.isascii() and one.value.isdecimal() and len(one.value) < 8]
    worlds = {value for name, value in found if name in WORLD and 0 < value <= MOST}
    here = {value for name, value in found if name in HERE}
    world = next(iter(worlds)) if len(worlds) == 1 else None
    return Environment(world, 1 if world is not None and here == {world} else 0)
