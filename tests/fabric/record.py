"""Record what the real tools print on the simulated fabric, for tests where it can't run: python -m tests.fabric.record"""

from __future__ import annotations

import re
from pathlib import Path

from tests.fabric.simulated import Fabric, fabric, missing

FOLDER = Path(__file__).parent / "recorded"
PID = re.compile(r"\[\d{2,7}\] ")


def keep(running: Fabric, name: str, host: str, *argv: str) -> None:
    """One answer; process numbers differ from run to run and are made equal."""
    done = running.ask(host, *argv)
    (FOLDER / f"{name}.txt").write_text(PID.sub("[4471] ", done.stdout))
    if done.stderr.strip():
        (FOLDER / f"{name}.err.txt").write_text(PID.sub("[4471] ", done.stderr))


def main() -> None:
    """All answers."""
    if missing():
        raise SystemExit(f"not on this machine: {missing()}")
    FOLDER.mkdir(exist_ok=True)
    with fabric(slow="gpu-06") as running:
        keep(running, "ibstat", "gpu-01", "ibstat")
        keep(running, "ibstat-short", "gpu-01", "ibstat", "-s")
        keep(running, "iblinkinfo", "gpu-01", "iblinkinfo")
        keep(running, "iblinkinfo-line", "gpu-01", "iblinkinfo", "-l")
        keep(running, "ibqueryerrors-clean", "gpu-01", "ibqueryerrors", "--details")
        keep(running, "perfquery", "gpu-02", "perfquery", "-C", "ibsim0", "-P", "1")
        keep(running, "perfquery-x", "gpu-02", "perfquery", "-x")
        running.console(
            'PerformanceSet "gpu-02"[1] PortCounters.SymbolErrorCounter=65535',
            'PerformanceSet "gpu-02"[1] PortCounters.LinkErrorRecoveryCounter=12',
            'PerformanceSet "leaf-1"[2] PortCounters.PortRcvErrors=40',
            'PerformanceSet "gpu-04"[1] PortCounters.SymbolErrorCounter=4400',
            'PerformanceSet "gpu-04"[1] PortCounters.LinkErrorRecoveryCounter=31',
        )
        keep(running, "perfquery-later", "gpu-02", "perfquery", "-C", "ibsim0", "-P", "1")
        keep(running, "perfquery-loop", "gpu-02", "perfquery", "-l", "2")
        keep(running, "ibqueryerrors", "gpu-01", "ibqueryerrors", "--details")
        keep(running, "ibqueryerrors-ports", "gpu-01", "ibqueryerrors", "--report-port", "--data")
        running.console('Unlink "gpu-03"')
        keep(running, "ibstat-down", "gpu-03", "ibstat")
        keep(running, "ibqueryerrors-cut-off", "gpu-03", "ibqueryerrors")
        keep(running, "iblinkinfo-down", "gpu-01", "iblinkinfo")
    with fabric(managed=False) as running:
        keep(running, "ibstat-unmanaged", "gpu-01", "ibstat")
        keep(running, "sminfo-unmanaged", "gpu-01", "sminfo")


if __name__ == "__main__":
    main()
