"""The causes whose own words stand nearest to a text that no check could decide: a place for a person to begin, and no evidence.

A cause's words are those of its entry, of its checks' titles and of the known lines that they ask for. They are ranked by Okapi BM25
(Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009), which counts a word the more the fewer causes have it. Words tell
a sick text from a healthy one badly: what comes of them is never a finding, and is looked up only where nothing else is known.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from gpudoctor.patterns import regex
from gpudoctor.report import Candidate, ReportSubject
from gpudoctor.runbook.model import Cause, Check, Library

K1, B = 1.2, 0.6  # usual values: how soon a word that is repeated counts no more, how much a long entry counts less
ENTRY, LINE = 2, 1  # what a word of an entry or a title weighs against one of a known line, which has a program's incidental words too
MOST, FEWEST = 3, 3  # causes that are named; words that one must share with the text
SHOWN = 5  # words that are told
OFTEN = 2.5  # what a word counts at most that stands in the text again and again

WORD = regex(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|([a-z]{2,})")  # 0x1f00  |  a commit, a UUID's part  |  fallen
# \S+  |  {0,80}  |  $ ( ) [ ] of a known line's pattern;  ${pod.name} of a check's title
SIGNS, FIELD = regex(r"\\[a-zA-Z]|\{\d*,?\d*\}|[\\^$?*+()\[\]|]"), regex(r"\$\{[^}]*\}")
QUOTED = regex(r'"([a-z0-9_]{3,80})"')
COMMON_WORDS = """the an of to in is it and or for on with that this by as are be from at no not its which what where has had have was were
if so than then only one all can"""
COMMON = frozenset(COMMON_WORDS.split())


def nearest(library: Library, text: str) -> list[Candidate]:
    """The causes nearest to a text by their words, the nearest first; none where it shares too few words with them."""
    asked = Counter(words(text))
    causes = {name: bag for name, bag in bags(library).items() if library.causes[name].severity != "info"}
    holders = Counter(itertools.chain.from_iterable(causes.values()))
    rare = {word: math.log(1 + (len(causes) - holders[word] + 0.5) / (holders[word] + 0.5)) for word in asked.keys() & holders.keys()}
    usual = sum(map(Counter.total, causes.values())) / max(1, len(causes))
    scored = []
    for name, bag in causes.items():
        longer = K1 * (1 - B + B * bag.total() / usual)
        shares = {
            word: rare[word] * (bag[word] * (K1 + 1) / (bag[word] + longer)) * min(1 + math.log(asked[word]), OFTEN)
            for word in bag.keys() & asked.keys()
        }
        if len(shares) >= FEWEST:
            scored.append((sum(shares.values()), name, shares))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return [candidate(library.causes[name], shares) for _, name, shares in scored[:MOST]]


def candidate(cause: Cause, shares: dict[str, float]) -> Candidate:
    """A cause that shares words with a text, most telling ones first."""
    telling = sorted(shares, key=lambda word: (-shares[word], word))[:SHOWN]
    return Candidate(
        cause=cause.id,
        why=f"It is told in the same words, which prove nothing: {', '.join(telling)}",
        words=telling,
        subject=ReportSubject(kind=cause.subject, name=""),
        settle_with=[f"gpudoctor explain {cause.id}"],
    )


def bags(library: Library) -> dict[str, Counter[str]]:
    """How often each cause has each word."""
    lines = {known.name: words(f"{SIGNS.sub(' ', known.pattern)} {known.line}") * LINE for known in library.messages}
    made: dict[str, Counter[str]] = defaultdict(Counter)
    for cause in library.causes.values():
        fixes = " ".join(one.title for one in cause.fixes)
        made[cause.id].update(words(f"{cause.id} {cause.title} {cause.means} {cause.tell} {fixes}") * ENTRY)
    for check in (check for book in library.runbooks.values() for check in book.checks() if check.finds):
        made[check.finds].update(words(FIELD.sub(" ", check.title)) * ENTRY)
        for name in asks_for(check, lines):
            made[check.finds].update(lines[name])
    return made


def asks_for(check: Check, names: Iterable[str]) -> Iterator[str]:
    """The known lines that a check's condition names."""
    return (name for name in dict.fromkeys(QUOTED.findall(check.when)) if name in names)


def words(text: str) -> list[str]:
    """The words of a text. Numbers, addresses and ids are none: they stand in every output.

    >>> words("Xid 79 at 0x1f00: the GPU has fallen off")
    ['xid', 'gpu', 'fallen', 'off']
    """
    return [word for word in WORD.findall(text.lower()) if word and word not in COMMON]
