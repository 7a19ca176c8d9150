"""`gpudoctor nccl`: why a distributed job does not start, hangs or fails, from its logs, its pods, its hosts, or NCCL's own RAS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_pod
from gpudoctor.cli.errors import NOT_GUIDED, Refused
from gpudoctor.cli.printing import Shown
from gpudoctor.patterns import regex

if TYPE_CHECKING:
    from gpudoctor.analyze.gather import Gathered
    from gpudoctor.cli.where import Where
    from gpudoctor.intake.budget import Budget

RAS_PORT = 28028  # NCCL_RAS_ADDR's default
# gpu-07  |  gpu-07:28028  |  [2001:db8::7]:28028
RAS = regex(r"(?:\[([0-9A-Fa-f:.%]{2,60})\]|([A-Za-z0-9][A-Za-z0-9_.-]{0,252}))(?::(\d{1,5}))?\Z")


def nccl(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[LOG… | DIR | -]", help="Logs of ranks, flight-recorder dumps, stacks; - is standard input."),
    ] = None,
    pod: Annotated[str, typer.Option("--pod", help="A pod of the job.", autocompletion=complete_pod)] = "",
    job: Annotated[str, typer.Option("--job", help="The job, as NAME or TYPE/NAME: pytorchjob/train.")] = "",
    selector: options.Selector = "",
    namespace: options.Namespace = "",
    node: options.Node = None,
    local: options.Local = False,
    via: options.Via = "auto",
    fanout: options.Fanout = 32,
    ras: Annotated[str, typer.Option("--ras", metavar="HOST[:PORT]", help="Ask NCCL itself on a rank's host (2.24 and later).")] = "",
    env: Annotated[bool, typer.Option("--env", help="What the settings do that are in force, and which of them harm.")] = False,
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    no_exec: options.NoExec = False,
    timeout: options.Timeout = 120.0,
    record: options.Record = None,
    replay: options.Replay = None,
    guided: options.Guided = False,
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    explain_path: options.ExplainPath = False,
    no_color: options.NoColor = False,
) -> None:
    """Why a distributed job doesn't start, hangs or fails.

    Who was first, who is behind, and what is wrong there.

    \b
    gpudoctor nccl slurm-4242.out                     a log of all ranks, or one file a rank
    gpudoctor nccl logs/ --node gpu-[01-16]           a folder with logs and dumps, and the hosts themselves
    gpudoctor nccl --job pytorchjob/train -n ml       the logs of all its pods, then the hosts of the suspects
    gpudoctor nccl --ras gpu-07                       a job that hangs now
    """
    from gpudoctor.cli.where import Where

    where = Where(
        context=context,
        kubeconfig=kubeconfig,
        namespace=namespace,
        no_exec=no_exec,
        nodes=list(node or []),
        local=local,
        via=via,
        fanout=fanout,
        record=record,
        replay=replay,
        guided=guided,
    )
    inputs, asked = env_inputs(pod, job, selector, namespace, ras) if env else job_inputs(pod, job, selector, namespace, ras)
    shown = Shown.asked_for(format, short, output, verbose, no_color, path=explain_path)
    raise typer.Exit(diagnose_job(list(paths or []), inputs, asked, where, "nccl-env" if env else "nccl", timeout, shown))


def job_inputs(pod: str, job: str, selector: str, namespace: str, ras: str) -> tuple[dict[str, Any], str]:
    """The inputs of `nccl` that were given, and the question in one line. Raises `Refused`."""
    from gpudoctor.cli.inputs import pod_inputs

    if sum(map(bool, (pod, job, selector))) > 1:
        raise Refused("give --pod, or --job, or -l SELECTOR: one of them")
    inputs: dict[str, Any] = {}
    asked = ""
    if pod or job or selector:
        target = f"pod/{pod.removeprefix('pod/')}" if pod else job if "/" in job or not job else f"job/{job}"
        inputs, asked = pod_inputs(target, namespace, selector, all_namespaces=False)
    if ras:
        match = RAS.match(ras)
        if not match:
            raise Refused(f"--ras takes HOST or HOST:PORT, not '{ras[:80]}'")
        inputs |= {"ras": match[1] or match[2], "ras_port": int(match[3] or RAS_PORT)}
        asked = asked or f"NCCL on {ras}"
    return inputs, asked


def env_inputs(pod: str, job: str, selector: str, namespace: str, ras: str) -> tuple[dict[str, Any], str]:
    """The inputs of `nccl-env`, and the question in one line. Raises `Refused`."""
    if job or ras:
        raise Refused("--env is about one --pod, pods with -l SELECTOR, --node, --local, or files")
    inputs, asked = job_inputs(pod, "", selector, namespace, "")
    names = {"name": "name", "selector": "pods", "namespace": "namespace"}
    return {names[key]: value for key, value in inputs.items() if key in names}, asked or (f"pods with {selector}" if selector else "")


def diagnose_job(paths: list[str], inputs: dict[str, Any], asked: str, where: Where, book: str, timeout: float, shown: Shown) -> int:
    """What files say alone; with pods or hosts, both together. Returns the exit code."""
    from gpudoctor.cli.execute import check_timeout, execute
    from gpudoctor.cli.paths import reading_budget

    asks = bool(inputs or where.nodes or where.local or where.replay)
    if paths and where.guided:
        raise Refused(NOT_GUIDED)
    if not asks and not paths:
        raise Refused(
            "which job? give its logs (`gpudoctor nccl logs/`), --pod, --job or -l SELECTOR, --node or --local for hosts, --ras HOST"
        )
    if paths and asks and (where.record or where.replay):
        raise Refused("--record and --replay are for what a cluster says: keep the files beside it")
    check_timeout(timeout)
    gathered = None
    if paths:
        with reading_budget(timeout) as budget:
            gathered = read(paths, shown.format, budget)
            if not asks:
                return from_files(gathered, book, shown)
        timeout = max(1.0, budget.seconds)
        asked = asked or f"{len(paths)} file{'s' if len(paths) > 1 else ''} and their hosts"
    return execute(book, inputs, where, asked=asked, timeout=timeout, gathered=gathered, shown=shown)


def read(paths: list[str], format: str, budget: Budget) -> Gathered:
    """The facts of files and folders. Raises `Refused` for one that isn't there."""
    from gpudoctor.analyze.gather import gather
    from gpudoctor.cli.paths import check_paths, reading_progress

    check_paths(paths, budget)
    return gather(paths, reading_progress(format), budget)


def from_files(gathered: Gathered, book: str, shown: Shown) -> int:
    """The report of what files say, with the tables of the runbook."""
    from gpudoctor.cli.execute import find_runbook, load_library
    from gpudoctor.cli.printing import check_shown, print_report
    from gpudoctor.engine.diagnose import analyze

    check_shown(shown)
    library = load_library()
    tables = find_runbook(library, book)
    report = analyze(library, gathered.facts, gathered.inputs, gathered.now, tables, explain_path=shown.path)
    return print_report(report, shown)
