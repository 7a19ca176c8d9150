"""Readers of what tools tell about a machine or a container: memory, processors, disks, network file systems.

`free`, `top`, `sar -r`, `vmstat`, `mpstat`, `iostat -x`, `nfsiostat`, `taskset -cp`, `pidstat -r`, `strace -T`, `seff`, `sacct`,
`docker stats`, files of cgroups.
Sources: their manual pages; https://docs.kernel.org/admin-guide/cgroup-v2.html; https://github.com/SchedMD/slurm/tree/master/contribs/seff.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.notes.measure import Line, N, Reading, size
from gpudoctor.patterns import regex

# Memory Efficiency: 99.98% of 64.00 GB  |  … 12.1% of 512.00 GB (64.00 GB/node)
SEFF = regex(rf"^Memory Efficiency: {N}% of (\S+ ?[KMGT]?B?)")
# MiB Mem : 515690.1 total,   1021.4 free, …  |  MiB Swap:   0.0 total, …  4412.8 avail Mem
TOP_MEMORY = regex(rf"^[KMG]iB Mem ?: *{N} total")
TOP_SWAP = regex(rf"^[KMG]iB Swap: .*?{N} avail Mem")
# a1b2c3d4e5f6   trainer   812.41%   63.94GiB / 64GiB   99.91%   1.2GB / 80MB …
DOCKER = regex(rf"\s{N}([KMG]i?B) / {N}([KMG]i?B) +{N}%\s")
# /sys/fs/cgroup/memory.max:68719476736  |  memory.peak 68719476736
CGROUP = regex(r"\bmemory\.(max|peak|current|high|limit_in_bytes|max_usage_in_bytes|usage_in_bytes|max_usage|limit)[:= ] ?(\d{6,20})\s*$")
CGROUP_FILE = regex(r"^\s*(?:\$|#)?.*\bcat\s.*memory\.(max|peak|current|limit_in_bytes|max_usage_in_bytes|usage_in_bytes)\s*$")
NUMBER = regex(r"^\s*(\d{6,20})\s*$")
LIMITS, USES = ("max", "limit_in_bytes", "limit"), ("peak", "max_usage_in_bytes", "max_usage", "current", "usage_in_bytes", "high")
# %Cpu(s): 98.2 us,  1.1 sy,  0.0 ni,  0.3 id,  0.4 wa, …
TOP_CPU = regex(rf"^%?Cpu\(s\): .*?{N}[ %]*id, +{N}[ %]*wa")
# pid 204411's current affinity list: 12  |  … 0-3,8  |  Cpus_allowed_list:	0-1
AFFINITY = regex(r"(?:current affinity list: |^Cpus_allowed_list:\s+)([\d,-]{1,400})\s*$")
# A read of a socket or a terminal waits for others by design: only one of a file's pages counts.
# [pid 812] pread64(31, "\0\0"..., 262144, 88080384) = 262144 <212.483011>
CALL = regex(
    r"^(?:\[pid +\d+\] )?(?:\d\d:\d\d:\d\d(?:\.\d+)? )?(p(?:read|write)v?(?:64)?|writev?|openat?|f?stat|newfstatat|fsync|fdatasync|close"
    r"|read(?=\(.{0,2000} = \d{4,12} <))\(.{0,2000} <(\d{1,7}\.\d{1,6})>\s*$"
)
# $ timeout 10 df -h /mnt/ml; echo $?  →  124: it was ended by `timeout`
TIMED = regex(r"^.{0,80}\btimeout (?:-\S+ )*(\d{1,4})s? (?:df|ls|stat|cat|touch|cp|head|dd|find|du)\b.{0,200}?(/[\w./-]{1,200})")
ENDED = regex(r"^\s*(?:\w{1,10} ?[=:]? ?)?124\s*$")
# $ ps aux  |  # srun --jobid=612 --overlap ps -ef  |  [root@gpu-02 ~]# df -h /mnt/ml        with ^C below: it was ended by hand
PROMPT = regex(r"^(?:\[?[\w.-]{1,40}@[^$#]{0,120})?[$#] +")
LISTS = regex(r"^(?:sudo )?((?:srun|ssh|pdsh|clush|kubectl exec|docker exec)\b.{0,200} )?(?:/\S{1,40}/)?(?:ps|pgrep|pidof)\b[^;&]{0,120}$")
LOOKS = regex(r"^(?:sudo )?(?:/\S{1,40}/)?(?:df|ls|stat)\b[^|;&*]{0,120}$")
# strace: Process 8123 attached  |  write(17, "\\200\\0"..., 4194304   (and nothing more: it has not returned)
ATTACHED = regex(r"^(?:strace: )?Process \d+ attached")
OPEN = regex(
    r"^(?:\[pid +\d+\] )?(p?write(?:v|64)?|pread(?:v|64)?|f(?:data)?sync|close|openat?|newfstatat|f?stat|unlink|rename|mkdir)"
    r"\([^)=]{0,400}(?:\)? *<unfinished \.\.\.>)?$"
)
# CPU memory (252G) is full  |  RAM usage reaches 99 %  |  … runs out of system memory      (what somebody saw; the GPU's is another one)
SAID_FULL = regex(
    r"(?:\b(?:CPU|[Hh]ost|[Ss]ystem|[Mm]ain)(?:'s)? (?:memory|RAM)|(?<!GPU )(?<![Vv]ideo )(?<![Gg]raphics )\bRAM)"
    r"(?: ?\([^)]{1,20}\))?(?: usage| use| utili[sz]ation| consumption)?,?"
    r" (?:(?:is|was|gets|got|becomes|became|runs|fills|reaches|reached|hits|hit|at|goes up to|up to) ){1,2}"
    r"(?:(?:almost|nearly|completely|totally|fully) )?(?:full\b|up\b|exhausted\b|used up\b|(?:100|9[789](?:\.\d+)?) ?%)"
    r"|\b(?:ran|runs?|running) out of (?:CPU|host|system|main) (?:memory|RAM)\b"
)
THROTTLED = regex(r"^nr_(periods|throttled)[ :=]+(\d{1,15})\s*$")


def host(lines: Sequence[Line]) -> Iterator[Reading]:
    """What any of these tools says."""
    timed = None
    for number, text in lines:
        if match := SEFF.search(text):
            yield Reading("memory_share", float(match[1]) / 100, (number, text))
        elif match := DOCKER.search(text):
            yield Reading("memory_share", float(match[5]) / 100, (number, text))
        elif match := TOP_CPU.search(text):
            yield Reading("cpu_idle", float(match[1]) / 100, (number, text))
            yield Reading("io_wait", float(match[2]) / 100, (number, text))
        elif text.endswith(">") and (match := CALL.match(text)):
            yield Reading("call_seconds", float(match[2]), (number, text), label=match[1])
        elif match := AFFINITY.search(text):
            yield Reading("cpus", float(processors(match[1])), (number, text))
        elif ("RAM" in text or "memory" in text) and SAID_FULL.search(text):
            yield Reading("memory_share", 1.0, (number, text))
        elif "timeout" in text and (match := TIMED.match(text)):
            timed = match
        elif timed and ENDED.match(text):
            yield Reading("path_silent", float(timed[1]), (number, f"{timed[0]} -> {text.strip()}"), label=timed[2])
            timed = None
    for reader in (cgroup, cgroup_throttling, top_memory, meminfo, columns, job_memory, nfs, stuck_syscall, interrupted_commands):
        yield from reader(lines)


def stuck_syscall(lines: Sequence[Line]) -> Iterator[Reading]:
    """strace, attached to a program: the one call that it showed, and that had not returned when somebody stopped it."""
    after = [line for line in lines if not line[1].startswith("^C")]
    for (_, text), (number, call), (_, below) in zip(after, after[1:], [*after[2:], (0, "")], strict=False):
        ended = below.lstrip()[:1] in ("", "$", "#") or "detached" in below
        if ended and ATTACHED.match(text) and (match := OPEN.match(call.strip())):
            yield Reading("call_open", 1.0, (number, call), label=match[1])


def interrupted_commands(lines: Sequence[Line]) -> Iterator[Reading]:
    """A list of processes, or a look at files that said nothing, which somebody ended by hand.

    `ps` reads the memory of each process, and waits for one that sleeps in the kernel with its memory locked.
    """
    asked, through, silent = "", "", False
    for number, text in lines:
        if prompt := PROMPT.match(text):
            command = text[prompt.end() :].strip()
            lists = LISTS.match(command)
            asked, silent = (command, True) if lists or LOOKS.match(command) else ("", False)
            through = (lists[1] or "").strip() if lists else ""
        elif asked and text.lstrip().startswith("^C"):
            if lists:
                yield Reading("list_open", 1.0, (number, f"{asked} -> ^C"), label=through.split(" ")[0])
            elif silent:
                yield Reading("look_open", 1.0, (number, f"{asked} -> ^C"), label=asked.split(" ")[0])
            asked = ""
        else:
            silent = False


def processors(text: str) -> int:
    """How many a list names.

    >>> processors("0-3,8"), processors("12")
    (5, 1)
    """
    found = 0
    for part in text.split(",")[:200]:
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            found += max(1, int(last or first) - int(first) + 1)
    return found


def cgroup(lines: Sequence[Line]) -> Iterator[Reading]:
    """The highest use of a cgroup beside its limit, of files that stand in one text."""
    limit = used = None
    asked = ""
    for number, text in lines:
        name, value = "", ""
        if "memory." in text and (match := CGROUP.search(text)):
            name, value, asked = match[1], match[2], ""
        elif "memory." in text and (match := CGROUP_FILE.search(text)):
            asked = match[1]
            continue
        elif asked and (match := NUMBER.match(text)):
            name, value, asked = asked, match[1], ""
        if name in LIMITS:
            limit = (float(value), (number, text))
        elif name in USES and (used is None or float(value) >= used[0]):
            used = (float(value), (number, text))
    if limit and used:
        yield Reading("memory_share", used[0] / limit[0], used[1], of=limit[0])
    elif limit:
        yield Reading("memory_limit", *limit)
    elif used:
        yield Reading("memory_peak", *used)


def cgroup_throttling(lines: Sequence[Line]) -> Iterator[Reading]:
    """In how many of its periods a cgroup had to wait for its share of the processors (cpu.stat)."""
    periods = 0.0
    for number, text in lines:
        if match := THROTTLED.match(text.strip()):
            if match[1] == "periods":
                periods = float(match[2])
            elif periods >= 100:  # ten seconds of periods of 100 ms
                yield Reading("cpu_throttled", float(match[2]) / periods, (number, text))


def top_memory(lines: Sequence[Line]) -> Iterator[Reading]:
    """The header of `top`: what is available of the memory stands in the line of the swap."""
    total = None
    for number, text in lines:
        if match := TOP_MEMORY.match(text.strip()):
            total = float(match[1])
        elif total and (match := TOP_SWAP.match(text.strip())):
            yield Reading("memory_share", 1 - min(1.0, float(match[1]) / total), (number, text))
            total = None


def cells(text: str, titles: Sequence[str], last: bool = False) -> dict[str, str] | None:
    """The words of a row by the titles above them; counted from the end where the titles of the row itself have no name (`last`)."""
    words = text.split()
    if last:
        return dict(zip(reversed(titles), reversed(words), strict=False)) if len(words) >= len(titles) else None
    return dict(zip(titles, words, strict=True)) if len(words) == len(titles) else None


def meminfo(lines: Sequence[Line]) -> Iterator[Reading]:
    """/proc/meminfo, of a node or (with a number before it) of one of its NUMA nodes."""
    total = None
    for number, text in lines:
        if match := MEMINFO.match(text):
            if match[1] == "Total":
                total = float(match[2])
            elif total:
                yield Reading("memory_share", 1 - min(1.0, float(match[2]) / total), (number, text))


MEMINFO = regex(r"^Mem(Total|Available): +(\d{1,15}) kB")


def columns(lines: Sequence[Line]) -> Iterator[Reading]:
    """Tables of free, sar, vmstat, mpstat and iostat: a header of known titles, and rows with as many words."""
    titles: list[str] = []
    for number, text in lines:
        words = text.split()
        known = KNOWN.intersection(words)
        if known:
            titles = words[1:] if words[0] in ("avg-cpu:", "#") else words
            continue
        if not titles:
            continue
        row = cells(text, titles, last=True)
        if row is None:
            continue
        here = (number, text)
        values = {name: float(cell) for name, cell in row.items() if NUMERIC.match(cell)}
        if "available" in row and text.lstrip().startswith("Mem"):
            total, free = size(row.get("total", "")), size(row["available"])
            if total and free is not None:
                yield Reading("memory_share", 1 - min(1.0, free / total), here)
        elif "%memused" in values:
            left, used = values.get("kbavail"), values.get("kbmemused")
            share = 1 - left / (left + used) if left is not None and used else values["%memused"] / 100
            yield Reading("memory_share", share, here)
        elif "wa" in values and "id" in values and "swpd" in titles:
            yield Reading("cpu_idle", values["id"] / 100, here)
            yield Reading("io_wait", values["wa"] / 100, here)
        elif "%iowait" in values and "%idle" in values:
            yield Reading("cpu_idle", values["%idle"] / 100, here)
            yield Reading("io_wait", values["%iowait"] / 100, here)
        elif "majflt/s" in values and "Command" in row and words[0][:1].isdigit():
            yield Reading("major_faults", values["majflt/s"], here, label=row["Command"][:60])
        elif "%util" in values and DISK.match(words[0]):
            yield Reading("disk_busy", values["%util"] / 100, here, label=words[0][:40])


KNOWN = frozenset(("%memused", "%iowait", "%util", "available", "swpd", "majflt/s"))
NUMERIC = regex(r"^\d{1,15}(?:\.\d{1,6})?$")
DISK = regex(r"^(?:nvme|sd|vd|xvd|md|dm-|rbd|nbd|dasd)[a-z0-9-]{0,30}$")


def job_memory(lines: Sequence[Line]) -> Iterator[Reading]:
    """sacct: the most that a step used beside what the job had asked for, by the columns that the rule below the titles makes."""
    asked: float | None = None
    spans: dict[str, tuple[int, int]] = {}
    titles, ends = "", 0
    for number, text in lines:
        if "MaxRSS" in text and "ReqMem" in text:
            titles, spans = text, {}
        elif titles and text.strip() and set(text) <= set("- "):
            spans = {titles[m.start() : m.end()].strip(): m.span() for m in RULE.finditer(text)}
            ends = max(end for _, end in spans.values())
        elif spans:
            cell = {name: text[begin : end if end < ends else None].strip() for name, (begin, end) in spans.items()}
            asked = size(cell.get("ReqMem", "").rstrip("nc")) or asked
            used = size(cell.get("MaxRSS", ""))
            if used and asked:
                yield Reading("memory_share", used / asked, (number, text), of=asked)


RULE = regex(r"-{2,80}")
# fs.example.org:/export mounted on /shared:  |             0.000        2211.000 (ops/s, rpc bklog)
MOUNTED = regex(r"^\S+:/\S* mounted on (/\S{0,250}?):$")
BACKLOG = regex(rf"^\s*{N}\s+{N}\s*$")


def nfs(lines: Sequence[Line]) -> Iterator[Reading]:
    """nfsiostat: how many calls wait for their turn, and how many are answered a second."""
    mount, headed = "", False
    for number, text in lines:
        if match := MOUNTED.match(text.strip()):
            mount = match[1]
        elif "rpc bklog" in text:
            headed = True
        elif headed and (match := BACKLOG.match(text)):
            yield Reading("rpc_backlog", float(match[2]), (number, text), of=float(match[1]), label=mount)
            headed = False
