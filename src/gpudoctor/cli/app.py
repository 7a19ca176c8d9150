"""The commands: options in, one call, exit code out. Heavy imports happen inside the commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from gpudoctor import __version__
from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_cause, complete_pod, complete_runbook, complete_scenario

EXIT_CODES_HELP = """Exit codes: 0 healthy, 1 problem found, 2 usage or not found, 3 inconclusive (something could not be read),
4 consent was needed, 70 internal error, 130 interrupted."""


class MainJobFirst(TyperGroup):
    """The commands in the order in which a newcomer needs them; typer would put groups last."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # the same class under typer's own name
        """`diagnose` before the others."""
        return sorted(super().list_commands(ctx), key=lambda name: name != "diagnose")


app = typer.Typer(
    name="gpudoctor",
    cls=MainJobFirst,
    help="Executes GPU-cluster runbooks and prints the root cause, its evidence and the fix. It only reads.",
    epilog=EXIT_CODES_HELP,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
diagnose_app = typer.Typer(help="Diagnose something in the cluster.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(diagnose_app, name="diagnose")


def version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"gpudoctor {__version__}")
        raise typer.Exit


@app.callback()
def main(
    show_version: Annotated[bool, typer.Option("--version", callback=version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """Options of gpudoctor itself."""


@diagnose_app.command("pod", epilog=EXIT_CODES_HELP)
def diagnose_pod(
    target: Annotated[
        str, typer.Argument(metavar="[NAME | TYPE/NAME]", help="A pod, or what owns it: job/train.", autocompletion=complete_pod)
    ] = "",
    namespace: options.Namespace = "",
    selector: options.Selector = "",
    all_namespaces: options.AllNamespaces = False,
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    no_exec: options.NoExec = False,
    timeout: options.Timeout = 120.0,
    record: options.Record = None,
    replay: options.Replay = None,
    format: options.Format = "terminal",
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """Why a pod that should use a GPU doesn't run, or doesn't see one.

    \b
    gpudoctor diagnose pod train-0 -n ml       one pod
    gpudoctor diagnose pod job/train -n ml     from the owner down, for pods that were never created too
    gpudoctor diagnose pod -A                  every GPU pod that isn't well, folded by cause
    """
    from gpudoctor.cli.execute import Where, execute
    from gpudoctor.cli.inputs import pod_inputs

    where = Where(context=context, kubeconfig=kubeconfig, namespace=namespace, no_exec=no_exec, record=record, replay=replay)
    inputs, asked = pod_inputs(target, namespace, selector, all_namespaces)
    raise typer.Exit(
        execute("diagnose-pod", inputs, where, asked=asked, timeout=timeout, format=format, verbose=verbose, no_color=no_color)
    )


@app.command(epilog=EXIT_CODES_HELP)
def run(
    runbook: Annotated[
        str, typer.Argument(help="Id or path of a runbook; with --replay the recorded one by default.", autocompletion=complete_runbook)
    ] = "",
    set_: options.Set = None,
    namespace: options.Namespace = "",
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    no_exec: options.NoExec = False,
    timeout: options.Timeout = 120.0,
    record: options.Record = None,
    replay: options.Replay = None,
    format: options.Format = "terminal",
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """Execute a runbook.

    \b
    gpudoctor run gpu-stack --set node=gpu-02
    gpudoctor run diagnose-pod --set name=train-0 --set namespace=ml --record incident-42
    gpudoctor run --replay incident-42
    """
    from gpudoctor.cli.execute import Where, execute

    where = Where(context=context, kubeconfig=kubeconfig, namespace=namespace, no_exec=no_exec, record=record, replay=replay)
    raise typer.Exit(execute(runbook, list(set_ or []), where, timeout=timeout, format=format, verbose=verbose, no_color=no_color))


@app.command(epilog=EXIT_CODES_HELP)
def analyze(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…|-", help="Files and folders with outputs; - is standard input.")],
    format: options.Format = "terminal",
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """Diagnose from outputs that you already have: kubectl, logs, manifests, nvidia-smi.

    \b
    kubectl describe pod train-0 | gpudoctor analyze -
    gpudoctor analyze incident-folder/ dmesg.txt
    """
    from gpudoctor.cli.execute import analyze_paths

    raise typer.Exit(analyze_paths(paths, format=format, verbose=verbose, no_color=no_color))


@app.command(epilog=EXIT_CODES_HELP)
def demo(
    scenario: Annotated[
        str, typer.Argument(help="Name of a recorded incident; none shows the list.", autocompletion=complete_scenario)
    ] = "",
    format: options.Format = "terminal",
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """Show the main job on a recorded incident. Needs no GPU and no cluster.

    \b
    gpudoctor demo         the list
    gpudoctor demo taint   a pod that waits because the GPU nodes have a taint
    """
    from gpudoctor.cli.scenarios import demonstrate

    raise typer.Exit(demonstrate(scenario, format=format, verbose=verbose, no_color=no_color))


@app.command("list")
def list_() -> None:
    """List the runbooks."""
    from gpudoctor.cli.library import list_runbooks

    raise typer.Exit(list_runbooks())


@app.command()
def show(
    runbook: Annotated[str, typer.Argument(help="Id or path of a runbook.", autocompletion=complete_runbook)],
    rbac: Annotated[bool, typer.Option("--rbac", help="Print the least ClusterRole that the runbook needs; pods/exec apart.")] = False,
) -> None:
    """Show what a runbook would run, where, and for how long at most."""
    from gpudoctor.cli.library import show_rbac, show_runbook

    raise typer.Exit(show_rbac(runbook) if rbac else show_runbook(runbook))


@app.command()
def explain(cause: Annotated[str, typer.Argument(help="Name of a cause.", autocompletion=complete_cause)]) -> None:
    """Explain a cause: what it means, what to do, who can do it, what it brings about.

    \b
    gpudoctor explain untolerated-taint
    """
    from gpudoctor.cli.library import explain_cause

    raise typer.Exit(explain_cause(cause))


@app.command()
def lint(paths: Annotated[list[Path] | None, typer.Argument(help="Runbooks; all of ours by default.")] = None) -> None:
    """Check runbooks, catalogue and messages. Exit code 1 when something is wrong."""
    from gpudoctor.cli.authors import lint_files

    raise typer.Exit(lint_files(paths or []))


@app.command("test")
def paired_tests(
    paths: Annotated[list[Path] | None, typer.Argument(help="Runbooks or .test.yaml files; all of ours by default.")] = None,
) -> None:
    """Run the paired tests of runbooks on their recorded bundles. Exit code 1 when one fails."""
    from gpudoctor.cli.authors import run_tests

    raise typer.Exit(run_tests(paths or []))


@app.command()
def schema(write: Annotated[bool, typer.Option("--write", help="Write schema/*.json instead of printing the runbook's.")] = False) -> None:
    """Print the JSON Schema of a runbook, for editors."""
    from gpudoctor.cli.authors import print_schema

    raise typer.Exit(print_schema(write))
