# ruff: noqa: E501 - what is printed has long lines
"""Single lines as the driver, CUDA, DCGM, the installer and node monitors print them, and the cause that stands first.

Each is built from the string in the program's source, with values of our own; some print a condition in words that nothing else has.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

# Cause → lines; "?cause" = it is a candidate and nothing is found; "" = neither warning nor candidate
LINES: dict[str, tuple[str, ...]] = {
    "gpu-fallen-off-bus": (
        "NVRM: nvAssertOkFailedNoLog: Assertion failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F) returned from rmStatus @ kern_bus.c:214",
        "NVRM: GPU2 intrServiceStall_IMPL: Failed GPU reg read : 0xffffffff. Check whether GPU is present on the bus",
        "NVRM: GPU2 _kgspLogRpcSanityCheckFailure: sanity check failed 0xf waiting for RPC response from GSP. Expected function 76 (GSP_RM_CONTROL) sequence 9 (0x1 0x2).",
        "nvidia 0000:5d:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        "nvidia 0000:5d:00.0: not ready 65535ms after bus reset; giving up",
        "failed to initialize NVML: ERROR_GPU_IS_LOST",
        "GPU 3 has fallen off the bus",
        "check_nvsmi_healthmon:  nvidia-smi:  The GPU has fallen off the bus or has otherwise become inaccessible. FaultCode: NHC2010",
    ),
    "?gpu-fallen-off-bus": (
        "nvidia gpu count mismatch (found 7, expected 8)",
        "check_gpu_count: Expected to see 8 but found 7. FaultCode: NHC2009",
    ),
    "gpu-not-initialised": (
        "NVRM: GPU0 gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progress 0x0)",
        "NVRM: GPU0 kgspBootstrap_GH100: GSP-FMC reported an error while attempting to boot GSP: 0x3d",
        "NVRM: GPU0 kgspExecuteFwsecFrts_TU102: failed to execute FWSEC for FRTS: no initialized WPR2 found",
        "NVRM: GPU0 kgspInitRm_IMPL: failed to extract VBIOS image from ROM: 0x25",
        "NVRM: Can't find an IRQ for your NVIDIA card!",
    ),
    "gsp-rpc-timeout": (
        "NVRM: GPU1 _kgspHeartbeatCheck: LibOS heartbeat timed out",
        "NVRM: GPU1 _kgspClassifyGspTimeout: ================ GSP core unresponsive ===============",
        "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:5d:00 (printing 1 of every 30).  The GPU likely needs to be reset.",
    ),
    "gsp-firmware-crash": ("NVRM: GPU1 kgspProcessRpcEvent: Received signal from GSP that PMU has halted.",),
    "gsp-firmware-files-missing": ("NVRM: GPU1 kgspInitRm_IMPL: need firmware to initialize GSP",),
    "gpu-hung": ("NVRM: krcWatchdogCallbackVblankRecovery: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7",),
    "driver-scheduler-fault-reset-required": (
        "nvmlDeviceGetHandleByIndex_v2(3) failed: GPU requires reset",
        "NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
    ),
    "pci-bar-not-assigned": ("NVRM: FATAL: Failed to re-allocate BAR1.",),
    "gpu-ecc-uncorrectable": (
        "GPU at PCI:0000:5d:00.0: An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at partition 2.",
        "Detected 2 volatile double-bit ECC error(s) in GPU 3.",
        "CUDA APIs have indicated that a double-bit ECC error has occured on GPU 3.",
    ),
    "row-remap-pending": ("check_gpu_ecc: GPU id 3: Row remap pending. FaultCode: NHC2007",),
    "row-remap-failure": ("GPU 3 exceeded uncorrectable row remap limit with 512 remapped rows",),
    "page-retirement-limit": ("60 or more retired pages have been detected in GPU 3. ",),
    "dcgm-diag-failed": (
        "Found 4 faulty memory elements on GPU 2",
        "GPU 3 only achieved a memory bandwidth of 1211.20 GB/s, failing to meet 1600.00 GB/s for test 1",
        "GPU 2 unsuccessfully wrote data to GPU 3 in a peer-to-peer test: checkerboard",
    ),
    "thermal-cooling-fault": (
        "Clocks event for GPU 3 because of clocks event starting 8.0 seconds into the test. clocks_event_reason_hw_thermal_slowdown: the GPU or its memory have reached unsafe temperatures.",
    ),
    "nvlink-links-inactive": (
        "Only 14 NvLinks are up out of the expected 18",
        "NVSwitch 1's NvLink 12 is down.",
        "nvlink threshold violated: require >=8 GPUs with all links active; got 7",
        "check_nvlink_status: GPU 3 has nvlinks inactive: 5 9. FaultCode: NHC2016",
    ),
    "nvlink-error-counters-rising": ("Detected effective BER 1.20e-10 exceeds minimum threshold on GPU 3's NVLink.",),
    "fabric-manager-not-running": ("GPU 3: Fabric State is In Progress (2).",),
    "imex-not-ready": ("IMEX domain status is DEGRADED (3)",),
    "kernel-headers-missing": (
        "ERROR: The kernel source path '/usr/src/linux-6.8' is invalid.  Please make sure you have installed the kernel source files for your kernel",
    ),
    "host-driver-in-use": ("ERROR: You appear to be running an X server; please exit X before installing.",),
    "driver-library-version-mismatch": ("nvidia-modeset: Version mismatch: nvidia.ko(550.54.15) nvidia-modeset.ko(550.90.07)",),
    "gpu-reset-blocked-by-clients": ("Unable to reset GPU 00000000:5D:00.0: In use by another client",),
    "application-illegal-memory-access": ("CUDA error at reduce.cu:87 code=700(cudaErrorIllegalAddress)", "CUDA error 700 at reduce.cu:87"),
    "": (
        # retried, a word of warning, a table of error codes, and tests that found nothing
        "NVRM: GPU1 krcWatchdogCallback: RC watchdog: GPU is possibly locked. Attempting to restart watchdog.",
        "NVRM: GPU1 _kgspCheckSlowRpc: Slow RPC response from GPU1 GSP (712000us). Function 76 (GSP_RM_CONTROL) sequence 9 (0x1 0x2).",
        "NVRM: Failed to load gsp_log_ga10x.bin, no GSP-RM logs will be printed (non-fatal)",
        "    NVML_ERROR_GPU_IS_LOST = 15",
        "nvidia gpu count matching thresholds (8)",
        "GPU id 3: No GPU row remap pending, row remap errors or row remap high count errors",
        "nvlink threshold satisfied: require >=8 GPUs with all links active; got 8",
        "No GPU Xid 79 error found in kernel log",
    ),
}
CASES = [(cause, number) for cause, lines in LINES.items() for number in range(len(lines))]


@pytest.mark.parametrize(("cause", "number"), CASES)
def test_a_printed_line(cause: str, number: int, tmp_path: Path) -> None:
    report = diagnosed(tmp_path, LINES[cause][number] + "\n")
    judge(report, cause)
    assert cause or not report.candidates
