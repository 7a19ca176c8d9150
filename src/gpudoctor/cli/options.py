"""The options that commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpudoctor.cli.complete import complete_bundle, complete_context, complete_namespace

Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="Namespace; the context's own by default.", autocompletion=complete_namespace)
]
Selector = Annotated[str, typer.Option("--selector", "-l", help="Only pods with these labels, for example app=train.")]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.")]
Context = Annotated[str | None, typer.Option("--context", help="Context of the kubeconfig.", autocompletion=complete_context)]
Kubeconfig = Annotated[Path | None, typer.Option("--kubeconfig", help="Path of the kubeconfig.")]
NoExec = Annotated[bool, typer.Option("--no-exec", help="Never run a command inside a container.")]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds for the whole run.")]
Record = Annotated[Path | None, typer.Option("--record", help="Write everything that is read into this folder, redacted, for --replay.")]
Replay = Annotated[
    Path | None, typer.Option("--replay", help="Answer from a recorded folder instead of the cluster.", autocompletion=complete_bundle)
]
Format = Annotated[str, typer.Option("--format", help="terminal or json.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step, table and check.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colours; NO_COLOR in the environment does the same.")]
Set = Annotated[list[str] | None, typer.Option("--set", help="An input of the runbook, as name=value; may be repeated.")]
