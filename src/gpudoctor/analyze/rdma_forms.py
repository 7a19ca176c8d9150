"""How answers of InfiniBand's tools and of what goes with them are recognised."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.parsers.ib_counters import HEAD as COUNTERS
from gpudoctor.parsers.ib_counters import NODE, PORT, SUMMARY, bare, value_of
from gpudoctor.parsers.ib_gids import HEAD as GIDS
from gpudoctor.parsers.ib_gids import LINK as RDMA_LINK
from gpudoctor.parsers.ib_gids import NETDEV, ROW
from gpudoctor.parsers.ib_links import LINK
from gpudoctor.parsers.ib_ports import ADAPTER, BARE, BARE_RATE, KEY, TOOLS, of_partition
from gpudoctor.parsers.ib_sysfs import MINE
from gpudoctor.parsers.linux_ip_link import BRIEF, BRIEF_ADDRESSES, LOOPBACK, in_words, is_listing
from gpudoctor.parsers.linux_ip_link import HEAD as INTERFACE
from gpudoctor.parsers.linux_limits import DF, PRLIMIT, PROC, ULIMIT, UNIT
from gpudoctor.parsers.reach import AT, row, titles_of
from gpudoctor.parsers.reach import HEAD as NEIGHBOURS
from gpudoctor.patterns import regex

# State: Active | state:   4: ACTIVE | state:  PORT_ACTIVE (4)
STATE = regex(r"\s*[Ss]tate:\s+(?:\d: [A-Z]|PORT_|Active|Down|Initializing|Armed)")
# 	Rate: 400  |  	rate:		 400 Gb/sec (4X NDR)
RATED = regex(r"\s+[Rr]ate:\s+\d{1,5}(?:\.\d)?(?: Gb/sec \(.{1,20}\))?\s*$")
ASKED = regex(r"\bulimit -[SH]?l\b")
ANSWER = regex(r"\d{1,18}|unlimited")


def of_ports(lines: list[str], whole: str, argv: Sequence[str] = ()) -> int:
    """ibstat, ibstatus, ibv_devinfo; a listing of sysfs, as text or JSON."""
    if MINE.search(whole[:400_000]):
        return 92
    if of_partition(argv) and any(KEY.fullmatch(line.strip()) for line in lines):
        return 60
    if argv[:1] == ("cat",) and any("/sys/class/infiniband/" in word and word.endswith(("/state", "/rate")) for word in argv):
        return 60 if any(BARE.match(line.strip()) or BARE_RATE.match(line.strip()) for line in lines) else 0
    if not any(STATE.match(line) or RATED.match(line) for line in lines):
        return 0
    return 90 if any(ADAPTER.match(line) for line in lines) else 60 if argv and argv[0] in TOOLS[:3] else 0


def of_counters(lines: list[str]) -> int:
    """perfquery; or counters that were cut out of its answer."""
    if any(COUNTERS.match(line.strip()) for line in lines):
        return 90
    return 60 if bare(match.group(1) for line in lines if (match := value_of(line))) else 0


def of_errors(lines: list[str]) -> int:
    """ibqueryerrors."""
    return 91 if any(NODE.match(line) or SUMMARY.match(line) or PORT.match(line) for line in lines) else 0


def of_links(lines: list[str]) -> int:
    """iblinkinfo."""
    return 90 if any(LINK.match(line) for line in lines) else 0


def of_gids(lines: list[str]) -> int:
    """show_gids with or without its header, `rdma link` and `ibdev2netdev`."""
    if any(NETDEV.match(line.strip()) for line in lines):
        return 88
    return 88 if any(GIDS.match(line) or RDMA_LINK.match(line) or (ROW.match(line) and line.count(":") == 7) for line in lines) else 0


def of_mlxlink(lines: list[str]) -> int:
    """mlxlink."""
    return 88 if any(line.strip() == "Operational Info" for line in lines) and any("Physical state" in line for line in lines) else 0


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
        elif any(row(line, titles, found)):
            found += 1
    return 12 if found > 1 else 0


def of_neighbours(lines: list[str]) -> int:
    """lldpcli, or a table with a host's port and its neighbour."""
    return 60 if any(AT.match(line) or NEIGHBOURS.match(line) for line in lines) else 0
