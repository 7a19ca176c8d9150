"""Tables that somebody made: a program with more workers that load its data, exporters that were killed for memory."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.watched import WAVES, log, node

CASES: dict[str, Case] = {
    "stall-loader-trials": node(*WAVES, log=log("num_workers=0: 41.2 samples/s", "num_workers=8: 212.0 samples/s", gap=0)),
    "stall-loader-no-gain": node(*WAVES, log=log("num_workers=0: 201.2 samples/s", "num_workers=8: 212.0 samples/s", gap=0)),
    "stall-exporters-killed": node(
        *WAVES,
        log=log(
            "        image: nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04",
            "nodes   pods   OOMKilled   working set",
            "small   40     0           466 MiB",
            "large   25     12          486 MiB",
            gap=0,
        ),
    ),
}
