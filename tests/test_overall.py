"""What files say as a whole: no line rules out what it says nothing of, and words that nobody knows are no proof of health."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudoctor.reporters.words import headline, parts_of
from tests.kube.cases_without_gpu import smi
from tests.pasted import diagnosed

SMI = smi(1)
# A home-made table, and a log of a program that nobody knows.
TABLE = "adapter   sent_GBps  received_GBps\nmlx5_0        23.91          23.88\nmlx5_1         0.00           0.00\n"
LOG = "2026-03-01 12:00:01,003 INFO beginning\n2026-03-01 12:00:02,114 INFO still at it\n"


def test_a_table_shows_too_little_of_a_gpu_to_call_it_healthy(tmp_path: Path) -> None:
    report = diagnosed(tmp_path, SMI)
    assert (report.verdict, report.findings) == ("inconclusive", [])
    assert any("is not known" in one.why for one in report.not_shown)


@pytest.mark.parametrize("more", [TABLE, LOG])
def test_words_that_nobody_knows_are_no_proof_of_health(more: str, tmp_path: Path) -> None:
    report = diagnosed(tmp_path, SMI, more)
    assert (report.verdict, report.findings) == ("inconclusive", [])


def test_a_line_rules_out_nothing_that_it_does_not_speak_of(tmp_path: Path) -> None:
    report = diagnosed(
        tmp_path, SMI, "gpu-07:812:930 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation\n"
    )
    assert not {"driver-not-installed", "apiserver-down", "coredns-forwarding-loop", "slurmd-not-running", "memlock-limit"} & {
        *report.ruled_out
    }


def test_what_no_parser_knows_is_said(tmp_path: Path) -> None:
    unknown = "$ ./adapters.sh 10\n" + TABLE
    report = diagnosed(tmp_path, "$ nvidia-smi\n" + SMI + unknown + "$ date -u\nSun Mar  1 12:00:00 UTC 2026\n")
    assert report.verdict == "inconclusive"
    assert report.inputs[0].unknown == ["./adapters.sh 10"]
    assert "“./adapters.sh 10” is not understood" in headline(parts_of(report))


def test_steps_that_were_as_long_as_ever_do_not_say_that_the_next_one_came(tmp_path: Path) -> None:
    steps = "".join(f"2026-03-01 12:00:{n:02}  step {n}/40 loss 2.{n:02} step_time 1.20s\n" for n in range(1, 31))
    assert diagnosed(tmp_path, steps).verdict == "inconclusive"
    last = "".join(f"2026-03-01 12:01:{n - 31:02}  step {n}/40 loss 2.{n:02} step_time 1.20s\n" for n in range(31, 41))
    (tmp_path / "whole").mkdir()
    assert diagnosed(tmp_path / "whole", steps + last).verdict == "healthy"


# A file system that hangs says something else than a table without GPUs: each needs its own proof.
EVENT = "LAST SEEN   TYPE     REASON    OBJECT       MESSAGE\n4m          Normal   Started   pod/fit-0    Started container main\n"
BOOT = "[    1.000000] Linux version 6.8.0-45-generic\n[    2.100000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n"
PORT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
\t\tBase lid: 4
\t\tLink layer: InfiniBand
"""


def test_what_shows_that_a_machine_is_sound_makes_it_healthy(tmp_path: Path) -> None:
    report = diagnosed(tmp_path, BOOT, PORT)
    assert report.verdict == "healthy"
    assert {one.expectation for one in report.shown} == {"xid-triage.no_error_of_a_gpu", "fabric.ports_are_active"}


def test_a_text_of_which_nothing_sound_is_expected_is_not_healthy(tmp_path: Path) -> None:
    assert diagnosed(tmp_path, EVENT).verdict == "inconclusive"


def test_sound_output_about_something_else_makes_nothing_healthy(tmp_path: Path) -> None:
    report = diagnosed(tmp_path, BOOT, PORT, EVENT)
    assert report.verdict == "inconclusive"
    assert [one.why.partition("pasted")[2] for one in report.not_shown] == ["2.txt shows that what it describes is healthy"]


def test_a_part_of_a_paste_needs_its_own_proof(tmp_path: Path) -> None:
    report = diagnosed(tmp_path, f"$ ibstat\n{PORT}\n$ kubectl get events\n{EVENT}")
    assert (report.verdict, len(report.inputs[0].facts)) == ("inconclusive", 2)


def test_a_gpu_that_gpustat_gets_no_answer_of_is_a_problem(tmp_path: Path) -> None:
    text = (
        "gpu-07               Wed Feb 11 10:12:00 2026  550.54.15\n"
        "[0] NVIDIA A100-SXM4-80GB | 31'C,   0 % |     4 / 81920 MB |\n"
        "[1] ((Unknown Error))     |  ?'C,   ? % |     ? /     ? MB |\n"
    )
    report = diagnosed(tmp_path, text)
    assert [report.verdict, *(one.title for one in report.findings)] == ["problem", "nvidia-smi can't reach GPU 1"]


POD = """Name:         web-0
Namespace:    shop
Node:         cpu-03/10.0.0.13
Labels:       app=web
Start Time:   Mon, 02 Mar 2026 10:00:00 +0000
Status:       Running
Containers:
  main:
    State:          Running
      Started:      Mon, 02 Mar 2026 10:00:05 +0000
    Ready:          True
    Restart Count:  0
Conditions:
  Type              Status
  Ready             True
  PodScheduled      True
Events:             <none>
"""


def test_a_described_pod_that_runs_is_healthy(tmp_path: Path) -> None:
    assert diagnosed(tmp_path, POD).verdict == "healthy"


def test_one_that_is_not_ready_is_told_so(tmp_path: Path) -> None:
    report = diagnosed(
        tmp_path, POD.replace("Ready:          True", "Ready:          False").replace("Ready             True", "Ready             False")
    )
    assert report.verdict == "inconclusive"
    assert "it runs, and is not ready" in [one.why for one in report.not_shown]


def test_a_port_whose_link_is_gone_for_the_moment_is_not_active(tmp_path: Path) -> None:
    link = "link mlx5_0/1 state {} physical_state LINK_UP netdev ens1\n"
    assert diagnosed(tmp_path, link.format("ACTIVE")).verdict == "healthy"
    report = diagnosed(tmp_path, link.format("ACTIVE_DEFER"))
    assert (report.verdict, [one.why for one in report.not_shown]) == ("inconclusive", ["port 1 of mlx5_0 is ActiveDefer (LinkUp)"])


def test_a_number_among_unknown_words_makes_nothing_healthy(tmp_path: Path) -> None:
    """A reader of numbers takes its own line; the rest of the text may tell of anything."""
    assert diagnosed(tmp_path, "rate,ttft_p95_ms,tpot_p95_ms\n2,812,31\n4,1733,34\n").verdict == "inconclusive"
