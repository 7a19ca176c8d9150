"""What is known of InfiniBand: the counters of a port under their three spellings, the states, and the names of speeds.

Sources: IBTA specification 1, PortCounters (16.1.3.5) and PortInfo (14.2.5.6); infiniband-diags (rdma-core), libibmad `fields.c`;
Linux `drivers/infiniband/core/sysfs.c`.
"""

from __future__ import annotations

from typing import NamedTuple


class Counter(NamedTuple):
    """A counter: the field of IbCounters, its name in a MAD and in sysfs, the width of the classic counter in bits."""

    field: str
    mad: str
    sysfs: str
    bits: int


COUNTERS = (
    Counter("symbol_errors", "SymbolErrorCounter", "symbol_error", 16),
    Counter("link_recoveries", "LinkErrorRecoveryCounter", "link_error_recovery", 8),
    Counter("link_downed", "LinkDownedCounter", "link_downed", 8),
    Counter("receive_errors", "PortRcvErrors", "port_rcv_errors", 16),
    Counter("remote_physical_errors", "PortRcvRemotePhysicalErrors", "port_rcv_remote_physical_errors", 16),
    Counter("transmit_discards", "PortXmitDiscards", "port_xmit_discards", 16),
    Counter("constraint_errors", "PortXmitConstraintErrors", "port_xmit_constraint_errors", 8),
    Counter("constraint_errors", "PortRcvConstraintErrors", "port_rcv_constraint_errors", 8),
    Counter("local_integrity_errors", "LocalLinkIntegrityErrors", "local_link_integrity_errors", 4),
    Counter("buffer_overruns", "ExcessiveBufferOverrunErrors", "excessive_buffer_overrun_errors", 4),
    Counter("vl15_dropped", "VL15Dropped", "VL15_dropped", 16),
    Counter("transmit_wait", "PortXmitWait", "port_xmit_wait", 32),
    Counter("transmit_data", "PortXmitData", "port_xmit_data", 32),
    Counter("receive_data", "PortRcvData", "port_rcv_data", 32),
)
# What libibmad called them in OFED 1.x, and what papers and scripts of that time still do.
OLDER = {
    "SymbolErrors": "SymbolErrorCounter",
    "LinkRecovers": "LinkErrorRecoveryCounter",
    "LinkDowned": "LinkDownedCounter",
    "RcvErrors": "PortRcvErrors",
    "RcvRemotePhysErrors": "PortRcvRemotePhysicalErrors",
    "XmtDiscards": "PortXmitDiscards",
    "XmtConstraintErrors": "PortXmitConstraintErrors",
    "RcvConstraintErrors": "PortRcvConstraintErrors",
    "LinkIntegrityErrors": "LocalLinkIntegrityErrors",
    "ExcBufOverrunErrors": "ExcessiveBufferOverrunErrors",
    "XmtWait": "PortXmitWait",
    "XmtData": "PortXmitData",
    "RcvData": "PortRcvData",
    # OpenSM's own list, opensm_port_counters.log
    "symbol_err_cnt": "SymbolErrorCounter",
    "link_err_recover": "LinkErrorRecoveryCounter",
    "rcv_err": "PortRcvErrors",
    "rcv_rem_phys_err": "PortRcvRemotePhysicalErrors",
    "xmit_discards": "PortXmitDiscards",
    "xmit_constraint_err": "PortXmitConstraintErrors",
    "rcv_constraint_err": "PortRcvConstraintErrors",
    "link_integrity_err": "LocalLinkIntegrityErrors",
    "buf_overrun_err": "ExcessiveBufferOverrunErrors",
    "vl15_dropped": "VL15Dropped",
    "xmit_wait": "PortXmitWait",
}
BY_NAME = {name: counter for counter in COUNTERS for name in (counter.mad, counter.sysfs)}
BY_NAME |= {old: BY_NAME[new] for old, new in OLDER.items()}
# Counters of mlx5's hw_counters: congestion (ECN, CNP) and what was sent again. Linux, drivers/infiniband/hw/mlx5/counters.c
CONGESTION = ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled")
# What PortXmitDiscards is made of (perfquery --xmtdisc, ibqueryerrors --details): packets that waited too long at the head of their queue,
# or altogether; the other two parts come with every port that is taken down, and with a wrong MTU.
LIFETIME = ("PortSwHOQLifetimeLimitDiscards", "PortSwLifetimeLimitDiscards")
# Microseconds for which the other end of an Ethernet link had this one wait, and how often: mlx5, by priority and of the port.
PAUSES = tuple(f"rx_{of}_pause{what}" for of in (*(f"prio{number}" for number in range(8)), "global") for what in ("_duration", ""))
HARDWARE = frozenset(
    {
        *CONGESTION,
        *LIFETIME,
        *PAUSES,
        *("rp_cnp_ignored", "out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "out_of_buffer", "duplicate_request"),
        *("implied_nak_seq_err", "rnr_nak_retry_err", "roce_adp_retrans", "roce_slow_restart", "rx_icrc_encapsulated"),
    }
)
WORD = 4  # bytes: traffic is counted in words of four
DATA = frozenset({"transmit_data", "receive_data"})

# sysfs and ibstatus say `2: INIT`, ibv_devinfo PORT_INIT, iblinkinfo and ibstat Initializing or Initialize: libibmad, dump.c; sysfs.c
STATES = {
    "down": "Down",
    "init": "Initializing",
    "initialize": "Initializing",
    "initializing": "Initializing",
    "armed": "Armed",
    "active": "Active",
    "active_defer": "ActiveDefer",  # the link of an active port is gone for the moment
}
# `3: Disabled` of sysfs, LINK_UP of ibv_devinfo and rdma link
PHYSICAL = {
    "sleep": "Sleep",
    "polling": "Polling",
    "disabled": "Disabled",
    "portconfigurationtraining": "PortConfigurationTraining",
    "training": "PortConfigurationTraining",
    "linkup": "LinkUp",
    "linkerrorrecovery": "LinkErrorRecovery",
    "phytest": "PhyTest",
}
LAYERS = {"infiniband": "InfiniBand", "ib": "InfiniBand", "ethernet": "Ethernet"}


def state(text: str) -> str:
    """A logical state in ibstat's word.

    >>> state("2: INIT"), state("PORT_ACTIVE (4)"), state("???")
    ('Initializing', 'Active', '')
    """
    return STATES.get(lower_state_word(text).removeprefix("port_"), "")


def physical(text: str) -> str:
    """A physical state in ibstat's word.

    >>> physical("5: LinkUp"), physical("LINK_UP (5)"), physical("LINK_ERROR_RECOVERY")
    ('LinkUp', 'LinkUp', 'LinkErrorRecovery')
    """
    return PHYSICAL.get(lower_state_word(text).replace("_", "").replace(" ", ""), "")


def shown_state(text: str) -> str:
    """A logical state in ibstat's word, or a word that nobody here knows as it stands.

    >>> shown_state("4: ACTIVE"), shown_state("6: TRIPPED"), shown_state("PORT_NOP (0)")
    ('Active', 'TRIPPED', 'PORT_NOP')
    """
    return state(text) or state_word(text)


def shown_physical(text: str) -> str:
    """A physical state, likewise."""
    return physical(text) or state_word(text)


def layer(text: str) -> str:
    """A link layer in sysfs' word: `IB` is what the simulator and some tools write."""
    return LAYERS.get(text.strip().lower(), "")


def state_word(text: str) -> str:
    """A state without the number before or behind it."""
    return text.partition("(")[0].rpartition(":")[2].strip()[:40]


def lower_state_word(text: str) -> str:
    """The same in lower case."""
    return state_word(text).lower()


def is_saturated(counter: Counter, value: int) -> bool:
    """Whether a counter stands at its highest value: the classic ones stay there, so it says "at least" and no rate."""
    return value == (1 << counter.bits) - 1
