"""The entry point: one error funnel, one exit. Exit codes are an interface, see `EXIT_CODES_HELP`."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import NoReturn

from gpudoctor.cli.errors import Refused, complain

# New objects after which Python looks for cycles, and how often it then looks at older ones. Nearly everything that a run makes lives
# until its end: with Python's own 700, 10, 10 a tenth of a short run goes into looking.
CYCLES = (10_000, 20, 20)


def main() -> NoReturn:
    """Run the command line and leave at once: a probe that hangs unkillably must not hold the process."""
    gc.set_threshold(*CYCLES)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a locale without `…` and `→` costs these characters, not the report
    code = guarded()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue
    os._exit(code)


def guarded() -> int:
    """The command line's exit code, whatever happens inside."""
    import signal

    # A terminal's second Ctrl-C, or a plain kill, is immediate.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    try:
        return invoke()
    except Refused as error:
        complain(str(error))
        return error.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
        return 130
    except BrokenPipeError:
        # The reader has left (`| head`): quiet, and nothing more is flushed into the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except Exception:
        return internal_error()


def invoke() -> int:
    """Parse the arguments and run the command; a command ends with `typer.Exit(code)`."""
    from gpudoctor.cli.app import app

    try:
        app(prog_name=program())
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0
    return 0


def program() -> str:
    """`kubectl gpudoctor` when run as the plugin."""
    return "kubectl gpudoctor" if sys.argv[0].rsplit("/", 1)[-1].startswith("kubectl-") else "gpudoctor"


def internal_error() -> int:
    """An error of ours: no traceback on the screen, a file to attach instead."""
    import platform
    import tempfile
    import traceback

    from gpudoctor import __version__

    text = (
        f"gpudoctor {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n{traceback.format_exc()}"
    )
    try:
        with tempfile.NamedTemporaryFile("w", prefix="gpudoctor-error-", suffix=".txt", delete=False) as file:
            file.write(text)
        complain(f"internal error; please attach {file.name} to a bug report")
    except OSError:
        complain(f"internal error: {sys.exc_info()[1]!r}")
    return 70


if __name__ == "__main__":
    main()
