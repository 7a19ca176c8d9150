"""The configuration of containerd, CRI-O, Docker and NVIDIA's runtime."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    # containerd, CRI-O, nvidia-container-runtime, Docker; a part of a configuration too
    "runtime.config": Parser(("runtime_configs",), "config:configs"),
}
