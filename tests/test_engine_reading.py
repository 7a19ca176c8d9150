"""What an answer is worth that came in part: its program failed, or nothing ends what it printed."""

from __future__ import annotations

import pytest

from gpudoctor.engine.reading import Reading, read_answer
from gpudoctor.facts import Subject
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common.ends import cut_off
from tests.nodes import bus, dcgmi, hgx, nvlink
from tests.test_ras import HEALTHY as RAS

NODE = Subject(kind="node", node="gpu-01")
LOG = "2026-03-01T11:40:12,000000+00:00 NVRM: Xid (PCI:0000:61:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
MODULES = bus.NVIDIA_MODULES


def of(parser: str, line: str, text: str, exit: int = 0, via: str = "") -> Reading:
    return read_answer(parser, Output(Command(tuple(line.split()), host="gpu-01"), exit=exit, pages=(text.encode(),), via=via), NODE)


def test_what_a_program_printed_before_it_failed_counts_and_is_not_all() -> None:
    whole, part = (of("linux.modules", "cat /proc/modules", MODULES, code) for code in (0, 1))
    assert (whole.problem, part.facts == whole.facts) == ("", True)
    assert part.problem == "cat left with exit code 1: what it printed may not be all"


@pytest.mark.parametrize(
    ("parser", "line", "text", "exit"),
    [
        (
            "infiniband.ports",
            "grep -R -e x /sys/class/infiniband/",
            "/sys/class/infiniband/mlx5_0/ports/1/state:4: ACTIVE\n",
            2,
        ),  # some files
        ("dcgm.diag", "dcgmi diag -r 1 -j", dcgmi.diag_json({"Deployment": [("software", {0: "Fail"}, [])]}), 226),
        ("dcgm.health", "dcgmi health -g 0 -c -j", dcgmi.UNREACHABLE, 1),  # it says itself what is wrong
        ("dcgm.discovery", "dcgmi discovery -l", dcgmi.UNREACHABLE, 1),
        ("nvidia.smi", "nvidia-smi -q -x", "No devices were found\n", 6),
    ],
)
def test_an_exit_code_that_is_a_part_of_the_answer(parser: str, line: str, text: str, exit: int) -> None:
    assert of(parser, line, text, exit).problem == ""


def test_a_list_that_was_cut_off_says_nothing_of_what_is_missing() -> None:
    reading = of("linux.lspci", "lspci -D -nn -k -vv -d 10de:", bus.lspci([bus.Slot(card.pci) for card in hgx.CARDS])[:-20])
    assert (reading.facts, reading.problem.startswith("lspci was cut off after")) == (None, True)
    assert of("linux.lspci", "lspci -D", bus.lspci([bus.Slot()]).rstrip("\n"), via="pasted").problem == ""


def test_what_stands_in_a_log_that_was_cut_off_stands_there() -> None:
    reading = of("kernel.log", "dmesg --time-format=iso", LOG + "2026-03-01T11:40:1")
    assert reading.problem == "dmesg was cut off after '2026-03-01T11:40:1'"
    assert reading.facts
    assert len(reading.facts["xids"]) == 1


def test_a_text_without_a_line_as_of_a_log_is_no_log() -> None:
    assert "not an answer of dmesg: 'Unable to frobnicate'" in of("kernel.log", "dmesg", "Unable to frobnicate\n").problem


def test_what_the_kernel_writes_is_never_empty() -> None:
    assert of("linux.modules", "cat /proc/modules", "").problem == "cat /proc/modules printed nothing (exit code 0)"
    assert of("environment.settings", "cat /etc/nccl.conf", "").problem == ""


@pytest.mark.parametrize(
    ("name", "whole", "lines"),
    [
        ("nvidia.nvlink", nvlink.status(hgx.CARDS), 100),
        ("nvidia.topo", nvlink.topo(8), 6),
        ("nccl.ras", RAS, 16),
        ("dcgm.policy", dcgmi.policy(), 5),
        ("infiniband.ports", hgx.ibstat(hgx.ADAPTERS), 24),
    ],
)
def test_answers_that_leave_lines_out(name: str, whole: str, lines: int) -> None:
    assert cut_off(name, whole) == ""
    assert cut_off(name, "".join(whole.splitlines(keepends=True)[:lines])).startswith("cut off after")


def test_an_answer_of_nvidia_smi_that_breaks_off_does_not_say_how_many_gpus_there_are() -> None:
    text = hgx.smi(hgx.CARDS)["nvidia-smi -q -x"]
    assert isinstance(text, str)
    reading = of("nvidia.smi", "nvidia-smi -q -x", text[: len(text) // 2])
    assert reading.facts
    assert {getattr(smi, "gpus", 0) for smi in reading.facts["smi"]} <= {None, 8}
    assert reading.problem
