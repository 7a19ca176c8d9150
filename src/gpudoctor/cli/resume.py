"""`gpudoctor resume` and `gpudoctor sessions`: options in, one call, exit code out."""

from typing import Annotated

import typer

from gpudoctor.cli import options
from gpudoctor.cli.complete import complete_session
from gpudoctor.cli.printing import Shown


def resume(
    session: Annotated[
        str, typer.Argument(metavar="[ID]", help="The session; the last unfinished one by default.", autocompletion=complete_session)
    ] = "",
    format: options.Format = "",
    short: options.Short = False,
    output: options.OutputFile = None,
    verbose: options.Verbose = False,
    no_color: options.NoColor = False,
) -> None:
    """Go on with a guided session, at the step where it ended.

    What was read and decided before is kept.

    \b
    gpudoctor resume          the last unfinished one
    gpudoctor resume k3f      the one whose name ends so
    """
    from gpudoctor.cli.sessions import resume

    raise typer.Exit(resume(session, Shown.asked_for(format, short, output, verbose, no_color)))


def sessions() -> None:
    """List the guided sessions, the newest first."""
    from gpudoctor.cli.sessions import list_sessions

    raise typer.Exit(list_sessions())
