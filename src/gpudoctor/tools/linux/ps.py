"""`ps` with a column for the state: the processes that sleep uninterruptibly (D) and those that ended and wait for their parent (Z).

S     PID     ELAPSED WCHAN                            COMMAND
D   48213       51034 rpc_wait_bit_killable            python3
Source: ps(1). The column of the state is S, STAT or STATE; of the kernel's function WCHAN; of the name COMMAND, CMD or COMM.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec.structs import replace

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.stall import Process
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.linux import ps_ranks
from gpudoctor.tools.parser import ParseError

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
ASKED = regex(r"-?[a-zA-Z]{0,4}o$")  # -eo, -o, axo
AUX = regex(r"-?a?u?x?(?:aux|axu|uax)[wfZ]*$")
BSD = ("USER", "PID", "%CPU", "%MEM", "VSZ", "RSS", "TTY", "STAT", "START", "TIME", "COMMAND")
TITLES = {"COMM": "COMMAND", "ARGS": "COMMAND", "CMD": "COMMAND", "UCMD": "COMMAND", "ETIMES": "ELAPSED", "ETIME": "ELAPSED", "STATE": "S"}
LOCK = regex(r"^(?:do_)?futex")
WORKER = "pt_data_worker"  # the name that PyTorch gives the workers of its data loader
WAITS = [(name, regex(pattern)) for name, pattern in CHANNELS]
# 14-02:11:09 | 02:11:09 | 11:09 (ELAPSED), or seconds (etimes)
LIVED = regex(r"(?:(?:(\d{1,6})-)?(\d{1,4}):)?(\d{1,4}):(\d\d)\Z|(\d{1,10})\Z")
MOST = 2_000  # records


def processes(output: Output, about: Subject) -> Facts:
    """The processes in state D or Z; [] where there is none. Columns after the last one of the header belong to that."""
    columns: list[str] = titles(output.command.argv)
    found: dict[tuple[int, str], Process] = {}
    times: dict[tuple[int, str], str] = {}
    rows: list[dict[str, str]] = []
    seen = False
    for number, line in lines(output):
        words = line.split()
        if "PID" in words and any(name in words for name in STATES) and any(name in words for name in NAMES):
            columns, seen = words, True
        elif columns and len(words) >= len(columns):
            cells = dict(zip(columns, line.split(None, len(columns) - 1), strict=True))
            seen |= cells["PID"].isdecimal()
            if "PPID" in cells and len(rows) < MOST:
                rows.append(cells)
            origin = Origin(output.origin_name(), number, line.strip())
            one = row_process(cells, about, origin, output.time) or waiting_worker(cells, about, origin, output.time)
            if one is None or len(found) >= MOST:
                continue
            key, used = (one.pid, one.state), cells.get("TIME", "")
            before = found.get(key)
            found[key] = replace(one, listed=before.listed + 1) if before and times[key] == used else one
            times[key] = used
        elif not words:
            columns = []
    if not seen and output.text.strip():
        raise ParseError(f"{output.origin_name()}: not a list of processes with their state: {output.text.strip()[:80]!r}")
    return {"processes": [with_ranks(one, rows) for one in found.values()]}


def with_ranks(one: Process, rows: list[dict[str, str]]) -> Process:
    """A process that has ended, with the ranks that its launcher has beside it."""
    cells = next((cells for cells in rows if one.state == "Z" and cells["PID"] == str(one.pid)), None)
    count, missing = ps_ranks.remaining_ranks(cells, rows) if cells else (0, "")
    return replace(one, ranks_beside=count, missing_text=missing) if count else one


def row_process(cells: dict[str, str], about: Subject, origin: Origin, now: float) -> Process | None:
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
        seconds=elapsed_seconds(cells.get("ELAPSED", "")),
        origin=origin,
        time=now or None if state == "D" else None,  # when one ended isn't known
    )


def waiting_worker(cells: dict[str, str], about: Subject, origin: Origin, now: float) -> Process | None:
    """A worker of a data loader that waits for a lock, with the time of a CPU that it has used. One without an order waits for a pipe."""
    name, pid, used = next(cells[name] for name in NAMES if name in cells), cells["PID"], cells.get("TIME", "")
    if not name.startswith(WORKER) or not LOCK.search(cells.get("WCHAN", "")) or not (pid.isascii() and pid.isdecimal() and len(pid) < 11):
        return None
    return Process(
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        pid=int(pid),
        process=WORKER,
        state="S",
        channel=cells["WCHAN"][:64],
        waits_in="lock",
        used=used[:20],
        origin=origin,
        time=now or None,
    )


def titles(argv: Sequence[str]) -> list[str]:
    """The columns that `ps` was asked for, where its header was cut off: `grep` leaves none.

    >>> titles(["ps", "-eo", "pid,stat,wchan:20,time,comm"])
    ['PID', 'STAT', 'WCHAN', 'TIME', 'COMMAND']
    """
    if len(argv) > 1 and argv[0].rpartition("/")[2] == "ps" and AUX.match(argv[1]):
        return list(BSD)
    for option, value in pairwise(argv):
        if ASKED.match(option):
            words = [word.partition(":")[0].upper() for word in value.split(",")[:32]]
            named = [TITLES.get(word, word) for word in words]
            return named if {"PID", "COMMAND"} <= {*named} and any(one in named for one in STATES) else []
    return []


def elapsed_seconds(text: str) -> float | None:
    """Seconds since a process started, None where the text is no time.

    >>> elapsed_seconds("1-00:00:10"), elapsed_seconds("11:09"), elapsed_seconds("51034"), elapsed_seconds("?")
    (86410.0, 669.0, 51034.0, None)
    """
    match = LIVED.match(text)
    if match is None:
        return None
    days, hours, minutes, seconds, alone = match.groups()
    return float(alone) if alone else float(int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds))
