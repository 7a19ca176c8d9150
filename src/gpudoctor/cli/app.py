"""The commands: options in, one call, exit code out. Heavy imports happen inside the commands.

There is no `from __future__ import annotations` here: typer evaluates each annotation that is text twice.
"""

import copy
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from gpudoctor import __version__
from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_cause, complete_runbook, complete_scenario, complete_xid
from gpudoctor.cli.diagnose import diagnose_app
from gpudoctor.cli.kubectl_options import BesideInputs
from gpudoctor.cli.nccl import nccl
from gpudoctor.cli.new import new_app
from gpudoctor.cli.options import EXIT_CODES_HELP
from gpudoctor.cli.printing import Shown
from gpudoctor.cli.resume import resume, sessions
from gpudoctor.cli.verify import EXIT_CODES as VERIFY_EXIT_CODES
from gpudoctor.cli.verify import verify


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
app.add_typer(diagnose_app, name="diagnose")
app.add_typer(new_app, name="new")
app.command("nccl", epilog=EXIT_CODES_HELP)(nccl)
app.command("resume", epilog=EXIT_CODES_HELP)(resume)
app.command("sessions")(sessions)
app.command("verify", epilog=VERIFY_EXIT_CODES)(verify)


def with_only(name: str) -> typer.Typer:
    """The command line with no command but the named one; whole where no command is called that. Typer builds all that it has before it
    reads a word, which takes longer than to read the options of one.
    """
    commands = [one for one in app.registered_commands if name == (one.name or getattr(one.callback, "__name__", ""))]
    groups = [one for one in app.registered_groups if name == one.name]
    if not (commands or groups):
        return app
    less = copy.copy(app)
    less.registered_commands, less.registered_groups = commands, groups
    return less


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


@app.command(cls=BesideInputs, epilog=EXIT_CODES_HELP, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    ctx: typer.Context,
    runbook: Annotated[
        str, typer.Argument(help="Id or path of a runbook; with --replay the recorded one by default.", autocompletion=complete_runbook)
    ] = "",
    set_: options.Set = None,
    node: options.Node = None,
    selector: options.NodeSelector = "",
    local: options.Local = False,
    via: options.Via = "auto",
    namespace: options.Namespace = "",
    context: options.Context = None,
    kubeconfig: options.Kubeconfig = None,
    no_exec: options.NoExec = False,
    timeout: options.Timeout = 120.0,
    fanout: options.Fanout = 32,
    allow_disruptive: options.AllowDisruptive = False,
    record: options.Record = None,
    replay: options.Replay = None,
    guided: options.Guided = False,
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    explain_path: options.ExplainPath = False,
    no_color: options.NoColor = False,
    picture: options.Picture = None,
) -> None:
    """Execute a runbook. Its inputs are options: `--for 30s` is `--set for=30s`; `gpudoctor show RUNBOOK` lists them.

    \b
    gpudoctor run gpu-stack --node gpu-02
    gpudoctor run thermal-throttle --node gpu-[01-16] --for 30s
    gpudoctor run diagnose-pod --set name=train-0 --set namespace=ml --record incident-42
    gpudoctor run --replay incident-42
    """
    from gpudoctor.cli.execute import execute
    from gpudoctor.cli.inputs import further_options, no_such_option
    from gpudoctor.cli.where import Where

    runbook, further = further_options([runbook, *ctx.args])
    if further and not runbook and replay is None:
        raise no_such_option(further[0], [name for parameter in ctx.command.params for name in parameter.opts])
    where = Where(
        context=context,
        kubeconfig=kubeconfig,
        namespace=namespace,
        no_exec=no_exec,
        nodes=list(node or []),
        selector=selector,
        local=local,
        via=via,
        fanout=fanout,
        allow_disruptive=allow_disruptive,
        record=record,
        replay=replay,
        guided=guided,
    )
    shown = Shown.asked_for(format, short, output, verbose, no_color, picture, path=explain_path)
    raise typer.Exit(execute(runbook, [*(set_ or []), *further], where, timeout=timeout, shown=shown))


@app.command(epilog=EXIT_CODES_HELP)
def analyze(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…|-", help="Files and folders with outputs; - is standard input.")],
    timeout: options.Timeout = 120.0,
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    explain_path: options.ExplainPath = False,
    no_color: options.NoColor = False,
    picture: options.Picture = None,
) -> None:
    """Diagnose from outputs that you have: kubectl, logs, nvidia-smi.

    \b
    kubectl describe pod train-0 | gpudoctor analyze -
    gpudoctor analyze incident-folder/ dmesg.txt
    """
    from gpudoctor.cli.execute import analyze_paths

    raise typer.Exit(analyze_paths(paths, timeout, Shown.asked_for(format, short, output, verbose, no_color, picture, path=explain_path)))


@app.command(epilog=EXIT_CODES_HELP)
def xid(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CODE… | LINE | FILE… | -]", help="Codes, a pasted line, or kernel logs.", autocompletion=complete_xid),
    ] = None,
    node: options.Node = None,
    selector: options.NodeSelector = "",
    local: options.Local = False,
    via: options.Via = "auto",
    fanout: options.Fanout = 32,
    since: Annotated[str, typer.Option("--since", help="Of files only their end, this long: 2h.")] = "",
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
    """What an Xid means and what to do; every Xid of a log or node.

    \b
    gpudoctor xid 79                                  what it means, whose it is, what to do in which order
    gpudoctor xid 63 79 154                           several, and what they mean together
    gpudoctor xid 'NVRM: Xid (PCI:0000:52:00): 74, …' a pasted line, decoded
    dmesg | gpudoctor xid -                           a kernel log: one verdict for each GPU
    gpudoctor xid --since 2h /var/log/kern.log        only its last two hours
    gpudoctor xid --node gpu-[01-04]                  ask nodes
    """
    from gpudoctor.cli.errors import NOT_GUIDED, Refused
    from gpudoctor.cli.xid import asked_codes, explain_codes, triage_files

    shown = Shown.asked_for(format, short, output, verbose, no_color, path=explain_path)
    if asked := asked_codes(what or []):
        raise typer.Exit(explain_codes(asked, shown))
    if what and guided:
        raise Refused(NOT_GUIDED)
    if what:
        raise typer.Exit(triage_files(what, since, timeout, shown))
    from gpudoctor.cli.execute import execute
    from gpudoctor.cli.where import Where

    where = Where(
        context=context,
        kubeconfig=kubeconfig,
        no_exec=no_exec,
        nodes=list(node or []),
        selector=selector,
        local=local,
        via=via,
        fanout=fanout,
        record=record,
        replay=replay,
        guided=guided,
    )
    if since:
        raise Refused("--since is for files: of a node the log of this boot is read")
    if not (node or selector or local or replay):
        raise Refused(
            "which codes, log or nodes? `gpudoctor xid 79`, `gpudoctor xid dmesg.txt`, or --node gpu-[01-16], -l SELECTOR, --local"
        )
    raise typer.Exit(execute("xid-triage", {}, where, timeout=timeout, shown=shown))


@app.command(epilog=EXIT_CODES_HELP)
def demo(
    scenario: Annotated[
        str, typer.Argument(help="Name of a recorded incident; none shows the list.", autocompletion=complete_scenario)
    ] = "",
    guided: options.Guided = False,
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    explain_path: options.ExplainPath = False,
    no_color: options.NoColor = False,
) -> None:
    """Show the main job on a recorded incident. Needs no GPU and no cluster.

    \b
    gpudoctor demo         the list
    gpudoctor demo taint   a pod that waits because the GPU nodes have a taint
    gpudoctor demo taint --guided
    """
    from gpudoctor.cli.scenarios import demonstrate

    raise typer.Exit(demonstrate(scenario, Shown.asked_for(format, short, output, verbose, no_color, path=explain_path), guided))


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
    """Show what a runbook would run, and where."""
    from gpudoctor.cli.library import show_rbac, show_runbook

    raise typer.Exit(show_rbac(runbook) if rbac else show_runbook(runbook))


@app.command()
def explain(
    cause: Annotated[list[str], typer.Argument(help="A cause, a check, a variable, or words.", autocompletion=complete_cause)],
    format: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    no_color: options.NoColor = False,
) -> None:
    """Explain a cause: what it means, how to tell, what to do. Or a variable of a distributed job.

    \b
    gpudoctor explain untolerated-taint
    gpudoctor explain NCCL_IB_GID_INDEX
    """
    from gpudoctor.cli.explain import explain_name

    raise typer.Exit(explain_name("-".join(cause), format, no_color))


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
