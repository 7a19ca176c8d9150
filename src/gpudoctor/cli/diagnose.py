"""`gpudoctor diagnose pod` and `diagnose node`: options in, one call, exit code out."""

from typing import Annotated

import typer

from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_node, complete_pod
from gpudoctor.cli.kubectl_options import AsKubectl
from gpudoctor.cli.options import EXIT_CODES_HELP
from gpudoctor.cli.printing import Shown

diagnose_app = typer.Typer(help="Diagnose something in the cluster.", no_args_is_help=True, rich_markup_mode=None)


@diagnose_app.command("pod", cls=AsKubectl, epilog=EXIT_CODES_HELP)
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
    guided: options.Guided = False,
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    explain_path: options.ExplainPath = False,
    no_color: options.NoColor = False,
) -> None:
    """Why a pod that should use a GPU doesn't run, or doesn't see one.

    \b
    gpudoctor diagnose pod train-0 -n ml       one pod
    gpudoctor diagnose pod job/train -n ml     from the owner down, for pods that were never created too
    gpudoctor diagnose pod -A                  every GPU pod that isn't well, folded by cause
    """
    from gpudoctor.cli.execute import execute
    from gpudoctor.cli.inputs import pod_inputs
    from gpudoctor.cli.where import Where

    # The question is about the cluster, and goes nowhere else: no ssh.
    where = Where(
        context=context, kubeconfig=kubeconfig, namespace=namespace, no_exec=no_exec, via="pod", record=record, replay=replay, guided=guided
    )
    inputs, asked = pod_inputs(target, namespace, selector, all_namespaces)
    raise typer.Exit(
        execute(
            "diagnose-pod",
            inputs,
            where,
            asked=asked,
            timeout=timeout,
            shown=Shown.asked_for(format, short, output, verbose, no_color, path=explain_path),
        )
    )


@diagnose_app.command("node", cls=AsKubectl, epilog=EXIT_CODES_HELP)
def diagnose_node(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NODE…]", help="Nodes, as node sets: gpu-02, gpu-[01-16,18].", autocompletion=complete_node),
    ] = None,
    node: options.Node = None,
    selector: options.NodeSelector = "",
    local: options.Local = False,
    via: options.Via = "auto",
    fanout: options.Fanout = 32,
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
    """What is wrong with the GPUs of nodes, from the bus up.

    Bus, driver, memory, NVLink, Xids, DCGM, and how a node differs from its peers.

    \b
    gpudoctor diagnose node gpu-07                             one node
    gpudoctor diagnose node gpu-[01-16,18]                     a node set; equal findings are folded
    gpudoctor diagnose node -l nvidia.com/gpu.present=true     by label
    gpudoctor diagnose node --local                            this machine, without any cluster
    """
    from gpudoctor.cli.execute import execute
    from gpudoctor.cli.where import Where

    where = Where(
        context=context,
        kubeconfig=kubeconfig,
        no_exec=no_exec,
        nodes=[*(names or []), *(node or [])],
        selector=selector,
        local=local,
        via=via,
        fanout=fanout,
        record=record,
        replay=replay,
        guided=guided,
    )
    raise typer.Exit(
        execute(
            "node-health", {}, where, timeout=timeout, shown=Shown.asked_for(format, short, output, verbose, no_color, path=explain_path)
        )
    )
