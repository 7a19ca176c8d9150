"""Slurm's texts: states and reasons of all releases, tables in every format, logs and files; and what `analyze` makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.intake.hints import of_section
from gpudoctor.intake.recognise import recognise
from gpudoctor.knowledge import slurm
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.runbook.allowed import refusal
from gpudoctor.tools.slurm.text import expand, gpus
from tests.message_files import MessageFiles
from tests.slurm.recorded import recorded

KNOWN = MessageFiles("slurm", "launcher")


def read(name: str, text: str, *, host: str = "") -> Facts:
    """What a parser makes of a text."""
    return load(name)(Output(Command(("cat",), host=host), pages=(text.encode(),), source="x"), Subject(kind="node", node=host))


def nodes(text: str) -> dict[str, Any]:
    """The nodes of a text by name."""
    return {node.node: node for node in read("slurm.nodes", text)["slurm_nodes"]}  # type: ignore[attr-defined]


def jobs(text: str) -> dict[str, Any]:
    """The jobs of a text by id, without steps."""
    return {job.workload: job for job in read("slurm.jobs", text)["slurm_jobs"] if not job.step}  # type: ignore[attr-defined]


# --- states


@pytest.mark.parametrize(
    ("shown", "out", "intended"),
    [
        ("IDLE", False, False),
        ("mix", False, False),
        ("alloc+", False, False),
        ("IDLE+CLOUD+POWERED_DOWN", False, True),
        ("idle~", False, True),
        ("IDLE+DRAIN", True, False),
        ("drng", True, False),
        ("DRAINING@", False, True),
        ("MIXED+DRAIN+NOT_RESPONDING", True, False),
        ("DOWN*", True, False),
        ("down$", False, True),
        ("idle*", True, False),
        ("inval", True, False),
        ("UNKNOWN+DRAIN+INVALID_REG", True, False),
        ("MAINT", False, True),
        ("IDLE+MAINTENANCE", False, True),
        ("resv", False, False),
        ("plnd", False, False),
        ("mix-", False, False),
        ("futr", False, True),
        ("failg", True, False),
        ("COMPLETING", False, False),
        ("IDLE+REBOOT_REQUESTED", False, True),
        ("DOWN*+DRAIN", True, False),
        ("IDLE~+CLOUD", False, True),
    ],
)
def test_a_node_is_out_unless_it_was_meant_to_be(shown: str, out: bool, intended: bool) -> None:
    node = nodes(f"NodeName=gpu-01 Arch=x86_64 CPUAlloc=0 State={shown} ThreadsPerCore=2\n")["gpu-01"]
    assert (node.out, node.intended, node.shown) == (out, intended, shown)


def test_words_that_are_no_state() -> None:
    assert [slurm.node_state(word) for word in ("", "none", "+", "*", "up", "IDLE+FOO", "2", "(null)")] == [None] * 8
    assert [slurm.job_state(word) for word in ("", "none", "1:0", "gpu-01", "+", "COMP")] == [""] * 6


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("gres/gpu count reported lower than configured (7 < 8)", "gres_count"),
        ("gres/gpu:h100 count too low (0 < 8)", "gres_count"),
        ("Low RealMemory (reported:1031000 < 100.00% of configured:2063000)", "memory"),
        ("Low RealMemory", "memory"),
        ("Low socket*core*thread count, Low CPUs", "shape"),
        ("Kill task failed", "kill"),
        ("Prolog error", "prolog"),
        ("Epilog error", "prolog"),
        ("Not responding", "silent"),
        ("Node unexpectedly rebooted", "rebooted"),
        ("batch job complete failure", "launch"),
        ("NHC: check_hw_eth: eth0 is down", "health"),
        ("Reboot ASAP : reboot issued", "reboot"),
        ("card is being replaced", ""),
    ],
)
def test_a_reason_is_known_by_the_twenty_characters_that_sinfo_shows(reason: str, kind: str) -> None:
    assert (slurm.reason_kind(reason), slurm.reason_kind(reason[:20])) == (kind, kind)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("Resources", "queue"),
        ("Priority", "queue"),
        ("Dependency", "queue"),
        ("ReqNodeNotAvail, UnavailableNodes:gpu-[02,07]", "nodes"),
        ("ReqNodeNotAvail,_UnavailableNodes:gpu-02", "nodes"),
        ("Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions", "nodes"),
        ("QOSMaxGRESPerUser", "limit"),
        ("AssocGrpGRES", "limit"),
        ("MaxGRESPerAccount", "limit"),
        ("QOSMinGRES", "impossible"),
        ("BadConstraints", "impossible"),
        ("PartitionTimeLimit", "impossible"),
        ("PartitionDown", "partition"),
        ("DependencyNeverSatisfied", "dependency"),
        ("launch failed requeued held", "launch"),
        ("job requeued in held state", "held"),
        ("JobHeldAdmin", "held"),
        ("None", ""),
    ],
)
def test_what_a_job_waits_for(reason: str, kind: str) -> None:
    assert slurm.wait_kind(reason) == kind
    job = jobs(f"JobId=4242 JobName=x\n   JobState=PENDING Reason={reason.replace(' ', '_')} Dependency=(null)\n")["4242"]
    assert job.wait == kind


# --- what a real Slurm printed

OUT = {"gpu-01": "kill", "gpu-02": "gres_count", "gpu-03": "memory", "gpu-04": "silent"}


@pytest.mark.parametrize("form", ["scontrol-node", "scontrol-node-o", "sinfo-N-l", "sinfo-R", "sinfo-format", "sinfo-unaligned"])
def test_every_form_shows_the_same_reasons(form: str) -> None:
    found = nodes(recorded(f"out-{form}"))
    assert {name: node.reason_kind for name, node in found.items()} == OUT
    assert all(node.out for node in found.values())


def test_the_amounts_of_a_reason_and_who_set_it() -> None:
    node = nodes(recorded("out-scontrol-node"))["gpu-02"]
    assert (node.reported, node.configured, node.reason_by, node.since[:11]) == (1, 2, "root", "2026-03-01T")
    assert node.reason == "gres/gpu count reported lower than configured (1 < 2)"


@pytest.mark.parametrize("form", ["scontrol-node", "scontrol-node-o", "sinfo", "sinfo-N-l", "sinfo-format"])
def test_healthy_nodes(form: str) -> None:
    found = nodes(recorded(f"healthy-{form}"))
    assert sorted(found) == ["gpu-01", "gpu-02"]
    assert {node.out for node in found.values()} == {False}


def test_no_reasons_are_an_answer() -> None:
    assert read("slurm.nodes", recorded("healthy-sinfo-R")) == {"slurm_nodes": []}


@pytest.mark.parametrize("form", ["squeue", "squeue-l", "squeue-waiting", "squeue-unaligned", "scontrol-job"])
def test_every_form_shows_the_same_waits(form: str) -> None:
    found = jobs(recorded(f"waiting-{form}"))
    waits = {"2": "queue", "3": "held", "4": "queue", "5": "impossible", "7": "partition"}
    assert {name: job.wait for name, job in found.items() if job.state == "PENDING"} == waits


def test_a_running_job() -> None:
    found = jobs(recorded("healthy-scontrol-job"))["1"]
    assert (found.state, found.nodes, found.gpus, found.exit_code, found.restarts) == ("RUNNING", ["gpu-01"], 2, 0, 0)


# --- other formats

SACCT = """JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
4242              train        gpu        lab        384    TIMEOUT      0:0
4242.batch        batch                   lab         96  CANCELLED     0:15
4243          train two        gpu        lab        384 OUT_OF_ME+    0:125
4244_7            train        gpu        lab          0 CANCELLED+      0:0
"""
BARRED = "JobID|JobName|State|ExitCode|NodeList|AllocTRES\n4242|a b|CANCELLED by 1000|0:0|gpu-[01-02]|cpu=96,gres/gpu=16,gres/gpu:h100=16\n"


def test_sacct_as_a_table_and_with_bars() -> None:
    found = jobs(SACCT)
    assert {name: job.state for name, job in found.items()} == {"4242": "TIMEOUT", "4243": "OUT_OF_MEMORY", "4244_7": "CANCELLED"}
    assert found["4243"].name == "train two"
    barred = jobs(BARRED)["4242"]
    assert (barred.state, barred.name, barred.nodes, barred.gpus) == ("CANCELLED", "a b", ["gpu-01", "gpu-02"], 16)


def test_a_name_and_a_reason_with_blanks() -> None:
    table = """             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
      4242_[1-8%2]       gpu my job f    alice PD       0:00      1 (ReqNodeNotAvail, UnavailableNodes:gpu-02)
"""
    job = jobs(table)["4242"]
    assert (job.name, job.user, job.wait, job.nodes) == ("my job f", "alice", "nodes", ["gpu-02"])


def test_json_of_newer_releases() -> None:
    answer: dict[str, Any] = {
        "nodes": [
            {"name": "gpu-01", "state": ["IDLE", "DRAIN"], "reason": "Kill task failed", "slurmd_start_time": 1, "gres": "gpu:h100:8"},
            {"name": "gpu-02", "state": "mixed", "state_flags": [], "reason": ""},
            {"state": 7},
        ]
    }
    found = nodes(json.dumps(answer))
    assert {name: (node.out, node.reason_kind, node.gpus) for name, node in found.items()} == {
        "gpu-01": (True, "kill", 8),
        "gpu-02": (False, "", None),
    }
    queue = {"jobs": [{"job_id": 4242, "job_state": ["PENDING"], "state_reason": "QOSMaxGRESPerUser", "tres_req_str": "gres/gpu=64"}, 7]}
    job = jobs(json.dumps(queue))["4242"]
    assert (job.wait, job.gpus) == ("limit", 64)


def test_the_log_forgets_who_was_put_back() -> None:
    taken = recorded("slurmctld")
    assert {node.node: node.reason_kind for node in read("slurm.log", taken)["slurm_nodes"]} == OUT  # type: ignore[attr-defined]
    back = "[2026-03-01T19:00:00.000] update_node: node gpu-01 state set to IDLE\n[2026-03-01T19:00:00.000] Node gpu-04 now responding\n"
    assert {node.node for node in read("slurm.log", taken + back)["slurm_nodes"]} == {"gpu-02", "gpu-03"}  # type: ignore[attr-defined]


def test_the_gpus_of_the_configuration() -> None:
    text = """# comment
NodeName=gpu-[01-02] CPUs=192 \\
    Gres=gpu:h100:8,shard:32 State=UNKNOWN
NodeName=cpu-01 CPUs=64
nodename=gpu-01 name=gpu type=h100 file=/dev/nvidia[0-3]
NodeName=gpu-01 Name=gpu Type=h100 File=/dev/nvidia[4-6]
AutoDetect=nvml
Name=nic Count=4
"""
    found = {(one.node, one.file): (one.devices, one.types, one.detected) for one in read("slurm.conf", text)["slurm_gres"]}  # type: ignore[attr-defined]
    assert found == {
        ("gpu-01", "slurm.conf"): (8, ["h100"], ""),
        ("gpu-02", "slurm.conf"): (8, ["h100"], ""),
        ("gpu-01", "gres.conf"): (7, ["h100"], ""),
        ("", "gres.conf"): (None, [], "nvml"),
    }
    own = read("slurm.conf", "Name=gpu File=/dev/nvidia[0-7]\n", host="gpu-07")["slurm_gres"]
    assert [(one.node, one.devices) for one in own] == [("gpu-07", 8)]  # type: ignore[attr-defined]


# --- properties


@settings(max_examples=60, derandomize=True, database=None)
@given(st.lists(st.integers(0, 999), min_size=1, max_size=20, unique=True))
def test_a_host_list_gives_its_names_back(numbers: list[int]) -> None:
    inside = ",".join(f"{number:03}" for number in numbers)
    assert expand(f"gpu-[{inside}]") == [f"gpu-{number:03}" for number in numbers]


@settings(max_examples=60, derandomize=True, database=None)
@given(st.text("gpu-[0123456789,]()*", max_size=60))
def test_any_host_list_ends(text: str) -> None:
    assert len(expand(text)) <= 4096 + len(text)


@settings(max_examples=40, derandomize=True, database=None)
@given(
    st.integers(0, 64),
    st.sampled_from(["gpu:{}", "gpu:h100:{}(S:0-1)", "gres/gpu={}", "cpu=4,mem=1T,gres/gpu={},gres/gpu:h100={}", "gres:gpu:a100:{}"]),
)
def test_gpus_of_any_notation(count: int, notation: str) -> None:
    assert gpus(notation.format(count, count)) == count


@settings(max_examples=40, derandomize=True, database=None)
@given(
    st.sampled_from(sorted(slurm.BASES)),
    st.lists(st.sampled_from(sorted(slurm.FLAGS)), max_size=3, unique=True),
    st.sampled_from(["", *slurm.SIGNS]),
)
def test_every_state_that_slurm_can_write_is_read(base: str, flags: list[str], sign: str) -> None:
    found = slurm.node_state("+".join([base, *flags]) + sign)
    assert found is not None
    assert found[0] == base
    assert set(flags) <= set(found[1])


# --- analyze


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *[
            (recorded(f"out-{form}"), "slurm.nodes")
            for form in ("scontrol-node", "scontrol-node-o", "sinfo", "sinfo-R", "sinfo-N-l", "sinfo-format")
        ],
        *[(recorded(f"waiting-{form}"), "slurm.jobs") for form in ("squeue", "squeue-l", "squeue-waiting", "scontrol-job")],
        (SACCT, "slurm.jobs"),
        (BARRED, "slurm.jobs"),
        (recorded("slurmctld"), "slurm.log"),
        (recorded("slurmd-not-killed"), "slurm.log"),
        ("2026-03-01 11:02:37 +0000 Info:      Invalid credential\n", "slurm.log"),
        ("Reason=gres/gpu count too low\n", "slurm.nodes"),
        ("NodeName=gpu-01\n   Reason=Kill task failed [root@2026-03-01T11:02:13]\n", "slurm.nodes"),
        ("NodeName=gpu-01 CPUs=64 RealMemory=500000 Gres=gpu:8 State=UNKNOWN\n", "slurm.conf"),
        ("# all nodes\nAutoDetect=nvml\n", "slurm.conf"),
        ("Name=gpu Type=h100 File=/dev/nvidia[0-7]\n", "slurm.conf"),
    ],
)
def test_recognised_by_content(text: str, name: str) -> None:
    assert recognise(text, of_section("pasted.txt", ""))[0].name == name


@pytest.mark.parametrize(
    "text",
    [
        "NAME     STATUS   ROLES    AGE   VERSION\ngpu-01   Ready    <none>   21d   v1.30.4\n",
        "NAME   STATE  NODES\nx y z\n",
        "    Reason:       CrashLoopBackOff\n    State:  Waiting\n",
    ],
)
def test_other_tables_are_not_slurms(text: str) -> None:
    assert not recognise(text, of_section("pasted.txt", ""))[0].name.startswith("slurm.")


# --- messages

SIBLINGS: tuple[tuple[str, str], ...] = (
    ("slurm_answer_not_understood", "slurm_load_jobs error: Unexpected message received"),
    ("slurm_answer_not_understood", "sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received"),
    ("slurm_answer_not_understood", "slurmd: error: Unable to register: Zero Bytes were transmitted or received"),
    ("slurm_answer_not_understood", "srun: error: Unable to allocate resources: Invalid authentication credential"),
    ("munge_credential_invalid", "STATUS:           Invalid credential (11)"),
    ("munge_credential_out_of_time", "STATUS:           Rewound credential (16)"),
    ("munge_credential_out_of_time", "slurmctld: error: Munge decode failed: Expired credential"),
    ("munge_socket_closed", 'munge: Error: Failed to access "/run/munge/munge.socket.2": No such file or directory'),
    ("munge_socket_closed", 'error: Munge encode failed: Failed to connect to "/var/run/munge/munge.socket.2": Connection refused'),
    ("slurm_controller_unreachable", "Slurmctld(primary) at mgmt-01 is DOWN"),
    ("slurm_controller_unreachable", "slurmd: error: Unable to register: Unable to contact slurm controller (connect failure)"),
    ("slurm_accounting_unreachable", "error: slurmdbd: Sending PersistInit msg: Connection refused"),
    ("slurm_gres_count_low", "gres/gpu:h100 count too low (0 < 8)"),
    ("slurm_gres_file_missing", "slurmd: error: Waiting for gres.conf file /dev/nvidia0"),
    ("slurmd_gave_up", "Mar  1 11:02:14 gpu-01 slurmd[812]: fatal: Unable to find slurmstepd file at /usr/sbin/slurmstepd"),
    ("slurm_step_not_killed", "[2026-03-01T11:02:14.001] update_node: node gpu-01 reason set to: Kill task failed"),
    ("slurm_script_around_job_failed", "[2026-03-01T11:02:13.100] error: [job 4242] epilog failed status=1:0"),
    ("slurm_request_refused", "salloc: error: Job submit/allocate failed: Invalid generic resource (gres) specification"),
    ("slurm_nodes_refused", "srun: Required node not available (down, drained or reserved)"),
    ("ended_by_node_failure", "srun: error: Node failure on gpu-07"),
)
QUIET = (
    "2026-03-01 11:02:37 +0000 Info:      Unauthorized credential for client UID=0 GID=0",
    "[2026-03-01T08:01:40.349] slurmd started on Sun, 01 Mar 2026 08:01:40 +0000",
    "Slurmctld(primary) at mgmt-01 is UP",
    "[2026-03-01T18:23:04.006] [1.batch] done with job",
    "[2026-03-01T18:22:57.250] error: NOTE: Trying backup state save file. Jobs may be lost!",
)


@pytest.mark.parametrize(("name", "line"), SIBLINGS)
def test_sibling_wordings(name: str, line: str) -> None:
    assert name in KNOWN.names(line)


@pytest.mark.parametrize("line", QUIET)
def test_lines_that_say_nothing(line: str) -> None:
    assert not [name for name in KNOWN.names(line) if name.startswith(("slurm", "munge"))]


# --- what may be asked


@pytest.mark.parametrize(
    "argv",
    [
        ["scontrol", "update", "NodeName=gpu-01", "State=RESUME"],
        ["scontrol", "reboot", "gpu-01"],
        ["scontrol"],
        ["slurmd"],
        ["slurmd", "-D"],
        ["sinfo", "-i", "5"],
        ["squeue", "--iterate=5"],
        ["scancel", "4242"],
        ["cat", "/etc/slurm/slurmdbd.conf"],
        ["cat", "/etc/munge/munge.key"],
    ],
)
def test_nothing_that_changes_or_never_ends_may_be_asked(argv: list[str]) -> None:
    assert refusal(argv)


def test_the_recorded_answers_name_no_machine_of_ours() -> None:
    folder = Path(__file__).parent / "slurm" / "recorded"
    assert not [file.name for file in folder.glob("*.txt") if "/tmp/" in file.read_text()]
