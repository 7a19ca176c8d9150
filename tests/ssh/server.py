"""A real sshd on the loopback address, with keys and names of its own. Every `Host` of its client configuration is one machine.

A machine's programs are files in `programs`; $GPU_HOST tells them which machine they are. What a login prints before it does anything
stands in the file `noise`, and what it runs instead of a shell in `login-HOST`.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.nodes.case import Said
from tests.nodes.programs import scripts

SSHD = next((path for path in ("/usr/sbin/sshd", shutil.which("sshd") or "") if path and Path(path).exists()), "")

LOGIN = """#!/bin/sh
[ -f "{folder}/noise" ] && cat "{folder}/noise"
PATH="{folder}/programs:$PATH"
export PATH
[ -x "{folder}/login-$GPU_HOST" ] && exec "{folder}/login-$GPU_HOST"
exec sh -c "$SSH_ORIGINAL_COMMAND"
"""
SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
AcceptEnv GPU_HOST
MaxStartups 500
MaxSessions 500
ForceCommand {folder}/login
"""
CLIENT = """
Host {name}
  HostName 127.0.0.1
  HostKeyAlias machine
  SetEnv GPU_HOST={name}
"""
COMMON = """
Host *
  Port {port}
  User {user}
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


class Sshd:
    """A running server. `config` is the client's configuration file."""

    def __init__(self, folder: Path, hosts: Iterable[str], more: str = "") -> None:
        self.folder, self.config = folder, folder / "ssh_config"
        self.programs = folder / "programs"
        self.programs.mkdir(parents=True)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
        self.port = free_port()
        host_key = (folder / "host.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"machine {' '.join(host_key)}\n")
        (folder / "sshd_config").write_text(SERVER.format(folder=folder, port=self.port))
        self.executable("login", LOGIN.format(folder=folder))
        blocks = [more, *(CLIENT.format(name=name) for name in hosts), COMMON.format(port=self.port, user=getpass.getuser(), folder=folder)]
        self.config.write_text("\n".join(blocks))
        self.process: subprocess.Popen[bytes] | None = None

    def executable(self, name: str, text: str) -> None:
        """Write a program."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)

    def program(self, name: str, text: str) -> None:
        """Write a program that every machine has."""
        self.executable(f"programs/{name}", f"#!/bin/sh\n{text}\n")

    def machines(self, answers: Mapping[str, str | Said]) -> None:
        """Programs that print what a case's machines do: command line → text, `gpu-02: dmesg` for one machine alone."""
        for program, body in scripts(answers, self.folder).items():
            self.program(program, body)

    def start(self) -> None:
        """Start it and wait until it listens."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        with (self.folder / "sshd.log").open("wb") as log:
            self.process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")], stderr=log, stdin=subprocess.DEVNULL
            )
        end = time.monotonic() + 10
        while time.monotonic() < end and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"sshd did not start: {(self.folder / 'sshd.log').read_text()[:2000]}")

    def stop(self) -> None:
        """End it."""
        if self.process:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port
