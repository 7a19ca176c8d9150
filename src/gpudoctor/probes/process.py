"""Run one program on this machine under a total deadline. The only module that imports subprocess.

A program that talks to a sick GPU can hang in the kernel (state D), where even SIGKILL waits; it is then left behind and named.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gpudoctor import leaving
from gpudoctor.probes.base import Command, Failure, Output, time_limit_text
from gpudoctor.probes.deadline import Deadline

LIMIT = 64 << 20  # bytes of stdout and stderr together; an nvidia-bug-report is below 20 MiB
TERM_GRACE = 1.0  # seconds between SIGTERM and SIGKILL
KILL_GRACE = 2.0  # seconds until a killed process counts as stuck in the kernel
TICK = 0.05  # seconds between looks at a process whose pipes somebody else keeps open
DRAIN = 0.2  # seconds for emptying the pipes of a program that has ended
CHUNK = 1 << 16  # bytes: what a Linux pipe holds by default
SYSTEM = ":/usr/local/sbin:/usr/sbin:/sbin"

# Processes that did not die. Kept, so that the interpreter does not warn of them or wait for them at exit.
_LEFT_BEHIND: list[subprocess.Popen[bytes]] = []
_RUNNING: set[Child] = set()
_STARTING = threading.RLock()  # who leaves must see what another thread is about to start, and may interrupt this one


class Child:
    """A running program: its stdin is fed and its output read by `read`, until `ended`. Whoever starts one ends it by `stop` or `close`.

    Its working directory is ours, its locale is C, its session and process group are its own, so that it has no terminal to ask on.
    Raises OSError, ValueError and IndexError when it can't be started.
    """

    def __init__(self, argv: Sequence[str], stdin: bytes = b"", environment: Mapping[str, str] | None = None) -> None:
        with leaving.hold_signals(), _STARTING:
            if leaving.hurried:
                raise InterruptedError("this program is about to leave")
            self.process = _start(argv, stdin, environment or {})
            _RUNNING.add(self)
        self.ended = False
        self._rest = memoryview(stdin)
        self._drained_by = float("inf")
        self._selector = selectors.DefaultSelector()
        for pipe, stream in ((self.process.stdin, 0), (self.process.stdout, 1), (self.process.stderr, 2)):
            if pipe:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ if stream else selectors.EVENT_WRITE, stream)

    @property
    def exit(self) -> int:
        """The exit code; death by signal n is 128+n, as a shell has it. 0 while it runs."""
        code = self.process.returncode or 0
        return 128 - code if code < 0 else code

    def read(self, seconds: float) -> list[tuple[int, bytes]]:
        """What it printed, as (stream, bytes) with stream 1 or 2; after `seconds` at most, maybe with nothing.

        It has ended when all pipes are closed, or when it is gone and they are drained: what a dead program wrote is in the pipe already,
        so a grandchild that keeps the pipe open is not waited for.
        """
        if not self._selector.get_map():
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
            self.ended = self.process.returncode is not None
            return []
        gone = self.process.poll() is not None
        if gone:
            self._drained_by = min(self._drained_by, time.monotonic() + DRAIN)
        printed: list[tuple[int, bytes]] = []
        for key, _ in self._selector.select(0 if gone else min(TICK, seconds)):
            if key.data == 0:
                self._rest = _feed(key.fd, self._rest)
                finished = not self._rest
            else:
                chunk = os.read(key.fd, CHUNK)
                finished = not chunk
                printed += [(key.data, chunk)] if chunk else []
            if finished:
                self._selector.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
        self.ended = gone and (not printed or time.monotonic() > self._drained_by or not self._selector.get_map())
        return printed

    def stop(self) -> bool:
        """End it and everything that it started; → whether it is gone. What doesn't die is left behind."""
        self._let_go()
        gone = _kill(self.process)
        _RUNNING.discard(self)  # not before: who leaves meanwhile must kill it
        if not gone:
            _LEFT_BEHIND.append(self.process)
        return gone

    def close(self) -> None:
        """Close our ends of the pipes of a program that has ended."""
        self._let_go()
        _RUNNING.discard(self)

    def _let_go(self) -> None:
        self._selector.close()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


def listen(child: Child, deadline: Deadline, limit: int, printed: dict[int, bytearray]) -> Failure:
    """Put what a program prints into `printed`, by stream, until it has ended; → what came before that: too-large, timeout, or ""."""
    while not child.ended:
        for stream, chunk in child.read(deadline.left):
            printed[stream] += chunk
        if sum(map(len, printed.values())) > limit:
            return "too-large"
        if not child.ended and not deadline.left:
            return "timeout"
    return ""


def run(command: Command) -> Output:
    """What the program printed.

    Failures: not-found, refused (no permission to execute), broken (cannot be started), timeout, too-large, unkillable. What had been
    printed until then is kept.
    """
    deadline = Deadline(command.timeout)
    try:
        child = Child(command.argv, command.stdin)
    except (OSError, ValueError, IndexError) as error:
        failure, reason = _why_not_started(command, error)
        return Output(command, seconds=deadline.spent, time=time.time(), failure=failure, reason=reason)
    printed = {1: bytearray(), 2: bytearray()}
    failure, reason = listen(child, deadline, LIMIT, printed), ""
    if failure == "too-large":
        reason = f"{command.argv[0]} printed more than {LIMIT >> 20} MiB"
    elif failure:
        reason = f"{command.argv[0]} did not answer within {time_limit_text(command.timeout)}"
    if not failure:
        child.close()
    elif not child.stop():
        failure = "unkillable"
        stuck = f"process {child.process.pid} hangs in the kernel or belongs to another user"
        reason += f" and cannot be killed ({stuck}); it was left behind"
    return Output(
        command,
        exit=child.exit,
        pages=(bytes(printed[1]),),
        stderr=bytes(printed[2]),
        seconds=deadline.spent,
        time=time.time(),
        failure=failure,
        reason=reason,
    )


@leaving.in_haste
def stop_all() -> list[str]:
    """Kill what is still running, without waiting for it: this program is about to leave. → nothing, as a killed program goes by itself."""
    with _STARTING:
        running = tuple(_RUNNING)
    for child in running:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, signal.SIGKILL)
    return []


def _start(argv: Sequence[str], stdin: bytes, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    path = os.environ.get("PATH", os.defpath) + SYSTEM  # the PATH of people who aren't root often has no sbin, where lspci is
    return subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C", "PATH": path, **environment},
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
