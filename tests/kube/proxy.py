"""Proxies for tests: HTTP CONNECT and SOCKS 5. Whatever name they are asked for, they lead to one address."""

from __future__ import annotations

import base64
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Proxy:
    """`asked` are the HOST:PORT that clients wanted. `kind` is "http" or "socks5"; `login` is the USER:PASSWORD that it wants."""

    def __init__(self, target: tuple[str, int], kind: str = "http", login: str = "", answer: bytes = b"") -> None:
        self.target, self.kind, self.login, self.answer = target, kind, login, answer
        self.asked: list[str] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Its URL, with the login."""
        return f"{self.kind}://{self.login and self.login + '@'}{self.address}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.listener.close()

    def accept(self) -> None:
        """Serve until the listener is closed."""
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near: socket.socket) -> None:
        """One client."""
        with near, suppress(OSError, IndexError):
            if not (self.http(near) if self.kind == "http" else self.socks(near)):
                return
            with socket.create_connection(self.target) as far:
                back = threading.Thread(target=pump, args=(far, near), daemon=True)
                back.start()
                pump(near, far)
                back.join(5)

    def http(self, near: socket.socket) -> bool:
        """Answer a CONNECT."""
        head = b""
        while b"\r\n\r\n" not in head:
            head += near.recv(1) or b"\r\n\r\n"
        self.asked.append(head.split()[1].decode())
        if self.answer:
            near.sendall(self.answer)
            return False
        wanted = f"Basic {base64.b64encode(self.login.encode()).decode()}".encode()
        if self.login and wanted not in head:
            near.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return False
        near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return True

    def socks(self, near: socket.socket) -> bool:
        """Answer a SOCKS 5 greeting and request."""
        methods = near.recv(2)[1]
        offered = near.recv(methods)
        if self.answer:
            near.sendall(self.answer)
            return False
        if self.login:
            near.sendall(b"\5\2" if 2 in offered else b"\5\xff")
            user = near.recv(near.recv(2)[1])
            password = near.recv(near.recv(1)[0])
            if f"{user.decode()}:{password.decode()}" != self.login:
                near.sendall(b"\1\1")
                return False
            near.sendall(b"\1\0")
        else:
            near.sendall(b"\5\0")
        kind = near.recv(4)[3]
        host = near.recv(near.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(near.recv(4))
        self.asked.append(f"{host}:{int.from_bytes(near.recv(2), 'big')}")
        near.sendall(b"\5\0\0\1\0\0\0\0\0\0")
        return True


def pump(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes, and the end."""
    with suppress(OSError):
        while chunk := source.recv(1 << 16):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
