"""The environment of distributed jobs: the known variables, the parser, the comparison, and what may leave a machine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.derive.settings import UNSET, chosen, compare_settings
from gpudoctor.facts import Subject
from gpudoctor.facts.infiniband import IbPort, Interface
from gpudoctor.facts.job import Setting
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.recognise import recognise
from gpudoctor.knowledge import nccl_settings
from gpudoctor.library import nccl_settings as loader
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.redact import Redactor
from gpudoctor.registry import load
from gpudoctor.runbook.allowed import OF_JOB, refusal
from gpudoctor.tools.linux import environment
from gpudoctor.tools.parser import ParseError

NODE = Subject(kind="node", node="gpu-01")


def output(text: str | bytes, *argv: str) -> Output:
    return Output(Command(argv or ("env",), host="gpu-01"), pages=(text if isinstance(text, bytes) else text.encode(),))


def read(text: str | bytes, *argv: str) -> dict[str, Setting]:
    found: Any = environment.settings(output(text, *argv), NODE)["settings"]
    return {one.name: one for one in found}


# --- what is known


def test_defaults_tell_older_releases() -> None:
    entry = nccl_settings.settings()["NCCL_IB_TIMEOUT"]
    assert entry.defaults == "20; before 2.23: 18; before 2.14: 14"
    assert [entry.fits(value) for value in ("22", "0x16", "32", "true", "")] == [True, True, False, False, None]


def test_a_family_stands_for_names_that_are_not_listed() -> None:
    family, own = (
        nccl_settings.known_setting("NCCL_IB_RESILIENCY_PORT_RECOVERY_ACK_TIMEOUT"),
        nccl_settings.known_setting("NCCL_IB_RESILIENCY_PORT_FAILOVER"),
    )
    assert family is not None
    assert family.name == "NCCL_IB_RESILIENCY_*"
    assert own is not None
    assert own.name == "NCCL_IB_RESILIENCY_PORT_FAILOVER"
    assert nccl_settings.known_setting("PATH") is None


def test_words_are_read_in_the_case_that_the_library_reads() -> None:
    level, debug = nccl_settings.settings()["NCCL_P2P_LEVEL"], nccl_settings.settings()["NCCL_DEBUG"]
    assert [level.fits("NVL"), level.fits("nvl"), debug.fits("info"), debug.fits("1")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("NCCL_SOCKET_IFNAMES", "NCCL_SOCKET_IFNAME"),
        ("NCCL_IB_DISABEL", "NCCL_IB_DISABLE"),
        ("NCCL_SITE_PROFILE", ""),
        ("UCX_TLSS", ""),
    ],
)
def test_a_misspelt_name_is_near_the_right_one(name: str, meant: str) -> None:
    assert nccl_settings.nearest_name(name) == meant


def test_every_renamed_variable_leads_to_one_that_is_known() -> None:
    new = {one.instead for one in nccl_settings.settings().values() if one.state == "renamed"}
    assert {name for name in new if nccl_settings.known_setting(name) is None} == set()


def test_problems_of_the_data_are_named_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text(
        "sources: {nccl: x}\nsettings:\n  - {name: A, library: mpi, does: x, state: old}\n  - {name: A, library: nccl, does: x}\n"
    )
    found, problems = loader.load(path, "settings.yaml")
    assert [str(one) for one in problems] == [
        "settings.yaml:3: A is there twice",
        "settings.yaml:3: A unknown library 'mpi'",
        "settings.yaml:3: A unknown state 'old'",
        "settings.yaml:4: A is there twice",
    ]
    assert len(found) == 2
    path.write_text("sources: {}\nsettings: [{name: A, library: nccl, does: x, note: y}]\n")
    assert "unknown field" in str(loader.load(path, "settings.yaml")[1][0])


# --- the parser

NOTATIONS = [
    ("NCCL_DEBUG=INFO", "INFO"),
    ("export NCCL_DEBUG=INFO  # see the manual", "INFO"),
    ("export NCCL_DEBUG='INFO';", "INFO"),
    ('declare -x NCCL_DEBUG="INFO"', "INFO"),
    ("+ export NCCL_DEBUG=INFO", "INFO"),
    ("NCCL_DEBUG=INFO NCCL_NET=IB python train.py", "INFO"),
    ("mpirun -np 8 -x NCCL_DEBUG=INFO -x LD_LIBRARY_PATH ./all_reduce_perf", "INFO"),
    ("docker run --gpus all -e NCCL_DEBUG=INFO --env NCCL_NET=IB image", "INFO"),
    ("srun --export=ALL,NCCL_DEBUG=INFO python train.py", "INFO"),
    ("setenv NCCL_DEBUG INFO", "INFO"),
    ("ENV NCCL_DEBUG INFO", "INFO"),
    ('os.environ["NCCL_DEBUG"] = "INFO"', "INFO"),
    ("    NCCL_DEBUG: INFO", "INFO"),
    ('  "NCCL_DEBUG": "INFO",', "INFO"),
    ("        - name: NCCL_DEBUG\n          value: INFO", "INFO"),
    ('{\n"name": "NCCL_DEBUG",\n"value": "INFO"\n}', "INFO"),
    ("cd /job && export NCCL_DEBUG=INFO; python train.py", "INFO"),
    ("env PYTHONUNBUFFERED=1 NCCL_DEBUG=INFO python train.py", "INFO"),
    ("NCCL_DEBUG=WARN\nNCCL_DEBUG=INFO", "INFO"),
]


@pytest.mark.parametrize(("text", "value"), NOTATIONS)
def test_every_notation(text: str, value: str) -> None:
    assert read(text)["NCCL_DEBUG"].value == value
    assert read(text.replace("\n", "\r\n") + "\r\n")["NCCL_DEBUG"].value == value


@pytest.mark.parametrize(
    "text",
    [
        "# export NCCL_DEBUG=INFO",
        "export NCCL_DEBUG=$LEVEL",
        "export MASTER_ADDR=$(hostname -i)",
        "MY_NCCL_DEBUG=INFO",
        "If you still want to proceed, you can set NCCL_IGNORE_DISABLED_P2P=1.",
        "(NCCL_NVLS_ENABLE=1) helped, so did NCCL_P2P_DISABLE=1",
        "unset NCCL_DEBUG",
        "HF_TOKEN=abc",
    ],
)
def test_what_sets_nothing_of_ours(text: str) -> None:
    assert read(text) == {}


def test_a_whole_environment_is_told_from_a_script() -> None:
    script = read("export NCCL_DEBUG=INFO\n")
    shell = read("PATH=/bin\nHOME=/root\nPWD=/\nNCCL_SOCKET_IFNAME==ens1f0\nRANK=3\n")
    process = read(b"NCCL_DEBUG=INFO\0RANK=5\0", "grep", "-z", "/proc/4711/environ")
    assert not script["NCCL_DEBUG"].whole
    assert shell["NCCL_SOCKET_IFNAME"].whole
    assert shell["NCCL_SOCKET_IFNAME"].value == "=ens1f0"
    assert shell["RANK"].rank == 3
    assert (process["NCCL_DEBUG"].pid, process["NCCL_DEBUG"].rank, process["NCCL_DEBUG"].whole) == (4711, 5, True)


def test_secrets_are_never_shown() -> None:
    found = read("UCX_AUTH_TOKEN=hunter2\nFI_OPX_UUID=d41d8cd98f00b204e9800998ecf8427e\nNCCL_DEBUG=INFO\n")
    assert "hunter2" not in str(found)
    assert "d41d8cd9" not in str(found)
    assert found["UCX_AUTH_TOKEN"].value == environment.HIDDEN


def test_what_is_known_comes_along() -> None:
    one = read("NCCL_ASYNC_ERROR_HANDLING=1\n")["NCCL_ASYNC_ERROR_HANDLING"]
    assert (one.state, one.instead, one.library, one.fits) == ("renamed", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "torch", True)
    assert read("NCCL_IB_DISABEL=1")["NCCL_IB_DISABEL"].like == "NCCL_IB_DISABLE"


@settings(max_examples=40, derandomize=True)
@given(st.text(max_size=200), st.sampled_from(NOTATIONS), st.text(max_size=200))
def test_a_bad_line_costs_no_good_one(before: str, good: tuple[str, str], after: str) -> None:
    text = f"{before.replace(chr(0), '')}\n\n{good[0]}\n\n{after}"
    assert "NCCL_DEBUG" in read(text.encode("utf-8", "replace"))


def test_cut_at_every_byte() -> None:
    whole = 'PATH=/bin\nexport NCCL_DEBUG="INFO"\n- name: NCCL_NET\n  value: IB\nos.environ["UCX_TLS"] = "rc"\nNCCL_ALGO=Rïng\n'.encode()
    for end in range(len(whole)):
        read(whole[:end])


@pytest.mark.parametrize(
    "piece",
    [
        "NCCL_" + "A" * 4000,
        "NCCL_X" * 300 + "=",
        "= " * 2000,
        "NCCL_DEBUG=" + '"' * 3000,
        " " * 4000,
        "- name: ",
        "N" * 100 + "=1 ",
        "\x1b[31mNCCL_A=1",
        "\0" * 500,
    ],
)
def test_hostile_lines_take_linear_time(piece: str) -> None:
    text = "\n".join([piece] * (1_000_000 // (len(piece) + 1)))
    started = time.process_time()
    read(text)
    assert time.process_time() - started < 4


def test_many_names_are_bounded() -> None:
    started = time.process_time()
    found = read("".join(f"NCCL_IB_TIMEOUT{number:X}=1\n" for number in range(40_000)))
    assert len(found) == environment.MOST
    assert time.process_time() - started < 8


# --- interfaces


def test_interfaces_of_proc_net_dev() -> None:
    numbers = " ".join(["0"] * 16)
    text = f"Inter-|   Receive |  Transmit\n face |bytes packets\n    lo: {numbers}\nens3f0np0: {numbers}\nbroken: 1 2\n"
    found: Any = load("linux.net_dev")(output(text), NODE)["interfaces"]
    assert [one.interface for one in found] == ["lo", "ens3f0np0"]
    with pytest.raises(ParseError, match="net/dev"):
        load("linux.net_dev")(output("cat: no such"), NODE)


# --- the comparison


def one(name: str, value: str, **more: Any) -> Setting:
    return environment.setting(name, value, **more)


def table(*all_settings: Setting, **beside: list[Any]) -> dict[str, Any]:
    return compare_settings({"settings": [*all_settings], **beside}, {}, 0.0)


def test_the_one_that_differs_is_odd() -> None:
    ranks = [one("NCCL_PROTO", "LL" if rank == 2 else "Simple", node=f"gpu-0{rank}", rank=rank, whole=True) for rank in range(4)]
    rows = table(*ranks)["setting_rows"]
    assert [(row.value, row.where, row.odd, row.usual) for row in rows] == [
        ("Simple", "gpu-[00-01,03], rank 0-1,3", False, "Simple"),
        ("LL", "gpu-02, rank 2", True, "Simple"),
    ]
    assert rows[1].node == "gpu-02"
    assert rows[1].same


def test_not_set_counts_only_where_everything_was_read() -> None:
    whole = [one("RANK", str(rank), node="gpu-01", rank=rank, pid=rank + 1, whole=True) for rank in range(3)]
    ring = [one("NCCL_ALGO", "Ring", node="gpu-01", rank=rank, pid=rank + 1, whole=True) for rank in range(2)]
    assert [row.value for row in table(*whole, *ring)["setting_rows"] if row.odd] == [UNSET]
    partly = one("NCCL_NET", "IB", node="gpu-02", rank=9)
    assert not any(row.odd for row in table(partly, one("NCCL_ALGO", "Ring", node="gpu-01", rank=1))["setting_rows"])


def test_jobs_are_not_compared_with_each_other() -> None:
    def process(pid: int, job: str, proto: str) -> list[Setting]:
        place = {"node": "gpu-01", "pid": pid, "rank": pid % 2, "whole": True}
        return [one("SLURM_JOB_ID", job, **place), one("NCCL_PROTO", proto, **place)]

    mixed = [*process(10, "7", "LL"), *process(11, "7", "LL"), *process(20, "8", "Simple"), *process(21, "8", "Simple")]
    assert not any(row.usual for row in table(*mixed)["setting_rows"])
    pods = [one("NCCL_PROTO", value, namespace="ml", pod=pod) for pod, value in (("train-0", "LL"), ("serve-0", "Simple"))]
    assert not any(row.usual for row in table(*pods)["setting_rows"])


def test_a_file_of_the_machine_is_not_compared_with_its_processes() -> None:
    conf = one("NCCL_NET_GDR_LEVEL", "LOC", node="gpu-01")
    process = one("RANK", "0", node="gpu-01", rank=0, pid=7, whole=True)
    assert not any(row.usual for row in table(conf, process)["setting_rows"])


@pytest.mark.parametrize(
    ("value", "there", "meant"),
    [
        ("eth", "lo eth0 eth1 ib0", "eth0 eth1"),
        ("=eth0", "eth0 eth01", "eth0"),
        ("^docker,lo", "lo docker0 eth0", "eth0"),
        ("^=eth0", "eth0 eth01", "eth01"),
        ("mlx5_1:1", "mlx5_0 mlx5_1 mlx5_11", "mlx5_1 mlx5_11"),
        ("=mlx5_1:1,mlx5_0:1", "mlx5_0 mlx5_1 mlx5_11", "mlx5_0 mlx5_1"),
        ("ens", "eth0", ""),
    ],
)
def test_filters_are_read_as_nccl_reads_them(value: str, there: str, meant: str) -> None:
    assert chosen(value, there.split()) == meant.split()


def test_filters_are_matched_with_their_own_machine() -> None:
    ports = [IbPort(node="gpu-01", ca=f"mlx5_{number}") for number in (1, 10)]
    interfaces = [Interface(node="gpu-01", interface="eth0"), Interface(node="gpu-02", interface="ens5")]
    asked = [
        one("NCCL_IB_HCA", "mlx5_1", node="gpu-01"),
        one("NCCL_SOCKET_IFNAME", "ens5", node="gpu-01"),
        one("NCCL_IB_HCA", "mlx5_9", node="gpu-09"),
    ]
    found = table(*asked, ib_ports=ports, interfaces=interfaces)["setting_matches"]
    assert [(match.name, match.matches, match.wider) for match in found] == [
        ("NCCL_IB_HCA", ["mlx5_1", "mlx5_10"], ["mlx5_10"]),
        ("NCCL_SOCKET_IFNAME", [], []),
    ]


# --- what is asked, and what leaves the machine


def test_only_the_variables_of_a_job_may_be_read() -> None:
    right = ["grep", "-z", "-E", "-e", OF_JOB, "/proc/4711/environ"]
    assert refusal(right) == ""
    assert refusal([*right[:-1], "/proc/${process.pid}/environ"]) == ""
    for wrong in (
        ["grep", "-z", "-E", "-e", ".", "/proc/4711/environ"],
        ["grep", "-z", "-v", "-e", OF_JOB, "/proc/4711/environ"],
        ["cat", "/proc/4711/environ"],
        ["grep", "-e", "x", "/etc/shadow"],
        ["grep", "-z", "-E", "-e", OF_JOB, "/proc/4711/environ", "/proc/1/environ"],
    ):
        assert refusal(wrong) != "", wrong


def test_a_bundle_keeps_each_variable_by_itself() -> None:
    page = b"NCCL_DEBUG=INFO\0FI_PROVIDER=efa\0NCCL_AUTH_TOKEN=hunter2\0CUDA_VISIBLE_DEVICES=0,1\0"
    kept = Redactor().page(page)
    assert b"hunter2" not in kept
    assert kept.startswith(b"NCCL_DEBUG=INFO\0FI_PROVIDER=efa\0NCCL_AUTH_TOKEN=<redacted:")
    assert kept.endswith(b">\0CUDA_VISIBLE_DEVICES=0,1\0")


# --- files


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("#!/bin/bash\n#SBATCH -N 2\nmodule load cuda\nexport NCCL_DEBUG=INFO\nsrun python train.py\n", "environment.settings"),
        ("HOME=/root\nPATH=/bin\nNCCL_DEBUG=INFO\n", "environment.settings"),
        ("HOME=/root\nPATH=/bin\n", "text"),
        ("gpu-01:12:40 [0] NCCL INFO Bootstrap: Using eth0:10.0.0.1<0>\nNCCL_DEBUG=INFO\n", "nccl.log"),
    ],
)
def test_files_are_recognised(text: str, first: str) -> None:
    assert recognise(text, Hint())[0].name == first
