"""`python -m benchmarks [NAME …]`: measure all promises, or the named ones.

Each prints a line or two. The exit code is 0 whatever the numbers are, and 1 when a program failed to run.
"""

from __future__ import annotations

import compileall
import sys
from pathlib import Path

import gpudoctor
from benchmarks import analyze, cluster, flight_recorder, hosts, innocent_lines, kernel_log, main_job, nccl_log, paired_tests, startup
from benchmarks.measure import Broken

BENCHMARKS = {
    "startup": startup.measure,
    "main-job": main_job.measure,
    "cluster": cluster.measure,
    "hosts": hosts.measure,
    "kernel-log": kernel_log.measure,
    "innocent-lines": innocent_lines.measure,
    "analyze": analyze.measure,
    "flight-recorder": flight_recorder.measure,
    "nccl-log": nccl_log.measure,
    "paired-tests": paired_tests.measure,
}


def main() -> int:
    """Run the benchmarks named on the command line."""
    names = sys.argv[1:] or list(BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        print(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    # What is measured is an installed tool, which has its bytecode, not one whose files have just been edited.
    compileall.compile_dir(Path(gpudoctor.__file__).parent, quiet=1)
    broken = 0
    for name in names:
        try:
            BENCHMARKS[name]()
        except Broken as error:
            print(f"{name}: {error}", flush=True)
            broken += 1
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
