"""What nvidia-smi prints about NVLink: `nvlink -s`, `-e` and `-R`, `topo -m` and `topo -p2p`, from the cards of a machine."""

from __future__ import annotations

from collections.abc import Collection

from tests.nodes.smi import Card

SPEED = {"NVIDIA A100-SXM4-80GB": "25 GB/s", "NVIDIA B300 SXM6 AC": "53.125 GB/s"}
LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""
LEGEND_P2P = """
Legend:

  X    = Self
  OK   = Status Ok
  CNS  = Chipset not supported
  GNS  = GPU not supported
  TNS  = Topology not supported
  NS   = Not supported
  U    = Unknown
"""
ALL_DOWN = "NVML: Unable to retrieve NVLink information as all links are inActive"


def head(card: Card) -> str:
    """The line of a GPU."""
    return f"GPU {card.index}: {card.product} (UUID: {card.name})"


def status(cards: list[Card], links: int = 18, down: dict[int, Collection[int]] | None = None) -> str:
    """`nvidia-smi nvlink -s`; `down` are inactive links by the GPU's index."""
    lines: list[str] = []
    for card in cards:
        dark = (down or {}).get(card.index, ())
        lines.append(head(card))
        if len(dark) == links:
            lines.append(ALL_DOWN)
            continue
        speed = SPEED.get(card.product, "26.562 GB/s")
        lines += [f"\t Link {link}: {'<inactive>' if link in dark else speed}" for link in range(links)]
    return "\n".join([*lines, ""])


def errors(cards: list[Card], links: int = 18, counts: dict[tuple[int, int, str], int] | None = None) -> str:
    """`nvidia-smi nvlink -e` up to NVLink 4; `counts` by (GPU, link, Replay, Recovery or CRC)."""
    lines: list[str] = []
    for card in cards:
        lines.append(head(card))
        for link in range(links):
            lines += [
                f"\t Link {link}: {name} Errors: {(counts or {}).get((card.index, link, name), 0)}"
                for name in ("Replay", "Recovery", "CRC")
            ]
    return "\n".join([*lines, ""])


def errors5(cards: list[Card], links: int = 18, counts: dict[tuple[int, int, str], int] | None = None) -> str:
    """`nvidia-smi nvlink -e` of NVLink 5, with what is large on a healthy link too; `counts` by (GPU, link, name)."""
    quiet = (
        "Malformed packet Errors",
        "Buffer overrun Errors",
        "Rx Errors",
        "Local link integrity Errors",
        "Tx discards",
        "Link recovery successful events",
        "Link recovery failed events",
        "Effective Errors",
        "Symbol Errors",
    )
    lines: list[str] = []
    for card in cards:
        lines.append(head(card))
        for link in range(links):
            lines += [f"\t Link {link}: Tx packets: 918273645", f"\t Link {link}: Rx packets: 918273001"]
            lines += [f"\t Link {link}: {name}: {(counts or {}).get((card.index, link, name), 0)}" for name in quiet]
            lines += [f"\t Link {link}: Effective BER: 15e-255", f"\t Link {link}: FEC Errors - 0: 36140749276"]
            lines += [f"\t Link {link}: FEC Errors - 1: 0", f"\t Link {link}: Raw Errors Lane 0: 82"]
    return "\n".join([*lines, ""])


def matrix(cells: list[list[str]], legend: str, affinity: bool) -> str:
    """A square of words as topo prints it."""
    names = [f"GPU{number}" for number in range(len(cells))]
    tail = ["CPU Affinity", "NUMA Affinity", "GPU NUMA ID"] if affinity else []
    lines = ["\t".join(["", *names, *tail])]
    for name, row in zip(names, cells, strict=True):
        lines.append(
            "\t".join([name, *(f" {cell} " if cell == "X" else cell for cell in row), *(["0-55,112-167", "0", "N/A"] if affinity else [])])
        )
    return "\n".join([*lines, legend])


def topo(count: int, width: int = 18, instead: dict[tuple[int, int], str] | None = None) -> str:
    """`nvidia-smi topo -m` of a machine where every GPU reaches every other; `instead` are other cells, in both directions."""
    other = instead or {}
    return matrix(
        [
            ["X" if one == two else other.get((one, two), other.get((two, one), f"NV{width}")) for two in range(count)]
            for one in range(count)
        ],
        LEGEND,
        affinity=True,
    )


def p2p(count: int, instead: dict[tuple[int, int], str] | None = None, usual: str = "OK") -> str:
    """`nvidia-smi topo -p2p n`."""
    other = instead or {}
    return matrix(
        [["X" if one == two else other.get((one, two), other.get((two, one), usual)) for two in range(count)] for one in range(count)],
        LEGEND_P2P,
        affinity=False,
    )
