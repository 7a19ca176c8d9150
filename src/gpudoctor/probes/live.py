"""The live probe: commands go to the Kubernetes API, to this machine, or by one of the ways in hosts.py to the host that they name."""

from __future__ import annotations

import queue
import re
import sys
import threading
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gpudoctor import leaving
from gpudoctor.patterns import regex
from gpudoctor.probes import process, remote
from gpudoctor.probes.base import Command, Output, Via, decoder
from gpudoctor.probes.deadline import run_within, start_work
from gpudoctor.probes.foreign_text import clean_foreign_text
from gpudoctor.probes.kube_config import Context, Given, ProbeSetupError, find_context
from gpudoctor.probes.kube_request import is_subdomain

if TYPE_CHECKING:
    from gpudoctor.probes.hosts import Hosts
    from gpudoctor.probes.kube import Kube

__all__ = ["Live", "ProbeSetupError"]

COMPLETION = 1.0  # seconds that a person waits for the Tab key

# What needs more rights than the user has, in the words of the program, and the next step. The second prints "-- No entries --" and exits
# with 0, which would read as a quiet kernel.
# dmesg: read kernel buffer failed: Operation not permitted
# Hint: You are currently not seeing messages from other users and the system.  ·  … opened due to insufficient permissions.
NO_RIGHT = regex(rb"read kernel buffer failed: Operation not permitted|not seeing messages from other users|insufficient permissions", re.I)
KERNEL_LOG = "the kernel's log needs root or CAP_SYSLOG: log in as root, or join the group systemd-journal for journalctl"


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _Object(msgspec.Struct, frozen=True):
    metadata: _Named = _Named()


class _Objects(msgspec.Struct, frozen=True):
    items: list[_Object] = []


class Live:
    """Asks the real world. Safe for several threads; never raises for what the far side does.

    `hosts` are names of nodes that are this machine, so that their commands run here. `via` is how other hosts are reached: by a pod of
    the GPU stack and else by ssh ("auto"), only by one of them, or by a "debug-pod", which is created and deleted again by `close`.
    Raises ProbeSetupError when a kubeconfig or context that was asked for doesn't exist; one that merely lies around broken is told of
    by the commands that need it.
    """

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        namespace: str | None = None,
        allow_exec: bool = True,
        hosts: Collection[str] = (),
        via: Via = "auto",
        given: Given | None = None,
    ) -> None:
        given = given or Given()
        found = find_context(kubeconfig, context, given)
        self._longest = given.longest
        self._context: Context = msgspec.structs.replace(found, namespace=namespace) if namespace else found
        self._allow_exec, self._via = allow_exec, via
        self._here = frozenset(hosts)
        self._hung: dict[tuple[str, ...], float] = {}  # what didn't come back here, and the seconds: it is not asked again
        self._lock = threading.Lock()
        self._api: Kube | None = None
        self._far: Hosts | None = None

    @property
    def context(self) -> str:
        """The name of the kubeconfig context, "" inside a pod or where there is none."""
        return self._context.name

    @property
    def namespace(self) -> str:
        """The namespace that kubectl would use."""
        return self._context.namespace

    @property
    def strangers(self) -> dict[str, str]:
        """The hosts that were asked and that neither the cluster nor ssh knows, and how that was said."""
        return self._far.strangers if self._far else {}

    def __call__(self, command: Command) -> Output:
        """The whole answer."""
        return next(self.many((command,)))

    def stream(self, command: Command) -> Iterator[Output]:
        """The answer page by page; only Kubernetes lists have more than one."""
        if _program(command) == "kubectl":
            yield from self._kube().stream(self._in_time(command))
        else:
            yield self(command)

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """The answers as they come: a host's commands go together, what runs here runs at the same time."""
        far = [command for command in commands if command.host and command.host not in self._here and _program(command) not in ASKED_HERE]
        yield from self._many_here([command for command in commands if command not in far])
        for host in dict.fromkeys(command.host for command in far):
            for output in self._hosts().many(host, [command for command in far if command.host == host]):
                yield as_refusal(output)

    def _many_here(self, commands: Sequence[Command]) -> Iterator[Output]:
        """One thread for what would hang together: after one that didn't come back the others of its group aren't started."""
        groups: dict[tuple[str, ...], list[Command]] = {}
        for command in commands:
            together = command.argv if _program(command) in ASKED_HERE else remote.group(command)
            groups.setdefault(together, []).append(command)
        if len(groups) == 1:
            yield from self._in_order(commands)
            return
        answers: queue.SimpleQueue[Output] = queue.SimpleQueue()

        def work(group: list[Command]) -> None:
            for output in self._in_order(group):
                answers.put(output)

        for group in groups.values():
            start_work(partial(work, group))
        for _ in commands:
            yield answers.get()

    def _in_order(self, commands: Sequence[Command]) -> Iterator[Output]:
        for command in commands:
            waited = self._hung.get(remote.group(command))
            output = self._one_here(command) if waited is None else remote.not_asked(command, waited)
            if output.failure in ("timeout", "unkillable") and _program(command) not in ASKED_HERE:
                self._hung[remote.group(command)] = output.seconds
            yield output

    def _one_here(self, command: Command) -> Output:
        """What is asked from this machine. An error of ours must not leave anybody waiting for the answer."""
        try:
            return self._ask_once(command)
        except Exception as error:
            return Output(
                command, exit=1, failure="broken", reason=f"{_program(command)} could not be asked: {clean_foreign_text(repr(error))}"
            )

    def _in_time(self, command: Command) -> Command:
        """A question to the API server, with the limit that the user has set for one."""
        most = min(command.timeout, self._longest or command.timeout)
        return command if most == command.timeout else msgspec.structs.replace(command, timeout=most)

    def _ask_once(self, command: Command) -> Output:
        match _program(command):
            case "kubectl":
                return self._kube()(self._in_time(command))
            case "ask":
                return Output(command, exit=1, failure="not-allowed", reason="nobody was asked (--guided asks)")
            case "promql":
                from gpudoctor.probes import promql

                return promql.run(command)
            case "nvml" if command.host and command.host not in self._here:
                return Output(command, exit=1, failure="not-allowed", reason="NVML is asked on this machine only")
            case "nvml":
                child = (sys.executable, "-m", "gpudoctor.probes.nvml_child", *command.argv[1:])
                output = process.run(msgspec.structs.replace(command, argv=child))
                words = output.reason.replace(sys.executable, "NVML")
                return msgspec.structs.replace(output, command=command, reason=words)
            case "ncclras":
                output = process.run(command)
                if output.failure != "not-found":
                    return output
                from gpudoctor.probes import ras

                return ras.run(command)
        return as_refusal(process.run(command))

    def names(self, kind: str, namespace: str = "", prefix: str = "") -> list[str]:
        """Names for the shell to complete, sorted; [] after a second, or on any trouble. `namespace` "" means all."""
        scope = ("-n", namespace) if namespace else ("-A",)
        command = Command(("kubectl", "get", kind, *scope, "-o", "json"), timeout=COMPLETION)
        try:
            # The whole call is under the deadline: the first one also imports the client.
            pages = run_within(COMPLETION, lambda: list(self._name_pages(command)))
        except Exception:  # a completion that prints an error spoils the command line
            return []
        return sorted({name for page in pages for name in page if name.startswith(prefix) and is_subdomain(name)})

    def forget(self, command: Command) -> None:
        """Ask a program that has hung again, and a host that could not be reached: somebody has done something about it."""
        self._hung.pop(remote.group(command), None)
        if self._far:
            self._far.forget(command)

    def close(self) -> list[str]:
        """End what runs and delete what was created; → a sentence for each thing that is left."""
        with leaving.hold_signals():
            process.stop_all()
            left = self._far.close() if self._far else []
            if self._api:
                self._api.close()
        return left

    def _name_pages(self, command: Command) -> Iterator[list[str]]:
        for output in self.stream(command):
            if not output.ok:
                raise LookupError(output.reason)
            yield [one.metadata.name for page in output.pages for one in decoder(_Objects).decode(page).items]

    def _kube(self) -> Kube:
        with self._lock:
            if self._api is None:
                from gpudoctor.probes.kube import Kube

                self._api = Kube(self._context, self._allow_exec)
            return self._api

    def _hosts(self) -> Hosts:
        with self._lock:
            if self._far is None:
                from gpudoctor.probes.hosts import Hosts

                self._far = Hosts(self._kube, self._via, self._allow_exec, self._context)
            return self._far


ASKED_HERE = ("kubectl", "promql", "nvml", "ask")  # no programs of a host


def _program(command: Command) -> str:
    return command.argv[0] if command.argv else ""


def as_refusal(output: Output) -> Output:
    """An answer that only says that a right is missing, as the refusal that it is."""
    if output.failure or not NO_RIGHT.search(output.stderr):
        return output
    return msgspec.structs.replace(output, failure="refused", reason=f"{output.command.argv[0]}: {KERNEL_LOG}")
