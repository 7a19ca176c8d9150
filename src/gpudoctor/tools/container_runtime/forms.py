"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.container_runtime.config import DRIVER_ALONE, INFO, OF_DOCKER, program_of
from gpudoctor.tools.container_runtime.toml import PART, TABLE
from gpudoctor.tools.form import Form

HEAD = 65_536  # characters of JSON that are looked at
FEW = 19  # the score of a line or two that were picked out by grep: what stands around them is read, too
KEY = regex(r'(?:^|[{,])\s*"([a-z-]{3,40})"\s*:', re.MULTILINE)


def of_runtime(lines: Sequence[str], whole: str) -> int:
    """containerd's, CRI-O's or NVIDIA's TOML by a table, Docker's daemon.json and `docker info` by their own words, `crictl info`."""
    head = whole[:HEAD].lstrip()
    if head.startswith("{"):
        if '"kind"' in head:
            return 0
        docker = {"runtimes", "default-runtime", "exec-opts"} & set(KEY.findall(head)) and set(KEY.findall(head)) & OF_DOCKER
        return 90 if docker or ('"containerd"' in head and '"runtimes"' in head and '"config"' in head) else 0
    for line in lines:
        if (match := TABLE.match(line)) and program_of(
            tuple("".join(filter(None, part.groups())) for part in PART.finditer(match["path"]))
        ):
            return 78
    shown = {match[1] for line in lines if (match := INFO.match(line))}
    if {"Default Runtime", "Cgroup Driver"} <= shown:
        return 78
    return FEW if any(DRIVER_ALONE.match(line) for line in lines) else 0


FORMS: tuple[Form, ...] = (Form("runtime.config", lambda text: of_runtime(text.lines, text.whole), embedded=True),)
