"""What became of the steps of a run: what was asked, what answered, what didn't and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from gpudoctor.engine.ask import NEVER, Question
from gpudoctor.engine.plan import Planned, used_types, with_dependencies
from gpudoctor.engine.reading import Reading, failed_reading
from gpudoctor.engine.store import Store
from gpudoctor.facts import Subject
from gpudoctor.nodesets import fold
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Command
from gpudoctor.registry import PARSERS
from gpudoctor.runbook.model import Check, Runbook, Step

if TYPE_CHECKING:
    from gpudoctor.engine.run import Engine

CONSENT = "not run: it disturbs running work, so it needs consent (--allow-disruptive)"
UNASKED = "nobody was asked (--guided asks)"
UNWANTED = "not needed"  # the note of a step that a condition above it has ruled out
REASONS = 3  # of one check; 200 hosts may have 200
# What only follows from the lack of something else: needs pods, which could not be read  ·  found.waiting is not known
FOLLOWS = regex(r"needs \w+, which could not be read|found\.\w+ is not known")


class Trouble(NamedTuple):
    """Why something has no answer: a command (`host` is "" for this machine and the API), or `step NAME`."""

    what: str
    why: str
    host: str = ""


class StepRun(msgspec.Struct, kw_only=True):
    """What became of one step."""

    planned: Planned
    asked: bool = False
    commands: list[Command] = []
    failures: list[Trouble] = []
    absent: list[Trouble] = []  # what of an optional step isn't there
    withheld: list[Command] = []  # what would disturb running work, and nobody has consented to
    answered: int = 0
    seconds: float = 0.0
    undecided: str = ""  # why it could not be decided whether to ask
    note: str = ""
    done: bool = False
    reasons: list[str] | None = None  # once done: what `obstacles` says of it

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to ask: nobody wanted it, or no machine has the program."""
        return not self.asked or (bool(self.absent) and not self.answered)


class Run(msgspec.Struct, kw_only=True):
    """A finished execution, ready for the conclusions."""

    book: Runbook
    inputs: dict[str, Any]
    store: Store
    steps: list[StepRun]


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """What a guide makes of a step's questions: some are asked, others not, and why. `once` takes no further samples."""

    todo: list[Question]
    declined: list[tuple[Question, str]] = []
    consent: bool = False
    once: bool = False


class Guide(Protocol):
    """Somebody who decides about one step after the other. Either method may end the run by an exception of its own."""

    def execution_begins(self, engine: Engine) -> None:
        """An execution begins."""
        ...

    def decide(self, step: StepRun, todo: list[Question], steps: list[StepRun]) -> Chosen:
        """What of a step's questions to ask; the steps before it have ended."""
        ...

    def step_ended(self, step: StepRun, steps: list[StepRun]) -> None:
        """A step has ended, whether it asked or not."""
        ...

    def execution_ended(self, steps: list[StepRun]) -> None:
        """All steps have ended."""
        ...

    def pause(self, seconds: float) -> None:
        """Wait between two samples."""
        ...


class NotThere(Exception):
    """What the user asked about doesn't exist. `close` are names that come close."""

    def __init__(self, what: str, close: list[str]) -> None:
        super().__init__(what)
        self.what, self.close = what, close
        self.run: Run | None = None  # as far as it came


def count(step: StepRun, todo: list[Question], readings: list[Reading | None]) -> None:
    """Note, in the order of the commands, what came of the last ones of a step."""
    spec = step.planned.step
    first = len(step.commands) - len(todo)
    for number, (question, reading) in enumerate(zip(todo, readings, strict=True), first):
        output, problem, _, absent = reading or failed_reading(question.command, NEVER)
        if question.otherwise and output.command.argv == question.otherwise.argv:
            step.commands[number] = question.otherwise
        command = step.commands[number]
        step.seconds = max(step.seconds, output.seconds)
        if not problem or (absent and further(spec)):  # a cluster that doesn't have the kind has none that isn't well
            step.answered += 1
        elif spec.choices:
            step.failures.append(Trouble(command.shown, UNASKED))
        elif absent and spec.optional:
            step.absent.append(Trouble(command.shown, problem, command.host))
        elif spec.effect and output.failure == "not-recorded":  # the run that was recorded had no consent either
            step.withheld.append(command)
        else:
            step.failures.append(Trouble(command.shown, problem, command.host))
    if step.absent and not step.answered:
        step.note = step.absent[0].why
    if step.withheld:
        step.undecided, step.commands, step.asked = CONSENT, [], False


def further(step: Step) -> bool:
    """Whether a step looks for further records that aren't well, in a list that a cluster need not have."""
    return step.optional and step.parse in PARSERS and bool(PARSERS[step.parse].sifts)


def obstacles(step: StepRun, check: Check, steps: list[StepRun]) -> list[str]:
    """Why a check that finds nothing can't be called clear: its step could not be asked, or a step that fills what the check looks at or
    joins could not.
    """
    types = used_types(check)
    concerned = [step, *(other for other in steps if other is not step and types & other.planned.fills)]
    return first_hand(part for one in concerned for why in reasons(one) for part in why.split("; "))[: REASONS + 1]


def first_hand(whys: Iterable[str]) -> list[str]:
    """Reasons, each once, without those that only follow from others, unless there are no others."""
    said = list(dict.fromkeys(whys))
    return [why for why in said if not FOLLOWS.fullmatch(why)] or said


def steps_behind(types: set[str], steps: list[StepRun], *own: StepRun) -> list[StepRun]:
    """The steps on which it rests what is known of some fact types: its `own`, those that fill these, and all that they waited for."""
    orders = {one.planned.order for one in (*own, *(step for step in steps if step.planned.fills & types))}
    return [steps[order] for order in with_dependencies(orders, [step.planned for step in steps])]


def reasons(step: StepRun) -> list[str]:
    """Why a step has no answer, or not all: what differs only by the host is said once, with the hosts' names."""
    if step.reasons is not None:
        return step.reasons
    said = list(
        dict.fromkeys(
            why if len(hosts) < 2 or fold(hosts) in why else f"{why} ({host_set_text(hosts)})"
            for hosts, _, why in fold_troubles(step.failures)
        )
    )
    more = [f"and {len(said) - REASONS} more reasons"] if len(said) > REASONS else []
    made = [*([step.undecided] if step.undecided else []), *said[:REASONS], *more]
    if step.done:
        step.reasons = made
    return made


def fold_troubles(troubles: Iterable[Trouble]) -> Iterator[tuple[list[str], str, str]]:
    """Troubles of many hosts made few: the hosts ([] for none), what has no answer, and why.

    Equal reasons of one host are one, `9 commands`, `5 nvidia-smi commands`; then hosts that differ only by their name are one.
    """
    by_reason: dict[tuple[str, str], list[str]] = {}
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for what, why, host in dict.fromkeys(troubles):
        by_reason.setdefault((host, why) if host else ("", f"{what}\0{why}"), []).append(what)
    for (host, key), whats in by_reason.items():
        programs = {what.partition(" ")[0] for what in whats}
        what = whats[0] if len(whats) == 1 else f"{len(whats)} {f'{programs.pop()} ' if len(programs) == 1 else ''}commands"
        why = key if host else key.partition("\0")[2]
        groups.setdefault((what, why.replace(host, "\0") if host else key), []).append((host, why))
    for (what, alike), members in groups.items():
        hosts = [host for host, _ in members if host]
        yield hosts, what, alike.replace("\0", fold(hosts)) if len(hosts) > 1 else members[0][1]


def host_set_text(hosts: list[str]) -> str:
    """`gpu-02`, `gpu-[01-15,17] (16)`."""
    text = fold(hosts)
    return text if len(hosts) == 1 or text.endswith((" nodes)", " more")) else f"{text} ({len(hosts)})"


def may_concern(trouble: Trouble, subject: Subject) -> bool:
    """Whether something without an answer may have been about a subject: not what another host didn't say."""
    return not trouble.host or not subject.node or trouble.host == subject.node
