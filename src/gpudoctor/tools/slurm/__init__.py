"""Slurm: nodes, jobs, configuration, logs."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    "slurm.nodes": Parser(("slurm_nodes", "messages"), "nodes:nodes"),  # scontrol show node, sinfo
    "slurm.jobs": Parser(("slurm_jobs", "messages"), "jobs:jobs"),  # scontrol show job, squeue, sacct
    "slurm.conf": Parser(("slurm_gres",), "conf:gres"),  # slurm.conf, gres.conf
    "slurm.accounting": Parser(("measures",), "accounting:numbers"),  # seff, sacct: what a job used
    "slurm.jobstats": Parser(("gpu_samples",), "jobstats:means"),  # means over the time of a job
    # logs of slurmctld, slurmd, slurmdbd and munged
    "slurm.log": Parser(("slurm_nodes", "messages", "xids", "sxids", "allocations", "troubles"), "log:log"),
}
