"""Facts about NVLink and its fabric, measured over what nvidia-smi, lspci and the fabric manager say of one machine."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, OfGpu


class NvLinkSum(OfGpu, frozen=True, kw_only=True):
    """What the NVLinks of one GPU add up to, beside the other GPUs of its machine. Counters are since the driver was loaded."""

    form: str = ""  # how the product is wired, a word of knowledge/nvlink: switched, direct, bridge, rack, none; "" = not known
    alone: bool = False  # no other GPU is seen on the machine, nor hinted at by the index
    links: int | None = None  # that the GPU lists; None where `nvlink -s` was not read
    active: int | None = None
    made: int | None = None  # links that the product has on its baseboard, where that is known
    usual: int | None = None  # active links of most GPUs of the same product on the machine, this one included
    peers: int = 0  # other GPUs of the same product whose links were read
    down: list[int] = []  # numbers of the links that are not active
    neighbours: int | None = None  # GPUs that `topo -m` reaches over NVLink; None where it was not read
    others: int = 0  # other GPUs in that matrix of which it shows how they are reached
    meshed: bool = False  # there are at least three others, and NVLink joins each of them with each, as far as it shows
    width: int | None = None  # the widest NV# of its row
    usual_width: int | None = None  # of most rows
    recoveries: int | None = None  # retrainings of a link; NVLink5: those that failed
    replays: int | None = None  # repeated transfers
    crc_errors: int | None = None
    packet_errors: int | None = None  # NVLink5: packets that were lost or spoilt after all corrections
    worst: int | None = None  # the link with the most of them


class Fabric(Fact, frozen=True, kw_only=True):
    """The NVLink fabric of one machine as a whole."""

    node: str = ""
    gpus: int = 0  # that are seen
    form: str = ""  # of their product, "" where it isn't known or they differ
    switches: int | None = None  # NVSwitches on the bus; None where lspci was not read
    unbound: list[str] = []  # their addresses, where no driver has them, or vfio-pci while GPUs are in use here
    manager: str = ""  # where the fabric is managed: here, elsewhere, nowhere; "" = not known
    mig: bool | None = None  # a GPU is in MIG mode, which has no peer access
    settled: int = 0  # GPUs whose fabric state is Completed with success
    silent: list[str] = []  # GPUs whose fabric state reads N/A though their product always has one
    active_links: int | None = None  # of all GPUs together
    pairs: int = 0  # pairs of GPUs in `topo -p2p`
    pairs_refused: int = 0  # of them, those without access
    pairs_disabled: int = 0  # of them, those for which the driver says why: chipset, topology, settings
    first_refused: str = ""  # GPU0 and GPU1
    joined_refused: int = 0  # of the refused ones, those that `topo -m` shows NVLink between
    first_joined_refused: str = ""
    pairs_shown: int = 0  # cells of `topo -m` between GPUs
    pairs_joined: int = 0  # of them, those that NVLink joins
