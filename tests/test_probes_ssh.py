"""Hosts by ssh: a real sshd on the loopback address plays the machines."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpudoctor.probes import round_trips, ssh
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay
from tests.ssh.server import SSHD, Sshd, free_port

pytestmark = pytest.mark.skipif(not SSHD, reason="sshd is not installed (openssh-server)")

HOSTS = [f"gpu-{number:02}" for number in range(1, 13)]
ELSEWHERE = """
Host refuses
  HostName 127.0.0.1
  Port {closed}
Host stranger
  HostName 127.0.0.1
  UserKnownHostsFile /dev/null
Host changed
  HostName 127.0.0.1
  HostKeyAlias changed
Host keyless
  HostName 127.0.0.1
  HostKeyAlias machine
  PubkeyAuthentication no
Host silent
  HostName 127.0.0.1
  Port {silent}
Host unresolvable
  HostName no-such-host.invalid
"""


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    folder = tmp_path_factory.mktemp("ssh")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = Sshd(folder / "sshd", HOSTS, ELSEWHERE.format(closed=free_port(), silent=silent.getsockname()[1]))
        key = (server.folder / "user.pub").read_text().split()[:2]
        with (server.folder / "known_hosts").open("a") as known:
            known.write(f"changed {' '.join(key)}\n")
        server.program("nvidia-smi", 'echo "GPU 0 of $GPU_HOST: $*"; echo warning >&2; exit 9')
        server.program("hangs", "trap '' TERM HUP; echo begun; while :; do sleep 1; done")
        server.program("floods", "exec yes yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")
        server.program("half", "printf 'caf\\303'")
        server.program("dmesg", "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1")
        server.program("journalctl", "echo '-- No entries --'; echo 'Hint: You are currently not seeing messages from other users' >&2")
        server.executable("login-gpu-09", "#!/bin/sh\necho 'This account is currently not available.'\nexit 1\n")
        server.executable("login-gpu-10", "#!/bin/sh\necho 'bash: line 1: sh: command not found' >&2\nexit 127\n")
        server.executable("login-gpu-11", "#!/bin/sh\nhead -c 3000 | sh -s | head -c 400\n")
        (server.folder / "noise").write_text("*** Welcome to the cluster ***\nquota: 3 of 5 GiB\n")
        server.start()
        before = os.environ.get(ssh.CONFIG)
        os.environ[ssh.CONFIG] = str(server.config)
        yield server
        server.stop()
        if before is None:
            del os.environ[ssh.CONFIG]


@pytest.fixture
def live(sshd: Sshd) -> Iterator[Live]:
    probe = Live(via="ssh")
    yield probe
    probe.close()


def on(host: str, line: str, timeout: float = 10.0) -> Command:
    return Command(tuple(line.split()), host=host, timeout=timeout)


def many(live: Live, *commands: Command) -> dict[str, Output]:
    return {output.command.shown: output for output in live.many(commands)}


def test_many_commands_in_one_round_trip_whatever_a_profile_prints(live: Live, sshd: Sshd) -> None:
    log = sshd.folder / "sshd.log"
    before = log.read_text().count("Accepted publickey")
    smi, modules, half, uname, absent = many(
        live, *(on("gpu-01", line) for line in ("nvidia-smi -q -x", "cat /proc/cpuinfo", "half", "uname -s", "no-such-program"))
    ).values()
    assert (smi.text, smi.stderr, smi.exit, smi.failure) == ("GPU 0 of gpu-01: -q -x\n", b"warning\n", 9, "")
    assert "processor" in modules.text
    assert (half.pages, half.text) == ((b"caf\xc3",), "caf�")
    assert (uname.text, uname.via) == ("Linux\n", "ssh")
    assert abs(uname.time - time.time()) < 30
    assert (absent.failure, absent.exit, absent.reason) == ("not-found", 127, "no-such-program: command not found on gpu-01")
    assert log.read_text().count("Accepted publickey") == before + 1


def test_many_hosts_at_once(live: Live) -> None:
    hosts = HOSTS[:8]
    with ThreadPoolExecutor(8) as pool:
        outputs = list(pool.map(lambda host: live(on(host, "nvidia-smi -L")), hosts))
    assert [output.text for output in outputs] == [f"GPU 0 of {host}: -L\n" for host in hosts]


def test_what_hangs_is_named_and_not_started_again_in_this_run(live: Live) -> None:
    hung, after = many(live, on("gpu-02", "hangs 1", 1.0), on("gpu-02", "uname")).values()
    assert (hung.failure, hung.reason, hung.text) == ("timeout", "hangs did not answer within 1 s", "begun\n")
    assert after.text == "Linux\n"
    started = time.monotonic()
    assert live(on("gpu-02", "hangs 2")).reason == "not asked: hangs did not answer before"
    assert time.monotonic() - started < 5
    assert live(on("gpu-03", "hangs 2", 8.0)).failure == "timeout"  # another machine, which a busy one reaches after seconds


def test_a_flood_is_cut(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "LIMIT", 4 << 20)
    flood, after = many(live, on("gpu-01", "floods"), on("gpu-01", "uname")).values()
    assert (flood.failure, after.text) == ("too-large", "Linux\n")
    assert flood.reason == "floods printed more than 4 MiB"


@pytest.mark.parametrize(
    ("host", "failure", "words"),
    [
        ("refuses", "unreachable", "refuses refuses ssh connections (ssh: connect to host 127.0.0.1 port"),
        ("unresolvable", "unreachable", "unresolvable can't be resolved"),
        ("stranger", "refused", "the host key of stranger is not known: connect once by hand, `ssh stranger`"),
        ("changed", "refused", "the host key of changed has changed"),
        ("keyless", "refused", "keyless takes none of the keys that ssh has"),
        ("gpu-09", "broken", "ssh to gpu-09 ended with exit code 1: This account is currently not available."),
        ("gpu-10", "not-found", "gpu-10 has no `sh`"),
    ],
)
def test_why_a_host_is_not_reached_and_what_to_do(live: Live, host: str, failure: str, words: str) -> None:
    outputs = many(live, on(host, "uname"), on(host, "nvidia-smi -L"))
    assert {output.failure for output in outputs.values()} == {failure}
    assert all(words in output.reason for output in outputs.values())
    started = time.monotonic()
    assert live(on(host, "dmesg")).reason == outputs["uname"].reason  # asked once in a run
    assert time.monotonic() - started < 5


def test_a_host_that_never_speaks(live: Live) -> None:
    started = time.monotonic()
    output = live(on("silent", "uname", 0.8))
    assert (output.failure, output.reason) == ("unreachable", "silent did not answer within 0.8 s")
    assert time.monotonic() - started < 20


def test_a_host_that_closes_in_the_middle(live: Live) -> None:
    outputs = many(live, *(on("gpu-11", f"nvidia-smi -i {number}") for number in range(8)))
    assert len(outputs) == 8
    assert {output.failure for output in outputs.values()} <= {"", "broken", "unreachable"}
    assert any(output.failure for output in outputs.values())


@pytest.mark.parametrize(
    "host", ["-oProxyCommand=touch x", "--", "a b", "a\nb", "$(id)", "x" * 300, "a@b@c", "ssh://gpu-01", "-l", "a;b", "é"]
)
def test_names_that_are_none_never_reach_ssh(live: Live, host: str) -> None:
    output = live(Command(("uname",), host=host))
    assert (output.failure, output.reason) == ("not-allowed", f"{host[:60]!a} is not the name of a host")


def test_a_user_may_be_named(live: Live) -> None:
    import getpass

    assert live(on(f"{getpass.getuser()}@gpu-01", "uname")).text == "Linux\n"


def test_without_the_program_ssh(live: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("gpudoctor.probes.process.SYSTEM", "")
    output = live(on("gpu-04", "uname"))
    assert (output.failure, output.reason) == ("not-found", "ssh is not installed on this machine: install the OpenSSH client")


def test_a_missing_right_is_a_refusal_with_the_next_step(live: Live) -> None:
    for output in many(live, on("gpu-05", "dmesg --time-format=iso"), on("gpu-05", "journalctl -k -b 0")).values():
        assert output.failure == "refused"
        assert "needs root or CAP_SYSLOG" in output.reason


def test_no_exec_asks_no_host(sshd: Sshd) -> None:
    live = Live(allow_exec=False)
    assert live(on("gpu-01", "uname")).failure == "not-allowed"


def test_a_server_that_is_too_busy_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "PAUSE", (0.01, 0.02))
    came: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def close_each() -> None:
            while len(came) < ssh.ATTEMPTS:
                connection, _ = server.accept()
                came.append(1)
                connection.close()

        threading.Thread(target=close_each, daemon=True).start()
        config = tmp_path / "config"
        config.write_text(f"Host busy\n  HostName 127.0.0.1\n  Port {server.getsockname()[1]}\n")
        monkeypatch.setenv(ssh.CONFIG, str(config))
        output = Live(via="ssh")(on("busy", "uname"))
    assert len(came) == ssh.ATTEMPTS
    assert output.failure == "unreachable"
    assert "closed the connection before the login" in output.reason


def test_recorded_and_replayed_alike(sshd: Sshd, tmp_path: Path) -> None:
    commands = [on(host, line) for host in ("gpu-01", "refuses") for line in ("nvidia-smi -L", "uname -s")]
    recorder = Recorder(Live(via="ssh"), tmp_path / "bundle", "node-health", {}, 0.0)
    first = {
        (output.command.host, output.command.shown): output
        for host in ("gpu-01", "refuses")
        for output in recorder.many([c for c in commands if c.host == host])
    }
    again = {
        (output.command.host, output.command.shown): output
        for host in ("gpu-01", "refuses")
        for output in recorder.many([c for c in commands if c.host == host])
    }
    recorder.close()
    replay = Replay(tmp_path / "bundle")
    replayed = {(output.command.host, output.command.shown): output for output in replay.many(commands)}
    assert first == again == replayed
    assert first["gpu-01", "uname -s"].via == "ssh"
