"""Bundles that `--record` wrote, among other files or in an archive: their list says which command printed which file, where and when."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

INDEX = "bundle.json"
LIST = "gpudoctor.bundle"  # what the list, and what commands said on stderr, are recognised as
LARGEST = 16 << 20  # bytes of a list


class Printed(NamedTuple):
    """What printed a file: the command line, the host that ran it ("": here, or the API), and when. Without a command it is no answer."""

    command: str = ""
    host: str = ""
    time: float = 0.0


class Answer(msgspec.Struct, frozen=True):
    """One recorded answer, as far as it matters here; `probes.bundle` has the whole."""

    argv: list[str] = []
    host: str = ""
    stdout: list[str] = []
    stderr: str | None = None
    time: float = 0.0


class Bundle(msgspec.Struct, frozen=True):
    """The contents of a list."""

    bundle: int
    outputs: list[Answer]


def is_list(path: str) -> bool:
    """Whether a file may be the list of a bundle, by its name."""
    return path.rpartition("/")[2] == INDEX


def answers(lists: Iterable[tuple[str, bytes]]) -> dict[str, Printed]:
    """Path → what printed it, for the files beside the lists given as (path, content), and the lists themselves.

    >>> answers([("b/bundle.json", b'{"bundle": 1, "outputs": [{"argv": ["nvidia-smi", "-q"], "host": "n1", "stdout": ["a.txt"]}]}')])
    {'b/bundle.json': Printed(command='', host='', time=0.0), 'b/a.txt': Printed(command='nvidia-smi -q', host='n1', time=0.0)}
    """
    found: dict[str, Printed] = {}
    for path, data in lists:
        try:
            bundle = msgspec.json.decode(data[:LARGEST], type=Bundle)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            continue
        folder = path.removesuffix(INDEX)
        found[path] = Printed()
        for answer in bundle.outputs:
            printed = Printed(shlex.join(answer.argv), answer.host, max(0.0, answer.time))
            found |= {f"{folder}{name}": printed for name in answer.stdout}
            if answer.stderr is not None:
                found[f"{folder}{answer.stderr}"] = Printed()
    return found
