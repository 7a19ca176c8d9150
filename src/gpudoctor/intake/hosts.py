"""Outputs of several hosts in one text: what clush, pdsh, dshbak and ansible print, a loop over hosts, a terminal on one host and the next.

Each host's part becomes a text of its own, with the host's name. A name is only taken where the text has at least two hosts: then it is
what tells the parts apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from gpudoctor.patterns import regex
from gpudoctor.tools.parser import LINE
from gpudoctor.tools.slurm.text import expand

MOST = 32  # hosts of one block; more say the same
LINES = 2000  # of a text that is looked at; what is longer is a log
NAME = r"[A-Za-z][A-Za-z0-9.-]{0,62}"
# node[01,03-04] (3)  |  node[01-04]               (between two rules: clush -b, dshbak -c)
FOLDED = regex(r"^([A-Za-z][\w.,\[\]-]{0,250}?)(?: \(\d{1,6}\))?$")
RULE = regex(r"^-{8,}$")
# gpu-02 | CHANGED | rc=0 >>                       (ansible)
ANSIBLE = regex(rf"^({NAME}) \| (?:CHANGED|SUCCESS|FAILED!?|UNREACHABLE!?)(?: \| rc=\d{{1,3}} >>| => .*)$")
# == gpu-02 ==  |  --- gpu-02  |  ### gpu-02 ###   (echo in a loop; a host's name has a number)
AROUND = r"(?:={2,20}|-{2,20}|#{2,20}|\*{2,20}|>{2,8}|<{2,8})"
MARK = regex(rf"^{AROUND} ?([a-z][a-z0-9.-]{{0,60}}\d[a-z0-9.-]{{0,60}}?):? ?(?:{AROUND})?$")
# gpu-02: 5.15.0-119-generic                       (pdsh, clush without -b, a loop with echo -n)
# 10.4.0.12: NCCL_DEBUG=INFO                       (pdsh -w 10.4.0.[12-13])
# but not ib2: down                                 (a loop over interfaces)
HEAD = regex(rf"^(?!(?:ib|eth|en[opsx]|hsn|bond|wl[ops])\d)({NAME}|\d{{1,3}}(?:\.\d{{1,3}}){{3}}): ?(.*)$")
DIGITS = regex(r"\d+")
SEPARATOR = regex(r"^-{2,3}$")
HOSTNAME = regex(r"^HOSTNAME=(\S{1,253})$", re.MULTILINE)
# for h in gpu-01 gpu-02; do ssh $h uname -r; done  |  pdsh -w gpu-[01-02] uname -r
EACH = regex(r"^(?:sudo )?(?:for \w+ in |(?:pdsh|clush|dsh|mpssh|xdsh|psh|pssh|parallel-ssh|rpdsh)\b)")
QUOTED = regex(r"""['"]([^'"^][^'"]{1,300})['"]\s{0,4}\)?\s{0,4}(?:\||$)""")
# Programs that speak of other machines than the one that they run on.
ELSEWHERE = regex(
    r"^(?:sudo )?(?:kubectl|oc|k|kubecolor|helm|ssh|srun|sinfo|squeue|scontrol|sacct|sdiag|mpirun|mpiexec|aws|gcloud|az|ansible|ray"
    r"|iblinkinfo|ibqueryerrors|ibnetdiscover|docker exec|for|while)\b"
)
# clush -bw gpu-[01-04] cat /etc/nccl.conf
UNQUOTED = regex(
    r"\s((?:cat|grep|env|uname|nvidia-smi|ulimit|dmesg|ip|ls|sysctl|ofed_info|ibstat|ibv_devinfo|lsmod|systemctl)\b[^'\"$|;]*)$"
)

# … 698.2 TFLOPS  |  0b1e1b3c5a1d4d9bd9a1a6b8a4df2c11  /etc/munge/munge.key
MEASURED = regex(
    r"(?<![\w.])\d{1,9}(?:\.\d{1,6})? ?(?:[TG]FLOP(?:[Ss]|/s)|[GM]i?B/s|samples/s|img/s|images/s|tok/s|tokens/s|it/s|ms|s/it"
    r"|s/step)(?![\w/])"
    r"|^[0-9a-f]{32,128}  ?/"
)
FEWEST = 3  # hosts

Part = tuple[int, list[str], str]  # index of its first line, lines, host


def inner_command(command: str) -> str:
    """The command that runs on each host, "" where that is not known."""
    match = QUOTED.search(command[:1000]) or UNQUOTED.search(command[:1000])
    return match.group(1) if match else ""


def by_hosts(text: str, command: str = "") -> list[Part]:
    """The parts of a text by host; [] where it isn't made of at least two hosts' answers."""
    lines = [line[:LINE].rstrip("\r ") for line in text.split("\n", LINES + 1)]
    if len(lines) > LINES or len(lines) < 2:
        return []
    ways: list[Callable[[list[str]], list[Part]]] = [
        ruled_blocks,
        marked_blocks,
        *([separated_blocks, headed_lines] if EACH.match(command) else []),
    ]
    for cut in ways:
        parts = cut(lines)
        if len({host for _, _, host in parts if host}) > 1:
            return parts
    return []


def ruled_blocks(lines: list[str]) -> list[Part]:
    """Blocks of clush -b and dshbak -c: a rule, the hosts, a rule, their common answer."""
    starts = [at for at in range(len(lines) - 2) if RULE.match(lines[at]) and RULE.match(lines[at + 2]) and FOLDED.match(lines[at + 1])]
    made: list[Part] = [(0, lines[: starts[0]], "")] if starts else []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        folded = FOLDED.match(lines[start + 1])
        made += [(start + 3, lines[start + 3 : end], host) for host in expand(folded.group(1) if folded else "")[:MOST]]
    return made


def marked_blocks(lines: list[str]) -> list[Part]:
    """Blocks under a line with the host's name: ansible, or what a loop echoes."""
    made: list[Part] = []
    start, host = 0, ""
    for at, line in enumerate(lines):
        if match := ANSIBLE.match(line) or MARK.match(line):
            made.append((start, lines[start:at], host))
            start, host = at + 1, match.group(1)
    return [*made, (start, lines[start:], host)]


def separated_blocks(lines: list[str]) -> list[Part]:
    """Environments one after the other, with `--` between them; each has its own HOSTNAME."""
    made: list[Part] = []
    start = 0
    for at in [*(at for at, line in enumerate(lines) if SEPARATOR.match(line)), len(lines)]:
        named = HOSTNAME.search("\n".join(lines[start:at]))
        made.append((start, lines[start:at], named.group(1) if named else ""))
        start = at + 1
    return made


def headed_lines(lines: list[str]) -> list[Part]:
    """Lines that begin with a host, and those below one that don't; they are brought together by host."""
    parts: defaultdict[str, list[str]] = defaultdict(list)
    first: dict[str, int] = {}
    host = ""
    for at, line in enumerate(lines):
        if match := HEAD.match(line):
            host, line = match.group(1), match.group(2)
        first.setdefault(host, at)
        parts[host].append(line.strip() if match else line)
    if len(parts) >= FEWEST and all(len(texts) == 1 and MEASURED.search(texts[0]) for texts in non_blank_lines(parts.values())):
        return []  # a measurement of each host: together they say which one is unlike the others
    return [(first[name], texts, name) for name, texts in parts.items()]


def non_blank_lines(parts: Iterable[list[str]]) -> Iterator[list[str]]:
    """The non-blank lines of each part that has any."""
    yield from (texts for part in parts if (texts := [line for line in part if line]))


def local(command: str) -> bool:
    """Whether what a command prints is about the machine that it runs on."""
    return bool(command) and not ELSEWHERE.match(command)


def names(parts: Iterator[tuple[str, str]]) -> set[str]:
    """The hosts of prompts, (host, command) each, whose commands speak of their own machine.

    Two at least that are named alike but for a number: a container's prompt shows a pod or an id beside its machine's name.
    """
    shown = {host for host, command in parts if host and local(command)}
    alike = Counter(DIGITS.sub("0", host) for host in shown)
    return {host for host in shown if alike[DIGITS.sub("0", host)] > 1}
