"""Run one program on this machine under a total deadline. The only module that imports subprocess.

A program that talks to a sick GPU can hang in the kernel (state D), where even SIGKILL waits; it is then left behind and named.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from contextlib import suppress

from gpudoctor.probes.base import Command, Failure, Output
from gpudoctor.probes.deadline import Deadline

LIMIT = 64 << 20  # bytes of stdout and stderr together; an nvidia-bug-report is below 20 MiB
TERM_GRACE = 1.0  # seconds between SIGTERM and SIGKILL
KILL_GRACE = 2.0  # seconds until a killed process counts as stuck in the kernel
TICK = 0.05  # seconds between looks at a process whose pipes somebody else keeps open
DRAIN = 0.2  # seconds for emptying the pipes of a program that has ended
CHUNK = 1 << 16  # bytes: what a Linux pipe holds by default

# Processes that did not die. Kept, so that the interpreter does not warn of them or wait for them at exit.
_LEFT_BEHIND: list[subprocess.Popen[bytes]] = []


def run(command: Command) -> Output:
    """What the program printed. Its working directory is ours, its locale is C, its session and process group are its own.

    Failures: not-found, refused (no permission to execute), broken (cannot be started), timeout, too-large, unkillable. What had been
    printed until then is kept. Death by signal n is exit 128+n, as a shell has it.
    """
    deadline = Deadline(command.timeout)
    try:
        process = _start(command)
    except (OSError, ValueError, IndexError) as error:
        failure, reason = _why_not_started(command, error)
        return Output(command, seconds=deadline.spent, time=time.time(), failure=failure, reason=reason)
    out, err, failure = _converse(process, command.stdin, deadline)
    reason = ""
    if failure:
        limit = f"did not answer within {command.timeout:.3g} s" if failure == "timeout" else f"printed more than {LIMIT >> 20} MiB"
        reason = f"{command.argv[0]} {limit}"
        if not _kill(process):
            _LEFT_BEHIND.append(process)
            reason += f" and cannot be killed (process {process.pid} hangs in the kernel or belongs to another user); it was left behind"
            failure = "unkillable"
    code = process.returncode or 0
    return Output(
        command,
        exit=128 - code if code < 0 else code,
        pages=(out,),
        stderr=err,
        seconds=deadline.spent,
        time=time.time(),
        failure=failure,
        reason=reason,
    )


def _start(command: Command) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command.argv),
        stdin=subprocess.PIPE if command.stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
        bufsize=0,
    )


def _why_not_started(command: Command, error: Exception) -> tuple[Failure, str]:
    program = command.argv[0] if command.argv else "(no program)"
    if isinstance(error, FileNotFoundError):
        return "not-found", f"{program}: command not found"
    if isinstance(error, PermissionError):
        return "refused", f"{program}: no permission to run it"
    return "broken", f"{program}: cannot be started ({getattr(error, 'strerror', None) or error})"


def _converse(process: subprocess.Popen[bytes], stdin: bytes, deadline: Deadline) -> tuple[bytes, bytes, Failure]:
    """Feed and read the three pipes until the program has ended; → stdout, stderr, and why we stopped before that, if we did."""
    out, err = bytearray(), bytearray()
    try:
        failure = _pump(process, stdin, out, err, deadline)
        if not failure:
            process.wait(deadline.left)
    except subprocess.TimeoutExpired:
        failure = "timeout"
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()
    return bytes(out), bytes(err), failure


def _pump(process: subprocess.Popen[bytes], stdin: bytes, out: bytearray, err: bytearray, deadline: Deadline) -> Failure:
    """Move bytes until all pipes are closed, or the program has ended and the pipes are drained.

    What a dead program wrote is in the pipe already, so a grandchild that keeps the pipe open is not waited for.
    """
    rest = memoryview(stdin)
    drained_by = float("inf")
    with selectors.DefaultSelector() as selector:
        for pipe, sink in ((process.stdin, None), (process.stdout, out), (process.stderr, err)):
            if pipe:
                os.set_blocking(pipe.fileno(), False)
                selector.register(pipe, selectors.EVENT_READ if sink is not None else selectors.EVENT_WRITE, sink)
        while selector.get_map():
            ended = process.poll() is not None
            if ended:
                drained_by = min(drained_by, time.monotonic() + DRAIN)
            read = False
            for key, _ in selector.select(0 if ended else min(TICK, deadline.left)):
                if key.data is None:
                    rest = _feed(key.fd, rest)
                    finished = not rest
                else:
                    chunk = os.read(key.fd, CHUNK)
                    key.data.extend(chunk)
                    finished, read = not chunk, True
                if finished:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
            if len(out) + len(err) > LIMIT:
                return "too-large"
            if ended and (not read or time.monotonic() > drained_by):
                return ""
            if not deadline.left:
                return "timeout"
    return ""


def _feed(pipe: int, rest: memoryview) -> memoryview:
    """Write what fits; → what is left, nothing when the program no longer reads."""
    try:
        return rest[os.write(pipe, rest[:CHUNK]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _kill(process: subprocess.Popen[bytes]) -> bool:
    """End the whole process group: TERM, then KILL. → whether the program is gone."""
    for number, grace in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
        with suppress(ProcessLookupError, PermissionError):  # gone, or set-uid: the wait tells
            os.killpg(process.pid, number)
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            continue
        with suppress(ProcessLookupError, PermissionError):  # the group outlives its leader
            os.killpg(process.pid, signal.SIGKILL)
        return True
    return False
