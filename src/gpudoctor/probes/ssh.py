"""The way to a host by ssh: the OpenSSH client runs as a child, so that the user's ssh_config, keys, agent and jump hosts hold.

One mechanism has the deadline and the byte limit of every program, and nothing can ask for a password. $GPUDOCTOR_SSH_CONFIG names
another configuration file than ~/.ssh/config (`ssh -F`).
"""

from __future__ import annotations

import os
import random
import re
import time
from typing import NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.probes.base import Failure
from gpudoctor.probes.process import Child
from gpudoctor.probes.remote import NoWay, Printed, Wire, last_line

CONFIG = "GPUDOCTOR_SSH_CONFIG"
CONNECT = 10  # seconds for the TCP connection, of every hop
TAIL = 4096  # bytes of what ssh said last
ATTEMPTS = 3  # a jump host that is asked by many at once closes some of the connections: sshd_config(5), MaxStartups
PAUSE = (0.3, 1.5)  # seconds before another attempt, at random so that the many don't come back together

# gpu-07, gpu-07.example.org, 10.0.0.7, fe80::1%eth0, root@gpu-07. Never an option, a URL or a text for a shell.
NAME = regex(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}@)?[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,253}\Z", re.ASCII)

OPTIONS = {
    "BatchMode": "yes",  # never ask
    "ConnectTimeout": str(CONNECT),
    "LogLevel": "ERROR",  # no banner
    "RequestTTY": "no",
    "RemoteCommand": "none",
    "ClearAllForwardings": "yes",  # a LocalForward of the user's can't be bound twice
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "ControlMaster": "no",  # one that is there is used; none is left behind
}


class Trouble(NamedTuple):
    """What ssh says, what that is, and the next step."""

    words: str
    failure: Failure
    reason: str
    again: bool = False


# In the order in which they decide, first that nobody has the name. {host} was asked for, {words} is what ssh said last.
TROUBLES = (
    # ssh: Could not resolve hostname gpu-07: Name or service not known
    Trouble("Could not resolve hostname", "unreachable", "{host} can't be resolved: check the name, or give its HostName in ~/.ssh/config"),
    # @ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @
    Trouble(
        "HOST IDENTIFICATION HAS CHANGED",
        "refused",
        "the host key of {host} has changed: if the machine was installed anew, `ssh-keygen -R {host}` and connect once by hand",
    ),
    # Host key verification failed.
    Trouble("Host key verification failed", "refused", "the host key of {host} is not known: connect once by hand, `ssh {host}`"),
    # root@gpu-07: Permission denied (publickey,password).
    Trouble(
        "Permission denied (",
        "refused",
        "{host} takes none of the keys that ssh has ({words}): load the right one, `ssh-add`, or name the User in ~/.ssh/config",
    ),
    # Received disconnect from 10.0.0.7 port 22:2: Too many authentication failures
    Trouble(
        "Too many authentication failures", "refused", "{host} refused too many keys: name the right one, IdentityFile in ~/.ssh/config"
    ),
    # ssh: connect to host gpu-07 port 22: Connection refused
    Trouble("Connection refused", "unreachable", "{host} refuses ssh connections ({words}): is sshd running, and on that port?"),
    # ssh: connect to host gpu-07 port 22: Connection timed out
    Trouble("timed out", "unreachable", "ssh to {host} timed out: is the machine up, and is a firewall or a jump host between?"),
    # ssh: connect to host gpu-07 port 22: No route to host
    Trouble("No route to host", "unreachable", "there is no route to {host}: is the machine up, and does its address belong to it?"),
    Trouble("Network is unreachable", "unreachable", "there is no network to {host}: is a VPN or a jump host needed?"),
    # kex_exchange_identification: Connection closed by remote host  ·  Connection reset by 10.0.0.7 port 22
    Trouble(
        "Connection closed", "unreachable", "{host} closed the connection before the login ({words}): see MaxStartups there", again=True
    ),
    Trouble(
        "Connection reset", "unreachable", "{host} closed the connection before the login ({words}): see MaxStartups there", again=True
    ),
)
# bash: line 1: sh: command not found
NO_SHELL = regex(r"\bsh: (?:command )?not found|unknown command .{0,20}\bsh\b", re.IGNORECASE)


def name_trouble(host: str) -> str:
    """Why a name is not given to ssh, "" when it is."""
    return "" if NAME.match(host) else f"{host[:60]!a} is not the name of a host"


class Ssh:
    """A wire through the ssh client. It connects again when the far side was only too busy to let it in. Raises NoWay."""

    def __init__(self, host: str, script: bytes) -> None:
        self.host, self.script = host, script
        self.attempts, self.tail, self.answered = 0, b"", False
        self.start()

    def start(self) -> None:
        """Start the client."""
        self.attempts += 1
        try:
            self.child = Child(command_line(self.host), self.script, {"SSH_ASKPASS_REQUIRE": "never"})
        except FileNotFoundError:
            raise NoWay("not-found", "ssh is not installed on this machine: install the OpenSSH client") from None
        except OSError as error:
            raise NoWay("broken", f"ssh can't be started ({error.strerror or error})") from None

    @property
    def ended(self) -> bool:
        """Whether ssh has ended."""
        return self.child.ended

    def read(self, seconds: float) -> Printed:
        """What has come, waiting for at most `seconds`."""
        printed = self.child.read(seconds)
        for stream, chunk in printed:
            self.answered = self.answered or stream == 1
            if stream == 2:
                self.tail = (self.tail + chunk)[-TAIL:]
        if self.ended and not self.answered and self.attempts < ATTEMPTS and (trouble := self.trouble()) and trouble.again:
            self.child.close()
            time.sleep(min(seconds, random.uniform(*PAUSE)))  # noqa: S311
            self.tail = b""
            self.start()
        return printed

    def trouble(self) -> Trouble | None:
        """What ssh complains of, if that is known."""
        said = self.tail.decode("utf-8", "replace")
        return next((trouble for trouble in TROUBLES if trouble.words in said), None)

    def why(self) -> NoWay:
        """Why ssh has ended."""
        words = last_line(self.tail.decode("utf-8", "replace"))
        if trouble := self.trouble():
            return NoWay(trouble.failure, trouble.reason.format(host=self.host, words=words), stranger=trouble is TROUBLES[0])
        if NO_SHELL.search(words):
            return NoWay("not-found", f"{self.host} has no `sh` ({words})", bare=True)
        return NoWay("broken", f"ssh to {self.host} ended with exit code {self.child.exit}" + (f": {words}" if words else ""))

    def close(self) -> None:
        """End ssh."""
        if self.child.ended:
            self.child.close()
        else:
            self.child.stop()


def connect(host: str, script: bytes) -> Wire:
    """Open a wire to a host. Raises NoWay."""
    if trouble := name_trouble(host):
        raise NoWay("not-allowed", trouble)
    return Ssh(host, script)


def command_line(host: str) -> list[str]:
    """The ssh command: `sh -s` is all that the far side's login shell is ever given."""
    config = os.environ.get(CONFIG, "")
    options = [part for name, value in OPTIONS.items() for part in ("-o", f"{name}={value}")]
    return ["ssh", *(["-F", config] if config else []), *options, "--", host, "sh -s"]
