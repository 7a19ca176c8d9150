"""knowledge/xids.yaml → the book of Xids, with every problem in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gpudoctor.knowledge.xids import Book
from gpudoctor.patterns import regex
from gpudoctor.runbook import yamlfile
from gpudoctor.runbook.yamlfile import Place, Problem

STEP = regex(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]")  # msgspec names a place as `$.xids[3].forms[0]`, a value of a map as `[...]`


def load(path: Path) -> tuple[Book | None, list[Problem]]:
    """The book, None where the file isn't one, and what is wrong in it."""
    shown = os.path.relpath(path)
    document = yamlfile.read(path, shown)
    if document.value is None:
        return None, document.problems
    try:
        made = msgspec.convert(document.value, type=Book)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at ")
        return None, [*document.problems, Problem(shown, document.line(steps(place)), f"{place.strip('`')}: {message}")]
    wrong = [Problem(shown, document.line(place), text) for place, text in problems(made)]
    return made, document.problems + wrong


def steps(place: str) -> Place:
    """A place of msgspec's as a place of the document.

    >>> steps("`$.xids[3].title`")
    ('xids', 3, 'title')
    """
    return tuple(int(number) if number else name for name, number in STEP.findall(place) if name or number)


def problems(book: Book) -> Iterator[tuple[Place, str]]:
    """Numbers that are there twice, words that aren't in the vocabularies, forms that don't match their own line."""
    for kind, codes in (("xids", [one.code for one in book.xids]), ("sxids", [one.code for one in book.sxids])):
        if codes != sorted(set(codes)):
            yield (kind,), "codes are in order, each once"
    known = {one.code for one in book.xids}
    for number, entry in enumerate(book.xids):
        place: Place = ("xids", number)
        words = [
            ("severity", [entry.severity], book.severities),
            ("whose", [entry.whose], book.whose),
            ("causes", entry.causes, book.causes),
            ("actions", entry.actions, book.actions),
            ("bucket", [word for word in (entry.bucket.now, entry.bucket.then) if word], book.buckets),
            ("sources", entry.sources, book.sources),
        ]
        for key, given, there in words:
            yield from (((*place, key), f"Xid {entry.code}: {key}: unknown word '{word}'") for word in given if word not in there)
        for index, form in enumerate(entry.forms):
            if text := form_problem(form.pattern, form.line):
                yield (*place, "forms", index), f"Xid {entry.code}: {text}"
    todo = {"pairs": [pair.actions for pair in book.pairs], "sxids": [entry.actions for entry in book.sxids]}
    for key, rows in todo.items():
        for number, actions in enumerate(rows):
            yield from (((key, number), f"unknown action '{word}'") for word in actions if word not in book.actions)
    for number, pair in enumerate(book.pairs):
        yield from ((("pairs", number), f"Xid {code} is not in the book") for code in pair.codes if code not in known)
    for number, rule in enumerate(book.nvlink5):
        yield from ((("nvlink5", number), f"unknown bucket '{word}'") for word in (rule.now, rule.then) if word not in book.buckets)
        if rule.promoted and rule.promoted not in book.buckets:
            yield ("nvlink5", number), f"unknown bucket '{rule.promoted}'"
    yield from ((("unused",), f"{code} is in the book") for gap in book.unused for code in range(gap.first, gap.last + 1) if code in known)


def form_problem(pattern: str, line: str) -> str:
    """Why a form is no good, "" when it is."""
    try:
        found = re.search(pattern, line)
    except re.error as error:
        return f"pattern: {error}"
    if found is None:
        return f"the pattern doesn't match its own line: {line}"
    return "" if re.compile(pattern).groupindex else "the pattern has no named group"
