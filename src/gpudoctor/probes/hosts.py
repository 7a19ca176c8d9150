"""The ways to a host: a pod of the GPU stack on it, ssh, and a debug pod only where that was asked for. Many commands, one round trip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from gpudoctor.probes import remote, round_trips, ssh
from gpudoctor.probes.base import KUBELET, START, Command, Failure, Output, Via
from gpudoctor.probes.deadline import Deadline
from gpudoctor.probes.debug_pod import DebugPods
from gpudoctor.probes.kube_answer import Stopped
from gpudoctor.probes.kube_config import Context
from gpudoctor.probes.kube_request import NO_EXEC, is_subdomain
from gpudoctor.probes.pods import Place, Stack
from gpudoctor.probes.remote import NOT_FOUND, NoWay, Wire

if TYPE_CHECKING:
    from gpudoctor.probes.kube import Kube

Way = Callable[[Sequence[Command]], Iterator[Output]]


class Hosts:
    """Reaches hosts. Safe for several threads. `close` deletes the debug pods that were made."""

    def __init__(self, kube: Callable[[], Kube], via: Via, allow_exec: bool, context: Context) -> None:
        self._kube, self._via, self._allow_exec = kube, via, allow_exec
        self._cluster = not context.trouble
        self._stack, self._debug = Stack(kube), DebugPods(kube, context.namespace)
        self._hung: dict[str, dict[tuple[str, ...], float]] = {}  # by host, what didn't come back, and the seconds
        self._closed: dict[str, NoWay] = {}  # hosts that ssh can't reach
        self.strangers: dict[str, str] = {}  # names that neither the cluster nor ssh knows, and how that was said

    def many(self, host: str, commands: Sequence[Command]) -> Iterator[Output]:
        """The answers of commands on one host, by the first way that leads there; for a program that isn't there also by the next."""
        hung = self._hung.setdefault(host, {})
        rest = []
        for command in commands:
            if (group := remote.group(command)) in hung:
                yield remote.not_asked(command, hung[group])
            else:
                rest.append(command)
        absent: dict[Command, Output] = {}
        troubles: list[NoWay] = []
        for way in self._ways(host):
            if not rest:
                return
            try:
                for output in way(tuple(rest)):
                    if output.failure == "not-found":
                        absent.setdefault(output.command, output)
                        continue
                    if output.failure in ("timeout", "unkillable"):
                        hung.setdefault(remote.group(output.command), output.seconds)
                    rest.remove(output.command)
                    yield output
            except NoWay as no:
                troubles.append(no)
        if len(troubles) > 1 and all(no.stranger for no in troubles):
            self.strangers[host] = "; ".join(no.reason for no in troubles)
        for command in rest:
            yield _unreachable_answer(command, absent.get(command), troubles)

    def forget(self, command: Command) -> None:
        """Ask what has hung again, and a host that ssh could not reach."""
        self._hung.get(command.host, {}).pop(remote.group(command), None)
        self._closed.pop(command.host, None)

    def close(self) -> list[str]:
        """Delete what was created; → a sentence for each thing that could not be."""
        return self._debug.close()

    def _ways(self, host: str) -> Iterator[Way]:
        """What to try for a host, in this order."""
        if trouble := ssh.name_trouble(host):
            yield no_way("not-allowed", trouble)
        elif self._via != "ssh" and not self._allow_exec:
            yield no_way("not-allowed", NO_EXEC)
        elif self._via == "auto":
            if self._cluster and is_subdomain(host):
                yield lambda commands: self._by_pods(host, commands)
            yield lambda commands: self._by_ssh(host, commands)
        elif self._via == "ssh":
            yield lambda commands: self._by_ssh(host, commands)
        elif not is_subdomain(host):
            yield no_way("not-allowed", f"{host[:60]!a} is not the name of a node")
        elif self._via == "debug-pod":
            yield lambda commands: self._in(self._debug.place(host, START * 2), host, commands)
        else:
            yield lambda commands: self._by_pods(host, commands)

    def _by_ssh(self, host: str, commands: Sequence[Command]) -> Iterator[Output]:
        if closed := self._closed.get(host):
            raise closed
        try:
            for output in round_trips.ask(host, commands, lambda script, seconds: ssh.connect(host, script)):
                yield msgspec.structs.replace(output, via="ssh")
        except NoWay as no:
            self._closed[host] = no
            raise

    def _by_pods(self, host: str, commands: Sequence[Command]) -> Iterator[Output]:
        """In the containers of the GPU stack on the node, each command first where its program is known to be."""
        patience = max(command.timeout for command in commands)
        places = self._stack.places(host, patience)
        if not places:
            raise self._stack.nothing_on(host, patience)
        best = {command: _best_first(places, command.argv[0]) for command in commands}
        gone: dict[int, NoWay] = {}
        for attempt in range(len(places)):
            for number, place in enumerate(places):
                here = [command for command, order in best.items() if order[attempt] == number]
                if not here or number in gone:
                    continue
                try:
                    for output in self._in(place, host, here):
                        if output.failure != "not-found":
                            del best[output.command]
                            yield output
                except NoWay as no:
                    if no.failure != "not-found":
                        raise
                    gone[number] = no  # the pod has ended meanwhile
        if len(gone) == len(places):
            raise next(iter(gone.values()))
        tried = ", ".join(place.shown for place in places)
        for command in best:
            reason = f"{command.argv[0]} is in no container of the GPU stack on node {host}: tried {tried}"
            yield Output(command, exit=NOT_FOUND, failure="not-found", reason=reason)

    def _in(self, place: Place, host: str, commands: Sequence[Command]) -> Iterator[Output]:
        """In one container: in one round trip where it has a shell, else one by one. Raises NoWay."""
        via = f"debug pod {place.shown}" if not place.component else f"pod {place.shown}"
        rest = list(commands)
        try:
            for output in round_trips.ask(host, commands, lambda script, seconds: self._session(place, script, seconds), KUBELET):
                rest.remove(output.command)
                yield msgspec.structs.replace(output, via=via)
        except NoWay as no:
            if not no.bare:
                raise
            for command in rest:
                yield msgspec.structs.replace(self._alone(place, command), via=via)

    def _session(self, place: Place, script: bytes, seconds: float) -> Wire:
        try:
            return self._kube().session(Command(place.entering(("sh", "-s"), stdin=True), stdin=script, timeout=seconds))
        except Stopped as stopped:
            raise NoWay(stopped.failure or "not-found", stopped.reason) from None

    def _alone(self, place: Place, command: Command) -> Output:
        """One exec for one command, for a container without a shell."""
        deadline = Deadline(command.timeout)
        output = self._kube()(
            Command(place.entering(command.argv, stdin=bool(command.stdin)), stdin=command.stdin, timeout=command.timeout)
        )
        output = msgspec.structs.replace(output, command=command, seconds=deadline.spent)
        return remote.with_failure(output, command.host) if output.ok else output


def no_way(failure: Failure, reason: str) -> Way:
    """A way that leads nowhere."""

    def refused(commands: Sequence[Command]) -> Iterator[Output]:
        raise NoWay(failure, reason)

    return refused


def _best_first(places: Sequence[Place], program: str) -> list[int]:
    """The numbers of the places, those first that are known to have the program."""
    return sorted(range(len(places)), key=lambda number: not places[number].knows(program))


def _unreachable_answer(command: Command, absent: Output | None, troubles: list[NoWay]) -> Output:
    """The answer of a command to which no way has led. A program that isn't where a shell has looked counts as not there."""
    reasons = [absent.reason] if absent else []
    reasons += [no.reason for no in troubles]
    failure = "not-found" if absent else troubles[-1].failure if troubles else "unreachable"
    code = NOT_FOUND if absent else 1
    return Output(command, exit=code, failure=failure, reason="; ".join(dict.fromkeys(reasons)), via=absent.via if absent else "")
