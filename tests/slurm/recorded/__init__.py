"""What a real Slurm 22.05 printed, recorded by tests.slurm.record."""

from __future__ import annotations

from pathlib import Path


def recorded(name: str) -> str:
    """One answer."""
    return (Path(__file__).parent / f"{name}.txt").read_text()
