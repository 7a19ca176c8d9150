"""`ps` with a column for the parent: workers of servers and launchers that outlived the process which had started them (PPID 1).

UID          PID    PPID  C STIME TTY          TIME CMD
svc        48231       1  2 19:06 ?        00:00:51 VLLM::EngineCore

`fuser -v` and `lsof` on /dev/nvidia*: who has a GPU open, also from other containers.

                     USER        PID ACCESS COMMAND
/dev/nvidia0:        root      48231 F...m python3
COMMAND     PID USER   FD   TYPE  DEVICE SIZE/OFF NODE NAME
python3   48231 root  mem    CHR 195,0           1034 /dev/nvidia0
Sources: ps(1), fuser(1), lsof(8).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import GpuProcess
from gpudoctor.facts.stall import Orphan
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.parser import ParseError

NAMES = ("COMMAND", "CMD", "ARGS", "COMM")
# What only another process of its own program starts: vLLM, SGLang, Ray, Python's multiprocessing, PyTorch's loader, Triton's models.
WORKERS = regex(
    r"^(?:VLLM::(?:EngineCor|Worker|DPCoord)|sglang::|ray::|pt_data_worker|\S*triton_python_backend_stub"
    r"|\S*python\S* .{0,80}multiprocessing\.(?:spawn|forkserver|resource_tracker))"
)
INIT = regex(r"^\S*(?:/|\b)(?:init|systemd|tini|dumb-init|docker-init|s6-svscan|pause|catatonit)\b")
PIDS = regex(r"-[a-zA-Z]{0,3}p$|--pid$|-q$")  # -p, -fp
# /dev/nvidia0:        root      48231 F...m python3  |                     root      64402 F...m python3
FUSER = regex(r"^(?:(/dev/nvidia[-\w]{0,20}):)?\s+(\S{1,64})\s+(\d{1,10}) ([F.][.a-zA-Z]{2,5}) (\S.{0,100})$")
# python3   48231 root  mem    CHR 195,0           1034 /dev/nvidia0
LSOF = regex(r"^(\S{1,64})\s+(\d{1,10})\s.{0,160}\s(/dev/nvidia\d{1,3})$")
SERVICES = regex(r"^(?:nvidia-(?:persist|fabric|cuda-mps)|nv-(?:hostengine|fabric)|nv_|dcgm|Xorg|X$|gnome-|kwin)")
MOST = 2_000  # records


def orphans(output: Output, about: Subject) -> Facts:
    """The workers whose parent is process 1; [] where there is none."""
    rows = [*cut(lines(output))]
    if not rows:
        raise ParseError(f"{output.origin_name()}: no list of processes with their parents: {output.text.strip()[:80]!r}")
    listed = {cells["PID"]: command_of(cells) for _, cells in rows}
    gone = [pid for pid in requested_pids(output.command.argv) if pid not in listed]
    # In a container the server itself may be process 1, the parent of its workers.
    proof = bool(gone) or bool(INIT.search(listed.get("1", "")))
    found = [
        Orphan(
            node=about.node,
            namespace=about.namespace,
            pod=about.pod,
            pid=int(cells["PID"]),
            process=command_of(cells)[:100],
            parent_gone=proof,
            origin=Origin(output.origin_name(), number, " ".join(cells.values())[:300]),
        )
        for number, cells in rows
        if is_orphan(cells)
    ]
    return {"orphans": [*found[:MOST]]}


def score(text: Sequence[str]) -> int:
    """A list of processes in which such a worker stands."""
    if not any("PPID" in line for line in text):
        return 0
    return 21 if any(is_orphan(cells) for _, cells in cut(enumerate(text))) else 0


def is_orphan(cells: dict[str, str]) -> bool:
    """Whether a row is of a worker whose parent is process 1."""
    return cells["PPID"] == "1" and WORKERS.search(command_of(cells)) is not None


def cut(numbered: Iterator[tuple[int, str]]) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row below a header with PID and PPID as column → cell; the command is the last column and has the rest of the line."""
    columns: list[str] = []
    for number, line in numbered:
        words = line.split()
        if "PID" in words and "PPID" in words and words[-1] in NAMES:
            columns = words
        elif columns and len(words) >= len(columns):
            cells = dict(zip(columns, line.split(None, len(columns) - 1), strict=True))
            if cells["PID"].isdecimal() and cells["PPID"].isdecimal() and len(cells["PID"]) < 11:
                yield number, cells


def command_of(cells: dict[str, str]) -> str:
    """The command of a row, without the tree that `ps f` draws."""
    return next(cells[name] for name in NAMES if name in cells).lstrip(" \\_|").strip()


def requested_pids(argv: Sequence[str]) -> list[str]:
    """The processes that a command asked for.

    >>> requested_pids(["ps", "-fp", "4711,4802"]), requested_pids(["ps", "-ef"])
    (['4711', '4802'], [])
    """
    if not argv or argv[0].rpartition("/")[2] != "ps":
        return []
    return [pid for option, value in pairwise(argv) if PIDS.match(option) for pid in value.split(",")[:64] if pid.isdecimal()]


def users(output: Output, about: Subject) -> Facts:
    """The programs that have a GPU open; services that only watch it are left out."""
    found: dict[int, GpuProcess] = {}
    device, known = "", False
    for number, line in lines(output):
        if match := FUSER.match(line.rstrip()):
            device, pid, name = match[1] or device, match[3], match[5]
        elif match := LSOF.match(line.rstrip()):
            device, pid, name = match[3], match[2], match[1]
        else:
            continue
        known |= device.startswith("/dev/nvidia")
        if device.startswith("/dev/nvidia") and not SERVICES.search(name) and len(found) < MOST:
            made = GpuProcess(node=about.node, pid=int(pid), process=name, origin=Origin(output.origin_name(), number, line.strip()))
            found.setdefault(int(pid), made)
    if not known:
        raise ParseError(f"{output.origin_name()}: nobody who has a GPU open: {output.text.strip()[:80]!r}")
    return {"gpu_processes": [*found.values()]}


def users_score(text: Sequence[str]) -> int:
    """A row of a GPU's device."""
    return 22 if any("/dev/nvidia" in line and (FUSER.match(line.rstrip()) or LSOF.match(line.rstrip())) for line in text) else 0
