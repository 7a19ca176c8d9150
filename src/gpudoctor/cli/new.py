"""`gpudoctor new`: the files that a runbook, a check or an output to read begins with. What they hold is in `skeletons/`, and works.

There is no `from __future__ import annotations` here: typer evaluates each annotation that is text twice.
"""

from pathlib import Path
from typing import Annotated

import typer

from gpudoctor.cli.complete import complete_cause, complete_runbook

new_app = typer.Typer(no_args_is_help=True, help="Write the first files of a runbook, a check or a parser.")


@new_app.command("runbook")
def new_runbook(name: Annotated[str, typer.Argument(metavar="ID", help="Its id: small letters, digits and dashes.")]) -> None:
    """A runbook with its paired test and three cases, which pass as they are.

    \b
    gpudoctor new runbook storage-latency
    """
    from gpudoctor.cli import skeletons

    print_written_files(skeletons.runbook(name), f"gpudoctor test {skeletons.runbook_path(name)}")


@new_app.command("check")
def new_check(
    name: Annotated[str, typer.Argument(metavar="RUNBOOK.CHECK", help="The runbook and the check's id.", autocompletion=complete_runbook)],
    cause: Annotated[str, typer.Argument(help="The cause that it finds; a new one gets an entry.", autocompletion=complete_cause)],
    step: Annotated[str, typer.Option(help="The step that it hangs on; the last one that has checks by default.")] = "",
) -> None:
    """A check in a runbook of ours, with a case of its test; a cause that isn't in the catalogue gets an entry there.

    \b
    gpudoctor new check gpu-health.fan_stopped gpu-fan-stopped
    """
    from gpudoctor.cli import skeletons

    runbook, _, check = name.partition(".")
    print_written_files(skeletons.check(runbook, check, cause, step), f"gpudoctor lint, and gpudoctor test runbooks/{runbook}.yaml")


@new_app.command("parser")
def new_parser(
    tool: Annotated[str, typer.Argument(help="A folder of src/gpudoctor/tools: dcgm, linux, slurm …")],
    name: Annotated[str, typer.Argument(help="The output's name: small letters, digits and underscores.")],
    command: Annotated[str, typer.Option(help="The command that prints it.")] = "",
) -> None:
    """A reader of an output, how it is recognised, and its test.

    \b
    gpudoctor new parser linux sensors --command "sensors -u"
    """
    from gpudoctor.cli import skeletons

    print_written_files(
        skeletons.parser(tool, name, command or f"{tool} {name}"),
        f"pytest tests/test_{tool}_{name}.py, and tests/test_parsers_hostile.py -k {name}",
    )


def print_written_files(written: list[Path], then: str) -> None:
    """Print the files that were written, and what to do next."""
    for path in written:
        print(path)
    print(f"next: edit them, then run {then}")
