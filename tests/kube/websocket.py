"""The far side of `kubectl exec` by websocket: binary messages whose first byte is the channel.

The protocol is that of k8s.io/apimachinery/pkg/util/remotecommand (constants.go).
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, BinaryIO

import msgspec
from websockets.frames import Frame, Opcode
from websockets.utils import accept_key

from tests.kube.containers import Answer

PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")  # the one we like best comes first
STDIN, STDOUT, STDERR, ERROR = 0, 1, 2, 3
CLOSE_STDIN = bytes([255, STDIN])
CHUNK = 32 * 1024  # what a kubelet copies at a time


def handshake(headers: Mapping[str, str]) -> dict[str, str] | None:
    """The headers that accept an upgrade, or None when the client asks for something else (SPDY, an older sub-protocol).

    The names of `headers` are in lower case.
    """
    offered = [each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")]
    chosen = next((each for each in PROTOCOLS if each in offered), None)
    key = headers.get("sec-websocket-key")
    if headers.get("upgrade", "").lower() != "websocket" or key is None or chosen is None:
        return None
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Accept": accept_key(key),
        "Sec-WebSocket-Protocol": chosen,
    }


def outcome(argv: Sequence[str], answer: Answer) -> dict[str, Any]:
    """The Status on the error channel: success, the exit code, or that the runtime found no such program."""
    if answer.missing:
        said = f'exec: "{argv[0]}": executable file not found in $PATH: unknown'
        message = f"error executing command in container: failed to exec in container: OCI runtime exec failed: exec failed: {said}"
        return {
            "metadata": {},
            "status": "Failure",
            "message": f"Internal error occurred: {message}",
            "reason": "InternalError",
            "code": 500,
        }
    if answer.exit == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {answer.exit}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(answer.exit)}]},
    }


def speak(send: Callable[[bytes], object], argv: Sequence[str], answer: Answer) -> None:
    """Send one command's whole answer: an empty greeting, its output, its Status, and the end."""

    def message(opcode: Opcode, data: bytes) -> None:
        send(Frame(opcode, data).serialize(mask=False))

    message(Opcode.BINARY, bytes([STDOUT]))  # the API server says so that the connection is established
    time.sleep(answer.stall)
    for channel, body in ((STDOUT, answer.stdout), (STDERR, answer.stderr)):
        for start in range(0, len(body), CHUNK):
            message(Opcode.BINARY, bytes([channel]) + body[start : start + CHUNK])
    message(Opcode.BINARY, bytes([ERROR]) + msgspec.json.encode(outcome(argv, answer)))
    message(Opcode.CLOSE, (1000).to_bytes(2, "big"))


def converse(send: Callable[[bytes], object], client: BinaryIO, path: str) -> None:
    """Give what the client sends to a real `sh -s`, and the client what that prints, as it prints it."""
    lock = threading.Lock()

    def message(opcode: Opcode, data: bytes) -> None:
        with lock:
            send(Frame(opcode, data).serialize(mask=False))

    def copy(channel: int, pipe: IO[bytes]) -> None:
        while chunk := os.read(pipe.fileno(), CHUNK):
            message(Opcode.BINARY, bytes([channel]) + chunk)

    message(Opcode.BINARY, bytes([STDOUT]))
    shell = subprocess.Popen(
        ["sh", "-s"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={"PATH": f"{path}:{os.environ['PATH']}"}
    )
    assert shell.stdin is not None
    assert shell.stdout is not None
    assert shell.stderr is not None
    copiers = [threading.Thread(target=copy, args=pair, daemon=True) for pair in ((STDOUT, shell.stdout), (STDERR, shell.stderr))]
    for thread in copiers:
        thread.start()
    while (sent := payload(client)) not in (b"", CLOSE_STDIN):
        shell.stdin.write(sent[1:])
        shell.stdin.flush()
    shell.stdin.close()
    code = shell.wait()
    for thread in copiers:
        thread.join()
    message(Opcode.BINARY, bytes([ERROR]) + msgspec.json.encode(outcome(["sh"], Answer(b"", b"", code, 0))))
    message(Opcode.CLOSE, (1000).to_bytes(2, "big"))


def payload(client: BinaryIO) -> bytes:
    """The content of the client's next frame, b"" when it has left."""
    head = client.read(2)
    if len(head) < 2:
        return b""
    size = head[1] & 127
    if size >= 126:
        size = int.from_bytes(client.read(2 if size == 126 else 8), "big")
    mask, data = client.read(4), client.read(size)
    return bytes(byte ^ mask[number % 4] for number, byte in enumerate(data))
