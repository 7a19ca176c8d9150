"""`dcgmi nvlink -e -g 0`: the NVLink error counters of one GPU, as `nvidia-smi nvlink -e` counts them. `dcgmi nvlink -s` is read where
that is (`nvidia_smi/nvlink.py`).

A box of DCGM 2 and later has a row for each link and one for each counter below it; that of DCGM 1 both in one row. For Blackwell and later
there is one list for all links together. Source: dcgmi/Nvlink.cpp, DCGM 2.1.4 to 4.6.0; the DCGM user guide ("Topology and NVLink").
"""

from __future__ import annotations

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import NvLink
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import not_read, problem

Key = tuple[int | None, int | None]  # GPU, link
HEADING = "NVLINK Error Counts"
# | GPU 0     |   | GPU ID: 0 | NVLINK Error Counts     |
GPU = regex(r"GPU (?:ID: )?(\d{1,4})\Z")
LINK = regex(r"Link (\d{1,3})\Z")
# Warning: Unable to retrieve nvlink CRC FLIT Error count for link 3 for gpuId 0 - Unknown error
UNREAD = regex(r"\s*Warning: Unable to retrieve nvlink (\w[\w ]{1,40}?) count for link (\d{1,3}) for gpuId (\d{1,4})(?: - (\S.{0,60}))?")
# Both CRC counters count what arrived damaged; nvidia-smi has one for it.
FIELDS = {
    "CRC FLIT Error": "crc_errors",
    "CRC Data Error": "crc_errors",
    "Replay Error": "replay_errors",
    "Recovery Error": "recovery_errors",
}
# DCGM's name → that of nvidia-smi. Bit error rates are no counts.
NAMES = {
    "Malformed Packet Error": "Malformed packet Errors",
    "Buffer Overrun Error": "Buffer overrun Errors",
    "Rx Error": "Rx Errors",
    "Rx Remote Error": "Rx remote Errors",
    "Rx General Error": "Rx General Errors",
    "Rx Symbol Error": "Symbol Errors",
    "Link Integrity Error": "Local link integrity Errors",
    "Effective Error": "Effective Errors",
    "Tx Discards": "Tx discards",
}


def nvlink(output: Output, about: Subject) -> Facts:
    """A record for each link, or one without a number for all links of a GPU. Counters are since the driver was loaded.

    Raises `ParseError` where dcgmi says why there are none.
    """
    links: dict[Key, NvLink] = {}
    gpu: int | None = None
    link: int | None = None
    headed = False
    for number, line in lines(output):
        origin = Origin(output.origin_name(), number, line.strip())
        headed = headed or HEADING in line
        if unread := UNREAD.match(line):
            name, of_link, of_gpu, text = unread.groups(default="not said")
            key: Key = (int(of_gpu), int(of_link))
        elif line.lstrip().startswith("|"):
            cells = [cell.strip().removeprefix("-> ") for cell in line.strip().strip("|").split("|")]
            if found := GPU.match(cells[0]):
                gpu, link = int(found[1]), None
            elif found := LINK.match(cells[0]):
                link = int(found[1])
                del cells[0]
            key, (name, text) = (gpu, link), cells if len(cells) == 2 else ("", "")
        else:
            continue
        if name in FIELDS or name in NAMES:
            links[key] = counted(links.get(key) or NvLink(node=about.node, index=key[0], link=key[1], origin=origin), name, text, origin)
    if not links and (not headed or problem(output)[0]):
        raise not_read(output, "an answer of `dcgmi nvlink -e`")
    return {"nvlinks": [settled(one) for one in links.values()]}


def settled(link: NvLink) -> NvLink:
    """A link on which a sum of nothing is a gap where a part of it could not be read."""
    return replace(link, **{field: getattr(link, field) or None for field in link.gaps})


def counted(known: NvLink, name: str, text: str, origin: Origin) -> NvLink:
    """A link with one more counter. The line that tells of an error is the one to quote."""
    count = int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None
    origin = origin if count else known.origin
    if field := FIELDS.get(name):
        if count is None:
            return replace(known, gaps={**known.gaps, field: text})
        return replace(known, **{field: (getattr(known, field) or 0) + count}, origin=origin)
    if count is None or name not in NAMES:
        return known
    return replace(known, other_errors={**known.other_errors, NAMES[name]: count}, origin=origin)
