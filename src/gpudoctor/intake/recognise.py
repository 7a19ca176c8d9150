"""What a text is, by its content: of all forms the best, and those that read what stands beside it."""

from __future__ import annotations

from gpudoctor.intake.forms import FORMS, LINES
from gpudoctor.intake.hints import Hint
from gpudoctor.tools.form import Form, Text
from gpudoctor.tools.parser import LINE

SAMPLE = 2000  # lines that are looked at
FEW = 20  # the score of a few lines that stand among others


def scans(one: Form) -> bool:
    """Whether it looks at every line of a text for known messages."""
    return one.log or one is LINES


def may_stand_among_lines(chosen: list[Form]) -> bool:
    """Whether lines of a log may stand among the answers of tools that were recognised, and none of their readers looks for them."""
    return chosen[0].mixed and not any(scans(one) or one.name.startswith("dcgm.") for one in chosen)


def recognise(whole: str, hint: Hint) -> list[Form]:
    """The forms of a text, the best first; `text` alone when none knows it."""
    text = Text([line[:LINE].rstrip("\r") for line in whole[: SAMPLE * 256].split("\n")[:SAMPLE]], whole, hint.argv, hint.verb)
    scores = [(one.score(text), one) for one in FORMS]
    best, chosen = max(scores, key=lambda pair: pair[0])
    if not best:
        return [LINES]
    beside = [one for score, one in scores if one.embedded and score and one is not chosen and chosen.log]
    # What nvidia-smi, a tool of the fabric or the scheduler printed may stand in a log: the rest of the log is read too.
    if chosen.in_logs and (others := [one for score, one in scores if score and one.log]):
        beside = others[:1]
    elif chosen.reasoned:
        beside = [LINES]
    beside += [one for score, one in scores if score and one.beside and one is not chosen and one not in beside]
    if chosen.mixed:
        beside += [one for score, one in scores if score and one.mixed and one is not chosen and one not in beside]
    if (chosen.among_lines or best <= FEW) and not any(one.log for one in beside):
        beside.append(LINES)
    found = [chosen, *beside]
    # The readers of a log, of a text's lines and of DCGM's answers find the numbered errors themselves.
    read = any(scans(one) or one.name.startswith("dcgm.") for one in found)
    # What nvidia-smi printed needs nobody who reads the same numbers out of sentences.
    printed = any(one.name.startswith("nvidia.") for one in found)
    return [one for one in found if not ((read and one.name == "logs.errors") or (printed and one.name == "notes.said"))]
