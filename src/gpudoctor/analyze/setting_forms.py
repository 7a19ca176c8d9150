"""Recognising where the variables of a distributed job are set: an environment, a job script, nccl.conf, part of a manifest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.knowledge.nccl_settings import PREFIXES

LAUNCHER = (
    r"MASTER_ADDR|MASTER_PORT|WORLD_SIZE|LOCAL_RANK|RDMAV_FORK_SAFE|TP_SOCKET_IFNAME|CUDA_LAUNCH_BLOCKING|CUDA_DEVICE_MAX_CONNECTIONS"
)
OURS = rf"(?:(?:{'|'.join(PREFIXES)})[A-Z0-9_]{{2,60}}|{LAUNCHER})"
# export NCCL_DEBUG=INFO  |  declare -x NCCL_DEBUG="INFO"  |  docker run -e NCCL_DEBUG=INFO …  |  ENV NCCL_DEBUG INFO  |  - name: NCCL_DEBUG
ASSIGNS = re.compile(
    rf"(?:^|[\s\"']){OURS}=|^\s{{0,40}}(?:(?:setenv|ENV) {OURS} |(?:- )?[\"']?{OURS}[\"']?: |- name: {OURS}$)|environ\[.{OURS}"
)
# PATH=/usr/bin
VARIABLE = re.compile(r"^(?:export |declare -x )?[A-Za-z_][A-Za-z0-9_]{0,100}=")
SCRIPT = re.compile(r"^#(?:!/|SBATCH |PBS |\$ )")


def score(lines: Sequence[str]) -> int:
    """An environment or a job script, by most of its lines; a few such lines are read beside whatever else the text is."""
    if not any(ASSIGNS.search(line) for line in lines):
        return 0
    filled = [line for line in lines if line.strip()]
    environment = sum(VARIABLE.match(line) is not None for line in filled) * 2 >= len(filled)
    return 45 if environment or any(SCRIPT.match(line) for line in filled[:20]) else 2
