"""From options to a report on the screen: the probe is put together, the runbook executed, the report printed."""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from gpudoctor.cli.errors import INCONCLUSIVE, Refused
from gpudoctor.report import EXIT_CODES, Report, StepResult
from gpudoctor.runbook.model import Library, Runbook

# Names of Kubernetes objects: RFC 1123 subdomains, at most 253 characters.
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\Z")
KIND = re.compile(r"[a-zA-Z][a-zA-Z0-9.-]{0,100}\Z")
SELECTOR = re.compile(r"[A-Za-z0-9_./=!, ()-]{0,500}\Z")


class Where(msgspec.Struct, kw_only=True):
    """What a run reads, and where it is kept."""

    context: str | None = None
    kubeconfig: Path | None = None
    namespace: str = ""
    no_exec: bool = False
    record: Path | None = None
    replay: Path | None = None


def pod_inputs(target: str, namespace: str, selector: str, all_namespaces: bool) -> tuple[dict[str, Any], str]:
    """The inputs of `diagnose-pod` and the question in one line. Raises `Refused` for names that can't be."""
    kind, _, name = target.rpartition("/")
    if target and (not NAME.match(name) or (kind and not KIND.match(kind))):
        raise Refused(f"'{target[:80]}' is not a name of a Kubernetes object: lower-case letters, digits, '-' and '.', at most 253")
    if namespace and not NAME.match(namespace):
        raise Refused(f"'{namespace[:80]}' is not a name of a namespace")
    if not SELECTOR.match(selector) or selector.startswith("-"):
        raise Refused(f"'{selector[:80]}' is not a label selector such as app=train,tier!=web")
    if target and (selector or all_namespaces):
        raise Refused("give a name, or a selector or -A, not both")
    inputs = {"kind": kind.lower() or "pod", "name": name, "selector": selector, "all_namespaces": all_namespaces}
    if inputs["kind"] in ("pods", "po"):
        inputs["kind"] = "pod"
    return inputs, target


def execute(
    name: str,
    given: dict[str, Any] | list[str],
    where: Where,
    *,
    asked: str = "",
    timeout: float,
    format: str,  # noqa: A002 - the option's name
    verbose: bool,
    no_color: bool,
) -> int:
    """Execute a runbook and print its report; returns the exit code."""
    from gpudoctor.engine.diagnose import diagnose
    from gpudoctor.engine.run import NotThere
    from gpudoctor.parsers.kubernetes_json import seconds
    from gpudoctor.reporters import REPORTERS

    if format not in REPORTERS:
        raise Refused(f"there is no format '{format}'; there are {', '.join(REPORTERS)}")
    probe, recorded, namespace = probing(where)
    library = loaded()
    book = find_runbook(library, name or (recorded.runbook if recorded else ""))
    if isinstance(given, list):
        given = settings(book, given)
    if recorded is not None:
        given = {**recorded.inputs, **{key: value for key, value in given.items() if value not in ("", False)}}
    inputs = {key: given.get(key, declared.default) for key, declared in book.inputs.items()}
    if "namespace" in book.inputs and not inputs["namespace"]:
        inputs["namespace"] = where.namespace or namespace
    started = seconds(recorded.recorded) or 0.0 if recorded else clock()
    if where.record is not None:
        from gpudoctor.probes.record import Recorder

        probe = Recorder(probe, where.record, book.id, inputs, started)
    try:
        report = diagnose(
            library, book, inputs, probe, asked=question(asked, inputs), started=started, timeout=timeout, on_step=progress(format)
        )
    except NotThere as missing:
        close = f"; close to it: {', '.join(missing.close)}" if missing.close else ""
        raise Refused(f"{missing.what} was not found{close}") from None
    finally:
        if where.record is not None:
            probe.close()
    return printed(report, format, verbose, no_color)


def clock() -> float:
    """Now, or the moment that reproducible builds name in SOURCE_DATE_EPOCH."""
    return float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())


def question(asked: str, inputs: dict[str, Any]) -> str:
    """The question in one line: `pod ml/train-0`, `GPU pods in ml`."""
    namespace = str(inputs.get("namespace", ""))
    if inputs.get("name"):
        kind = inputs.get("kind", "pod")
        return f"{kind} {namespace}/{inputs['name']}" if namespace else f"{kind} {inputs['name']}"
    if "all_namespaces" in inputs:
        return "GPU pods in all namespaces" if inputs["all_namespaces"] else f"GPU pods in {namespace}"
    return asked


def probing(where: Where) -> tuple[Any, Any, str]:
    """The probe, the bundle's header when it is a replay, and the namespace to use by default."""
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
        live = Live(kubeconfig=str(where.kubeconfig) if where.kubeconfig else None, context=where.context, allow_exec=not where.no_exec)
    except ProbeSetupError as error:
        raise Refused(str(error)) from None
    return live, None, live.namespace


def loaded() -> Library:
    """The library; problems in our own files are shown like a user's."""
    from gpudoctor.runbook.index import BrokenLibrary, library

    try:
        return library()
    except BrokenLibrary as error:
        raise Refused(str(error)) from None


def find_runbook(library: Library, name: str) -> Runbook:
    """A runbook by id, or by path: then it is read, and checked before anything runs."""
    import difflib

    if name in library.runbooks:
        return library.runbooks[name]
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return read_runbook(library, Path(name))
    if not name:
        raise Refused("which runbook? `gpudoctor list` shows them")
    close = difflib.get_close_matches(name, library.runbooks, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else "`gpudoctor list` shows them"
    raise Refused(f"there is no runbook '{name}'; {hint}")


def read_runbook(library: Library, path: Path) -> Runbook:
    """A runbook given by path."""
    from gpudoctor.runbook import lint, load

    book, problems = load.runbook(path)
    if book is not None:
        problems = list(lint.runbook(book, library))
    if problems or book is None:
        raise Refused("\n".join(str(problem) for problem in problems))
    return book


def settings(book: Runbook, given: list[str]) -> dict[str, Any]:
    """`--set name=value` as typed inputs."""
    from gpudoctor.engine.plan import cast
    from gpudoctor.runbook.lint import unknown

    made: dict[str, Any] = {}
    for item in given:
        name, equals, text = item.partition("=")
        if not equals:
            raise Refused(f"--set {item}: the form is name=value")
        if name not in book.inputs:
            raise Refused(f"--set {item}: {unknown('input of ' + book.id, name, book.inputs)}")
        try:
            made[name] = cast(text, book.inputs[name].type)
        except ValueError as error:
            raise Refused(f"--set {item}: {error}") from None
    return made


def progress(format: str) -> Any:  # noqa: A002 - the option's name
    """A line for each step as it ends, on a terminal only."""
    if format != "terminal" or not sys.stderr.isatty():
        return None
    from gpudoctor.reporters.progress import line

    def on_step(step: StepResult) -> None:
        print(line(step), file=sys.stderr, flush=True)

    return on_step


def printed(report: Report, format: str, verbose: bool, no_color: bool) -> int:  # noqa: A002 - the option's name
    """Print a report; returns the exit code of its verdict."""
    import shutil

    from gpudoctor.reporters import render

    color = sys.stdout.isatty() and not no_color and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 25)).columns
    sys.stdout.write(render(report, format, width=width, color=color, verbose=verbose))
    return EXIT_CODES.get(report.verdict, INCONCLUSIVE)


def analyze_paths(paths: list[str], *, format: str, verbose: bool, no_color: bool) -> int:  # noqa: A002 - the option's name
    """Diagnose from files."""
    from gpudoctor.analyze.gather import gather
    from gpudoctor.engine.diagnose import analyze
    from gpudoctor.reporters import REPORTERS

    if format not in REPORTERS:
        raise Refused(f"there is no format '{format}'; there are {', '.join(REPORTERS)}")
    for path in paths:
        if path != "-" and not Path(path).exists():
            raise Refused(f"{path} is not there")
    library = loaded()
    gathered = gather(paths)
    return printed(analyze(library, gathered.facts, gathered.inputs, gathered.now), format, verbose, no_color)
