"""Settings of a card and of Slurm that stand alone in what somebody pastes, and the cause that stands first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pasted import diagnosed, judge

LIMITS = """\
$ nvidia-smi -q -d POWER | grep -E '^GPU|Power Limit'
GPU 00000000:1B:00.0
        Current Power Limit               : {} W
        Requested Power Limit             : 700.00 W
        Default Power Limit               : 700.00 W
        Max Power Limit                   : 700.00 W
"""
# slurmd with AutoDetect=nvml
SLURMD = (
    "[2026-03-01T09:14:02.113] fatal: MIG mode is enabled, but no MIG devices were found. Please either create MIG instances, disable MIG "
    "mode, remove AutoDetect=nvml, or remove GPUs from the configuration completely.\n"
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (LIMITS.format("350.00"), "power-limit-lowered"),
        (LIMITS.format("700.00"), ""),
        (SLURMD, "mig-enabled-without-instances"),
    ],
)
def test_a_setting_alone(text: str, cause: str, tmp_path: Path) -> None:
    judge(diagnosed(tmp_path, text), cause)
