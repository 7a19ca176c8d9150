"""Kubernetes reads: a kubectl command in, the API server's raw pages out, over a pool of kept-alive connections.

The client of the `kubernetes` package is not used: it decodes every answer into Python objects (43 s and 4.9 GB for 50,000 pods), its
`stream()` swaps a method of the shared client, and its `_request_timeout` is per read. Here each answer has a total deadline and a byte
limit, and bodies stay bytes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from gpudoctor.probes import kube_discovery, kube_http
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.deadline import Deadline, start_work
from gpudoctor.probes.kube_answer import (
    RETRIED,
    Answer,
    Stopped,
    check_object,
    continue_token,
    no_such_type,
    refusal,
    status_of,
)
from gpudoctor.probes.kube_config import Context
from gpudoctor.probes.kube_connection import Connection
from gpudoctor.probes.kube_credentials import Credentials
from gpudoctor.probes.kube_request import NO_EXEC, NotAllowed, Request, parse

if TYPE_CHECKING:
    from gpudoctor.probes import kube_exec

PAGE = ("limit", "500")  # objects; what kubectl and client-go ask for (its --chunk-size)
PATIENCE = 30.0  # seconds that all commands together wait for credentials; a person may be logging in


class _Expired(Exception):
    """The list's continue token is too old. `token` goes on nevertheless, with a later state, where the server gives one."""

    def __init__(self, token: str, words: str) -> None:
        super().__init__(words)
        self.token = token


class Kube:
    """The API server of one context. Safe for several threads; opens its connection at the first command."""

    def __init__(self, context: Context, allow_exec: bool = True) -> None:
        self.context = context
        self._allow_exec = allow_exec
        self._lock = threading.Lock()
        self._discovering = threading.Lock()
        self._credentials = Credentials(context, PATIENCE)
        self._opening: Future[Connection] | None = None
        self._opened_at = 0.0
        self._answers: dict[str, bytes] = {}  # discovery

    def __call__(self, command: Command) -> Output:
        """The whole answer, one page for each request. Failures are in the Output; nothing is raised."""
        deadline = Deadline(command.timeout)
        pages: list[Answer] = []
        try:
            request = self.request(command, deadline)
            if request.verb == "exec":
                from gpudoctor.probes import kube_exec

                return kube_exec.run(self.connection(deadline), request, command, deadline)
            self._collect(request, deadline, pages)
        except Stopped as stopped:
            return _output(command, deadline, pages, stopped)
        return _output(command, deadline, pages)

    def stream(self, command: Command) -> Iterator[Output]:
        """One Output a page, as they come; only one page is held here. The last one says how it ended."""
        deadline = Deadline(command.timeout)
        try:
            request = self.request(command, deadline)
            if request.verb != "list":
                yield self(command)
                return
            size, token, more = 0, "", True
            while more:
                try:
                    answer, token = self._page(request, deadline, (PAGE,), token, min(kube_http.HELD, kube_http.STREAMED - size))
                except _Expired as expired:
                    # The pages before can't be taken back, so the list goes on with what the server has now.
                    if not expired.token or expired.token == token:
                        raise Stopped("broken", f"the list ended early: {expired}") from None
                    token = expired.token
                    continue
                size, more = size + len(answer.body), bool(token)
                yield _output(command, deadline, [answer])
                del answer
        except Stopped as stopped:
            yield _output(command, deadline, [], stopped)

    def session(self, command: Command) -> kube_exec.Session:
        """An open `kubectl exec -i`, which is read as it prints. Raises Stopped."""
        from gpudoctor.probes import kube_exec

        deadline = Deadline(command.timeout)
        return kube_exec.Session(self.connection(deadline), self.request(command, deadline), command.stdin, deadline)

    def request(self, command: Command, deadline: Deadline) -> Request:
        """What the command asks for, its resource type looked up at the server if need be. Raises Stopped."""
        try:
            request = parse(command.argv, self.context.namespace)
        except NotAllowed as error:
            raise Stopped("not-allowed", str(error)) from None
        if request.verb == "exec" and not self._allow_exec:
            raise Stopped("not-allowed", NO_EXEC)
        if request.context not in ("", self.context.name):
            raise Stopped("not-allowed", f"the command names the context {request.context!r}, but {self.context.name!r} is in use")
        if request.verb in ("version", "raw") or (request.resource and request.resource.version):
            return request
        resource = kube_discovery.discover(request.word, lambda path: self._discovery(path, deadline))
        if resource is None or resource.plural == "secrets":
            raise no_such_type(request.word)
        return msgspec.structs.replace(request, resource=resource, namespace=request.namespace if resource.namespaced else "")

    def connection(self, deadline: Deadline) -> Connection:
        """The open connection. A credential plugin that never answers costs PATIENCE once, whatever the number of commands."""
        if self.context.trouble:
            raise Stopped("unreachable", self.context.trouble)
        with self._lock:
            if self._opening is None:
                self._opening, self._opened_at = start_work(lambda: Connection(self.context, self._credentials)), time.monotonic()
        patience = self._opened_at + PATIENCE - time.monotonic()
        try:
            return self._opening.result(max(0.0, min(deadline.left, patience)))
        except TimeoutError:
            raise Stopped("timeout", self._credentials.waiting) from None
        except ConnectionError as error:
            raise Stopped("unreachable", str(error)) from None

    def close(self) -> None:
        """Close what is open."""
        if self._opening and self._opening.done() and not self._opening.exception():
            self._opening.result().close()

    def _collect(self, request: Request, deadline: Deadline, pages: list[Answer]) -> None:
        """Append each page of the answer to `pages`; what is there when Stopped is raised is worth keeping."""
        if request.verb != "list":
            answer = self._answer(request.target(), request, deadline)
            if request.verb not in ("log", "raw"):
                check_object(answer.body)
            if request.verb == "version":  # kubectl's form
                answer = msgspec.structs.replace(answer, body=b'{"serverVersion":' + answer.body + b"}")
            pages.append(answer)
            return
        try:
            self._list(request, deadline, (PAGE,), pages)
        except _Expired as expired:  # as client-go does: once more, in one piece
            whole: list[Answer] = []
            try:
                self._list(request, deadline, (), whole)
            except (Stopped, _Expired) as again:
                raise Stopped("broken", f"the list ended early: {expired}; and asked anew: {again}") from None
            pages[:] = whole

    def _list(self, request: Request, deadline: Deadline, extra: tuple[tuple[str, str], ...], pages: list[Answer]) -> None:
        token, held = "", 0
        while token or not pages:
            answer, token = self._page(request, deadline, extra, token, kube_http.HELD - held)
            held += len(answer.body)
            pages.append(answer)

    def _page(self, request: Request, deadline: Deadline, extra: tuple[tuple[str, str], ...], token: str, limit: int) -> tuple[Answer, str]:
        """One page and the token for the next one."""
        target = request.target((*extra, ("continue", token)) if token else extra)
        try:
            answer = self._answer(target, request, deadline, limit)
        except _Expired:
            if not token:
                raise Stopped("broken", "the API server says that a new list is expired") from None
            raise
        return answer, continue_token(answer.body)

    def _answer(self, target: str, request: Request, deadline: Deadline, limit: int | None = None) -> Answer:
        """The body of a 200; anything else is raised. Asked twice when the server is busy or the connection had gone stale."""
        connection = self.connection(deadline)
        accept = kube_http.TEXT if request.verb in ("log", "raw") else kube_http.JSON
        ask = partial(kube_http.exchange, connection, "GET", target, deadline, accept=accept, limit=limit, kubelet=request.verb == "log")
        answer = ask()
        if answer.status == 401 and self._credentials.again():
            answer = ask()
        if answer.status in RETRIED:
            pause = 1.0 if answer.retry_after is None else answer.retry_after
            if pause < deadline.left:
                time.sleep(pause)
                answer = ask()
        if answer.status == 410:
            status = status_of(answer.body)
            raise _Expired(status.metadata.continue_ if status.metadata else "", status.message[:500] or "HTTP 410")
        if answer.status != 200:
            stopped = refusal(answer, request, connection.url)
            stopped.time = answer.time
            raise stopped
        return answer

    def _discovery(self, path: str, deadline: Deadline) -> bytes:
        connection = self.connection(deadline)
        if not self._discovering.acquire(timeout=deadline.left):  # several steps want to know at once; one asks
            raise Stopped("timeout", f"{connection.way} did not say in time which resources it has")
        try:
            if path not in self._answers:
                answer = kube_http.exchange(connection, "GET", path, deadline, accept=kube_discovery.ACCEPT)
                if answer.status != 200:
                    raise refusal(answer, Request("get", word=path), connection.url)
                self._answers[path] = answer.body
            return self._answers[path]
        finally:
            self._discovering.release()


def _output(command: Command, deadline: Deadline, pages: list[Answer], stopped: Stopped | None = None) -> Output:
    bodies = tuple(page.body for page in pages)
    if stopped is None:
        return Output(command, pages=bodies, seconds=deadline.spent, time=pages[0].time if pages else 0.0)
    return Output(
        command,
        exit=stopped.exit,
        pages=(*bodies, stopped.partial) if stopped.partial else bodies,
        stderr=stopped.stderr,
        seconds=deadline.spent,
        time=pages[0].time if pages else stopped.time,
        failure=stopped.failure,
        reason=stopped.reason,
    )
