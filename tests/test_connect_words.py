"""What the kernel says of a connection that fails: a dropped port, a rejected one and one where nobody listens give three different words.

Two network namespaces joined by a pair of virtual interfaces. The errors are the kernel's own, the line around them is torch's (c10d), by
which the `nccl` runbook tells a filter, a route and a process that isn't there apart.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gpudoctor.facts import Origin, Subject
from gpudoctor.tools.common.messages import scan_text

HERE, THERE = f"gpudoctor-a{os.getpid()}", f"gpudoctor-b{os.getpid()}"
ADDRESS = {HERE: "10.213.7.1", THERE: "10.213.7.2"}
ABSENT = "10.213.7.9"
PORT = 29500
# Connects as torch's c10d does, and prints the line that it prints (torch/csrc/distributed/c10d/socket.cpp).
CONNECT = f"""
import os, socket, sys
try:
    socket.create_connection((sys.argv[1], {PORT}), timeout=float(sys.argv[2]))
    print("connected")
except TimeoutError as error:
    print(f"[E socket.cpp:1028] [c10d] The client socket has timed out after {{float(sys.argv[2]) * 1000:.0f}}ms"
          f" while trying to connect to ({{sys.argv[1]}}, {PORT}).")
except OSError as error:
    print(f"[W socket.cpp:697] [c10d] The client socket has failed to connect to [{{sys.argv[1]}}]:{PORT}"
          f" (errno: {{error.errno}} - {{os.strerror(error.errno)}}).")
"""


def ip(*words: str) -> int:
    return subprocess.run(["ip", *words], capture_output=True, timeout=20).returncode


def within(name: str, *argv: str) -> str:
    done = subprocess.run(["ip", "netns", "exec", name, *argv], capture_output=True, timeout=30, text=True)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def network() -> Iterator[None]:
    """Two hosts on one wire."""
    if os.geteuid() != 0 or not shutil.which("ip"):
        pytest.skip("network namespaces need root and iproute2")
    try:
        made = [ip("netns", "add", HERE), ip("netns", "add", THERE)]
        made.append(ip("link", "add", "one", "netns", HERE, "type", "veth", "peer", "name", "one", "netns", THERE))
        for name, address in ADDRESS.items():
            made.append(ip("-n", name, "addr", "add", f"{address}/24", "dev", "one"))
            made += [ip("-n", name, "link", "set", device, "up") for device in ("lo", "one")]
        if any(made):
            pytest.skip("this machine makes no network namespaces")
        yield
    finally:
        for name in ADDRESS:
            ip("netns", "delete", name)


@contextlib.contextmanager
def route(kind: str) -> Iterator[None]:
    """No filter is needed: our own host rejects what is sent there (unreachable), or the far one drops its replies (blackhole)."""
    at, to = (THERE, HERE) if kind == "blackhole" else (HERE, THERE)
    ip("-n", at, "route", "add", kind, f"{ADDRESS[to]}/32")
    try:
        yield
    finally:
        ip("-n", at, "route", "del", kind, f"{ADDRESS[to]}/32")


def said(address: str = ADDRESS[THERE], seconds: float = 2.0) -> str:
    return within(HERE, sys.executable, "-c", CONNECT, address, str(seconds))


def names(text: str) -> set[str]:
    return {one.name for one in scan_text(text, source="log", about=Subject(kind="cluster"), origin=Origin())}


def test_nobody_listens(network: None) -> None:
    text = said()
    assert "errno: 111 - Connection refused" in text
    assert names(text)


def test_rejected(network: None) -> None:
    with route("unreachable"):
        text = said()
    assert "errno: 113 - No route to host" in text
    assert names(text)


def test_no_such_host_on_the_wire(network: None) -> None:
    text = said(ABSENT, 6.0)
    assert "errno: 113 - No route to host" in text


def test_dropped(network: None) -> None:
    with route("blackhole"):
        text = said()
    assert "timed out after 2000ms" in text
    assert names(text)


def test_the_three_are_told_apart(network: None) -> None:
    refused = names(said())
    with route("unreachable"):
        rejected = names(said())
    with route("blackhole"):
        dropped = names(said())
    assert len({frozenset(refused), frozenset(rejected), frozenset(dropped)}) == 3
