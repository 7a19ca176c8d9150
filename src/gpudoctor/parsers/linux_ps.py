"""`ps` with a column for the state: the processes that sleep uninterruptibly (D) and those that ended and wait for their parent (Z).

S     PID     ELAPSED WCHAN                            COMMAND
D   48213       51034 rpc_wait_bit_killable            python3
Source: ps(1). The column of the state is S, STAT or STATE; of the kernel's function WCHAN; of the name COMMAND, CMD or COMM.
"""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import Process
from gpudoctor.parsers import ParseError
from gpudoctor.parsers.plain import lines
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

STATES, NAMES = ("S", "STAT", "STATE"), ("COMMAND", "CMD", "COMM", "ARGS")
# The kernel's functions that programs wait in, by what they wait for.
CHANNELS = (
    (
        "network_file_system",
        r"^(?:rpc_|nfs|__?nfs|ptlrpc_|ll_|osc_|cl_|ldlm_|obd_|cxi|mmfs|gpfs|ceph_|fuse_|request_wait_answer|cifs_|beegfs|FhgfsOps|weka)",
    ),
    ("driver", r"^(?:_?nv\d*_|_?nv_|os_acquire|nvidia|uvm_|rm_|_nv)"),
    ("disk", r"^(?:io_schedule|wait_on_page|folio_wait|blk_|jbd2|xfs_|ext4_|btrfs_|submit_bio|balance_dirty|do_get_write_access|wbt_)"),
)
WAITS = [(name, regex(pattern)) for name, pattern in CHANNELS]
# 14-02:11:09 | 02:11:09 | 11:09 (ELAPSED), or seconds (etimes)
LIVED = regex(r"(?:(?:(\d{1,6})-)?(\d{1,4}):)?(\d{1,4}):(\d\d)\Z|(\d{1,10})\Z")
MOST = 2_000  # records


def processes(output: Output, about: Subject) -> Facts:
    """The processes in state D or Z; [] where there is none. Columns after the last one of the header belong to that."""
    columns: list[str] = []
    found: list[Process] = []
    seen = False
    for number, line in lines(output):
        words = line.split()
        if "PID" in words and any(name in words for name in STATES) and any(name in words for name in NAMES):
            columns, seen = words, True
        elif columns and len(words) >= len(columns):
            cells = dict(zip(columns, line.split(None, len(columns) - 1), strict=True))
            one = row(cells, about, Origin(output.named(), number, line.strip()), output.time)
            if one is not None and len(found) < MOST:
                found.append(one)
        elif not words:
            columns = []
    if not seen and output.text.strip():
        raise ParseError(f"{output.named()}: not a list of processes with their state: {output.text.strip()[:80]!r}")
    return {"processes": [*found]}


def row(cells: dict[str, str], about: Subject, origin: Origin, now: float) -> Process | None:
    """One process, None for one that runs or sleeps as programs do."""
    state = next((cells[name] for name in STATES if name in cells), "")[:1]
    pid = cells["PID"]
    if state not in ("D", "Z") or not (pid.isascii() and pid.isdecimal() and len(pid) < 11):
        return None
    channel = cells.get("WCHAN", "")
    name = next(cells[name] for name in NAMES if name in cells)
    return Process(
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        pid=int(pid),
        process=name.split(" ")[0].rpartition("/")[2][:100] or name[:100],
        state=state,
        channel=channel[:64],
        waits_in=next((what for what, pattern in WAITS if pattern.search(channel)), ""),
        seconds=lived(cells.get("ELAPSED", "")),
        origin=origin,
        time=now or None,
    )


def lived(text: str) -> float | None:
    """Seconds since a process began.

    >>> lived("1-00:00:10"), lived("11:09"), lived("51034"), lived("?")
    (86410.0, 669.0, 51034.0, None)
    """
    match = LIVED.match(text)
    if match is None:
        return None
    days, hours, minutes, seconds, alone = match.groups()
    return float(alone) if alone else float(int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds))
