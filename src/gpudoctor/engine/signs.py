"""Signs of trouble that no check explains, of those that `knowledge/signs.yaml` names.

They are looked for only where everything else would make the verdict healthy: then it isn't.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpudoctor.engine.evaluate import evaluate
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.store import Store
from gpudoctor.facts import Subject
from gpudoctor.facts.base import Origin
from gpudoctor.report import Unknown
from gpudoctor.runbook.model import Library

MOST = 8  # that are named
# What logs tell: of their lines one that is explained stands for those beside it, which mostly tell the same.
TOLD = frozenset({"collectives", "endings", "jobs", "messages", "ranks", "sxids", "xids"})


def unexplained(library: Library, store: Store, checked: list[Checked]) -> list[Unknown]:
    """The signs of which no finding tells; a finding tells of what its evidence is, and of the rest of a log."""
    hits = [(one, hit) for one in checked if one.outcome == "found" and one.check.finds for hit in one.hits]
    lines = {(origin.source, origin.line) for _, hit in hits for origin in hit.origins}
    subjects = {(origin.source, hit.subject) for _, hit in hits for origin in hit.origins}
    logs = {origin.source for one, hit in hits if one.check.each and one.check.each.type in TOLD for origin in hit.origins}

    def told(kind: str, subject: Subject, origins: list[Origin]) -> bool:
        return any(
            (one.source, one.line) in lines or (one.source, subject) in subjects or (kind in TOLD and one.source in logs) for one in origins
        )

    made = {one.why: one for kind, subject, origins, one in signs(library, store) if not told(kind, subject, origins)}
    return list(made.values())[:MOST]


def signs(library: Library, store: Store) -> Iterator[tuple[str, Subject, list[Origin], Unknown]]:
    """Every sign: the type of its record, whom it is about, its lines, and what the report says of it."""
    book = library.signs
    for check in book.checks():
        for hit in evaluate(book, check, {}, store).hits:
            one = Unknown(check=f"signs.{check.id}", why=f"no check says why {hit.title}", settle_with=hit.settle_with)
            yield check.each.type if check.each else "", hit.subject, hit.origins, one
