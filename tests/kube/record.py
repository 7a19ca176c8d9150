"""Record the fixtures: serve each case's cluster and let the real gpudoctor look at it.

python -m tests.kube.record              every case
python -m tests.kube.record taint full   only these
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

from tests import fixture_files
from tests.fixture_files import FIXTURES, Run
from tests.kube.case import Case
from tests.kube.objects import write

ROOT = Path(__file__).parents[2]
NOW = "1772366400"  # 2026-03-01T12:00:00Z, the clock of every recorded cluster


def cases() -> dict[str, Case]:
    """All cases of all `cases_*.py`, by name. A name that is there twice is an error."""
    found: dict[str, Case] = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        more: dict[str, Case] = import_module(f"tests.kube.{path.stem}").CASES
        if twice := more.keys() & found.keys():
            raise SystemExit(f"{path.name}: {sorted(twice)} are there already")
        found.update(more)
    return found


def gpudoctor(case: Case, kubeconfig: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the case's command against a served cluster."""
    command = [sys.executable, "-m", "gpudoctor", *case.words, *options]
    environment = os.environ | {"KUBECONFIG": str(kubeconfig), "SOURCE_DATE_EPOCH": NOW, "NO_COLOR": "1", "COLUMNS": "120"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=120, check=False)


def record(case: Case) -> tuple[subprocess.CompletedProcess[str], Run]:
    """Record one case."""
    with tempfile.TemporaryDirectory() as folder:
        file = write(case.cluster, Path(folder, "cluster.json"))
        server = [sys.executable, "-m", "tests.kube.server", str(file), "--dir", folder]
        with subprocess.Popen(server, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            try:
                done = gpudoctor(case, Path(folder, "kubeconfig"), "--record", f"{folder}/kept", "--format", "json")
                return done, fixture_files.recorded(Path(folder, "kept"))
            finally:
                process.kill()


def main() -> None:
    """Record the cases named on the command line, all by default."""
    known = cases()
    names = sys.argv[1:] or list(known)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda name: record(known[name]), names))
    for name, (done, _) in zip(names, results, strict=True):
        print(f"{name}: exit {done.returncode} {done.stderr.strip()}")
    fixture_files.keep({FIXTURES / known[name].runbook / f"{name}.txt": run for name, (_, run) in zip(names, results, strict=True)})


if __name__ == "__main__":
    main()
