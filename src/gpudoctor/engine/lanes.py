"""What the report draws of a distributed job: its ranks against time, those in one state in one row."""

from __future__ import annotations

from gpudoctor.engine.store import Store
from gpudoctor.facts.job import RankGroup
from gpudoctor.report import Lane

ROWS = 12  # that an eye takes in at once; the table has the others
STANDS_OUT = 3  # orders of `RankGroup` up to this one: failed, differs, behind, missing


def of_store(store: Store) -> list[Lane]:
    """The rows, none where fewer than two can be told apart or no time is known."""
    groups = [one for one in store.records("rank_groups") if isinstance(one, RankGroup)][:ROWS]
    timed = any(one.heard is not None or one.waits_from is not None for one in groups)
    return [lane(one) for one in groups] if len(groups) > 1 and timed else []


def lane(group: RankGroup) -> Lane:
    """One row."""
    waits, heard, ended = group.waits_from, group.heard, group.ended
    return Lane(name=group.ranks, waits_from=waits, heard=heard, ended=ended, marked=group.order <= STANDS_OUT)
