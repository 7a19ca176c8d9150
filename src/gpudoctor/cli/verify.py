"""`gpudoctor verify`: options in, the earlier run and a new one compared, until it is fixed or the time is over; exit code out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_session
from gpudoctor.cli.errors import INCONCLUSIVE, Refused, complain

if TYPE_CHECKING:
    from gpudoctor.cli.where import Where
    from gpudoctor.engine.steps import Run
    from gpudoctor.engine.verification import Verification
    from gpudoctor.engine.verify import After, Before
    from gpudoctor.runbook.model import Library, Runbook

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 60.0  # seconds between two looks; each pause is twice the one before
EXIT_CODES = "Exit codes: 0 fixed, 1 not fixed or worse, 2 usage, 3 it could not be told, 70 internal error, 130 interrupted."


class Reference(NamedTuple):
    """What the new run is compared with: `name` is the session or the bundle, `runbook` an id or a path."""

    name: str
    bundle: Path
    runbook: str
    where: Where


def verify(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[ID | BUNDLE]", help="A session, or a recorded folder; the last session by default.", autocompletion=complete_session
        ),
    ] = "",
    wait: Annotated[str, typer.Option("--for", help="Look again with growing pauses until it is fixed, at most so long: 10m.")] = "",
    via: options.Via = "auto",
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    no_exec: options.NoExec = False,
    timeout: options.Timeout = 120.0,
    fanout: options.Fanout = 32,
    allow_disruptive: options.AllowDisruptive = False,
    replay: options.Replay = None,
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """After a repair: say of each finding whether it is fixed.

    \b
    gpudoctor verify                       the last guided session
    gpudoctor verify incident-42           a folder that --record wrote
    gpudoctor verify k3f --for 10m         look again until it is fixed
    gpudoctor verify before --replay after compare two recordings
    """
    from gpudoctor.cli.execute import LONGEST, load_library
    from gpudoctor.cli.printing import Shown, check_file

    if format not in ("terminal", "json"):
        raise Refused(f"there is no format '{format[:40]}' here; there are terminal, json")
    if not 1 <= timeout <= LONGEST:
        raise Refused(f"--timeout takes 1 to {LONGEST:.0f} seconds, not {timeout:g}")
    if wait and replay is not None:
        raise Refused("--for looks again, and a recording doesn't change: leave one of them out")
    shown = Shown(format, output, verbose, no_color)
    if shown.file is not None:
        check_file(shown.file)
    until = patience(wait)
    chosen = {"context": context, "kubeconfig": kubeconfig, "no_exec": no_exec, "fanout": fanout, "allow_disruptive": allow_disruptive}
    reference = find(what, {key: value for key, value in chosen.items() if value} | ({"via": via} if via != "auto" else {}), replay)
    library = load_library()
    book, before = earlier_run(library, reference)
    made = look_until_fixed(book, before, reference, until, timeout, shown.verbose, shown.format == "terminal")
    deliver(made, shown)
    raise typer.Exit(made.exit_code)


def patience(text: str) -> float:
    """The seconds of `--for`."""
    from gpudoctor.cli.execute import LONGEST
    from gpudoctor.engine.plan import cast

    try:
        seconds = float(cast(text, "duration")) if text else 0.0
    except ValueError as error:
        raise Refused(f"--for: {error}") from None
    if not 0 <= seconds <= LONGEST:
        raise Refused(f"--for takes at most {LONGEST:.0f} seconds")
    return seconds


def find(what: str, chosen: dict[str, Any], replay: Path | None) -> Reference:
    """The session or bundle that is meant. Raises `Refused`."""
    import msgspec

    from gpudoctor.cli.sessions import BUNDLE, Open, find_session, read
    from gpudoctor.cli.where import Where
    from gpudoctor.probes.session import Folder, ids

    path = Path(what)
    if what and ("/" in what or path.is_file() or (path / "bundle.json").is_file()):
        return Reference(what, path, "", msgspec.structs.replace(Where(), **chosen, replay=replay))
    known = ids()
    if not known:
        wanted = f"recorded folder and no session '{what[:80]}'" if what else "session yet"
        raise Refused(f"there is no {wanted}: name a folder that --record wrote")
    folder = Folder(find_session(what, known) if what else known[0])
    state = read(folder)
    if state is None:
        raise Refused(f"{folder.path} is no session that can be read: its session.json is missing or damaged")
    where = Open(folder, state, fresh=False).where
    if where.replay is not None and replay is None:
        raise Refused(f"{folder.name} looked at a recording, where nothing can change: name another one by --replay")
    where = msgspec.structs.replace(where, **chosen, replay=replay, guided=False, record=None)
    return Reference(folder.name, folder.path / BUNDLE, state.runbook, where)


def earlier_run(library: Library, reference: Reference) -> tuple[Runbook, Before]:
    """The earlier run, from its recording. Raises `Refused` where it has found nothing to repair."""
    from gpudoctor.cli.execute import find_runbook, recorded_book
    from gpudoctor.cli.inputs import recorded_inputs
    from gpudoctor.cli.nodes import this_machine
    from gpudoctor.engine.run import Engine
    from gpudoctor.engine.steps import NotThere
    from gpudoctor.engine.verification import Times
    from gpudoctor.engine.verify import Before
    from gpudoctor.probes.base import Command, Output
    from gpudoctor.probes.bundle import BundleError
    from gpudoctor.probes.replay import Replay

    try:
        replay = Replay(reference.bundle)
    except BundleError as error:
        raise Refused(str(error)) from None
    bundle = replay.bundle
    book = find_runbook(library, reference.runbook) if reference.runbook else recorded_book(library, bundle.runbook)
    inputs = {name: declared.default for name, declared in book.inputs.items()} | recorded_inputs(book, bundle.inputs)
    try:
        run = Engine(library, replay, recorded=True, consent=True).execute(book, inputs)
    except NotThere as missing:
        raise Refused(f"{missing.what} was not found when {reference.name} was recorded: there is nothing to verify") from None
    times = {Output(Command(argv=one.argv, host=one.host)).origin_name(): one.time for one in bundle.outputs}
    before = Before(library, run, Times(times, max(times.values(), default=0.0)), bundle.recorded)
    if inputs.get("local") and reference.where.replay is None and inputs.get("nodes") != this_machine():
        raise Refused(f"{reference.name} is about {inputs.get('nodes')} itself: run verify on that machine")
    if not before.pasts:
        why = f", and is incomplete ({bundle.incomplete})" if bundle.incomplete else ""
        raise Refused(f"{reference.name} has found nothing that needs a repair{why}: there is nothing to verify")
    return book, before


def look_until_fixed(
    book: Runbook, before: Before, reference: Reference, wait: float, timeout: float, every: bool, tell: bool
) -> Verification:
    """Look, and again until it is fixed or `wait` seconds are over."""
    from gpudoctor.cli.verify_text import waiting_line

    began, pause, rounds = time.monotonic(), FIRST_PAUSE, 1
    while True:
        made = look(book, before, reference, timeout, every, rounds)
        left = wait - (time.monotonic() - began)
        if made.outcome == "fixed" or left <= 0:
            return made
        if tell and sys.stderr.isatty():
            print(waiting_line(made, min(pause, left), left), file=sys.stderr)
        time.sleep(min(pause, left))
        pause, rounds = min(pause * 2, LONGEST_PAUSE), rounds + 1


def look(book: Runbook, before: Before, reference: Reference, timeout: float, every: bool, rounds: int) -> Verification:
    """One look: a new probe, since what could not be reached may be reached now."""
    import msgspec

    from gpudoctor.cli.execute import current_time, open_probe
    from gpudoctor.engine import confirm
    from gpudoctor.engine.asking import question_of
    from gpudoctor.engine.conclude import TOOL
    from gpudoctor.engine.diagnose import conclusions
    from gpudoctor.engine.times import stamp
    from gpudoctor.engine.verification import Verification, overall_outcome
    from gpudoctor.probes.redact import Redactor

    where, inputs, redactor = reference.where, before.run.inputs, Redactor()
    probe, recorded, _ = open_probe(msgspec.structs.replace(where, local=bool(inputs.get("local"))))
    try:
        after = ask_again(book, before, probe, where, timeout, inputs, set())
        if other := before.elsewhere(inputs, after.missing):
            inputs = other
            after = ask_again(book, before, probe, where, timeout, inputs, set())
        if more := after.unsettled_checks():
            after = ask_again(book, before, probe, where, timeout, inputs, more)
        commands = confirm.run(probe, confirm.verifies([past.found for past in before.pasts if past.found.root], before.around, every))
    finally:
        for left in probe.close() if recorded is None else ():
            complain(left)
    findings, new = after.judge_findings(), after.new()
    return Verification(
        tool=TOOL,
        started=stamp(current_time()) or "",
        reference=reference.name,
        recorded=before.recorded,
        runbook=book.id,
        asked=question_of(before.library, book, before.run.inputs, book.title),
        outcome=overall_outcome(findings, new),
        findings=findings,
        new=new,
        commands=[msgspec.structs.replace(one, text=redactor.text(one.text), argv=redactor.argv(one.argv)) for one in commands],
        steps=conclusions(before.library, after.run, asked="", started=0.0)[0].steps,
        rounds=rounds,
    )


def ask_again(book: Runbook, before: Before, probe: Any, where: Where, timeout: float, inputs: dict[str, Any], more: set[str]) -> After:
    """Ask what the checks need, and `more` checks, of what the inputs name. Raises `Refused`."""
    from gpudoctor.engine.run import Engine
    from gpudoctor.engine.steps import NotThere
    from gpudoctor.engine.verify import After

    recorded = where.replay is not None
    engine = Engine(
        before.library, probe, timeout=timeout, fanout=where.fanout, consent=where.allow_disruptive or recorded, recorded=recorded
    )
    try:
        run: Run = engine.execute(book, inputs, before.steps(book, inputs, more))
    except NotThere as missing:
        raise Refused(f"{missing.what} isn't there any more: nothing can be said of it", INCONCLUSIVE) from None
    return After(before, run)


def deliver(made: Verification, shown: Any) -> None:
    """Print it, or write it into its file."""
    from gpudoctor.cli import printing, verify_text

    if shown.format == "json":
        text = verify_text.as_json(made)
    else:
        text = verify_text.render(made, width=printing.columns(), color=printing.colored(shown), verbose=shown.verbose)
    printing.deliver(text, shown, verify_text.WORDS[made.outcome])
