"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.linux import chrony, gdb, measures, network_manager, orphans, quotas
from gpudoctor.tools.linux import environment_forms as setting_forms
from gpudoctor.tools.linux.df import HEAD, ROW
from gpudoctor.tools.linux.ip_link import BRIEF, BRIEF_ADDRESSES, LOOPBACK, in_words, is_listing
from gpudoctor.tools.linux.ip_link import HEAD as INTERFACE
from gpudoctor.tools.linux.limits import DF, PRLIMIT, PROC, ULIMIT, UNIT
from gpudoctor.tools.linux.lspci import DEVICE, FRAGMENT
from gpudoctor.tools.linux.modules import LSMOD, MODULE, PICKED
from gpudoctor.tools.linux.ps import NAMES, STATES, titles
from gpudoctor.tools.linux.py_spy import PYTHON, THREAD, frame
from gpudoctor.tools.linux.reachability import AT, row_pairs, titles_of
from gpudoctor.tools.linux.reachability import HEAD as NEIGHBOURS
from gpudoctor.tools.linux.stack_summary import COUNTED, HEADING, NAME, functions
from gpudoctor.tools.linux.systemd_units import LISTED, PROPERTY, STATUS

FEWEST = 3  # frames without a thread's line above them
ASKED = regex(r"\bulimit -[SH]?l\b")
ANSWER = regex(r"\d{1,18}|unlimited")


def of_lspci(lines: list[str]) -> int:
    """lspci, short or long: a line that names a device of a class, or the link of one."""
    if any(DEVICE.match(line) for line in lines):
        return 72
    return 60 if any(FRAGMENT.match(line) for line in lines) else 0


def of_modules(lines: list[str]) -> int:
    """/proc/modules, lsmod with its header, or what grep left of it."""
    found = sum(MODULE.match(line) is not None for line in lines)
    filled = sum(bool(line.strip()) for line in lines)
    if any(LSMOD.match(line) for line in lines) or (found and found * 2 >= filled):
        return 72
    return 20 if any(PICKED.match(line) for line in lines) else 0  # less than a log, which may quote such lines


def of_units(lines: list[str]) -> int:
    """systemctl show, status or list-units."""
    shown = sum(PROPERTY.match(line) is not None for line in lines)
    return 72 if shown >= 2 else 64 if any(STATUS.match(line) or LISTED.match(line) for line in lines) else 0


def of_functions(lines: list[str]) -> int:
    """Names of functions and of hosts, and nothing else; or frames on one line behind a count."""
    if any(COUNTED.match(one) for one in lines):
        return 64
    return 40 if all(NAME.match(one) or HEADING.match(one) for one in lines if one.strip()) and functions(lines) else 0


def of_stacks(lines: list[str]) -> int:
    """A thread with a frame below it, or frames one below the other."""
    found = [bool(THREAD.match(one)) or -bool(frame(one) and PYTHON.search(one)) for one in lines]
    if any(one == 1 and frame(below) for one, below in zip(found, lines[1:], strict=False)):
        return 65
    return 50 if any(found[at : at + FEWEST] == [-1] * FEWEST for at in range(len(found))) else 0


def of_df(lines: Sequence[str]) -> int:
    """The header of `df`, or rows without it."""
    return 59 if any(HEAD.match(line) or ("/" in line and ROW.match(line.lstrip())) for line in lines) else 0


def of_quota(lines: Sequence[str]) -> int:
    """A table of quotas."""
    return quotas.score(lines)


def of_ps(lines: Sequence[str], argv: Sequence[str] = ()) -> int:
    """A header of `ps` with a column for the state, or rows of a command that asked for these."""
    if len(asked := titles(argv)) > 2 and any(
        len(row := line.split()) >= len(asked) and row[asked.index("PID")].isdecimal() for line in lines
    ):
        return 59
    heads = (line.split() for line in lines if "PID" in line)
    return (
        59 if any("PID" in words and any(one in words for one in STATES) and any(one in words for one in NAMES) for words in heads) else 0
    )


def is_limit(line: str) -> bool:
    """Whether a line tells a limit, after a look for what all their forms have."""
    if not any(word in line for word in ("locked", "open files", "shm", "ulimit", "MEMLOCK")):
        return False
    return bool(PROC.search(line) or ULIMIT.search(line) or DF.match(line) or ASKED.search(line) or PRLIMIT.match(line) or UNIT.match(line))


def of_limits(lines: list[str], argv: Sequence[str] = ()) -> int:
    """/proc/PID/limits, ulimit, `df` of /dev/shm; `ulimit -l` alone prints no more than a number."""
    first = next((line.strip() for line in lines if line.strip()), "")
    if ASKED.search(" ".join(argv[-8:])) and ANSWER.fullmatch(first):
        return 60
    return 60 if any(is_limit(line) for line in lines) else 0


def of_interfaces(lines: list[str], whole: str, argv: Sequence[str] = ()) -> int:
    """`ip link`, `ip -j link`, and a listing of /sys/class/net."""
    if is_listing(whole, argv):
        return 84
    if whole.lstrip()[:2] == "[{" and '"ifname"' in whole[:4096] and '"operstate"' in whole[:4096]:
        return 88
    if any(INTERFACE.match(line) or BRIEF.match(line) or BRIEF_ADDRESSES.match(line.strip()) for line in lines):
        return 84
    if LOOPBACK.search(whole[:65536]):
        return 84
    return 60 if any(in_words(line.strip(), argv) for line in lines) else 0


def of_reach(lines: list[str]) -> int:
    """Two rows at least of pairs with a verdict, or of a table of verdicts."""
    titles: list[str] = []
    found = 0
    for line in lines:
        if head := titles_of(line):
            titles = head
        elif any(row_pairs(line, titles, found)):
            found += 1
    return 12 if found > 1 else 0


def of_neighbours(lines: list[str]) -> int:
    """lldpcli, or a table with a host's port and its neighbour."""
    return 60 if any(AT.match(line) or NEIGHBOURS.match(line) for line in lines) else 0


FORMS: tuple[Form, ...] = (
    Form("linux.lspci", lambda text: of_lspci(text.lines), among_lines=True, mixed=True, in_logs=True),
    Form("linux.modules", lambda text: of_modules(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("linux.units", lambda text: of_units(text.lines), among_lines=True, mixed=True, in_logs=True),
    Form(
        "linux.ip_link",
        lambda text: of_interfaces(text.lines, text.whole, text.argv),
        embedded=True,
        among_lines=True,
        mixed=True,
        in_logs=True,
    ),
    Form("linux.nets", lambda text: network_manager.score(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("network.reach", lambda text: of_reach(text.lines), embedded=True, beside=True),
    Form("network.neighbours", lambda text: of_neighbours(text.lines)),
    Form("linux.limits", lambda text: of_limits(text.lines, text.argv), embedded=True, mixed=True, in_logs=True, reasoned=True),
    Form("linux.df", lambda text: of_df(text.lines), embedded=True, beside=True, among_lines=True, mixed=True, in_logs=True),
    Form("linux.ps", lambda text: of_ps(text.lines, text.argv), embedded=True, beside=True, among_lines=True, mixed=True, in_logs=True),
    Form(
        "linux.orphans",
        lambda text: orphans.score(text.lines),
        embedded=True,
        beside=True,
        among_lines=True,
        mixed=True,
        in_logs=True,
    ),
    Form(
        "linux.device_users",
        lambda text: orphans.users_score(text.lines),
        embedded=True,
        beside=True,
        among_lines=True,
        mixed=True,
        in_logs=True,
    ),
    Form("linux.quota", lambda text: of_quota(text.lines), embedded=True, beside=True, among_lines=True, mixed=True, in_logs=True),
    Form("python.stacks", lambda text: of_stacks(text.lines), embedded=True, among_lines=True, in_logs=True),
    Form("gdb.stacks", lambda text: gdb.score(text.lines), embedded=True, among_lines=True),
    Form("python.functions", lambda text: of_functions(text.lines)),
    Form("environment.settings", lambda text: setting_forms.score(text.lines, text.argv), beside=True, among_lines=True),
    Form("linux.chrony", lambda text: chrony.score(text.lines), embedded=True, beside=True, among_lines=True, mixed=True, in_logs=True),
    form("linux.measures", measures.READERS),
)
