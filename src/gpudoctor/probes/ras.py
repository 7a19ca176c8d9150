"""NCCL's RAS asked without its client: argv ("ncclras", …) in, what `ncclras` would print out. For machines that don't have the program.

The protocol is lines of text (src/ras/client_support.cc of NCCL, 2.24 and later):

    CLIENT PROTOCOL 2    → SERVER PROTOCOL 2
    TIMEOUT 5            → OK                (only with -t)
    SET FORMAT json      → OK                (only with -f; NCCL before 2.28.7: ERROR: Unknown command …)
    STATUS               → the answer, until the server closes; or VERBOSE STATUS

It listens on localhost:28028 of each node of the job unless NCCL_RAS_ADDR says otherwise.
"""

from __future__ import annotations

import socket
import time
from concurrent.futures import TimeoutError as Late

from gpudoctor.probes.base import Command, Failure, Output, time_limit_text
from gpudoctor.probes.deadline import Deadline, run_within

PORT = "28028"
LIMIT = 64 << 20  # bytes of one answer; JSON has 600 for a rank of a communicator
LINE = 1024  # bytes of a reply that isn't the answer; its client reads as many
CHUNK = 1 << 16
VALUED = {
    "-h": "host",
    "--host": "host",
    "-p": "port",
    "--port": "port",
    "-f": "format",
    "--format": "format",
    "-t": "wait",
    "--timeout": "wait",
}
LISTENS = (
    "NCCL's RAS (2.24 and later, NCCL_RAS_ENABLE) listens on localhost:28028 of each node of a running job unless NCCL_RAS_ADDR is set"
)


class Broken(Exception):
    """The far side does not speak the protocol."""


def run(command: Command) -> Output:
    """The answer, or why there is none. Never raises for what the far side does; what was read until a time-out is kept."""
    deadline = Deadline(command.timeout)
    options = ncclras_options(command.argv)
    where = f"{options['host']}:{options['port']}"
    read = bytearray()
    failure: Failure = ""
    reason = ""
    try:
        run_within(deadline.left, lambda: talk(options, read, deadline))
    except (Late, TimeoutError):
        failure, reason = "timeout", f"NCCL's RAS at {where} did not answer within {time_limit_text(command.timeout)}"
    except OSError as error:
        failure, reason = "unreachable", f"{where}: {error.strerror or error}; {LISTENS}"
    except (Broken, ValueError) as error:
        failure, reason = "broken", f"{where} is not NCCL's RAS: {error}"
    if len(read) > LIMIT:
        failure, reason = "too-large", f"NCCL's RAS at {where} sent more than {LIMIT >> 20} MiB"
    pages = (bytes(read[:LIMIT]),)  # a copy: a thread that is late may still write
    return Output(command, 1 if failure else 0, pages, b"", deadline.spent, time.time(), failure, reason)


def ncclras_options(argv: tuple[str, ...]) -> dict[str, str]:
    """The options of an `ncclras` command.

    >>> ncclras_options(("ncclras", "-v", "-h", "gpu-01"))
    {'host': 'gpu-01', 'port': '28028', 'format': '', 'wait': '', 'verbose': 'yes'}
    """
    said = {"host": "localhost", "port": PORT, "format": "", "wait": "", "verbose": ""}
    words = iter(argv[1:])
    for word in words:
        name, _, value = word.partition("=")
        if name in VALUED:
            said[VALUED[name]] = value or next(words, "")
        elif name in ("-v", "--verbose"):
            said["verbose"] = "yes"
    return said


def talk(options: dict[str, str], read: bytearray, deadline: Deadline) -> None:
    """The whole conversation; the answer is put into `read` as it comes."""
    with socket.create_connection((options["host"], int(options["port"])), timeout=deadline.left) as far:
        reply = exchange(far, "CLIENT PROTOCOL 2", deadline)
        if not reply.upper().startswith("SERVER PROTOCOL "):
            raise Broken(f"it answers {reply[:80]!r}")
        for line, value in (("TIMEOUT", options["wait"]), ("SET FORMAT", options["format"])):
            # An older NCCL doesn't know the line; its text is an answer too.
            if value and not (reply := exchange(far, f"{line} {value}", deadline)).startswith(("OK", "ERROR")):
                raise Broken(f"it answers {reply[:80]!r}")
        far.sendall(b"VERBOSE STATUS\n" if options["verbose"] else b"STATUS\n")
        while len(read) <= LIMIT:
            far.settimeout(max(deadline.left, 0.001))
            if not (chunk := far.recv(CHUNK)):
                return
            read += chunk


def exchange(far: socket.socket, line: str, deadline: Deadline) -> str:
    """Say a line; → the line that comes back."""
    far.sendall(line.encode() + b"\n")
    reply = bytearray()
    while not reply.endswith(b"\n"):
        far.settimeout(max(deadline.left, 0.001))
        chunk = far.recv(1)  # byte by byte: what follows the line is the answer
        if not chunk:
            raise Broken("it closed the connection")
        reply += chunk
        if len(reply) > LINE:
            raise Broken("it sends no lines")
    return reply.decode("utf-8", "replace").strip()
