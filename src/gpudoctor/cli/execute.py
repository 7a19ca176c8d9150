"""From options to a report on the screen: the probe is put together, the runbook executed, the report printed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudoctor import leaving
from gpudoctor.cli.errors import USAGE, Refused, complain, no_such
from gpudoctor.cli.inputs import check, recorded_inputs, settings
from gpudoctor.cli.kubectl_options import KEPT, inputs_among
from gpudoctor.cli.kubectl_options import kubeconfig_overrides as given_to_kubectl
from gpudoctor.cli.nodes import node_inputs, this_machine
from gpudoctor.cli.printing import Shown, check_shown, columns, keeper, print_report
from gpudoctor.cli.recording import finish_recording, mark_incomplete, recorder
from gpudoctor.cli.where import Where
from gpudoctor.report import StepResult
from gpudoctor.runbook.model import Library, Runbook

if TYPE_CHECKING:
    from gpudoctor.analyze.gather import Gathered
    from gpudoctor.cli import sessions

LONGEST = 86_400.0  # seconds of a whole run: a day; also what makes "nan" and "inf" mistakes
STRANGERS = 3  # machines that a refusal speaks of
OWNERS = "deployment, replicaset, statefulset, daemonset, job, cronjob and what operators add, such as pytorchjob"


def execute(
    name: str,
    given: dict[str, Any] | list[str],
    where: Where,
    *,
    asked: str = "",
    timeout: float,
    shown: Shown,
    gathered: Gathered | None = None,
    session: sessions.Open | None = None,
) -> int:
    """Execute a runbook and print its report; returns the exit code. `gathered` is what files said before; `session` is one
    that somebody goes on with.
    """
    from gpudoctor.engine.asking import question_of
    from gpudoctor.engine.diagnose import diagnose
    from gpudoctor.engine.steps import NotThere
    from gpudoctor.tools.kubernetes.api_json import seconds

    check_shown(shown)
    check_timeout(timeout)
    if where.guided:
        from gpudoctor.cli import sessions

        sessions.refuse_unfit(where, gathered is not None)
    if KEPT and name and isinstance(given, list):
        given = [*given, *inputs_among(find_runbook(load_library(), name))]
    probe, recorded, namespace = open_probe(where)
    live = probe if recorded is None else None
    library = load_library()
    book = recorded_book(library, recorded.runbook) if recorded and not name else find_runbook(library, name)
    given = settings(book, given) if isinstance(given, list) else given
    inputs = session.state.inputs if session else inputs_of(book, given, where, recorded, namespace)
    started = session.state.started if session else seconds(recorded.recorded) or 0.0 if recorded else current_time()
    if where.guided:
        session = session or sessions.begin_session(book, question_of(library, book, inputs, asked), started, timeout, inputs, where)
        probe = session.recording(probe)
    elif where.record is not None:
        probe = recorder(probe, where.record, book.id, inputs, started)
    keeps = keeper(probe, shown)
    how = {
        "asked": question_of(library, book, inputs, asked),
        "started": started,
        "timeout": timeout,
        "fanout": where.fanout,
        # a replay disturbs nothing, and asks what was asked; who is guided is asked about each step
        "consent": where.allow_disruptive or (recorded is not None and session is None),
        "recorded": recorded is not None,
        "given": gathered.facts if gathered else None,
        "files": gathered.inputs if gathered else (),
        "kept": keeps.kept_answer if keeps else None,
        "explain_path": shown.path,
        "on_step": None if session else progress(where, shown),
        "on_hosts": hosts_progress(where, shown, book.id),
    }
    kept = interrupted = True
    try:
        if session:
            report = session.walk(library, book, inputs, keeps or probe, shown, how)
        else:
            report = diagnose(library, book, inputs, keeps or probe, **how)
        interrupted = False
    except NotThere as missing:
        interrupted = False
        close = f"; close to it: {', '.join(missing.close)}" if missing.close else ""
        raise Refused(f"{missing.what} was not found{close}") from None
    finally:
        with leaving.hold_signals():
            if where.record is not None or session:
                kept = finish_recording(probe, interrupted)
            for left in live.close() if live else ():
                complain(left)
    no_such_kind = f'the server doesn\'t have a resource type "{inputs.get("kind")}"'
    if any(missing.why == no_such_kind for missing in report.coverage.missing):
        raise Refused(f"{no_such_kind}; what owns pods is {OWNERS}")
    refuse_strangers(str(inputs.get("nodes") or ""), live.strangers if live and session is None else {})
    if recorded is not None and recorded.incomplete:
        report = mark_incomplete(report, recorded.incomplete)
    code = print_report(report, shown, keeps.redactor if keeps else None)
    return code if kept else USAGE


def refuse_strangers(nodes: str, strangers: dict[str, str]) -> None:
    """Raise `Refused` where nobody knows any of the machines; of many the first are enough."""
    names = [name.strip() for name in nodes.split(",")]
    if strangers.keys() >= set(names):
        said = [strangers[name] for name in names]
        raise Refused("; ".join(said[:STRANGERS]) + (f"; and {len(said) - STRANGERS} more" if len(said) > STRANGERS else ""))


def check_timeout(timeout: float) -> None:
    """Raise `Refused` for what is no time of a run."""
    if not 1 <= timeout <= LONGEST:
        raise Refused(f"--timeout takes 1 to {LONGEST:.0f} seconds, not {timeout:g}")


def inputs_of(book: Runbook, given: dict[str, Any], where: Where, recorded: Any, namespace: str) -> dict[str, Any]:
    """A value for each input of the runbook: what was given, else what the bundle recorded, else the default."""
    inputs = {key: declared.default for key, declared in book.inputs.items()}
    if recorded is not None:
        inputs |= recorded_inputs(book, recorded.inputs)
    if where.namespace:
        if "namespace" not in book.inputs:
            raise Refused(f"{book.id} takes no namespace")
        check("namespace", where.namespace, "--namespace ")
        inputs["namespace"] = where.namespace
    inputs |= given | node_inputs(book, where)
    if recorded is None and "local" in book.inputs and not given and not (inputs["nodes"] or inputs["selector"]):
        raise Refused("which nodes? give names such as gpu-[01-16] (`run` takes them as --node NAMES), or -l SELECTOR, or --local")
    if "namespace" in book.inputs and not inputs["namespace"]:
        inputs["namespace"] = namespace
    return inputs


def current_time() -> float:
    """Now, or the moment that reproducible builds name in SOURCE_DATE_EPOCH."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if not given:
        return time.time()
    if not (given.isascii() and given.isdigit() and len(given) <= 11):
        raise Refused(f"SOURCE_DATE_EPOCH is a number of seconds since 1970, not '{given[:80]}'")
    return float(given)


def open_probe(where: Where) -> tuple[Any, Any, str]:
    """The probe, the bundle's header when it is a replay, and the namespace to use by default."""
    if where.replay is not None and where.record is not None:
        raise Refused("--record keeps what a cluster says and --replay asks none: give one of them")
    if where.replay is not None:
        from gpudoctor.probes.bundle import BundleError
        from gpudoctor.probes.replay import Replay

        try:
            replay = Replay(where.replay)
        except BundleError as error:
            raise Refused(str(error)) from None
        return replay, replay.bundle, "default"
    from gpudoctor.probes.live import Live, ProbeSetupError

    try:
        config, hosts = str(where.kubeconfig) if where.kubeconfig else None, [this_machine()] if where.local else []
        live = Live(config, where.context, allow_exec=not where.no_exec, hosts=hosts, via=host_access(where.via), given=given_to_kubectl())
    except ProbeSetupError as error:
        raise Refused(str(error)) from None
    return live, None, live.namespace


def host_access(name: str) -> Any:
    """The way to reach hosts. Raises `Refused` for a way that does not exist."""
    from gpudoctor.probes.base import VIAS

    if name not in VIAS:
        raise Refused(f"--via takes {', '.join(VIAS)}, not '{name[:40]}'")
    return name


def load_library() -> Library:
    """Load the library; problems in our own files are shown like a user's."""
    from gpudoctor.library.index import BrokenLibrary, library

    try:
        return library()
    except BrokenLibrary as error:
        raise Refused(str(error)) from None


def find_runbook(library: Library, name: str) -> Runbook:
    """A runbook by id, or by path: then it is read, and checked before anything runs."""
    if name in library.runbooks:
        return library.runbooks[name]
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_runbook(library, Path(name))
    if not name:
        raise Refused("which runbook? `gpudoctor list` shows them")
    raise no_such("runbook", name, library.runbooks, "`gpudoctor list` shows them")


def recorded_book(library: Library, name: str) -> Runbook:
    """The runbook that a bundle names. A bundle may come from a stranger: only ours are taken by name, no file is read."""
    if name not in library.runbooks:
        raise Refused(
            f"the bundle was recorded with the runbook '{name[:80]}', which is not one of ours: give it, `gpudoctor run PATH --replay …`"
        )
    return library.runbooks[name]


def read_runbook(library: Library, path: Path) -> Runbook:
    """A runbook given by path."""
    from gpudoctor.runbook import load

    book, problems = load.load_checked(path, library)
    if book is None:
        raise Refused("\n".join(str(problem) for problem in problems))
    return book


def progress(where: Where, shown: Shown) -> Any:
    """A line for each command of a live run as its step ends, on a terminal only. A replay is over before anybody could read it."""
    if shown.format != "terminal" or where.replay is not None:
        return None
    from gpudoctor.reporters.progress import printer

    show = printer(sys.stderr, width=columns())
    if show is None:
        return None
    known: set[tuple[str, ...]] = set()  # several runbooks ask the same, and it is asked once

    def on_step(step: StepResult) -> None:
        command = (step.host, *step.argv)
        if command not in known:
            known.add(command)
            show(step)

    return on_step


def hosts_progress(where: Where, shown: Shown, name: str) -> Any:
    """How many of many hosts have answered, on a terminal only."""
    if shown.format != "terminal" or where.replay is not None:
        return None
    from gpudoctor.reporters.progress import counter

    return counter(sys.stderr, name, width=columns())


def analyze_paths(paths: list[str], timeout: float, shown: Shown) -> int:
    """Diagnose from files."""
    from gpudoctor.analyze.gather import gather
    from gpudoctor.cli.paths import check_paths, reading_budget, reading_progress, recorded_run
    from gpudoctor.engine.diagnose import analyze

    check_shown(shown)
    check_timeout(timeout)
    with reading_budget(timeout) as budget:
        check_paths(paths, budget)
        library = load_library()
        if (folder := recorded_run(paths)) is not None:
            return execute("", {}, Where(replay=folder), timeout=LONGEST, shown=shown)
        gathered = gather(paths, reading_progress(shown.format), budget)
        made = analyze(library, gathered.facts, gathered.inputs, gathered.now, explain_path=shown.path)
    return print_report(made, shown)
