"""What a person answered to the question of a step, as the guided dialogue writes it (`engine/guided.py`):

{"question": "fault_led", "choice": "lit", "label": "Yes, it is lit", "note": "only on the left power supply"}
"""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.person import Answer
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.parser import LINE, ParseError


class Said(msgspec.Struct):
    """The one object."""

    question: str
    choice: str
    label: str = ""
    note: str = ""


def answer(output: Output, about: Subject) -> Facts:
    """The one answer, about the subject that the question was asked for."""
    try:
        said = decoder(Said).decode(output.text)
    except (msgspec.DecodeError, RecursionError):
        raise ParseError(f"{output.origin_name()[:200]}: not an answer of a person: {output.text[:60]!r}") from None
    note = said.note[:LINE]
    text = f"{said.label or said.choice}{f' ({note})' if note else ''}"
    made = Answer(
        node=about.node,
        gpu=about.gpu,
        namespace=about.namespace,
        pod=about.pod,
        workload=about.workload,
        question=said.question,
        choice=said.choice,
        note=note,
        origin=Origin(output.origin_name(), 0, text[:LINE]),
    )
    return {"answers": [made]}
