"""What people call a property or a counter of an RDMA port where they print it themselves: as a column's title, a key, a field of JSON."""

from __future__ import annotations

from gpudoctor.knowledge.infiniband import BY_NAME

# What a title is of, by its letters and digits alone.
PROPERTIES = {
    "ca": "device dev hca hcas rdma rdmadev rdmadevice ca caname ibdev ibdevice adapter nic mlxdev ifname ib hcaport deviceport caport",
    "port": "port portnum portnumber prt portid",
    "node": "host node hostname nodename server machine",
    "guid": "nodeguid portguid guid systemguid",
    "interface": "net netdev netdevice interface netif iface netinterface ethdev ndev if",
    "state": "state linkstate portstate lnkstat lnkstate status logical logicalstate lstate linkstatus",
    "physical": "phys physical physstate physicalstate phystate physlinkstate pstate",
    "ip": "ipstat ipif ipstate ipoib ipoibstate operstate oper netstate ifstate netdevstate ifstatus",
    "rate": "rate speed linkrate ratesec activespeed portrate linkspeed rategbs speedgbs rategbps speedgbps",
    "layer": "link linklayer layer linktype",
    "lid": "lid baselid portlid",
    "sm_lid": "smlid",
    "time": "time timestamp ts",
}
COUNTERS = {
    "symbol_error": "symbol symbolerr symbolerrs symbolerror symbolerrors symbolerrcnt symerr symerrs symerror sym syms symbols",
    "link_error_recovery": (
        "linkrec linkrecov linkrecover linkrecovers linkrecovery linkrecoveries linkerrorrecovery linkerrrecover linkerrrecovery recovery"
        " recoveries lnkrec"
    ),
    "link_downed": "linkdown linkdowned linkdowns downed linkdownedcnt lnkdown lnkdowned downs",
    "port_rcv_errors": "rcverr rcverrs rcverrors rcverror rxerr rxerrs rxerrors recverr recverrors portrcverr",
    "port_rcv_remote_physical_errors": "remphys rcvremphyserr rcvremphyserrs rcvremotephyserr remphyserr remotephyserr rcvrem",
    "port_xmit_discards": (
        "discard discards disc discs xmitdisc xmitdiscs xmitdiscard xmitdiscards xmtdisc xmtdiscs xmtdiscard xmtdiscards txdisc txdiscard"
        " txdiscards portxmitdiscard"
    ),
    "local_link_integrity_errors": "linkintegrityerr linkintegrity locallinkintegrity lli integrity",
    "excessive_buffer_overrun_errors": "bufoverrunerr bufoverrun overrun overruns excbufoverrun",
    "VL15_dropped": "vl15 vl15drop vl15drops vl15dropped vl15drp",
    "port_xmit_wait": "xmitwait xmtwait txwait xmitwaits portxmtwait xmitwaitticks xwait",
}
TITLES = {word: name for table in (PROPERTIES, COUNTERS) for name, words in table.items() for word in words.split()}
TITLES |= {"".join(filter(str.isalnum, name.lower())): name for name in COUNTERS}
TITLES |= {"".join(filter(str.isalnum, spelt.lower())): one.sysfs for spelt, one in BY_NAME.items() if one.sysfs in COUNTERS}


def meaning(title: str) -> str:
    """The property or counter that a title names, "" for none.

    >>> meaning("LnkStat"), meaning("xmit_wait(d)"), meaning("SymbolErrorCounter"), meaning("link_downed_total"), meaning("GPU")
    ('state', 'port_xmit_wait', 'symbol_error', 'link_downed', '')
    """
    bare = "".join(filter(str.isalnum, title.partition("(")[0].lower())).removeprefix("delta").removesuffix("delta")
    for form in (bare, bare.removesuffix("total"), bare.removesuffix("counter"), bare.removesuffix("cnt"), bare.removesuffix("s")):
        if form in TITLES:
            return TITLES[form]
    return ""
