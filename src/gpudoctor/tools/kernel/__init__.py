"""The kernel log, and the NVIDIA module that is loaded."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "kernel.log": Parser(("xids", "sxids", "messages", "kernel_logs", "troubles"), "log:log", streams=True, all_of=("xids", "sxids")),
    "nvidia.version": Parser(("kernel_modules",), "driver_version:version"),  # /proc/driver/nvidia/version
}
