"""Sibling wordings of what the GPU stack, the kernel, the control plane and the metrics pipeline say, over releases and tools."""

from __future__ import annotations

import pytest

from tests.message_files import MessageFiles

KNOWN = MessageFiles("gpu-stack", "fabric", "kernel", "control-plane", "monitoring")
names = KNOWN.names
SIBLINGS: tuple[tuple[str, str], ...] = (
    # --- driver container
    ("no_headers_for_kernel", "Error: Unable to find a match: kernel-headers-5.14.0-503.11.1.el9_5.x86_64"),
    ("nouveau_in_use", "modprobe: FATAL: Module nouveau is in use."),
    # --- validator, plugin, MIG, fabric, operator
    ("toolkit_validation_failed", "toolkit is not ready"),
    ("node_offers_no_gpu_resource", "Error: error validating plugin installation: GPU resources are not discovered by the node"),
    ("device_minor_not_supported", "error getting device paths: error getting GPU device minor number: Not Supported"),
    ("mig_set_invalid", "panic: At least one device with migEnabled=true was not configured correctly: unknown profile"),
    # --- kernel
    ("nvrm_open_module_refuses", "NVRM: installed in this system is not supported by open"),
    ("gpu_bound_to_other_driver", "nouveau              2334720  0"),
    ("nvidia_probe_failed", "nvidia 0000:1b:00.0: probe with driver nvidia failed with error -1"),
    ("pci_region_without_space", "pci 0000:05:00.0: BAR 1 [mem size 0x1000000000 64bit pref]: can't assign; no space"),
    ("module_does_not_fit_kernel", "nvidia: disagrees about version of symbol module_layout"),
    ("gsp_memory_locked", "NVRM: GPU1 _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP"),
    # --- control plane
    ("service_tls_timeout", r'"error":"Get \"https://10.233.0.1:443/api?timeout=32s\": net/http: TLS handshake timeout"'),
    ("service_dial_timeout", r'"error":"Get \"https://10.233.0.1:443/version\": dial tcp 10.233.0.1:443: i/o timeout"'),
    (
        "time_after_certificate",
        "x509: certificate has expired or is not yet valid: current time 2026-03-01T02:11:00Z is after 2026-02-27T09:10:00Z",
    ),
    (
        "clock_before_certificate",
        "x509: certificate has expired or is not yet valid: current time 2026-03-01T02:11:00Z is before 2026-03-01T09:10:00Z",
    ),
    # --- metrics
    ("exporter_engine_connection_gone", "Failed to collect metrics; err: Host engine connection invalid/disconnected"),
    ("hpa_target_unknown", "vllm   Deployment/vllm   <unknown>/80%   1   8   1   45m"),
)
# What looks alarming and is normal: at start, on other hardware, or once.
QUIET = (
    "Detected non-Tegra platform: /sys/devices/soc0/family file not found",
    'level=info msg="GPU resources are not yet discovered by the node, retry: 1"',
    "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
    "pci 0000:05:00.0: BAR 1: no space for [mem size 0x1000000000 64bit pref]",
    "nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)",
    "vllm   Deployment/vllm   <unknown>/80%   1   8   0   8s",
    "ERROR: Unable to open 'kernel/dkms.conf' for copying (No such file or directory)",
    "Kernel driver in use: nvidia",
    'level=info msg="Not collecting DCP metrics: Profiling is not supported for this group of GPUs or GPU"',
    "ScalingActive  True  ValidMetricFound  the HPA was able to successfully calculate a replica count",
)


@pytest.mark.parametrize(("name", "line"), SIBLINGS)
def test_a_sibling_wording_is_known(name: str, line: str) -> None:
    assert name in names(line)


@pytest.mark.parametrize("line", QUIET)
def test_harmless_lines_stay_quiet(line: str) -> None:
    assert names(line) <= KNOWN.benign


def test_an_expired_certificate_is_no_wrong_clock() -> None:
    expired = "certificate has expired or is not yet valid: current time 2026-03-01T02:11:00Z is after 2026-02-27T09:10:00Z"
    assert names(expired) == {"time_after_certificate"}
