"""Calls and commands that don't come back: `strace -T`, `nfsiostat`, a command under `timeout`, or one that somebody ended by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import Line, N, Reading

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
# fs.example.org:/export mounted on /shared:  |             0.000        2211.000 (ops/s, rpc bklog)
MOUNTED = regex(r"^\S+:/\S* mounted on (/\S{0,250}?):$")
BACKLOG = regex(rf"^\s*{N}\s+{N}\s*$")


def stuck_calls(lines: Sequence[Line]) -> Iterator[Reading]:
    """All of these."""
    timed = None
    for number, text in lines:
        if text.endswith(">") and (match := CALL.match(text)):
            yield Reading("call_seconds", float(match[2]), (number, text), label=match[1])
        elif "timeout" in text and (match := TIMED.match(text)):
            timed = match
        elif timed and ENDED.match(text):
            yield Reading("path_silent", float(timed[1]), (number, f"{timed[0]} -> {text.strip()}"), label=timed[2])
            timed = None
    for reader in (nfs, stuck_syscall, interrupted_commands):
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
