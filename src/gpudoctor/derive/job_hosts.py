"""Which machines to look at for a distributed job: those of the ranks that stand out, else all of a small job."""

from __future__ import annotations

from collections.abc import Mapping

from gpudoctor.derive.hosts import hosts
from gpudoctor.derive.job_ranks import of_type
from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.job import Job
from gpudoctor.facts.kubernetes import Pod

SMALL = 16  # machines of a job that are all asked where no rank stands out: a rack


def suspects(facts: Mapping[str, list[Fact]], inputs: Mapping[str, object], now: float) -> Facts:
    """The machines that were named, and those of the suspects; a name that no cluster and nobody gave is not asked."""
    jobs = of_type(facts.get("jobs", []), Job)
    pods = {pod.node for pod in of_type(facts.get("pods", []), Pod) if pod.node and pod.target}
    given = [name.strip() for name in str(inputs.get("nodes", "")).split(",") if name.strip()]
    known = pods | set(given)
    chosen = [node for job in jobs for node in job.suspects if node in known]
    if not chosen and len(pods) <= SMALL and any(job.kind not in ("running", "ended") for job in jobs):
        chosen = sorted(pods)
    found = hosts([*given, *chosen], bool(inputs.get("local")))
    return {"hosts": found} if found else {}
