"""dcgmi: discovery, health, diag, policy, stats, dmon, the error counters of nvlink."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "dcgm.discovery": Parser(("gpus",), "discovery:discovery"),
    "dcgm.health": Parser(("dcgm_health", "dcgm_errors"), "health:health"),
    "dcgm.said": Parser(("dcgm_errors",), "sentences:sentences"),
    "dcgm.diag": Parser(("dcgm_tests", "dcgm_errors"), "diag:diag"),
    "dcgm.dmon": Parser(("gpu_samples", "gpus", "xids", "error_readings"), "dmon:dmon"),
    "dcgm.policy": Parser(("dcgm_policies",), "policy:policy"),
    "dcgm.stats": Parser(("dcgm_stats", "gpu_samples", "error_readings"), "stats:stats"),
    "dcgm.nvlink": Parser(("nvlinks",), "nvlink:nvlink"),
}
