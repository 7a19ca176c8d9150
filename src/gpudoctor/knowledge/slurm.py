"""The words of Slurm: states of nodes and jobs in their long and short spellings, and what its reasons mean.

Sources: node_state_string and node_state_string_compact in src/common/slurm_protocol_defs.c; job_states in src/common/job_state.c and
squeue(1); src/common/job_state_reason.c; the reasons that daemons set in src/slurmctld/{node_mgr,agent,job_mgr,proc_req,ping_nodes}.c and
src/interfaces/gres.c, https://github.com/SchedMD/slurm.
"""

from __future__ import annotations

import re

from gpudoctor.patterns import regex


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# --- nodes: a base state and flags

BASES = ("ALLOCATED", "IDLE", "MIXED", "DOWN", "ERROR", "FUTURE", "UNKNOWN")
# Other words that stand where a state stands → base ("" = not told) and flags. Short spellings are those of sinfo's %t.
COMBINED: dict[str, tuple[str, tuple[str, ...]]] = {
    "ALLOC": ("ALLOCATED", ()),
    "MIX": ("MIXED", ()),
    "UNK": ("UNKNOWN", ()),
    "FUTR": ("FUTURE", ()),
    "ERR": ("ERROR", ()),
    "DRAINED": ("IDLE", ("DRAIN",)),
    "DRAIN": ("IDLE", ("DRAIN",)),
    "DRAINING": ("ALLOCATED", ("DRAIN",)),
    "DRNG": ("ALLOCATED", ("DRAIN",)),
    "FAIL": ("IDLE", ("FAIL",)),
    "FAILING": ("ALLOCATED", ("FAIL",)),
    "FAILG": ("ALLOCATED", ("FAIL",)),
    "COMPLETING": ("ALLOCATED", ("COMPLETING",)),
    "COMP": ("ALLOCATED", ("COMPLETING",)),
    "MAINT": ("", ("MAINTENANCE",)),
    "RESERVED": ("IDLE", ("RESERVED",)),
    "RESV": ("IDLE", ("RESERVED",)),
    "REBOOT": ("", ("REBOOT_ISSUED",)),
    "BOOT": ("", ("REBOOT_ISSUED",)),
    "PLANNED": ("IDLE", ("PLANNED",)),
    "PLND": ("IDLE", ("PLANNED",)),
    "BLOCKED": ("IDLE", ("BLOCKED",)),
    "BLOCK": ("IDLE", ("BLOCKED",)),
    "INVAL": ("", ("INVALID_REG",)),
    "INVALID": ("", ("INVALID_REG",)),
    "POWER_DOWN": ("", ("POWER_DOWN",)),
    "POW_DN": ("", ("POWER_DOWN",)),
    "POWER_UP": ("", ("POWERING_UP",)),
    "POW_UP": ("", ("POWERING_UP",)),
    "PERFCTRS": ("", ("PERFCTRS",)),
    "NPC": ("", ("PERFCTRS",)),
}
# Words that only follow a base state with `+`.
FLAGS = word_set(
    "DRAIN FAIL MAINTENANCE RESERVED COMPLETING NOT_RESPONDING INVALID_REG PLANNED BLOCKED CLOUD EXTERNAL DYNAMIC_FUTURE DYNAMIC_NORM"
    " POWER_DOWN POWER_UP POWERING_DOWN POWERED_DOWN POWERING_UP REBOOT_REQUESTED REBOOT_ISSUED CANCEL_REBOOT PERFCTRS UNDRAIN"
)
# The sign behind a state in the tables of sinfo.
SIGNS = {
    "*": "NOT_RESPONDING",
    "$": "MAINTENANCE",
    "@": "REBOOT_REQUESTED",
    "^": "REBOOT_ISSUED",
    "#": "POWERING_UP",
    "%": "POWERING_DOWN",
    "~": "POWERED_DOWN",
    "!": "POWER_DOWN",
    "-": "PLANNED",
    "+": "COMPLETING",
}
# Flags of a node that somebody, or Slurm itself, keeps away on purpose.
INTENDED = word_set("MAINTENANCE REBOOT_REQUESTED REBOOT_ISSUED POWER_DOWN POWER_UP POWERING_DOWN POWERED_DOWN POWERING_UP DYNAMIC_FUTURE")


def node_state(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Base state and flags of any spelling; None for what is no state.

    >>> node_state("IDLE+DRAIN"), node_state("down*"), node_state("drng"), node_state("none")
    (('IDLE', ('DRAIN',)), ('DOWN', ('NOT_RESPONDING',)), ('ALLOCATED', ('DRAIN',)), None)
    """
    first, *further = text[:200].upper().split("+")
    flags: list[str] = []
    if not first:
        return None
    if first[-1] in SIGNS:  # down*, and before 21.08 DOWN*+DRAIN
        first, flags = first[:-1], [SIGNS[first[-1]]]
    if further[-1:] == [""]:  # allocated+
        further, flags = further[:-1], [*flags, "COMPLETING"]
    if further and further[-1][-1:] in SIGNS:
        flags.append(SIGNS[further[-1][-1]])
        further[-1] = further[-1][:-1]
    further = ["MAINTENANCE" if word == "MAINT" else word for word in further]
    if not FLAGS.issuperset(further):
        return None
    if first in BASES:
        return first, tuple(dict.fromkeys([*further, *flags]))
    if first not in COMBINED:
        return None
    base, own = COMBINED[first]
    return base, tuple(dict.fromkeys([*own, *further, *flags]))


# What a node's reason says, by how it begins: sinfo shows 20 characters of it.
# gres_count, memory, shape (other values of the hardware), kill, prolog, silent, rebooted, launch, health, reboot; "" = a person's words
REASONS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # gres/gpu count reported lower than configured (7 < 8)  |  gres/gpu:h100 count too low (7 < 8)  |  gres/gpu GRES core specification …
    # gres/gpu type (h100) reported but not configured
    ("gres_count", regex(r"gres/\S+ (?:count |GRES |type )|gres/\S+ has |Could not unpack gres", re.IGNORECASE)),
    ("memory", regex(r"Low Real_?Memory|RealMemory too low", re.IGNORECASE)),
    # Low socket*core*thread count, Low CPUs  |  low cpu count (32 < 64)  |  low tmp_disk size (…)
    ("shape", regex(r"Low (?:socket|CPUs?\b|Tmp_?Disk|Cores)", re.IGNORECASE)),
    ("kill", regex(r"Kill task fail", re.IGNORECASE)),
    # Prolog error  |  prolog/epilog failure  |  Job env setup error
    ("prolog", regex(r"(?:Prolog|Epilog)\b.{0,40}(?:error|fail|exit|time)|Job env setup error|Epilog err|Prolog err", re.IGNORECASE)),
    ("silent", regex(r"(?:slurmd )?Not respond|Node not respond|ResumeTimeout reached", re.IGNORECASE)),
    ("rebooted", regex(r"Node unexpectedly re", re.IGNORECASE)),
    ("launch", regex(r"batch job complete f|Duplicate jobid|Batch job launch", re.IGNORECASE)),
    # NHC: check_nv_healthmon: …  |  HealthCheck: …  (LBNL NHC; DeepOps; AWS)
    ("health", regex(r"NHC\b|Node ?Health|Health ?Check|HC:|GPU health|dcgm", re.IGNORECASE)),
    # Reboot ASAP  |  Reboot ASAP : reboot issued
    ("reboot", regex(r"(?:scontrol )?reboot (?:ASAP|requested|issued)|reboot ASAP", re.IGNORECASE)),
)
# … (7 < 8)  |  Low RealMemory (reported:24105 < 100.00% of configured:900000)
AMOUNTS = regex(r"\((?:reported:)?(\d{1,15}) < (?:[\d.]{1,8}% of )?(?:configured:)?(\d{1,15})\)")


def reason_kind(text: str) -> str:
    """The kind of a node's reason, "" for one in somebody's own words.

    >>> reason_kind("gres/gpu count repor"), reason_kind("Kill task failed"), reason_kind("waiting for a new card")
    ('gres_count', 'kill', '')
    """
    return next((kind for kind, pattern in REASONS if pattern.match(text)), "")


# --- jobs

JOB_STATES: dict[str, str] = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "CF": "CONFIGURING",
    "CG": "COMPLETING",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RD": "RESV_DEL_HOLD",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RQ": "REQUEUED",
    "REQUEUE": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "SE": "SPECIAL_EXIT",
    "SI": "SIGNALING",
    "SO": "STAGE_OUT",
    "ST": "STOPPED",
    "TO": "TIMEOUT",
    "EX": "EXPEDITING",
    "LF": "LAUNCH_FAILED",
    "UP": "UPDATE_DB",
}
LONG_STATES = frozenset(JOB_STATES.values())


def job_state(text: str) -> str:
    """A job's state in its long spelling, "" for what is none; `CANCELLED by 1000` and `OUT_OF_ME+` are sacct's.

    >>> job_state("PD"), job_state("OUT_OF_ME+"), job_state("CANCELLED+"), job_state("None")
    ('PENDING', 'OUT_OF_MEMORY', 'CANCELLED', '')
    """
    word = text[:40].strip().split(" ")[0].upper()
    if word in LONG_STATES:
        return word
    if word in JOB_STATES:
        return JOB_STATES[word]
    if len(word) > 3 and word.endswith("+"):
        return next((state for state in sorted(LONG_STATES) if state.startswith(word[:-1])), "")
    # squeue -l cuts at its column: OUT_OF_ME, CONFIGURI, COMPLETIN, CANCELLE
    return next((state for state in sorted(LONG_STATES) if len(word) > 7 and state.startswith(word)), "")


# Why a job does not run, by how the reason begins once blanks are `_`: the first that fits.
WAITS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("nodes", regex(r"ReqNodeNotAvail|NodeDown|Nodes_required_for_job_are_DOWN|NODE_DOWN", re.IGNORECASE)),
    ("launch", regex(r"launch_failed_requeued|JobLaunchFailure|Prolog$", re.IGNORECASE)),
    ("held", regex(r"JobHeld|job_requeued_in_held|JobHoldMaxRequeue|ReservationDeleted|user_env_retrieval_failed", re.IGNORECASE)),
    (
        "impossible",
        regex(
            r"BadConstraints|Constraints$|PartitionNodeLimit|PartitionTimeLimit|PartitionConfig|InvalidAccount|InvalidQOS|QOSNotAllowed"
            r"|AccountNotAllowed|ReservationInvalid|DeadLine|MaxMemPerLimit|QOSMin",
            re.IGNORECASE,
        ),
    ),
    ("partition", regex(r"PartitionDown|PartitionInactive", re.IGNORECASE)),
    ("dependency", regex(r"DependencyNeverSatisfied", re.IGNORECASE)),
    # QOSMaxGRESPerUser, AssocGrpGRES, MaxGRESPerAccount, AssociationJobLimit
    ("limit", regex(r"QOS(?:Max|Grp|Job|Resource|Time|Usage)|Assoc|Max[A-Za-z]{2,30}Per|AccountingPolicy", re.IGNORECASE)),
    (
        "queue",
        regex(
            r"Resources|Priority|Dependency|BeginTime|Licenses|Reservation|Job_?Array|Cleaning|SchedDefer|BurstBuffer|NvidiaImexChannels"
            r"|MpiPortsBusy|FedJobLock",
            re.IGNORECASE,
        ),
    ),
)


def wait_kind(reason: str) -> str:
    """What kind of reason a job waits for, "" for none or one that isn't known.

    >>> wait_kind("ReqNodeNotAvail, UnavailableNodes:gpu-02"), wait_kind("QOSMaxGRESPerUser"), wait_kind("None")
    ('nodes', 'limit', '')
    """
    text = reason.strip(" ()").replace(" ", "_")
    return next((kind for kind, pattern in WAITS if pattern.match(text)), "")
