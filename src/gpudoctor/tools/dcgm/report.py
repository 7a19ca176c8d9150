"""One error of DCGM's health check or diagnostic, with what is known of its code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.dcgm import DcgmError
from gpudoctor.knowledge import dcgm_errors
from gpudoctor.patterns import regex
from gpudoctor.tools.dcgm.boxes import gpu_name, number

SENTENCE = 1024  # characters: DCGM_ERR_MSG_LENGTH and its errors' buffers
# Detected XID 79 for GPU 3 (triggered by XID 79: …)
XID = regex(r"\bXID (\d{1,4})\b(?! ?\))")
EXPLAINED = regex(r" ?\(triggered by XID.*", re.DOTALL)
# … row remappings are pending in GPU 3. The first that is named is the one that is spoken of; DCGM 2 and 3 glue it on: GPU 3Thermal …
GPU = regex(r"\bGPU (\d{1,3})(?!\d)")
# Max power of 690.1 did not reach desired power minimum targeted_power.target_power of 700.0 for GPU 3
MISSED = regex(r"(?:Max (?:power|stress level) of|memory bandwidth of) ([\d.]{1,12}).{1,80}? (?:of|meet) ([\d.]{1,12})\b")


def error(
    source: str, place: str, status: str, entity: str, index: int | None, text: str, origin: Origin, about: Subject,
    code: int | None = None, severity: str = "",
) -> DcgmError:  # fmt: skip
    """The record of one error: the code decides where there is one, else DCGM's words. An entity that isn't given is looked for there."""
    sentence = " ".join(text[:SENTENCE].split())
    known = dcgm_errors.errors().get(code) if code is not None else dcgm_errors.of_text(sentence)
    xid = XID.search(sentence)
    cut = EXPLAINED.sub("", sentence) if xid else sentence
    if index is None and (named := GPU.search(sentence)):
        entity, index = "GPU", number(named.group(1))
    return DcgmError(
        node=about.node,
        gpu=gpu_name(entity, index),
        entity=entity,
        index=index,
        source=source,
        where=place,
        status=status,
        text=cut,
        code=known.id if known else code,
        error=known.name if known else "",
        severity=severity or (known.severity if known else ""),
        category=known.category if known else "",
        condition=dcgm_errors.condition(known, sentence, int(xid.group(1)) if xid else None),
        means=known.means if known else cut,
        act=known.act if known else "",
        xid=int(xid.group(1)) if xid else None,
        short=missed_percent(sentence),
        origin=Origin(origin.source, origin.line, cut or origin.text),
    )


def missed_percent(sentence: str) -> float | None:
    """By how many per cent a target was missed, None where the sentence speaks of none.

    >>> missed_percent("Max power of 693.0 did not reach desired power minimum target_power of 700.0 for GPU 3")
    1.0
    """
    match = MISSED.search(sentence)
    try:
        reached, wanted = (float(value) for value in match.groups()) if match else (0.0, 0.0)
    except ValueError:
        return None
    return round(100 * (1 - reached / wanted), 2) if wanted > reached else None


def sentences(text: str) -> Iterator[str]:
    """The errors of one system, which the health check strings together with commas.

    >>> list(sentences("Detected XID 63 for GPU 1, GPU 1 had memory errors and row remappings are pending"))
    ['Detected XID 63 for GPU 1', 'GPU 1 had memory errors and row remappings are pending']
    """
    begun = ""
    for part in re.split(r", (?=[A-Z0-9])", text[: 8 * SENTENCE]):
        if begun and dcgm_errors.of_text(part) is not None:
            yield begun
            begun = part
        else:
            begun = f"{begun}, {part}" if begun else part
    if begun:
        yield begun
