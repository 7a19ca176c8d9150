"""The options that commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpudoctor.cli.complete import complete_bundle, complete_context, complete_format, complete_namespace, complete_node

EXIT_CODES_HELP = """Exit codes: 0 healthy, 1 problem found, 2 usage or not found, 3 inconclusive (something could not be read),
4 consent was needed, 70 internal error, 130 interrupted.
There is no pager: on a terminal the answer comes last, and --short prints one line for each cause."""

Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="Namespace; the context's own by default.", autocompletion=complete_namespace)
]
Selector = Annotated[str, typer.Option("--selector", "-l", help="Only pods with these labels, for example app=train.")]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.")]
Context = Annotated[str | None, typer.Option("--context", help="Context of the kubeconfig.", autocompletion=complete_context)]
Kubeconfig = Annotated[Path | None, typer.Option("--kubeconfig", help="Path of the kubeconfig.")]
NoExec = Annotated[bool, typer.Option("--no-exec", help="Never run a command inside a container.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds for the whole run.")]
Fanout = Annotated[int, typer.Option("--fanout", min=1, max=1024, help="Hosts that are asked at the same time.")]
AllowDisruptive = Annotated[bool, typer.Option("--allow-disruptive", help="Also run the steps that disturb running work.")]
Record = Annotated[Path | None, typer.Option("--record", help="Write everything that is read into this folder, redacted, for --replay.")]
Replay = Annotated[
    Path | None, typer.Option("--replay", help="Answer from a recorded folder or its archive.", autocompletion=complete_bundle)
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="terminal, short, json, markdown, html or junit; by default as the file of -o ends.",
        autocompletion=complete_format,
    ),
]
Short = Annotated[bool, typer.Option("--short", help="One line for each cause, for grep; the same as --format short.")]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report into this file instead of printing it.")]
Guided = Annotated[bool, typer.Option("--guided", help="Step by step: say what comes and why, ask before each step, keep a session.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step, table and check.")]
Picture = Annotated[Path | None, typer.Option("--picture", help="Write what was watched over time into this file, as SVG.")]
ExplainPath = Annotated[bool, typer.Option("--explain-path", help="Say why these causes and no others, check by check.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours. NO_COLOR=1 does the same; CLICOLOR_FORCE=1 keeps them in a pipe.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="An input of the runbook, as name=value; may be repeated.")]
Node = Annotated[
    list[str] | None,
    typer.Option("--node", "--host", help="Nodes, as a node set: gpu-02, or gpu-[01-16,18].", autocompletion=complete_node),
]
NodeSelector = Annotated[str, typer.Option("--selector", "-l", help="Nodes with these labels: nvidia.com/gpu.present=true.")]
Local = Annotated[bool, typer.Option("--local", help="This machine.")]
Via = Annotated[str, typer.Option("--via", help="How a node is reached: auto (a pod of the GPU stack, else ssh), pod, ssh, debug-pod.")]
