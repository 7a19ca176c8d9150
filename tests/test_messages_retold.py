"""How many known messages are still recognised, by their own name, when people retell the line: quoted, in a table, without its head."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpudoctor.library.index import messages
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import find

HEAD = regex(r'\] |: |WARN |ERROR |err="')  # what a log puts before a message: `gpu-02:812:930 [3] NCCL WARN `
ADDRESS = regex(r"\d+\.\d+\.\d+\.\d+")  # 10.0.3.7
HEX = regex(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b")  # 0x55d0a1


def without_head(line: str) -> str:
    """A line without what ends in its first half: a time, a program, a module. Its head may also be the half that says what failed."""
    return line[max((match.end() for match in HEAD.finditer(line) if match.end() < len(line) * 0.5), default=0) :]


def elided(line: str) -> str:
    """The first quarter and the last three eighths of a long line's words, with three points between."""
    words = line.split(" ")
    return " ".join([*words[: max(2, len(words) // 4)], "...", *words[len(words) * 5 // 8 :]]) if len(words) > 8 else line


def masked(line: str) -> str:
    """Addresses and long hexadecimal numbers as people blacken them."""
    return ADDRESS.sub("<IP>", HEX.sub("<hex>", line))


# The kind → how a line is retold, and the share of all messages that must be recognised then: what was reached.
#
# quoted, cell: missing is a cell of a matrix whose place in its row is the information (`peer_copy_slow`), or a name at its end.
# without head: left are those where the head alone says who speaks. A probe's (Liveness, Readiness, Startup) answer is anybody's; so is
#   `Failed with result 'exit-code'` without its unit, `no space for [mem …]` or `available PCIe bandwidth` without the device that
#   has it, `ImagePullBackOff` without what waits, `libtirpc.so.3: cannot open` without the
#   program that needs it. Two meanings of one tail stay apart: a received size of NCCL's bootstrap and of a collective.
# masked: left are those that are nothing but an address or number: a loopback, a partition key, a release, a stack frame.
# elided: a tail counts where nobody says it of anything else (`which would break GPU Direct RDMA`). Left are tails of any program
#   (`no such file or directory: unknown`, `connect: no route to host`) and those whose number or device was in the part left out.
FLOORS: dict[str, tuple[Callable[[str], str], float]] = {
    "as it is": (str, 1.0),
    "quoted": (lambda line: f"- we then saw `{line.strip()}` on the node", 0.99),
    "cell": (lambda line: f"| rank 3 | {line.strip()} | failed |", 0.99),
    "without head": (without_head, 0.93),
    "masked": (masked, 0.96),
    "elided": (elided, 0.745),
}


@pytest.mark.parametrize("kind", FLOORS)
def test_retold_messages_are_recognised(kind: str) -> None:
    retold, floor = FLOORS[kind]
    said = [message for message in messages() if not message.benign]  # nobody retells a row of a configuration
    lines = {message.name: retold(message.wordings[0].line) for message in said}
    missed = [name for name, line in lines.items() if name not in {hit.name for hit in find([line.encode()])}]
    assert 1 - len(missed) / len(said) >= floor, missed


@pytest.mark.parametrize(
    "text",
    [
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB ... OOB eth0:10.0.0.1<0>",
        "Loading ... 42 of 64 shards, please wait ...",
        "Starting the device plugin ... done",
        "Connecting to the hostengine ... connected, profiling metrics enabled",
        "| rank 3 | ok | 871.90 | 0 |",
        "we set `NCCL_DEBUG=INFO` and saw no error on the node",
        "the driver ... was loaded, and every GPU is listed",
        "waiting for the probe to finish ... it did after 12 seconds",
        "every task ended ... with exit code 0",
        "failed ... retried, and then it connected to 10.0.0.2:29500",
    ],
)
def test_a_retelling_of_nothing_says_nothing(text: str) -> None:
    assert list(find([text.encode()])) == []
