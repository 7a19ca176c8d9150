"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.patterns import regex
from gpudoctor.tools.form import Form
from gpudoctor.tools.infiniband import node_exporter, portstate, row_tables
from gpudoctor.tools.infiniband.counters import HEAD as COUNTERS
from gpudoctor.tools.infiniband.counters import NODE, PORT, SUMMARY, are_port_counters, value_of
from gpudoctor.tools.infiniband.gids import HEAD as GIDS
from gpudoctor.tools.infiniband.gids import LINK as RDMA_LINK
from gpudoctor.tools.infiniband.gids import NETDEV, ROW
from gpudoctor.tools.infiniband.links import LINK
from gpudoctor.tools.infiniband.ports import ADAPTER, BARE, BARE_RATE, KEY, TOOLS, of_partition
from gpudoctor.tools.infiniband.sysfs import MINE

# 	Rate: 400  |  	rate:		 400 Gb/sec (4X NDR)
RATED = regex(r"\s+[Rr]ate:\s+\d{1,5}(?:\.\d)?(?: Gb/sec \(.{1,20}\))?\s*$")
# State: Active | state:   4: ACTIVE | state:  PORT_ACTIVE (4)
STATE = regex(r"\s*[Ss]tate:\s+(?:\d: [A-Z]|PORT_|Active|Down|Initializing|Armed)")


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
    return 60 if are_port_counters(match.group(1) for line in lines if (match := value_of(line))) else 0


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


FORMS: tuple[Form, ...] = (
    Form("infiniband.ports", lambda text: of_ports(text.lines, text.whole, text.argv), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.perfquery", lambda text: of_counters(text.lines), embedded=True, mixed=True, in_logs=True, reasoned=True),
    Form("infiniband.ibqueryerrors", lambda text: of_errors(text.lines), embedded=True, mixed=True, in_logs=True, reasoned=True),
    Form("infiniband.iblinkinfo", lambda text: of_links(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.gids", lambda text: of_gids(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.mlxlink", lambda text: of_mlxlink(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.portstate", lambda text: portstate.score(text.lines), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.series", lambda text: node_exporter.score(text.lines, text.whole), embedded=True, mixed=True, in_logs=True),
    Form("infiniband.tables", lambda text: row_tables.score(text.lines, text.whole), embedded=True, mixed=True, in_logs=True),
)
