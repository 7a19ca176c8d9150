"""The commands of the fixes that a setting's answers give are tried on the cluster: the API server takes each, and what is to let a waiting
pod run does.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence

from gpudoctor.report import Fix
from tests.cluster.control_plane import until
from tests.cluster.fits import fresh
from tests.cluster.scenario import Answer, Stage, fit_rows
from tests.cluster.scenario import judged as judged_by_scheduler

KUBECTL = shutil.which("kubectl") or ""
# The verbs that the API server judges without doing them, and the kinds that the stand has objects of.
JUDGED = ("patch", "label", "annotate", "taint", "cordon", "uncordon", "drain", "delete")
FOREIGN = ("clusterpolicies", "clusterqueues", "nodepools", "gpu-operator", "kube-system")


def tried(stage: Stage, answers: Sequence[Answer]) -> Iterator[str]:
    """What is wrong with the fixes of a setting, a line each."""
    if not KUBECTL or stage.halted:
        return
    done: set[tuple[str, ...]] = set()
    fixes = [(one, fix) for one in answers for finding in one.report.findings for fix in finding.fixes if judged(fix)]
    for one, fix in fixes:
        if tuple(fix.run) not in done:
            done.add(tuple(fix.run))
            said = asked(stage, [*fix.run, "--dry-run=server"])
            if said.returncode:
                yield f"{one.case.name}: {' '.join(fix.run)}: {said.stderr.strip()[:300]}"
    for one, fix in fixes:
        if one.case.offers and "tolerate" in one.case.offers and fix.run[:2] == ["kubectl", "patch"] and alone(one):
            yield from placed_by(stage, one, fix)


def judged(fix: Fix) -> bool:
    """Whether it is a command that can be judged here."""
    words = fix.run
    known = words[:1] == ["kubectl"] and words[1] in JUDGED and not any("<" in word for word in words)
    return known and not any(name in word for word in words for name in FOREIGN)


def alone(one: Answer) -> bool:
    """Whether the nearest fit of a case is a toleration and nothing else."""
    rows = fit_rows(one.report)
    return bool(rows) and rows[0][2] == "tolerate"


def placed_by(stage: Stage, one: Answer, fix: Fix) -> Iterator[str]:
    """Apply a patch of a waiting pod as it is shown, to another one of its kind, and see that one placed."""
    pod = fresh(stage.pod(fix.run[2].partition("/")[2]))
    name = pod["metadata"]["name"]
    stage.api.create(pod)
    try:
        until(lambda: judged_by_scheduler(stage.pod(name)), f"a word about {name}", 20)
        said = asked(stage, [*fix.run[:2], f"pod/{name}", *fix.run[3:]])
        if said.returncode:
            yield f"{one.case.name}: {said.stderr.strip()[:300]}"
        else:
            until(lambda: bool(stage.pod(name)["spec"].get("nodeName")), f"{name} is placed", 20)
    except TimeoutError as problem:
        yield f"{one.case.name}: after {' '.join(fix.run)}: {problem}"
    finally:
        stage.api.delete(stage.path(f"pod/{name}"))


def asked(stage: Stage, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """kubectl with these words, as the administrator."""
    command = [KUBECTL, *words[1:], "--kubeconfig", str(stage.plane.folder / "admin.kubeconfig")]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
