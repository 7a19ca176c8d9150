"""`nvidia-smi topo`: -m (how two devices of a machine reach each other) and -p2p (whether they may access each other's memory).

Both print a square of words with a header line. Behind the square of -m stand the affinities, separated like its columns, with texts that
hold blanks in their headers only: cells are read by their place among the devices of the header, and what follows them is left alone.
Source: nvidia-smi(1), `topo`.
"""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuPath
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

DEVICE = regex(r"(?:GPU|NIC)\d{1,3}\Z|mlx\d_\d{1,3}\Z|bnxt_re\d{1,3}\Z|rocep\w{1,20}\Z")
# NV18, SYS, X: what a cell of -m may be.  |  OK, NS, CNS: of -p2p
PATH = regex(r"(?:X|SYS|NODE|PHB|PXB|PIX|NV\d{1,3}|SOC|PSB)\Z")
ACCESS = regex(r"(?:X|OK|NS|CNS|GNS|TNS|DR|NP|U)\Z")
# GPU0	 X 	NV18	NV18  |   GPU1   NS      X
CELLS = regex(r"^\s*GPU\d{1,3}\s+(?:X|OK|NS|CNS|GNS|TNS|DR|NP|U|NV\d{1,3}|SYS|NODE|PHB|PXB|PIX|SOC|PSB)(?:\s|$)")
ASKED = regex(r"-p2p(?: |=)?([rwnap])\b|--p2p_status(?: |=)([rwnap])\b")
MOST = 256  # devices of one machine


def topo(output: Output, about: Subject) -> Facts:
    """A record for each cell. `matrix` of an access table is the letter that was asked for, "" where the text came without its command."""
    asked = ASKED.search(output.command.shown)
    letter = next((group for group in asked.groups() if group), "") if asked else ""
    columns: list[str] = []
    paths: list[GpuPath] = []
    for number, line in lines(output):
        words = line.split()
        if not words:
            continue
        head = leading_devices(words)
        if len(head) >= 1 and (len(head) > 1 or len(words) == 1 or not is_cell(words[1])):
            columns = head
        elif columns and head and head[0] in columns:
            paths += row_paths(head[0], words[1:], columns, about, Origin(output.origin_name(), number, line.strip()), letter)
    if not columns and output.text.strip():
        raise ParseError(f"{output.origin_name()}: not a matrix of nvidia-smi topo: {output.text.strip()[:120]!r}")
    return {"gpu_paths": [*paths]} if columns else {}


def leading_devices(words: list[str]) -> list[str]:
    """The devices at the beginning of a line."""
    found: list[str] = []
    for word in words[:MOST]:
        if not DEVICE.match(word):
            break
        found.append(word)
    return found


def is_cell(word: str) -> bool:
    """Whether a word can stand in a matrix."""
    return bool(PATH.match(word) or ACCESS.match(word))


def row_paths(one: str, cells: list[str], columns: list[str], about: Subject, origin: Origin, letter: str) -> list[GpuPath]:
    """The cells of one line, as far as they are words of a matrix; the diagonal says nothing."""
    found = []
    access = any(ACCESS.match(cell) and cell != "X" for cell in cells[: len(columns)])
    for other, cell in zip(columns, cells, strict=False):
        if not (is_cell(cell) or access):  # an access table has no other columns, so a word that nobody knows is one for access
            break
        if cell != "X":
            matrix = "m" if PATH.match(cell) else letter
            found.append(GpuPath(node=about.node, matrix=matrix, one=one, other=other, path=cell, origin=origin))
    return found
