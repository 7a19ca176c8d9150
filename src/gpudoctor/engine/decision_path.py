"""Why these causes and no others: what each finding rests on, who explains it, and what else it could have been. Made only when asked."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpudoctor.engine import conclude
from gpudoctor.engine.field_demands import candidate_records
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.precedence import not_overridden
from gpudoctor.engine.relate import Found, brought_about, can_bring_about, is_seen_after
from gpudoctor.engine.store import FINAL, Store
from gpudoctor.engine.trace import Sight, check_place, join_record, on_one_line, tried_check
from gpudoctor.facts import Fact, Subject
from gpudoctor.facts.identity import Links, has_no_place
from gpudoctor.report import CONFIDENCE_MEANS, Part, Reason, Tie, Tried
from gpudoctor.runbook.model import Library
from gpudoctor.runbook.terms import operands

REASONS = 12  # findings; of those that are folded into one the first
CHECKS = 3  # of one finding
TIES = 6
OTHERS = 10
RECORDS = 12  # of which the one is looked for that came nearest
SEARCHED = 5000  # records among which that of a finding is looked for

# How near another cause is to a finding, by what ties it to it.
OVERRIDDEN, TAKEN_FOR, CANDIDATE, WOULD_EXPLAIN, SAME_EFFECT, SAME_LAYER = 3.5, 3.0, 2.5, 2.0, 1.5, 1.0


def reasons_of(library: Library, store: Store, checked: list[Checked], found: list[Found], links: Links) -> list[Reason]:
    """The reasons of all findings, in the order of the report; of the candidates where nothing is decided."""
    ranked = sorted(not_overridden(found), key=conclude.rank)
    decided = [one for one in ranked if one.confidence != "possible"]
    heads = [one for one, _ in conclude.fold_subjects(decided or ranked)]
    seeking = Search(library, store, checked, found, links)
    return [seeking.reason(one) for one in heads[:REASONS]]


class Search:
    """Everything that the reasons are looked for in."""

    def __init__(self, library: Library, store: Store, checked: list[Checked], found: list[Found], links: Links) -> None:
        self.library, self.store, self.found, self.links = library, store, not_overridden(found), links
        self.checked = [one for one in checked if one.check.finds]
        self.reach = {name: brought_about(library, name) for name in library.causes}
        self.there = {one.cause.id for one in found}
        self.overridden = {one.cause.id for one in found if one.overridden_by}

    def reason(self, one: Found) -> Reason:
        """Why one finding is reported."""
        possible = one.confidence == "possible"
        return Reason(
            cause=one.cause.id,
            subject=subject_text(one.subject),
            role="candidate" if possible else "root" if one.root else "symptom",
            confidence=f"{one.confidence}: {CONFIDENCE_MEANS[one.confidence]}",
            checks=[tried_check(seen, "found") for seen, _ in zip(self.hits(one), range(CHECKS), strict=False)],
            explains=self.ties(one, [other for other in self.found if other.cause.id in self.reach[one.cause.id]], effect=False),
            explained_by=self.ties(one, [other for other in self.found if one.cause.id in self.reach[other.cause.id]], effect=True),
            others=self.others(one) if one.root or possible else [],
        )

    def hits(self, one: Found) -> Iterator[Sight]:
        """The checks that found a cause on its subject, each on the record that it found first."""
        for each in self.checked:
            if each.outcome != "found" or each.check.finds != one.cause.id:
                continue
            for record in self.records(each)[:SEARCHED]:
                subject = record.subject() if record is not None else Subject(kind="cluster")
                own = self.links.unify(subject.as_kind(one.cause.subject))
                if (own.kind, own.name) == (one.subject.kind, one.subject.name) and (seen := join_record(each, record, self.store)).holds:
                    yield seen
                    break

    def records(self, one: Checked) -> list[Fact | None]:
        """The records that a check may find at all."""
        check = one.check
        return [*candidate_records(check.when, check.each.name, check.each.type, self.store, FINAL)] if check.each else [None]

    def ties(self, one: Found, others: list[Found], *, effect: bool) -> list[Tie]:
        """What ties a finding to those that the catalogue says it explains, or is explained by; those that hold first."""
        made = []
        for other in others:
            cause, effect_ = (other, one) if effect else (one, other)
            if other is not one:
                holds = other in (one.explained_by if effect else one.explains)
                why = f"{self.chain(cause.cause.id, effect_.cause.id)}; {joined_by(self.links, cause, effect_)}"
                made.append(
                    Tie(cause=other.cause.id, subject=subject_text(other.subject), holds=holds, why=f"{why}; {in_time(cause, effect_)}")
                )
        return sorted(made, key=lambda tie: not tie.holds)[:TIES]

    def chain(self, cause: str, effect: str) -> str:
        """By which entries of the catalogue one cause explains another."""
        ways = {cause: [cause]}
        todo = [cause]
        while effect not in ways:
            name = todo.pop(0)
            for other in self.library.causes[name].explains:
                if other not in ways:
                    ways[other] = [*ways[name], other]
                    todo.append(other)
        return f"the catalogue says {' → '.join(ways[effect])}"

    def others(self, one: Found) -> list[Tried]:
        """What else it could have been: of each cause the check that came nearest, the nearest first."""
        best: dict[str, tuple[float, Tried]] = {}
        for each in self.checked:
            near, weight = self.nearness(one, each)
            if not near:
                continue
            share, made = self.closest(one, each, near)
            if weight <= SAME_LAYER and not (share and made.records):
                continue
            score = weight + 2 * share + (0.5 if each.outcome == "unknown" else 0.0)
            if score > best.get(each.check.finds, (0.0, made))[0]:
                best[each.check.finds] = score, made
        return [made for _, made in sorted(best.values(), key=lambda pair: -pair[0])[:OTHERS]]

    def nearness(self, one: Found, each: Checked) -> tuple[list[str], float]:
        """(why a check is looked at beside a finding, how near that is); nothing for one that has nothing to do with it."""
        name, cause = each.check.finds, one.cause
        candidate = each.outcome == "found" and each.check.confidence == "possible"
        if name == cause.id or (name in self.there and name not in self.overridden and not candidate):
            return [], 0.0
        other = self.library.causes[name]
        effects = sorted({effect.cause.id for effect in one.explains} & self.reach[name])
        said = [
            ("is taken for it" if name in self.library.told_apart(cause.id) else "", TAKEN_FOR),
            ("overridden by it" if name in {other.cause.id for other in one.overrides} else "", OVERRIDDEN),
            ("a candidate" if candidate else "", CANDIDATE),
            ("would explain it" if cause.id in self.reach[name] else "", WOULD_EXPLAIN),
            (f"would explain {effects[0]} too" if effects else "", SAME_EFFECT),
            ("of the same layer" if (other.layer, other.subject) == (cause.layer, cause.subject) else "", SAME_LAYER),
        ]
        near = [text for text, _ in said if text]
        return near, max((weight for text, weight in said if text), default=0.0)

    def closest(self, one: Found, each: Checked, near: list[str]) -> tuple[float, Tried]:
        """(how much of its condition held, 0 to 1; the check on the record that came nearest), that of the finding's subject first."""
        check = each.check
        everything = self.store.records(check.each.type) if check.each else []
        records = self.records(each)
        if not records or each.outcome == "skipped":
            return 0.0, self.of_nothing(each, near, len(everything))
        own = [record for record in records if record is None or self.may_concern(record.subject(), one.subject)]
        sights = [join_record(each, record, self.store) for record in (own or records)[:RECORDS]]
        wanted = {"found": True, "unknown": None}.get(each.outcome, False)
        seen = max(sights, key=lambda seen: (seen.holds is wanted, seen.share()))
        made = tried_check(seen, each.outcome, near=near, records=len(everything) or 1)
        share = seen.share() * (1.0 if own else 0.5)
        return share, made if made.why or each.outcome != "unknown" else with_why(made, each.why)

    def of_nothing(self, each: Checked, near: list[str], records: int) -> Tried:
        """A check that had no record to look at."""
        check = each.check
        kind = check.each.type if check.each else ""
        decides = []
        why = each.why or (f"nothing that was read gives {kind}" if each.outcome == "skipped" else f"there are no {kind}")
        if records and each.outcome == "clear":
            decides = [Part(text=on_one_line(operands(check.when)[1][0]), holds=False)]
            why = f"for none of {records} {kind}"
        return Tried(
            check=each.name,
            place=check_place(each),
            cause=check.finds,
            confidence=check.confidence,
            outcome=each.outcome,
            near=near,
            condition=on_one_line(check.when),
            decides=decides,
            records=records,
            why=why,
        )

    def may_concern(self, one: Subject, other: Subject) -> bool:
        """Whether a record may have to do with a finding's subject."""
        return self.links.are_linked(self.links.unify(one), other)


def with_why(made: Tried, why: str) -> Tried:
    """A check that is unknown for a reason outside of its record: its step was not answered."""
    return msgspec.structs.replace(made, why=why)


def subject_text(subject: Subject) -> str:
    """A subject in one word."""
    return subject.name or subject.kind


def joined_by(links: Links, effector: Found, effected: Found) -> str:
    """What ties the subjects of two findings, or that nothing does: `relate.tied` in words."""
    cause, effect = effector.subject, effected.subject
    if not can_bring_about(effector, effected, links):
        return f"{subject_text(cause)} and {subject_text(effect)} are not linked"
    if not links.are_linked(cause, effect):
        return "ranks of one job" if links.jobs_of(cause) else "a machine that may have a rank of the job"
    if (cause.kind, cause.name) == (effect.kind, effect.name):
        return f"the same {cause.kind}"
    for one in (cause, effect):
        if has_no_place(one):
            return f"nothing says where the {one.kind} is, so it contradicts nothing"
    if cause.kind in ("pod", "workload") and effect.kind in ("pod", "workload") and links.same_work(cause, effect):
        return "the same work"
    nodes = sorted(links.where(cause) & links.where(effect))
    return f"both on {nodes[0]}" + (f" and {len(nodes) - 1} more" if len(nodes) > 1 else "") if nodes else "linked by their names"


def in_time(cause: Found, effect: Found) -> str:
    """How two findings stand in time."""
    if cause.time is None or effect.time is None:
        return "no times to compare"
    if is_seen_after(cause, effect):
        return f"it came later, by {cause.time - effect.time:.0f} s"
    return f"{max(0.0, effect.time - cause.time):.0f} s before it" if effect.time - cause.time >= 1 else "at the same time"
