"""nvidia-smi in all its forms, NVML, and what prints the same values: gpustat, CUDA's samples."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "nvidia.smi": Parser(("smi", "gpus", "gpu_processes", "gpu_samples", "messages"), "smi:smi", failures=True),
    "nvidia.nvlink": Parser(("nvlinks", "gpus", "messages"), "nvlink:nvlink"),
    "nvidia.topo": Parser(("gpu_paths",), "topo:topo"),
    "cuda.peers": Parser(("gpu_paths",), "cuda_samples:peers"),  # CUDA's own tests
    "cuda.bandwidth": Parser(("measures",), "host_bandwidth:bandwidths"),  # nvbandwidth, bandwidthTest
    "nvml.gpus": Parser(("smi", "gpus", "gpu_processes"), "nvml:gpus", failures=True),  # JSON of probes/nvml_child.py
    "nvml.samples": Parser(("gpu_samples",), "nvml:samples"),
    "nvidia.ecc_table": Parser(("gpus",), "azure_ecc_table:gpus"),
    "nvidia.gpustat": Parser(("gpus", "gpu_samples", "gpu_processes"), "gpustat:gpustat"),
    "nvidia.dmon": Parser(("gpu_samples",), "dmon:dmon"),
}
