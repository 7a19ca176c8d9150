"""The two ways to a report: executing a runbook, and reading facts that are already there. Both end in the same conclusions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from gpudoctor.derive import DERIVATIONS, run_derivation
from gpudoctor.engine import (
    conclude,
    expectations,
    hardware,
    lanes,
    outcomes,
    outputs,
    overall_verdict,
    precedence,
    relate,
    remedies,
    trouble,
)
from gpudoctor.engine.fleet import BEYOND, FANOUT
from gpudoctor.engine.plan import plan
from gpudoctor.engine.run import Engine
from gpudoctor.engine.steps import CONSENT, Guide, Run, StepRun, Trouble, fold_troubles, host_set_text
from gpudoctor.engine.store import Store
from gpudoctor.engine.times import stamp
from gpudoctor.facts import Facts
from gpudoctor.facts.identity import Links
from gpudoctor.probes.base import Probe
from gpudoctor.registry import PARSERS
from gpudoctor.report import CheckResult, Coverage, InputFile, Missing, Outcome, Reason, Report, Series, StepResult, Table
from gpudoctor.runbook.conditions import Values, compile_expression, input_types, input_values, record_types
from gpudoctor.runbook.model import Library, Runbook, Show
from gpudoctor.runbook.templates import fill
from gpudoctor.tools.parser import mistake

GIVEN = -1  # the order of facts that are there before the first step
ONE_BY_ONE = 4  # files that were not read for one reason, and are named each
ROWS = 200  # of one table; a cluster of 5,000 nodes folds into far fewer


def diagnose(
    library: Library,
    book: Runbook,
    inputs: dict[str, Any],
    probe: Probe,
    *,
    asked: str = "",
    started: float = 0.0,
    timeout: float = 120.0,
    beyond: float = BEYOND,
    fanout: int = FANOUT,
    consent: bool = False,
    recorded: bool = False,
    given: Facts | None = None,
    files: Sequence[InputFile] = (),
    kept: outputs.Kept | None = None,
    guide: Guide | None = None,
    explain_path: bool = False,
    on_step: Callable[[StepResult], None] | None = None,
    on_hosts: Callable[[int, int], None] | None = None,
) -> Report:
    """Execute a runbook and draw the conclusions; `given` are facts known before its first step, which `files` gave.

    Raises `engine.steps.NotThere`.

    `on_step` gets each step that has asked something as it ends; `kept` knows what the probe has answered, for a report with the outputs of
    its steps.
    """
    limits: dict[str, Any] = {"timeout": timeout, "beyond": beyond, "fanout": fanout, "consent": consent}
    engine = Engine(library, probe, **limits, recorded=recorded, guide=guide)
    engine.on_hosts = on_hosts
    if given:
        engine.store.put(GIVEN, given)
    if on_step:

        def ended(step: StepRun, steps: list[StepRun]) -> None:
            if step.commands:  # of the others, many, nothing is shown: their checks wait for the end
                on_step(step_result(step, provisional(step, steps, engine.store)))

        engine.on_step = ended
    run = engine.execute(book, inputs)
    made = conclusions(library, run, asked=asked, started=started, files=files, explain_path=explain_path)[0]
    return outputs.attach_outputs(made, run, kept) if kept else made


def conclusions(
    library: Library, run: Run, *, asked: str, started: float, files: Sequence[InputFile] = (), explain_path: bool = False
) -> tuple[Report, list[outcomes.Checked]]:
    """The report of a finished run, and the outcome of every check."""
    checked = outcomes.of_run(run)
    made = report(
        library,
        run.store,
        checked,
        explain_path=explain_path,
        runbook=run.book.id,
        weighed=expectations.of_run(library, run),
        asked=asked or run.book.title,
        started=started,
        coverage=coverage(run, unread_files(files)),
        inputs=[*files],
        withheld=withheld_commands(run),
        tables=tables(run),
        steps=[step_result(step, [one.outcome for one in checked if one.step is step and one.check.finds]) for step in run.steps],
    )
    return made, checked


def analyze(
    library: Library,
    facts: Facts,
    inputs: list[InputFile],
    now: float,
    shown: Runbook | None = None,
    *,
    explain_path: bool = False,
) -> Report:
    """Draw the conclusions from facts that files gave; no command runs, the measurements over the facts do. `shown` is a runbook whose
    tables the report has.
    """
    store = Store()
    store.put(0, facts)
    failed = []
    for number, (name, derivation) in enumerate(DERIVATIONS.items()):
        if not derivation.asked and any(store.records(kind) for kind in derivation.files or derivation.needs[:1]):
            try:
                store.put(1, run_derivation(name, store.everything(1), {}, now), number)
            except Exception as error:  # of ours: everything else that the files say still counts
                failed.append(Missing(name, mistake(name, "the facts", error)))
    read = [one for one in inputs if one.recognised_as]
    all_of = {kind for one in read for name in one.recognised_as if name in PARSERS for kind in PARSERS[name].all_of}
    checked = outcomes.of_facts(library, store, all_of)
    defaults = {name: declared.default for name, declared in shown.inputs.items()} if shown else {}
    steps = plan(library, shown, defaults) if shown else []
    made = [table(one.step.show, one.book, one.inputs, store) for one in steps if one.step.show]
    return report(
        library,
        store,
        checked,
        weighed=expectations.of_facts(library, store),
        explain_path=explain_path,
        tables=[one for one in made if one.rows],
        asked=inputs[0].path if len(inputs) == 1 else f"{len(inputs)} files",
        started=now,
        coverage=Coverage(len(inputs), len(read), [*unread_files(inputs), *failed]),
        inputs=inputs,
    )


def unread_files(inputs: Sequence[InputFile]) -> list[Missing]:
    """What of the files was not read, or not wholly. Many for one reason are one line, and come after the few."""
    reasons: dict[str, list[str]] = {}
    for one in inputs:
        if one.note or not one.recognised_as:
            reasons.setdefault(one.note or "not recognised", []).append(one.path)
    made = []
    for why, paths in sorted(reasons.items(), key=lambda reason: len(reason[1])):
        made += [Missing(path, why) for path in paths] if len(paths) <= ONE_BY_ONE else [Missing(f"{len(paths)} files", why)]
    return made


def report(
    library: Library,
    store: Store,
    checked: list[outcomes.Checked],
    *,
    weighed: expectations.Weighed | None = None,
    started: float,
    explain_path: bool = False,
    **rest: Any,
) -> Report:
    """The report of checked facts; how it came to its causes is looked up only where somebody wants to know."""
    weighed = weighed or expectations.Weighed()
    links = Links(*(store.records(kind) for kind in ("pods", "waits", "gpus", "workloads", "slurm_jobs", "ranks", "xids")))
    drawn = precedence.draw_conclusions(library, checked, links)
    found = precedence.not_overridden(drawn)
    decided, open_ = conclude.findings(found, remedies.Surroundings(store, links)), conclude.candidates(found)
    unsure = overall_verdict.unknowns(checked)
    inputs: list[InputFile] = rest.get("inputs", [])
    verdict = overall_verdict.verdict(decided, open_, unsure, checked, inputs)
    left = trouble.unexplained_troubles(library, store, checked, decided)
    if verdict == "healthy" and left:
        verdict = "inconclusive"
    if verdict == "healthy":
        weighed.not_shown += expectations.silent_about(library, weighed, inputs)
        verdict = "healthy" if weighed.sound or not weighed.expected else "inconclusive"
    held = {*(one.cause for one in decided), *(one.cause for one in open_), *overall_verdict.unsettled_causes(checked)}
    refuted = expectations.refutations(library, weighed, held)
    settled = {*(one.cause for one in decided), *(one.cause for one in refuted)}
    return Report(
        tool=conclude.TOOL,
        started=stamp(started) or "",
        verdict=verdict,
        findings=decided,
        candidates=open_,
        overridden=conclude.overridden(drawn),
        ruled_out=sorted({one.cause for one in refuted}),
        refutations=refuted,
        shown=weighed.shown,
        not_shown=weighed.not_shown,
        unexplained=left,
        unknown=overall_verdict.with_weight(unsure, checked, library, verdict, settled),
        series=drawn_lines(store),
        lanes=lanes.of_store(store),
        hardware=hardware.of_store(store, found, links),
        checks=[CheckResult(one.name, one.outcome, one.check.finds, one.why) for one in checked if one.check.finds],
        path=path_of(library, store, checked, drawn, links) if explain_path else msgspec.UNSET,
        **rest,
    )


def drawn_lines(store: Store) -> list[Series]:
    """What the report draws of GPUs that were watched. Most runs watch none, and load nothing for it."""
    if not store.records("gpu_samples"):
        return []
    from gpudoctor.engine import series

    return series.of_store(store)


def path_of(library: Library, store: Store, checked: list[outcomes.Checked], drawn: list[relate.Found], links: Links) -> list[Reason]:
    """How the report came to its causes."""
    from gpudoctor.engine import decision_path

    return decision_path.reasons_of(library, store, checked, drawn, links)


def coverage(run: Run, unread: Sequence[Missing] = ()) -> Coverage:
    """How many commands were asked, how many answered, and what is missing and why."""
    asked = sum(len(step.commands) - len(step.absent) for step in run.steps)
    missing = [trouble for step in run.steps for trouble in (*step.failures, *step.absent)]
    return Coverage(asked, sum(step.answered for step in run.steps), [*unread, *missing_by_host(missing)])


def withheld_commands(run: Run) -> list[Missing]:
    """The commands that would disturb running work, which nobody has consented to."""
    return missing_by_host(Trouble(command.shown, CONSENT, command.host) for step in run.steps for command in step.withheld)


def missing_by_host(troubles: Iterable[Trouble]) -> list[Missing]:
    """What has no answer and why, for a person: hosts with equal troubles are a node set."""
    return [Missing(f"{host_set_text(hosts)}: {what}" if hosts else what, why) for hosts, what, why in fold_troubles(troubles)]


def tables(run: Run) -> list[Table]:
    """The tables that steps show, without the empty ones."""
    asked = (step.planned for step in run.steps if step.asked)
    made = [table(one.step.show, one.book, one.inputs, run.store) for one in asked if one.step.show]
    return [one for one in made if one.rows]


def table(show: Show, book: Runbook, inputs: dict[str, Any], store: Store) -> Table:
    """One table: a row for each record that its `where` surely holds for."""
    name = show.each.name
    types = {**input_types(book.inputs), **record_types(name, show.each.type)}
    given = input_values(inputs)
    condition = compile_expression(show.where or "true", types)
    shown = (Values(given, {name: record}) for record in store.records(show.each.type))
    held = list(itertools.islice((values for values in shown if condition.surely(values)), ROWS))
    rows = [[fill(text, types, values, unknown="?") for text in show.columns.values()] for values in held]
    telling = [number for number, values in enumerate(held) if getattr(values.records[name], "telling", False)]
    return Table(title=show.title, columns=list(show.columns), rows=rows, telling=telling)


def provisional(step: StepRun, steps: list[StepRun], store: Store) -> list[Outcome]:
    """The outcomes of a step's checks while the run goes on."""
    return [outcomes.of_step(step, check, store, steps).outcome for check in step.planned.step.checks if check.finds]


def step_result(step: StepRun, checks: list[Outcome]) -> StepResult:
    """A step as the report has it, with the outcomes of its checks."""
    outcome: Outcome = "clear"
    if "found" in checks:
        outcome = "found"
    elif step.failures or step.undecided or "unknown" in checks:
        outcome = "unknown"
    elif step.nothing:
        outcome = "skipped"
    first = step.commands[0] if step.commands else None
    hosts = list(dict.fromkeys(command.host for command in step.commands))
    return StepResult(
        id=step.planned.name,
        title=step.planned.step.title,
        outcome=outcome,
        argv=list(first.public) if first else [],
        host=host_set_text(hosts) if hosts else "",
        seconds=round(step.seconds, 3),
        note=step.undecided or "; ".join(trouble.why for trouble in step.failures[:2]) or step.note,
    )
