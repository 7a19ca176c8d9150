"""What a program says is not well is explained by a finding, harmless for a reason, or named; and nothing is healthy beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.engine.store import Store
from gpudoctor.engine.trouble import HISTORY, MOST, unexplained_troubles
from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.base import Origin
from gpudoctor.facts.dcgm import DcgmHealth, DcgmStats, DcgmTest
from gpudoctor.facts.gpu import Gpu, GpuPath, NvLink, Smi
from gpudoctor.facts.infiniband import IbPort
from gpudoctor.facts.job import Collective, CollectiveTest, Job, Rank
from gpudoctor.facts.kernel import Sxid, Xid
from gpudoctor.facts.kubernetes import Claim, Container, Event, Node, Pod, Workload
from gpudoctor.facts.monitoring import ScrapeTarget, ServiceEndpoints
from gpudoctor.facts.node import Clock, PciDevice, Unit
from gpudoctor.facts.program import Ending, Trouble
from gpudoctor.facts.slurm import SlurmJob, SlurmNode
from gpudoctor.facts.stall import Pace
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load
from gpudoctor.report import Report
from gpudoctor.reporters import json_report, junit, markdown, page, terminal
from gpudoctor.runbook.model import Library
from gpudoctor.tools.common.trouble import KEPT, LOOKED_AT, level_of, of_text
from gpudoctor.tools.common.trouble_forms import AGAIN, FORMS
from tests.recorded_cases import without
from tests.trust.mutants import LINES

NOBODY = Subject(kind="cluster")
BOOT = Path(__file__).parent / "boot_logs"

# Lines by which a program says so; what the level is of those that say one.
SAID = (
    'Mar 03 10:00:02 gpu-4 kubelet[812]: E0303 10:00:02.100000     812 cpu_manager.go:210] "cores are gone" err="pool exhausted"',
    'time="2026-03-01T11:00:00Z" level=error msg="the ledger is torn"',
    '{"severity": "ERROR", "message": "the ledger is torn"}',
    "2026-03-01 11:00:00,123 ERROR trainer: manifest of shard 3 is torn",
    "[2026-03-01 11:00:00] [FATAL] manifest of shard 3 is torn",
    "slurmctld: error: the ledger is torn",
    "[   99.120000] nvme0n1: I/O error, 8 blocks at LBA 12345",
    "[   99.120000] mce: [Hardware Error]: bank 5 says b200000000070005",
    "[   99.120000] EXT4-fs error (device sda1): the ledger is torn",
    "gpu-7:812:930 [0] transport/net_flume.cc:88 NCCL WARN the weir is gone",
    "[rank3]:[E906 15:16:02.0 flume.cpp:1345] the weir is gone",
    "<3>[   99.120000] weir 0000:41:00.0: flume 3 is torn",
    "[   99.120000] DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x7f000 [fault reason 0x05] PTE Write access is not set",
    "[   99.120000] nvidia 0000:3b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0011 address=0x7f000 flags=0x0020]",
    "[   99.120000] NMI watchdog: Watchdog detected hard LOCKUP on cpu 12",
    "[   99.120000] python3: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP)",
    "[   99.120000] pcieport 0000:3a:00.0: pciehp: Slot(12): Card not present",
    "[   99.120000] thermal thermal_zone0: critical temperature reached (105 C), shutting down",
    "[   99.120000] ata1.00: exception Emask 0x0 SAct 0x0 SErr 0x0 action 0x6 frozen",
    "[   99.120000] md/raid1:md0: Disk failure on nvme1n1p2, disabling device.",
    "[   99.120000] kernel BUG at mm/slub.c:301!",
    "[   99.120000] nvme nvme2: Device not ready; aborting reset, CSTS=0x1",
    "[   99.120000] nf_conntrack: nf_conntrack: table full, dropping packet",
    "[   99.120000] neighbour: arp_cache: neighbor table overflow!",
    "[   99.120000] bond0: (slave ens1f0): link status definitely down, disabling slave",
    '[   99.120000] audit: type=1400 audit(1.0:1): apparmor="DENIED" operation="open" name="/dev/nvidia0" comm="flume"',
    "[   99.120000] NVRM: GPU 0000:3b:00.0: GPU has been disconnected from the flume",
    "[   99.120000] pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000",
    '[   99.120000] irq 16: nobody cared (try booting with the "irqpoll" option)',
    "[   99.120000] vfio-pci 0000:3b:00.0: not ready 65535ms after FLR; giving up",
    "[   99.120000] bnxt_en 0000:5e:00.0 ens1f0: TX timeout detected, starting reset task!",
    "[   99.120000] infiniband efa_0: Failed to process command CREATE_QP (opcode 1) comp_status 7 err -12",
    "Mar 03 10:00:02 gpu-4 kernel: libceph: mon0 (1)10.0.0.1:6789 session lost, hunting for new mon",
    "3,812,99120000,-;weir 0000:41:00.0: flume 3 is torn",
    "/var/spool/job412/slurm_script: line 8:  4211 Killed                  python fit.py",
    "failed (exitcode: -11) local_rank: 0 (pid: 812) of binary: /usr/bin/python3",
    *LINES.values(),
)
# Lines that have such words and are none.
NOT_SAID = (
    "I0301 11:00:00.000000  1 main.go:70] started, error budget 0.1",
    "2026-03-01 11:00:00,123 INFO trainer: 0 errors",
    "2026-03-01 11:00:00,123 INFO done, no errors, exit code 0",
    "step 20 | loss 2.31 | terror 0.3 | error: 0.021",
    "ERROR 0",
    "Errors: 0   CRITICAL: 0   FATAL=0",
    "Last Error: None",
    "error_rate 0.0",
    'http_requests_total{code="500",level="error"} 3',
    "# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.",
    "  --max-errors 5",
    "  -e ERROR     what to print",
    "LOG_LEVEL=ERROR",
    "log_level: error",
    '  "loglevel": "error",',
    "NCCL_DEBUG=WARN",
    '    logger.error("the ledger of rank %d is torn", rank)',
    '    raise RuntimeError("the ledger is torn")',
    'echo "ERROR: the ledger is torn"',
    "# ERROR: what is printed where the ledger is torn",
    "NAME     ERROR     COUNT",
    "        Uncorrectable Error               : 0",
    "[    1.000000] ERST: Error Record Serialization Table (ERST) support is initialized.",
    "[    1.000000] EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Opts: errors=remount-ro",
    "W0301 12:00:00.123456   18732 weir.go:210] the flume of another program is low",
    "2026-03-01 11:00:00,123 WARNING trainer: the tokenizer has no padding token",
    "4m   Normal    Pulled   pod/train-0   Container image is there",
    "4m   Warning   Unhealthy   pod/train-0   Readiness probe failed: page 7",
    "[   99.1] NVRM: Xid (PCI:0000:1b:00): 45, pid=812, name=python3, Ch 00000008",
    "[   44.1] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 11012, Non-fatal, Link 27 Corrected ECC errors",
)
TRACE = 'Traceback (most recent call last):\n  File "fit.py", line 88, in <module>\n    step()\nValueError: shard {n} has no rows\n'


def diagnosed(path: Path, text: str, known: Library | None = None) -> Report:
    path.write_text(text)
    read = gather([str(path)])
    return analyze(known or library(), read.facts, read.inputs, read.now)


def stored(facts: Facts) -> Store:
    store = Store()
    store.put(0, facts)
    return store


def left(facts: Facts, known: Library | None = None) -> list[str]:
    return [one.text for one in unexplained_troubles(known or library(), stored(facts), [], [])]


# --- a line ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", SAID)
def test_a_line_that_says_so_is_found_in_any_text(line: str) -> None:
    assert level_of(line, NOBODY)
    (found,) = of_text(f"Filesystem      Size  Used Avail\n/dev/sda1        1.8T  0.9T  0.9T\n{line}\n\nall is said\n", NOBODY, "df.txt")
    assert (found.origin.line, found.origin.source, found.text) == (3, "df.txt", line.strip())


@pytest.mark.parametrize("line", NOT_SAID)
def test_other_lines_with_such_words_are_none(line: str) -> None:
    assert level_of(line, NOBODY) == ""
    assert of_text(f"begun\n{line}\ndone\n", NOBODY, "x") == []


def test_a_warning_counts_from_what_the_question_is_about() -> None:
    line = "W0301 12:00:00.123456   18732 weir.go:210] the flume is torn"
    assert level_of(line, NOBODY) == ""
    assert level_of(line, Subject(kind="pod", pod="x", component="device-plugin")) == "warning"
    assert level_of(line.replace("the flume", "the flume of GPU 3"), NOBODY) == "warning"


def test_every_form_compiles_alike_for_a_text_and_for_a_line() -> None:
    for form in FORMS:
        re.compile(form.pattern)
        re.compile(form.hint)
    assert {form.level for form in FORMS} == {"warning", "error", "fatal"}


def test_a_traceback_is_one_thing_with_what_was_raised() -> None:
    text = "begun\n" + TRACE.format(n=3) + "caught\n" + TRACE.format(n=4) + "[rank1]: " + TRACE.format(n=5).replace("\n", "\n[rank1]: ")
    first, other = of_text(text, NOBODY, "fit.log")
    assert (first.text, first.level, first.count) == ("ValueError: shard 3 has no rows", "fatal", 2)
    assert (first.origin.line, first.lines) == (2, 4)
    assert other.text == "[rank1]: ValueError: shard 5 has no rows"


def test_a_traceback_without_an_end_is_told_too() -> None:
    (one,) = of_text("begun\nTraceback (most recent call last):\n", NOBODY, "x")
    assert (one.text, one.final) == ("Traceback (most recent call last):", True)


def test_lines_that_differ_in_numbers_are_one_and_very_many_are_said_to_be_more() -> None:
    (one,) = of_text("\n".join(f"ERROR shard {n} is torn" for n in range(500)), NOBODY, "x")
    assert (one.text, one.count, one.final) == ("ERROR shard 0 is torn", 500, True)
    words = [f"ERROR shard {'abcdefghij'[n % 10]}{'abcdefghij'[n // 10 % 10]}x is torn" for n in range(100)]
    many = of_text("\n".join(words), NOBODY, "x")
    assert len(many) == KEPT + 1
    assert "more lines" in many[-1].text
    storm = of_text("ERROR shard 1 is torn\n" * (LOOKED_AT * 12), NOBODY, "x")
    assert [one.text for one in storm] == ["ERROR shard 1 is torn", "more lines say trouble than were looked at"]


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    for one in of_text(text, NOBODY, "x"):
        assert one.level in ("warning", "error", "fatal")


# --- where it is looked for -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        ("logs.text", "started\nE0301 12:00:00.123456   18732 flume.go:210] torn\n"),
        ("kernel.log", "[    1.000000] usb 1-1: new device\n[   99.120000] nvme0n1: I/O error, 8 blocks at LBA 12345\n"),
        ("nccl.log", "gpu-7:812:930 [0] NCCL INFO Bootstrap\ngpu-7:812:930 [0] transport/net_flume.cc:88 NCCL WARN the weir is gone\n"),
        ("slurm.log", "[2026-03-01T11:00:00.000] slurmctld version 24.05.1 started\n[2026-03-01T11:00:01.000] error: the ledger is torn\n"),
    ],
)
def test_the_readers_of_logs_look_for_it_live(parser: str, text: str) -> None:
    output = Output(Command(("tail", "x")), pages=(text.encode(),), time=1772366400.0)
    found = load(parser)([output] if parser in ("kernel.log", "nccl.log") else output, Subject(kind="node", node="gpu-7"))  # type: ignore[arg-type]
    (one,) = found["troubles"]
    assert isinstance(one, Trouble)
    assert (one.origin.line, one.node, one.tells) == (2, "gpu-7", False)


def test_a_long_log_is_looked_at_from_one_end_to_the_other(tmp_path: Path) -> None:
    line = "[   10.000000] usb 1-1: new high-speed USB device number 2\n"
    torn = "[   99.120000] nvme0n1: I/O error, 8 blocks at LBA 12345\n"
    report = diagnosed(tmp_path / "dmesg.txt", line * 20_000 + torn + line * 20_000)
    assert report.inputs[0].recognised_as == ["kernel.log"]
    assert report.verdict == "inconclusive"
    assert [(one.line, one.text) for one in report.unexplained] == [(20_001, torn.strip())]


def test_logs_of_many_ranks_are_looked_at(tmp_path: Path) -> None:
    for rank in range(40):
        torn = "gpu-7:812:930 [0] transport/net_flume.cc:88 NCCL WARN the weir is gone\n" if rank == 7 else ""
        (tmp_path / f"rank{rank}.log").write_text(f"gpu-7:{rank}:{rank} [0] NCCL INFO Bootstrap: Using eth0:10.0.0.2<0>\n{torn}")
    assert [Path(one.origin.source).name for one in gather([str(tmp_path)]).facts["troubles"]] == ["rank7.log"]


# --- sound outputs, and one line more -------------------------------------------------------------------------------------------------

SOUND = {
    "dmesg.txt": (BOOT / "full_level.txt").read_text(),
    "dmesg-plain.txt": re.sub(r"(?m)^\w+ *:\w+ *: ", "", (BOOT / "full_level.txt").read_text()),
    "ibstat.txt": "CA 'mlx5_0'\n\tCA type: MT4129\n\tNumber of ports: 1\n\tFirmware version: 28.39.3004\n"
    "\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 400\n\t\tBase lid: 12\n\t\tLink layer: InfiniBand\n",
    "nodes.txt": "NAME     STATUS   ROLES    AGE   VERSION\ngpu-01   Ready    <none>   12d   v1.31.2\n",
}


@pytest.mark.parametrize("name", ["dmesg.txt", "dmesg-plain.txt"])
def test_a_boot_log_of_a_sound_node_stays_healthy(tmp_path: Path, name: str) -> None:
    report = diagnosed(tmp_path / name, SOUND[name])
    assert report.unexplained == []
    assert report.verdict == "healthy"


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_line_of_trouble_anywhere_in_a_sound_output_is_named(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    lines = SOUND[name].splitlines()
    at = data.draw(st.integers(1, len(lines)))
    said = data.draw(st.sampled_from(SAID))
    text = "\n".join([*lines[:at], said, *lines[at:], ""])
    report = diagnosed(tmp_path_factory.mktemp("x") / name, text)
    assert report.verdict != "healthy"
    told = [one.line for one in report.unexplained]
    told += [piece.line for one in (*report.findings, *report.candidates) for piece in one.evidence]
    assert report.verdict == "problem" or at + 1 in told


# --- what explains it -----------------------------------------------------------------------------------------------------------------

XID = "[  812.331000] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
TORN = "[  813.331000] weir: flume 3: I/O error\n"


def test_an_error_that_no_check_explains_is_not_healthy(tmp_path: Path) -> None:
    found = diagnosed(tmp_path / "dmesg.txt", XID)
    assert (found.verdict, found.unexplained) == ("problem", [])
    nobody_knows = without({one.cause for one in found.findings} | {one.cause for one in found.candidates})
    left_over = diagnosed(tmp_path / "dmesg.txt", XID, nobody_knows)
    assert left_over.verdict == "inconclusive"
    assert [(one.line, one.text) for one in left_over.unexplained] == [(1, "Xid 79 on GPU 0000:3b:00")]


def test_beside_a_problem_the_rest_of_its_log_is_a_part_of_it_and_another_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "dmesg.txt").write_text(XID + TORN)
    (tmp_path / "other.txt").write_text("[    1.0] usb 1-1: new device\n" + TORN)
    read = gather([str(tmp_path)])
    report = analyze(library(), read.facts, read.inputs, read.now)
    assert report.verdict == "problem"
    assert [Path(one.source).name for one in report.unexplained] == ["other.txt"]


def test_a_note_explains_its_own_lines_and_no_others(tmp_path: Path) -> None:
    """A non-fatal SXid is for the log, by a finding that says so; the verdict stays healthy, until something else is said."""
    noted = "[   44.100000] nvidia-nvswitch0: SXid (PCI:0000:c1:00.0): 11012, Non-fatal, Link 27 Corrected ECC errors\n"
    assert diagnosed(tmp_path / "dmesg.txt", noted).verdict == "healthy"
    report = diagnosed(tmp_path / "dmesg.txt", noted + TORN)
    assert (report.verdict, [one.text for one in report.unexplained]) == ("inconclusive", [TORN.strip()])


def test_a_note_explains_what_the_catalogue_says_that_it_explains(tmp_path: Path) -> None:
    """The fabric manager gives up where there is nothing for it to do."""
    idle = "Mar 01 12:00:01 gpu-01 nvidia-fabricmanager-start.sh[4756]: WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]\n"
    gone = "Mar 01 12:00:01 gpu-01 systemd[1]: nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE\n"
    other = "Mar 01 12:00:02 gpu-01 systemd[1]: weir.service: Control process exited, code=exited, status=1/FAILURE\n"
    assert diagnosed(tmp_path / "journal.txt", idle + gone).unexplained == []
    assert [one.line for one in diagnosed(tmp_path / "journal.txt", idle + gone + other).unexplained] == [3]


def said(text: str, **more: object) -> Trouble:
    return msgspec.convert({"level": "error", "text": text, "origin": {"source": "x.log", "line": 7, "text": text}, **more}, Trouble)


@pytest.mark.parametrize(
    ("line", "harmless"),
    [
        ({"known": ["lease_lost"], "count": 3}, True),
        ({"known": ["lease_lost"], "count": 4}, False),
        ({"known": ["lease_lost"], "count": 1, "final": True}, False),
        ({"known": ["always"], "count": 9_000, "final": True}, True),
        ({"known": ["noise"]}, False),
        ({"known": []}, False),
    ],
)
def test_what_is_harmless_is_so_for_a_reason_so_often_and_not_as_the_last_word(line: dict[str, object], harmless: bool) -> None:
    x = {"pattern": "x", "line": "x"}
    entries = [
        {
            "name": "lease_lost",
            "wordings": [x],
            "benign": True,
            "harmless": {"why": "tried again", "at_most": 3, "not_last": True},
        },
        {"name": "always", "wordings": [x], "benign": True, "harmless": {"why": "told at each start"}},
        {"name": "noise", "wordings": [x], "benign": True},
    ]
    known = msgspec.structs.replace(
        library(), messages=msgspec.convert(entries, type(library().messages) and list[type(library().messages[0])])
    )
    assert left({"troubles": [said("ERROR the ledger is torn", **line)]}, known) == ([] if harmless else ["ERROR the ledger is torn"])


def test_what_was_said_yesterday_is_history_but_not_the_end_of_a_program() -> None:
    old = {"age": HISTORY + 1}
    assert left({"troubles": [said("ERROR the ledger is torn", **old)]}) == []
    assert left({"troubles": [said("ERROR the ledger is torn", age=HISTORY - 1)]}) != []
    assert left({"troubles": [said("panic: the ledger is torn", level="fatal", **old)]}) != []


# --- events ---------------------------------------------------------------------------------------------------------------------------


def event(reason: str, **more: object) -> Event:
    given = {"type": "Warning", "reason": reason, "kind": "Pod", "name": "train-0", "pod": "train-0", "message": "page 7", **more}
    return msgspec.convert(given, Event)


@pytest.mark.parametrize(
    ("events", "named"),
    [
        ([event("LedgerTorn")], True),
        ([event("LedgerTorn", type="Normal")], False),
        ([event("Unhealthy", count=AGAIN)], False),
        ([event("Unhealthy", count=AGAIN + 1)], True),
        ([event("FailedMount", count=7, age=300.0), event("Started", type="Normal", age=20.0)], False),
        ([event("FailedMount", count=7, age=20.0), event("Scheduled", type="Normal", age=300.0)], True),
        ([event("LedgerTorn", age=300.0), event("Started", type="Normal", age=20.0)], True),
    ],
)
def test_a_warning_event_is_named_unless_it_comes_and_goes(events: list[Event], named: bool) -> None:
    assert bool(left({"events": [*events]})) is named


HEAD = "LAST SEEN   TYPE      REASON   OBJECT   MESSAGE\n"


def test_an_event_of_a_table_is_named_once(tmp_path: Path) -> None:
    line = "4m   Warning   LedgerTorn   vessel/train-0   page 7 waits for page 6"
    report = diagnosed(tmp_path / "events.txt", f"{HEAD}{line}\n")
    assert [(one.line, one.text) for one in report.unexplained] == [(2, "LedgerTorn vessel/train-0: page 7 waits for page 6")]


# --- bad values -----------------------------------------------------------------------------------------------------------------------

HERE = Origin("dump.txt", 7, "…")
# check → its fact type, a record that shows the sign, and one beside it that doesn't
SIGNS = {
    "xid": ("xids", Xid(code=79, severity="critical", origin=HERE), Xid(code=45, severity="info", origin=HERE)),
    "sxid": ("sxids", Sxid(code=22003, severity="fatal", origin=HERE), Sxid(code=12028, severity="nonfatal", origin=HERE)),
    "unreadable": (
        "gpus",
        Gpu(gpu="GPU-1", unreadable=["fan"], problem="gpu_lost", origin=HERE),
        Gpu(gpu="GPU-1", gaps={"fan": "N/A"}, origin=HERE),
    ),
    "no_answer": ("smi", Smi(problem="no_devices", origin=HERE), Smi(gpus=8, origin=HERE)),
    "dcgm_health": (
        "dcgm_health",
        DcgmHealth(entity="GPU", index=3, system="PCIe", status="failure", origin=HERE),
        DcgmHealth(entity="GPU", index=3, system="PCIe", status="warning", origin=HERE),
    ),
    "dcgm_test": ("dcgm_tests", DcgmTest(test="memory", status="fail", origin=HERE), DcgmTest(test="memory", status="skip", origin=HERE)),
    "xids_of_job": ("dcgm_stats", DcgmStats(gpu="GPU 3", xid_count=2, origin=HERE), DcgmStats(gpu="GPU 3", xid_count=0, origin=HERE)),
    "driver": (
        "pci_devices",
        PciDevice(pci="0000:1b:00", kind="gpu", driver="", origin=HERE),
        PciDevice(pci="0000:1b:00", kind="gpu", driver=None, origin=HERE),
    ),
    "fatal": (
        "pci_devices",
        PciDevice(pci="0000:1b:00", kind="gpu", driver="nvidia", fatal=True, origin=HERE),
        PciDevice(pci="0000:1b:00", kind="gpu", driver="nvidia", origin=HERE),
    ),
    "nvlink": ("nvlinks", NvLink(index=0, link=3, state="?", origin=HERE), NvLink(index=0, link=3, state="active", origin=HERE)),
    "peers": (
        "gpu_paths",
        GpuPath(matrix="", one="GPU0", other="GPU1", path="U", origin=HERE),
        GpuPath(matrix="m", one="GPU0", other="GPU1", path="SYS", origin=HERE),
    ),
    "clock": ("clocks", Clock(leap="Invalid", origin=HERE), Clock(leap="Insert second", origin=HERE)),
    "unit": (
        "units",
        Unit(unit="nvidia-fabricmanager", active="activating", sub="auto-restart", origin=HERE),
        Unit(unit="nvidia-dcgm", active="inactive", origin=HERE),
    ),
    "slurm_node": ("slurm_nodes", SlurmNode(node="gpu-07", out=True, origin=HERE), SlurmNode(node="gpu-07", out=None, origin=HERE)),
    "slurm_job": (
        "slurm_jobs",
        SlurmJob(workload="SlurmJob/41", state="NODE_FAIL", origin=HERE),
        SlurmJob(workload="SlurmJob/41", state="CANCELLED", origin=HERE),
    ),
    "port": ("ib_ports", IbPort(ca="mlx5_3", state="Initializing", origin=HERE), IbPort(ca="mlx5_3", state="Down", origin=HERE)),
    "node": ("nodes", Node(node="gpu-07", ready=False, origin=HERE), Node(node="gpu-07", ready=None, origin=HERE)),
    "pressure": (
        "nodes",
        Node(node="gpu-07", ready=True, pressure=["DiskPressure"], origin=HERE),
        Node(node="gpu-07", ready=True, origin=HERE),
    ),
    "pod": (
        "pods",
        Pod(namespace="ml", pod="train-0", phase="Failed", status="Error", origin=HERE),
        Pod(namespace="ml", pod="train-0", phase="Succeeded", origin=HERE),
    ),
    "container": (
        "containers",
        Container(namespace="ml", pod="train-0", container="main", state="waiting", reason="CrashLoopBackOff", origin=HERE),
        Container(namespace="ml", pod="train-0", container="main", state="waiting", reason="ContainerCreating", origin=HERE),
    ),
    "ended": (
        "containers",
        Container(namespace="ml", pod="train-0", container="main", state="terminated", exit_code=139, origin=HERE),
        Container(namespace="ml", pod="train-0", container="main", state="terminated", exit_code=0, origin=HERE),
    ),
    "unscheduled": (
        "pods",
        Pod(namespace="ml", pod="train-0", phase="Pending", schedule_message="0/4 nodes are available", age=600.0, origin=HERE),
        Pod(namespace="ml", pod="train-0", phase="Pending", schedule_message="0/4 nodes are available", age=5.0, origin=HERE),
    ),
    "workload": (
        "workloads",
        Workload(namespace="ml", workload="Deployment/web", kind="Deployment", name="web", desired=3, ready=1, origin=HERE),
        Workload(namespace="ml", workload="Job/once", kind="Job", name="once", desired=1, ready=0, origin=HERE),
    ),
    "ended_badly": (
        "workloads",
        Workload(namespace="ml", workload="Job/once", kind="Job", name="once", status="FailureTarget", origin=HERE),
        Workload(namespace="ml", workload="Job/once", kind="Job", name="once", status="Complete", origin=HERE),
    ),
    "claim": (
        "claims",
        Claim(namespace="ml", claim="data", phase="Lost", origin=HERE),
        Claim(namespace="ml", claim="data", phase="Bound", origin=HERE),
    ),
    "endpoints": (
        "service_endpoints",
        ServiceEndpoints(namespace="gpu-operator", service="nvidia-dcgm-exporter", origin=HERE),
        ServiceEndpoints(namespace="kube-system", service="kube-scheduler", origin=HERE),
    ),
    "diverged": ("paces", Pace(step=12, diverged=True, origin=HERE), Pace(step=12, origin=HERE)),
    "target": (
        "scrape_targets",
        ScrapeTarget(url="http://10.0.0.9:9400/metrics", health="down", error="connection refused", origin=HERE),
        ScrapeTarget(url="http://10.0.0.9:9400/metrics", health="unknown", origin=HERE),
    ),
    "rank": ("ranks", Rank(rank=3, error="nccl_timeout", error_text="…", origin=HERE), Rank(rank=3, stage="running", origin=HERE)),
    "exit": ("ranks", Rank(rank=3, exit_code=1, origin=HERE), Rank(rank=3, exit_code=0, origin=HERE)),
    "job": ("jobs", Job(kind="hang", origin=HERE), Job(kind="ended", origin=HERE)),
    "collective": (
        "collectives",
        Collective(operation="ALLREDUCE", state="timed_out", origin=HERE),
        Collective(operation="ALLREDUCE", state="started", origin=HERE),
    ),
    "wrong": ("collective_tests", CollectiveTest(wrong=2, ended=True, origin=HERE), CollectiveTest(wrong=0, ended=True, origin=HERE)),
    "ending": ("endings", Ending(said="Killed", origin=HERE), Ending(said="deprecated", warning=True, origin=HERE)),
}


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_is_seen_and_what_looks_like_it_is_not(name: str) -> None:
    kind, sick, sound = SIGNS[name]
    (one,) = unexplained_troubles(library(), stored({kind: [sick]}), [], [])
    assert (one.source, one.line) == (HERE.source, HERE.line)
    assert unexplained_troubles(library(), stored({kind: [sound]}), [], []) == []


def test_every_sign_is_tried() -> None:
    assert {check.id for check in library().signs.checks()} == set(SIGNS)


def test_many_are_some() -> None:
    letters = [f"{a}{b}" for a in "abcdefghijklmno" for b in "abcdefghijklmno"]
    ranks = [Rank(rank=n, error="x", error_text=f"error {word}", origin=Origin("log", n + 1, "")) for n, word in enumerate(letters)]
    assert len(left({"ranks": [*ranks]})) == MOST


def test_what_a_cluster_says_is_no_template() -> None:
    pod = Pod(namespace="ml", pod="a\x1b[31m${x}", phase="Failed", status="Error", origin=HERE)
    assert "${x}" in left({"pods": [pod]})[0]


# --- what is shown --------------------------------------------------------------------------------------------------------------------


def test_every_reporter_names_it(tmp_path: Path) -> None:
    begun = "2026-03-01 11:00:00,123 INFO trainer: begun\n"
    torn = "2026-03-01 11:00:01,123 ERROR trainer: manifest of shard 3 is torn"
    report = diagnosed(tmp_path / "train.log", f"{begun}{torn}\n{begun}{torn}\n")
    assert report.verdict == "inconclusive"
    assert [(one.line, one.count) for one in report.unexplained] == [(2, 2)]
    assert json.loads(json_report.render(report))["unexplained"][0]["text"] == torn
    shown = terminal.render(report, width=200)
    assert "no finding explains" in shown.splitlines()[1]
    assert f"train.log:2: {torn} (2 times)" in shown.partition("Not explained\n")[2]
    for text in (markdown.render(report), page.render(report), junit.render(report)):
        assert "manifest of shard 3 is torn" in text
