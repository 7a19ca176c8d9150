"""The entry point: one error funnel, one exit. Exit codes are an interface, see `EXIT_CODES_HELP`."""

from __future__ import annotations

import errno
import gc
import os
import sys
import warnings
from typing import NoReturn, TextIO

from gpudoctor import leaving
from gpudoctor.cli.errors import USAGE, Refused, complain
from gpudoctor.cli.screen import output_error, set_up

# New objects after which Python looks for cycles, and how often it then looks at older ones. Nearly everything that a run makes lives
# until its end: with Python's own 700, 10, 10 a tenth of a short run goes into looking, with 10,000 still a twentieth.
CYCLES = (100_000, 20, 20)


def main() -> NoReturn:
    """Run the command line and leave at once: a probe that hangs unkillably must not hold the process."""
    gc.set_threshold(*CYCLES)
    if not sys.warnoptions:  # neither `python -W` nor PYTHONWARNINGS asks for them
        warnings.simplefilter("ignore")  # what a library warns of is for its users, and ours can do nothing about it
    leaving.listen()
    set_up()
    code = run_guarded()
    for left in leaving.at_once():
        complain(left)
    os._exit(code)


def run_guarded() -> int:
    """The command line's exit code, whatever happens inside. After a signal nothing more is printed: its reader may be what hangs."""
    try:
        return flush_output(sys.stdout, run_reporting_errors())
    except KeyboardInterrupt:
        return 130
    except leaving.Ended as ended:
        return ended.code
    except MemoryError:  # also while an error is said
        os.write(2, b"gpudoctor: there is not enough memory: see `ulimit -v`, or the limit of the container\n")
        return USAGE


def run_reporting_errors() -> int:
    """Run the command and print its error; returns the exit code."""
    out = sys.stdout
    try:
        code = invoke()
        return code if sys.stdout is out else 0  # a reader has left, which click makes a 1 of, and puts another stream there
    except Refused as error:
        complain(str(error))
        return error.code
    except MemoryError:
        raise
    except Exception as error:
        if not (isinstance(error, OSError) and output_error(out)):
            return internal_error()
        return 0 if isinstance(error, BrokenPipeError) else USAGE


def flush_output(out: TextIO, code: int) -> int:
    """The exit code, once standard output is written. That its reader has left (`| head`) is no error."""
    trouble = output_error(out)
    if trouble is None or trouble.errno == errno.EPIPE:
        return code
    complain(f"standard output can't be written: {trouble.strerror or trouble}")
    return USAGE


def invoke() -> int:
    """Parse the arguments and run the command; a command ends with `typer.Exit(code)`."""
    if len(sys.argv) == 1 and sys.stdout.isatty():  # who looks; a script gets the usage
        from gpudoctor.cli.start import start

        return start(program())
    from gpudoctor.cli.app import with_only

    try:
        with_only(*sys.argv[1:2] or [""])(prog_name=program())
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 0
    return 0


def program() -> str:
    """`kubectl gpudoctor` when run as the plugin."""
    return "kubectl gpudoctor" if sys.argv[0].rsplit("/", 1)[-1].startswith("kubectl-") else "gpudoctor"


def internal_error() -> int:
    """An error of ours: no traceback on the screen, a file to attach instead. What it quotes may be a secret."""
    import platform
    import tempfile
    import traceback

    from gpudoctor import __version__
    from gpudoctor.probes.foreign_text import without_credentials
    from gpudoctor.probes.redact import Redactor

    machine = f"gpudoctor {__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    text = Redactor().text(without_credentials(f"{machine}\n{traceback.format_exc()}"))
    try:
        with tempfile.NamedTemporaryFile("w", prefix="gpudoctor-error-", suffix=".txt", delete=False, errors="replace") as file:
            file.write(text)
        complain(f"internal error; please attach {file.name} to a bug report")
    except OSError:
        complain(f"internal error; please attach this to a bug report:\n{text}")
    return 70


if __name__ == "__main__":
    main()
