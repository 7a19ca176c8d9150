"""What the catalogue tells a person to type is in the documentation of the program. kubectl's own parser takes its commands in
test_kubectl_agrees.py, Slurm its own in test_slurm_real.py; here is what runs only beside a GPU.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from gpudoctor.library.index import library


class Options(NamedTuple):
    """Options of a command: those that stand alone, and those whose value stands behind them or after "="."""

    alone: str
    with_value: str = ""


# https://docs.nvidia.com/deploy/nvidia-smi/index.html
NVIDIA_SMI = {
    "": Options(
        "-q --query -L --list-gpus -x -r --gpu-reset -rgc --reset-gpu-clocks -rac --reset-applications-clocks",
        "-d --display -i --id -l -f --format --query-gpu --query-compute-apps -pm --persistence-mode -e --ecc-config -p --reset-ecc-errors"
        " -c --compute-mode -mig --multi-instance-gpu -pl --power-limit -lgc --lock-gpu-clocks -ac --applications-clocks",
    ),
    "nvlink": Options("-s --status -e --errorcounters -c -p -R --remotelinkinfo -re -info", "-i -l"),
    "topo": Options("-m --matrix", "-p2p -i -n -c"),
    "mig": Options("-lgip -lgi -lci -lcip -C -dgi -dci", "-i -cgi"),
    "conf-compute": Options("-f -grs", "-srs"),
}
# What `-d` takes, by the same document.
DISPLAYS = (
    "MEMORY UTILIZATION ECC TEMPERATURE POWER CLOCK COMPUTE PIDS PERFORMANCE SUPPORTED_CLOCKS PAGE_RETIREMENT ACCOUNTING ENCODER_STATS"
    " SUPPORTED_GPU_TARGET_TEMP VOLTAGE FBC_STATS ROW_REMAPPER RESET_STATUS GSP_FIRMWARE_VERSION"
)
# https://docs.nvidia.com/datacenter/dcgm/latest/user-guide/index.html, and `dcgmi COMMAND --help`
DCGMI = {
    "discovery": Options("-l -c -v", "-i -g"),
    "health": Options("-c -f --clear -j", "-g -s"),
    "diag": Options("-j -v", "-r -g -i -p"),
    "policy": Options("--get -e -v --clear", "--set -g -T"),
    "profile": Options("--pause --resume -l", "-i"),
    "dmon": Options("-l", "-e -c -d -g -i"),
    "stats": Options("-e -v", "-g -j -s -x"),
    "nvlink": Options("-s -e", "-g"),
    "modules": Options("-l"),
    "group": Options("-l"),
    "topo": Options("", "-g -i"),
}
OF_SYSTEM = ("/dev/", "/etc/", "/lib/", "/usr/")


def commands(program: str) -> Iterator[tuple[str, list[str]]]:
    """(cause, command) of each of a program's commands in the catalogue, also of those that kubectl runs in a pod."""
    for cause in library().causes.values():
        for argv in [*(look.run for look in cause.look), *(argv for fix in cause.fixes for argv in (fix.run, fix.undo, fix.verify))]:
            own = argv[argv.index("--") + 1 :] if "--" in argv else argv
            if own[:1] == [program]:
                yield cause.id, own


def unknown(words: list[str], options: Options) -> list[str]:
    """The words that are no documented option of a command, nor the value of one."""
    found, left = [], iter(words)
    for word in left:
        name, equals, _ = word.partition("=")
        if name in options.with_value.split():
            _ = equals or next(left, "")
        elif equals or name not in options.alone.split():
            found.append(word)
    return found


def test_nvidia_smi_documents_each_option() -> None:
    wrong = []
    for cause, argv in commands("nvidia-smi"):
        command = argv[1] if len(argv) > 1 and argv[1] in NVIDIA_SMI else ""
        rest = argv[2:] if command else argv[1:]
        wrong += [f"{cause}: {' '.join(argv)}: {word}" for word in unknown(rest, NVIDIA_SMI[command])]
        shown = [value for name, value in itertools.pairwise(argv) if name == "-d" and not command]
        wrong += [f"{cause}: -d {value}" for value in shown if not set(value.split(",")) <= {*DISPLAYS.split()}]
    assert wrong == []


def test_dcgmi_documents_each_option() -> None:
    said = [(cause, argv) for cause, argv in commands("dcgmi") if argv[1:]]
    assert [f"{cause}: {' '.join(argv)}" for cause, argv in said if unknown(argv[2:], DCGMI.get(argv[1], Options("")))] == []


def test_a_gpu_is_reset_by_a_name_that_does_not_shift() -> None:
    """Where a card is lost, the index of those behind it moves down by one."""
    for cause, argv in commands("nvidia-smi"):
        if "-i" in argv and ("--gpu-reset" in argv or "-r" in argv):
            assert argv[argv.index("-i") + 1] == "${gpu}", cause


@pytest.mark.parametrize(
    ("words", "left"), [(["-q", "-d", "ECC"], []), (["-z"], ["-z"]), (["--power-limit=700"], []), (["-q=1"], ["-q=1"]), (["-d"], [])]
)
def test_what_is_no_option_is_named(words: list[str], left: list[str]) -> None:
    assert unknown(words, NVIDIA_SMI[""]) == left


def test_nothing_is_undone_by_removing_a_part_of_the_system() -> None:
    for cause in library().causes.values():
        removed = [path for fix in cause.fixes if fix.undo[:1] == ["rm"] for path in fix.undo[1:]]
        assert not any(path.startswith(OF_SYSTEM) for path in removed), cause.id
