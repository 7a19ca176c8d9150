"""The table of `check_gpu_ecc.py`, which Azure's people run on their GPU machines: a row a GPU, and codes as titles.

GPU id   RRP        RRE        EEUVS      EEUAS      EECVS      EECAS      EEUVD      EEUAD      EECVD      EECAD
======== ========== ========== ========== ========== ========== ========== ========== ========== ========== ==========
3        0          0          0          6          0          0          0          0          0          0
Source: https://github.com/Azure/azurehpc/tree/master/experimental/check_gpu_ecc.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.nvidia_smi.values import Card
from gpudoctor.tools.parser import ParseError

# E(CC) E(rror) U(n)/C(orrectable) V(olatile)/A(ggregate) S(RAM)/D(RAM); R(ow) R(emap) P(ending)/E(rror)
KINDS, SPANS, PLACES = {"U": "uncorrected", "C": "corrected"}, {"V": "volatile", "A": "aggregate"}, {"S": "sram", "D": "dram"}
TITLES = {"RRP": "remap_pending", "RRE": "remap_failed"} | {
    f"EE{kind}{span}{place}": f"_{KINDS[kind]}_{SPANS[span]}/{PLACES[place]}" for kind in KINDS for span in SPANS for place in PLACES
}
HEAD = regex(r"\s*GPU id((?:\s+(?:RR[PE]|EE[UC][VA][SD])){2,10})\s*$")
ROW = regex(r"\s*(\d{1,3})((?:\s+\d{1,10}){2,10})\s*$")


def gpus(output: Output, about: Subject) -> Facts:
    """A GPU for each row, by its index."""
    titles: list[str] = []
    found = []
    for number, line in lines(output):
        if head := HEAD.match(line):
            titles = head[1].split()
        elif titles and (row := ROW.match(line)) and len(cells := row[2].split()) == len(titles):
            card = Card(number, index=int(row[1]))
            for title, cell in zip(titles, cells, strict=True):
                # some releases print how many rows failed
                card.put(TITLES[title], str(min(int(cell), 1)) if title.startswith("RR") else cell, title, number)
            found.append(card.done(node=about.node, gpu=f"GPU {row[1]}", origin=Origin(output.origin_name(), number, line.strip())))
    if not found:
        raise ParseError(f"{output.origin_name()}: no table of check_gpu_ecc: {output.text.strip()[:80]!r}")
    return {"gpus": [*found]}


def score(text: Sequence[str]) -> int:
    """The head with its codes."""
    return 84 if any(HEAD.match(line) for line in text) else 0
