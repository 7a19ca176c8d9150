"""The tools of InfiniBand and RDMA: ports, counters, links, GIDs."""

from __future__ import annotations

from gpudoctor.tools.parser import Parser

PARSERS: dict[str, Parser] = {
    # ibstat, ibstatus, ibv_devinfo, a listing of /sys/class/infiniband: whichever it is
    "infiniband.ports": Parser(("ib_ports", "ib_counters", "gids", "interfaces", "messages"), "ports:ports"),
    "infiniband.perfquery": Parser(("ib_counters", "messages"), "counters:perfquery"),
    "infiniband.ibqueryerrors": Parser(("ib_counters", "ib_ports", "messages"), "counters:ibqueryerrors"),
    "infiniband.iblinkinfo": Parser(("ib_ports", "messages"), "links:iblinkinfo"),
    "infiniband.gids": Parser(("gids", "ib_ports", "interfaces"), "gids:table"),  # show_gids, rdma link, ibdev2netdev
    "infiniband.portstate": Parser(("ib_ports",), "portstate:query"),  # ibportstate, smpquery portinfo
    "infiniband.series": Parser(("ib_counters", "ib_ports"), "node_exporter:series"),  # node_exporter's, by Prometheus
    "infiniband.tables": Parser(("ib_ports", "ib_counters", "interfaces"), "row_tables:table"),  # rows that people print of ports
    "infiniband.mlxlink": Parser(("ib_ports", "messages"), "mlxlink:mlxlink"),
}
