"""The parsers of plain text: the kernel log, container logs, nvidia-smi."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.facts.kernel import Xid
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.common import messages, pci
from gpudoctor.tools.common.timestamps import line_time
from gpudoctor.tools.kernel import log as kernel
from gpudoctor.tools.logs import program
from gpudoctor.tools.nvidia_smi import smi as nvidia_smi
from gpudoctor.tools.parser import ParseError

NODE = Subject(kind="node", node="rack7-gpu3")
NOW = 1_772_366_400.0  # 2026-03-01T12:00:00Z
KNOWN = [("nvrm_gpu_lost", r"GPU has fallen off the bus"), ("waits_for_mps_daemon", r"error waiting for MPS daemon")]


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    made = messages.compile_scanner([*KNOWN, *kernel.MARKS])
    monkeypatch.setattr(kernel, "scanner", lambda: made)


def output(text: str, *argv: str, **rest: object) -> Output:
    return Output(command=Command(argv or ("dmesg",)), pages=(text.encode("utf-8", "replace"),), time=NOW, **rest)  # type: ignore[arg-type]


def kernel_log(one: Output, about: Subject) -> Facts:
    return kernel.log([one], about)


def xids(text: str, about: Subject = NODE) -> list[Xid]:
    return [x for x in kernel.log([output(text)], about)["xids"] if isinstance(x, Xid)]


def smi(text: str, *argv: str, about: Subject = NODE, **rest: object) -> tuple[Smi, list[Gpu]]:
    facts = nvidia_smi.smi(output(text, *argv, **rest), about)
    (answer,) = facts["smi"]
    assert isinstance(answer, Smi)
    return answer, [gpu for gpu in facts.get("gpus", []) if isinstance(gpu, Gpu)]


@pytest.mark.parametrize(
    ("line", "code", "address", "pid", "process"),
    [
        (
            "[ 8123.000001] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            79,
            "0000:1b:00",
            None,
            "",
        ),
        ("NVRM: Xid (PCI:0000:B4:00): 43, pid=4711, name=python3.12, Ch 00000010", 43, "0000:b4:00", 4711, "python3.12"),
        ("NVRM: Xid (PCI:0000:b4:00 GPU-I:02): 31, pid=4711, name=infer, Ch 00000010, intr 0.", 31, "0000:b4:00", 4711, "infer"),
        ("NVRM: Xid (PCI:0000:b4:00 GPU-I:02 GPU-CI:00): 31, pid=9, name=infer, Ch 1", 31, "0000:b4:00", 9, "infer"),
        ("NVRM: Xid (0000:05:00): 14, Channel 00000001", 14, "0000:05:00", None, ""),
        ("NVRM: Xid (PCI:0018:01:00): 149, NETIR_BER_EVENT Nonfatal XC0 i0 Link 03", 149, "0018:01:00", None, ""),
        ("11:02:03  NVRM: Xid 79, GPU has fallen off the bus.", 79, "", None, ""),
        ("NVRM: Xid (PCI:0000:21:00): 69, pid=..., name=python3, Class Error", 69, "0000:21:00", None, "python3"),
    ],
)
def test_every_form_of_an_xid_line(line: str, code: int, address: str, pid: int | None, process: str) -> None:
    (xid,) = xids(f"unrelated\n{line}\n")
    assert (xid.code, xid.pci, xid.gpu, xid.pid, xid.process) == (code, address, address, pid, process)
    assert xid.node == "rack7-gpu3"
    assert xid.origin.line == 2
    assert xid.origin.text == line


def test_an_xid_gets_time_age_host_and_uuid_where_they_are_said() -> None:
    uuid = "GPU-1f0d7a52-9c3e-4b60-8f11-0a2b3c4d5e6f"
    log = (
        f"2026-03-01T11:50:00,000000+00:00 NVRM: GPU at PCI:0000:1b:00: {uuid}\n"
        "2026-03-01T11:52:00,500000+00:00 NVRM: Xid (PCI:0000:1b:00): 119, pid=8, name=trainer, Timeout after 6s\n"
        "Mar  1 11:53:00 rack7-gpu9 kernel: [77.1] NVRM: Xid (PCI:0000:3b:00): 31, pid=8, name=trainer, MMU Fault\n"
    )
    first, second = xids(log, Subject(kind="cluster"))
    assert (first.gpu, first.uuid, first.pci) == (uuid, uuid, "0000:1b:00")
    assert first.age == pytest.approx(479.5)
    assert second.node == "rack7-gpu9"
    assert second.time == NOW - 420


def test_a_burst_of_one_process_is_one_record_and_a_later_one_is_another() -> None:
    burst = "".join(f"2026-03-01T10:00:{s:02d},0+00:00 NVRM: Xid (PCI:0000:1b:00): 94, pid=5, name=t, Ch {s:08x}\n" for s in range(30))
    later = "2026-03-01T11:00:00,0+00:00 NVRM: Xid (PCI:0000:1b:00): 94, pid=5, name=t, Ch 00000001\n"
    other = "2026-03-01T10:00:05,0+00:00 NVRM: Xid (PCI:0000:1b:00): 94, pid=6, name=u, Ch 00000001\n"
    assert [(x.pid, x.count) for x in xids(burst + other + later)] == [(5, 30), (6, 1), (5, 1)]


def test_known_messages_of_the_kernel_log_and_quiet_on_others() -> None:
    facts = kernel.log([output("[1.0] usb 1-1: new device\n[2.0] NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.\n")], NODE)
    assert [(m.name, m.node, m.origin.line) for m in facts["messages"]] == [("nvrm_gpu_lost", "rack7-gpu3", 2)]  # type: ignore[attr-defined]
    assert facts["xids"] == []


@pytest.mark.parametrize(
    ("line", "code", "uuid"),
    [
        ("I0301 health.go:185] XidCriticalError: Xid=79 on Device=GPU-1f0d7a52; marking device as unhealthy.", 79, "GPU-1f0d7a52"),
        ("2020/01/02 03:04:05 XidCriticalError: Xid=48 on Device=GPU-aa, the device will go unhealthy.", 48, "GPU-aa"),
        ("2018/01/02 03:04:05 xidCriticalError: Xid=62 on GPU=GPU-bb, the device will go unhealthy.", 62, "GPU-bb"),
        ("XidCriticalError: Xid=95 on All devices; marking all devices as unhealthy.", 95, ""),
        ("E0301 health_checker.go:99] XidCriticalError: Xid=64, All devices will go unhealthy.", 64, ""),
    ],
)
def test_the_device_plugins_word_of_an_xid(line: str, code: int, uuid: str) -> None:
    about = Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", node="rack7-gpu3", component="device-plugin")
    facts = program.text(output(f"I0301 main.go] fine\n{line}\nerror waiting for MPS daemon", "kubectl", "logs", "plugin-x"), about)
    (xid,) = facts["xids"]
    assert isinstance(xid, Xid)
    assert (xid.code, xid.uuid, xid.node, xid.origin.line) == (code, uuid, "rack7-gpu3", 2)
    (message,) = facts["messages"]
    assert (message.name, message.source, message.component) == ("waits_for_mps_daemon", "log", "device-plugin")  # type: ignore[attr-defined]


TABLE = """\
Sun Mar  1 12:00:00 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.86.15              Driver Version: 570.86.15      CUDA Version: 12.8     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:19:00.0 Off |                    0 |
| N/A   41C    P0            120W /  700W |    1024MiB /  81559MiB |     37%      Default |
|                                         |                        |              Enabled |
+-----------------------------------------+------------------------+----------------------+
|   1  ERR!                           On  |   00000000:3B:00.0 Off |                 ERR! |
|ERR!  ERR!  ERR!            ERR! / ERR!  |       0MiB /  81559MiB |     ERR!     Default |
|                                         |                        |                 ERR! |
+-----------------------------------------+------------------------+----------------------+
| Processes:                                                                              |
|    0   N/A  N/A             4711      C   python3                                1000MiB |
"""


def test_the_table() -> None:
    answer, gpus = smi(TABLE)
    assert (answer.problem, answer.driver_version, answer.cuda_version, answer.gpus, answer.mig) == ("", "570.86.15", "12.8", 2, True)
    assert (answer.inside, answer.node, answer.origin.line) == ("node", "rack7-gpu3", 3)
    good, bad = gpus
    assert (good.index, good.pci, good.product, good.mig_mode) == (0, "0000:19:00", "NVIDIA H100 80GB HBM3", "Enabled")
    assert (good.memory_used, good.memory_total, good.utilisation, good.temperature) == (1024, 81559, 37, 41)
    assert (bad.pci, bad.product, bad.temperature, bad.origin.line) == ("0000:3b:00", "", None, 13)
    assert {"product", "temperature", "utilisation", "mig_mode"} <= set(bad.unreadable)


def test_old_and_newest_banners() -> None:
    old, gpus = smi(
        "| NVIDIA-SMI 375.20                 Driver Version: 375.20                    |\n"
        "|   0  GeForce GT 710      Off  | 0000:01:00.0     N/A |                  N/A |\n"
        "| 40%   47C    P0    N/A /  N/A |      0MiB /   964MiB |     N/A      Default |\n"
    )
    assert (old.driver_version, old.cuda_version, gpus[0].product) == ("375.20", None, "GeForce GT 710")
    with pytest.raises(ParseError, match="breaks off") as alone:  # its GPUs are missing
        smi("| NVIDIA-SMI 610.1.2              KMD Version: 610.1.2     CUDA UMD Version: 13.3     |\n")
    (new,) = alone.value.facts["smi"]
    assert isinstance(new, Smi)
    assert (new.driver_version, new.cuda_version, new.gpus) == ("610.1.2", "13.3", None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.10", "mismatch"),
        ("Failed to initialize NVML: Unknown Error", "unknown_error"),
        ("Failed to initialize NVML: Insufficient Permissions", "insufficient_permissions"),
        ("Failed to initialize NVML: GPU access blocked by the operating system", "insufficient_permissions"),
        ("Failed to initialize NVML: GPU is lost", "gpu_lost"),
        ("Failed to initialize NVML: Driver Not Loaded", "driver_not_loaded"),
        ("Failed to initialize NVML: Something Newer", "other"),
        ("Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU", "gpu_lost"),
        ("Unable to determine the device handle for GPU0000:91:00.0: Unknown Error", "gpu_lost"),
        ("Unable to determine the device handle for GPU1: 0000:34:00.0: GPU requires reset", "reset_required"),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is "
            "installed and running.",
            "driver_not_loaded",
        ),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that …", "library_missing"),
        ("No devices were found", "no_devices"),
        ('OCI runtime exec failed: exec failed: … exec: "nvidia-smi": executable file not found in $PATH: unknown', "not_found"),
        ("bash: nvidia-smi: command not found", "not_found"),
        ("sh: 1: nvidia-smi: not found", "not_found"),
        ("zsh: command not found: nvidia-smi", "not_found"),
        ("Command 'nvidia-smi' not found, but can be installed with:", "not_found"),
    ],
)
def test_every_error_text(text: str, problem: str) -> None:
    answer, _ = smi(text)
    assert answer.problem == problem
    assert answer.text == text.split("\n")[0]
    in_stderr, _ = smi("", stderr=text.encode())
    assert in_stderr.problem == problem


def test_a_failed_handle_names_its_gpu() -> None:
    answer, (lost,) = smi("Unable to determine the device handle for GPU1: 0000:34:00.0: Unknown Error\n")
    assert (lost.index, lost.pci, lost.gpu, lost.unreadable) == (1, "0000:34:00", "0000:34:00", ["handle"])
    assert answer.gpus == 1


def test_the_exit_code_counts_where_the_text_says_nothing() -> None:
    assert smi("", exit=9)[0].problem == "driver_not_loaded"
    assert smi(TABLE, exit=15)[0].problem == ""


def test_where_it_ran() -> None:
    nobody = Subject(kind="cluster")
    assert smi(TABLE, about=nobody)[0].inside == ""
    assert smi(TABLE, "kubectl", "exec", "p", "--", "nvidia-smi", about=nobody)[0].inside == "pod"
    assert smi(TABLE, about=Subject(kind="pod", pod="p", node="n"))[0].inside == "pod"


def test_the_list_with_mig_instances() -> None:
    text = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d2b1c0e-aaaa)\n  MIG 1g.5gb     Device  0: (UUID: MIG-b7aa)\n"
    answer, (gpu,) = smi(text, "nvidia-smi", "-L")
    assert (answer.mig, answer.gpus) == (True, 1)
    assert (gpu.index, gpu.uuid, gpu.gpu, gpu.product) == (0, "GPU-5d2b1c0e-aaaa", "GPU-5d2b1c0e-aaaa", "NVIDIA A100-SXM4-40GB")


LONG = """\
==============NVSMI LOG==============

Driver Version                            : 550.90.07
CUDA Version                              : 12.4

Attached GPUs                             : 1
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA A100-PCIE-40GB
    MIG Mode
        Current                           : Disabled
        Pending                           : Unknown Error
    GPU UUID                              : GPU-77aa0000-1111-2222-3333-444455556666
    FB Memory Usage
        Total                             : 40960 MiB
        Used                              : 12 MiB
    Utilization
        Gpu                               : [GPU requires reset]
    Temperature
        GPU Current Temp                  : 33 C
"""

XML = """\
<?xml version="1.0" ?>
<nvidia_smi_log>
  <driver_version>550.90.07</driver_version>
  <attached_gpus>1</attached_gpus>
  <gpu id="00000000:3B:00.0">
    <product_name>NVIDIA A100-PCIE-40GB</product_name>
    <mig_mode>
      <current_mig>Disabled</current_mig>
    </mig_mode>
    <uuid>GPU-77aa0000-1111-2222-3333-444455556666</uuid>
    <fb_memory_usage>
      <total>40960 MiB</total>
      <used>12 MiB</used>
    </fb_memory_usage>
    <temperature>
      <gpu_temp>33 C</gpu_temp>
    </temperature>
  </gpu>
</nvidia_smi_log>
"""


@pytest.mark.parametrize("text", [LONG, XML])
def test_the_long_answer_as_text_and_as_xml(text: str) -> None:
    answer, (gpu,) = smi(text, "nvidia-smi", "-q")
    assert answer.gpus == 1
    assert (gpu.pci, gpu.uuid, gpu.product) == ("0000:3b:00", "GPU-77aa0000-1111-2222-3333-444455556666", "NVIDIA A100-PCIE-40GB")
    assert (gpu.mig_mode, gpu.memory_total, gpu.memory_used, gpu.temperature) == ("Disabled", 40960, 12, 33)
    if text is LONG:
        assert gpu.unreadable == ["mig_pending", "utilisation"]
        assert gpu.utilisation is None


def test_csv_with_a_header_with_the_command_alone_and_with_neither() -> None:
    row = "0, GPU-77aa0000-1111-2222-3333-444455556666, 00000000:3B:00.0, 12 MiB, [Unknown Error]\n"
    header = "index, uuid, pci.bus_id, memory.used [MiB], temperature.gpu\n"
    query = "--query-gpu=index,uuid,pci.bus_id,memory.used,temperature.gpu"
    for text, argv in ((header + row, ()), (row, ("nvidia-smi", query, "--format=csv,noheader"))):
        _, (gpu,) = smi(text, *argv)
        assert (gpu.index, gpu.pci, gpu.memory_used, gpu.temperature, gpu.unreadable) == (0, "0000:3b:00", 12, None, ["temperature"])
    _, (gpu,) = smi(row)
    assert (gpu.index, gpu.uuid[:8], gpu.pci, gpu.memory_used) == (0, "GPU-77aa", "0000:3b:00", None)


@given(st.integers(0, 0xFFFF), st.integers(0, 0xFF), st.integers(0, 0x1F), st.integers(0, 7))
def test_all_forms_of_a_pci_address_are_one(domain: int, bus: int, device: int, function: int) -> None:
    want = f"{domain:04x}:{bus:02x}:{device:02x}"
    forms = (f"{domain:08X}:{bus:02X}:{device:02X}.{function}", f"PCI:{want}", f"{want}.{function}", want.upper())
    assert {pci.canonical(form) for form in forms} == {want}


@pytest.mark.parametrize(
    "text", ["2026-02-31T00:00:00Z x", "[Foo Bar  1 00:00:00 2026] x", "9999/99/99 99:99:99", "Feb 30 01:02:03 h kernel:", ""]
)
def test_a_time_that_does_not_exist_is_none(text: str) -> None:
    assert line_time(text, NOW) is None


def test_a_syslog_line_is_never_in_the_future() -> None:
    assert line_time("Dec 31 23:00:00 host kernel: x", NOW) == 1_767_222_000.0  # 2025
    assert line_time("Dec 31 23:00:00 host kernel: x") is None


@settings(max_examples=150)
@given(st.text(max_size=400))
def test_no_text_breaks_a_parser(text: str) -> None:
    for noise in (text, f"NVRM: Xid (PCI:{text}", f"| {text} | 00000000:3B:00.0 {text} | {text} |", f"GPU 0: {text} (UUID: GPU-{text})"):
        for parser in (kernel_log, program.text, nvidia_smi.smi):
            parser(output(noise), NODE)


@pytest.mark.parametrize(
    "line", ["NVRM: Xid (" * 90_000, "|" * 1_000_000, "GPU " * 250_000, "pid='" * 200_000, "\x00\x1b[" * 300_000, "," * 1_000_000]
)
def test_a_line_of_a_megabyte_costs_little(line: str) -> None:
    for parser in (kernel_log, program.text, nvidia_smi.smi):
        facts = parser(output(line), NODE)
        assert not facts.get("xids")
        assert not facts.get("gpus")


REMAPS_TEXT = """\
GPU 00000000:47:00.0
    Remapped Rows
        Uncorrectable Error               : 1
        Pending                           : Yes
        Remapping Failure Occurred        : No
    Retired Pages
        Pending Page Blacklist            : Yes
"""
REMAPS_XML = """\
<gpu id="00000000:47:00.0">
  <remapped_rows>
    <remapped_row_pending>Yes</remapped_row_pending>
    <remapped_row_failure>No</remapped_row_failure>
  </remapped_rows>
"""
REMAPS_CSV = "index, pci.bus_id, remapped_rows.pending, remapped_rows.failure\n0, 00000000:47:00.0, 1, 0\n"


@pytest.mark.parametrize("text", [REMAPS_TEXT, REMAPS_XML, REMAPS_CSV], ids=["text", "xml", "csv"])
def test_rows_that_wait_to_be_remapped(text: str) -> None:
    _, (gpu,) = smi(text)
    assert (gpu.pci, gpu.remap_pending, gpu.remap_failed) == ("0000:47:00", True, False)


def test_remaps_that_a_gpu_does_not_have_are_not_known() -> None:
    _, (gpu,) = smi(REMAPS_TEXT.replace(": Yes", ": N/A").replace(": No", ": N/A"))
    assert (gpu.remap_pending, gpu.remap_failed) == (None, None)
