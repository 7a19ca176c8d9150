"""Recognising where the variables of a distributed job are set: an environment, a job script, nccl.conf, part of a manifest."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.knowledge.nccl_settings import PREFIXES, is_job_setting
from gpudoctor.patterns import regex
from gpudoctor.tools.linux.environment import MANIFEST_NAME, line_assignments, printed_variables

# PATH=/usr/bin
VARIABLE = regex(r"^(?:export |declare -x )?[A-Za-z_][A-Za-z0-9_]{0,100}=")
SCRIPT = regex(r"^#(?:!/|SBATCH |PBS |\\$ )")


def score(lines: Sequence[str], argv: Sequence[str] = ()) -> int:
    """An environment or a job script, by most of its lines; a few such lines are read beside whatever else the text is. Or the answer to
    a command that prints one variable."""
    if any(True for _ in printed_variables(argv, "\n".join(lines))):
        return 45
    if not any(sets(line) for line in lines):
        return 0
    filled = [line for line in lines if line.strip()]
    environment = sum(VARIABLE.match(line) is not None for line in filled) * 2 >= len(filled)
    return 45 if environment or any(SCRIPT.match(line) for line in filled[:20]) else 2


def sets(line: str) -> bool:
    """Whether a line sets one of these variables, the launcher's numbers left aside: every program may have a RANK."""
    if "_" not in line or line.lstrip().startswith("#"):
        return False
    named = MANIFEST_NAME.match(line)
    names = [named["name"]] if named else [name for name, _ in line_assignments(line.strip())]
    return any(
        is_job_setting(name)
        and (name.startswith(PREFIXES) or name == "LD_LIBRARY_PATH" or name != name.removeprefix("MASTER_").removeprefix("CUDA_"))
        for name in names
    )
