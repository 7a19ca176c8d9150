"""Tables in which somebody wrote what he tried, a run a row: under which variables, with which host, and how it ended.

A  default                  -> TIMEOUT 40s      | NCCL_P2P_DISABLE=1 | works |      nodes  contains n17  busbw
B  NCCL_IB_DISABLE=1        -> TIMEOUT 40s      | NCCL_ALGO=Ring     | hang  |      16     no            301.2
C  B + NCCL_P2P_DISABLE=1   -> 7.1 s ok                                             16     yes           FAIL

What alone makes the difference is said as a known message, as by `trials` of runs whose output was pasted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpudoctor.facts import Origin
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake.split import Section
from gpudoctor.notes.clauses import note_cells
from gpudoctor.patterns import regex

HELPS, NEEDLESS, HOST = "works_with_setting", "works_with_defaults", "runs_fail_with_host"
MOST, LONGEST = 200, 300  # lines of a text that is a table and not a log, characters of a row
SETTING = regex(r"(?<![\w$])((?:NCCL|RCCL|UCX|GLOO|FI|OFI_NCCL)_[A-Z0-9_]{2,60}=[^\s,;:|()`\"'+]{1,60})")
# "no hang", "0 errors" and "NCCL_…_TIMEOUT" are none
BAD = regex(
    r"(?<![\w=])(?<!no )(?<!0 )(?<!without )"
    r"(?:hangs?|hung|hanging|stuck|dead-?locks?(?:ed)?|time[ds]?[ -]?out|fail(?:s|ed|ure)?|errors?|crash(?:es|ed)?"
    r"|never (?:ends|returns|completes|finishes))(?![\w=])|[✗✘❌]",
    2,
)
GOOD = regex(
    r"(?:(?<![\w=])|_)(?<!not )(?<!n't )"
    r"(?:ok|pass(?:es|ed)?|works?|worked|trains?|trained|complete[sd]?|finish(?:es|ed)|succe(?:ss|eds|eded)|runs|fine|done)"
    r"(?![\w=])|[✓✔✅]",
    2,
)
BASE = regex(r"(?<![\w-])(?:defaults?|baseline|as[ -]is|unset|no (?:env|variables?|settings?|change)|nothing set|plain|stock)(?![\w-])", 2)
# A  …  |  2) …  |  run 3: …
LABEL = regex(r"^\W{0,4}(?:(?:run|case|test|try|exp|variant) )?([A-Z]\d?|#?\d{1,2})[.):|]?\s", 2)
PLUS = regex(r"(?<![\w=])([A-Z]\d?|#?\d{1,2}) ?\+ ?(?=[A-Z])")
# the title of a column  |  words in a row; a host has a number
TITLE = regex(r"(?:contains|includes|has|with|incl\.?|including)[ _:=]+(?:(?:node|host)[ _]?)?([A-Za-z]{0,30}[\w.-]{0,40}\d)\b", 2)
WITH = regex(
    r"(?<![\w-])(with|incl\.?|including|containing|without|w/o|excl\.?|excluding|minus)[ :]+(?:the )?(?:(?:node|host) )?"
    r"([a-z][\w.-]{0,40}\d)(?![\w=])",
    2,
)
OUT = ("without", "w/o", "excl", "minus")
YES, NO = {"yes", "y", "true", "x", "✓", "1"}, {"no", "n", "false", "-", "✗", "0"}
RESULT = regex(r"(?<![\w.-])\d{1,7}\.\d{1,4}(?![\w.-])")


class Try(NamedTuple):
    """A row: its variables, whether it worked, and the row itself."""

    settings: frozenset[str]
    works: bool
    origin: Origin


def messages(section: Section) -> list[Message]:
    """A message for what alone decides in the table of a text."""
    text = section.text
    if len(text) > MOST * LONGEST or text.count("\n") > MOST or not ((varied := SETTING.search(text)) or BAD.search(text)):
        return []
    lines = [(at, line.strip()) for at, line in enumerate(text.split("\n"), section.line) if 0 < len(line) <= LONGEST]
    helps = deciding_variables([*setting_rows(lines, section.path)]) if varied else ()
    return [*helps, *failing_host(lines, section.path)]


def outcome(text: str) -> bool | None:
    """Whether a row says that it worked; None where it says neither or both.

    >>> outcome("NCCL_ALGO=Ring   hang 3/3"), outcome("0 errors, all OK"), outcome("ALLREDUCE_OK"), outcome("fails, then works")
    (False, True, True, None)
    """
    bad, good = bool(BAD.search(text)), bool(GOOD.search(text))
    return None if bad == good else good


def setting_rows(lines: list[tuple[int, str]], path: str) -> Iterator[Try]:
    """The rows that name a variable, or say that none is set."""
    labels: dict[str, frozenset[str]] = {}
    for at, text in lines:
        named = SETTING.findall(text)
        settings = frozenset(one for one in named if not one.startswith("NCCL_DEBUG"))
        label = LABEL.match(text)
        if (before := PLUS.search(text)) and (not label or before[1] != label[1]):
            settings |= labels.get(before[1], frozenset())
        if label:
            labels[label[1]] = settings
        works = outcome(SETTING.sub(" ", text))
        if works is not None and (named or settings or BASE.search(text)):
            yield Try(settings, works, Origin(path, at, text))


def deciding_variables(tries: list[Try]) -> Iterator[Message]:
    """The variables that every working run with variables has and no failing one: one of them alone."""
    bad = [one for one in tries if not one.works]
    if not bad and len(tries) > 1 and (plain := next((one for one in tries if not one.settings), None)):
        yield Message(name=NEEDLESS, detail="", source="file", stated=True, origin=plain.origin)
    good = [one for one in tries if one.works and one.settings]
    if len(bad) < 2 or (len(bad) < 3 and all(one.settings for one in bad)):
        return
    lost = frozenset[str]().union(*(one.settings for one in bad))
    told: set[str] = set()
    for one in good:
        # of what failed too, one variable more
        more = one.settings - lost
        if len(more) == 1 and not more & told:
            told |= more
            yield Message(name=HELPS, detail=next(iter(more)), source="file", stated=True, origin=one.origin)


def failing_host(lines: list[tuple[int, str]], path: str) -> Iterator[Message]:
    """The host with which every run failed, and without which none did."""
    runs: dict[str, list[tuple[bool, bool, Origin]]] = {}
    column, host, width = -1, "", 0
    for at, text in lines:
        cells = note_cells(text)
        if (titled := next(((n, found[1]) for n, cell in enumerate(cells) if (found := TITLE.fullmatch(cell))), None)) and len(cells) > 1:
            (column, host), width = titled, len(cells)
            continue
        bad, origin = bool(BAD.search(text)), Origin(path, at, text)
        if not bad and not GOOD.search(text) and not RESULT.search(text):
            continue
        if column >= 0 and len(cells) == width and cells[column].lower() in YES | NO:
            runs.setdefault(host, []).append((cells[column].lower() in YES, bad, origin))
        elif said := WITH.search(text):
            runs.setdefault(said[2], []).append((not said[1].lower().startswith(OUT), bad, origin))
    for name, rows in runs.items():
        sound = [one for one in rows if not one[0]]
        guilty = [one for one in rows if one[0]]
        if guilty and all(bad for _, bad, _ in guilty) and sound and not any(bad for _, bad, _ in sound) and len(rows) > 2:
            yield Message(name=HOST, detail=name, source="file", stated=True, origin=guilty[0][2])
