"""Shapes that the ranks of a program print before or behind one collective, where they aren't the same.

    Rank 0 tensor before allreduce: torch.Size([409600])        rank 2: gathering logits torch.Size([4, 1024, 32000])
    Rank 1 tensor before allreduce: torch.Size([409598])        rank 3: gathering logits torch.Size([4, 987, 32000])

Lines count as being of one call when nothing but the rank and the shape differs between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.facts import Origin
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake.split import Section
from gpudoctor.patterns import regex

NAME = "ranks_give_other_sizes"
MOST = 200_000  # characters of a text that are looked at
RANK = regex(r"(?<![\w-])[Rr]ank[ =:_#]{0,3}(\d{1,6})(?!\d)")
SHAPE = regex(r"(?:torch\.Size\(\[|(?i:\bshapes?)[ =:]{1,3}[(\[])((?:\d{1,12},? ?){1,8})[)\]]")
# Of those that want one size of all ranks: an all-to-all, a gather of objects and a send don't.
OPERATION = regex(
    r"(?i:all[ _-]?reduc|all[ _-]?gather(?!\w*_?obj)|reduce[ _-]?scatter|broadcast|\bgather(?:ing|ed)?\b(?!_obj)|\breduc(?:e|ing)\b)"
)
NUMBERS = regex(r"\d+(?:\.\d+)?")


def messages(section: Section) -> list[Message]:
    """One message for a text in which some rank prints another shape than the most for the same call."""
    calls: dict[str, dict[str, str]] = {}  # text of the line without rank and shape → rank → shape
    for number, line in enumerate(section.text[:MOST].split("\n"), section.line):
        for text, rank, shape in shape_in_line(line):
            shapes = calls.setdefault(text, {})
            if shapes.get(rank, shape) != shape:  # the next call, for which every rank may have another size than before
                shapes.clear()
            shapes[rank] = shape
            if len(set(shapes.values())) > 1 and len(shapes) > 1 and complete(shapes):
                detail = ", ".join(f"rank {one} [{shapes[one]}]" for one in sorted(shapes, key=int)[:4])
                return [Message(name=NAME, detail=detail, source="file", origin=Origin(section.path, number, line.strip()[:300]))]
    return []


def shape_in_line(line: str) -> Iterator[tuple[str, str, str]]:
    """What a line says of one call: its text, the rank, the shape.

    >>> [*shape_in_line("rank 3: gathering logits torch.Size([4, 987])")]
    [('#: gathering logits #', '3', '4, 987')]
    """
    if ("Size" in line or "hape" in line) and (rank := RANK.search(line)) and (shape := SHAPE.search(line)) and OPERATION.search(line):
        rest = RANK.sub("#", line[: shape.start()]) + "#"
        yield NUMBERS.sub("", rest).strip(), rank[1], shape[1].strip(" ,")


def complete(shapes: dict[str, str]) -> bool:
    """Whether all ranks from 0 on have spoken: before that, one may be at another call."""
    return {int(rank) for rank in shapes} == set(range(len(shapes)))
