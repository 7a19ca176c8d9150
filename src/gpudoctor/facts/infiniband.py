"""Facts of InfiniBand and RoCE: ports, counters, links, GIDs. Names follow the IBTA's and the tools'."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class IbPort(Fact, frozen=True, kw_only=True):
    """One port of a host channel adapter or a switch."""

    node: str = ""
    ca: str  # mlx5_0, or a switch's name
    port: int = 1
    guid: str = ""
    lid: int | None = None
    sm_lid: int | None = None
    state: str = ""  # Down, Initializing, Armed, Active
    physical: str = ""  # Polling, Disabled, LinkUp, LinkErrorRecovery, …
    rate: float | None = None  # Gb/s
    width: str = ""  # 4X
    speed: str = ""  # NDR, or Gb/s a lane
    speed_supported: str = ""
    link_layer: str = ""  # InfiniBand, Ethernet
    interface: str = ""  # network device, ib0
    firmware: str = ""
    ca_type: str = ""
    board: str = ""  # PSID
    mtu: int | None = None
    role: str = ""  # compute, storage, management, "" = not known
    remote: str = ""  # what is at the other end: name and port
    could_be: str = ""  # iblinkinfo: Could be NDR
    narrower: bool = False  # ibportstate: fewer lanes are active than both sides have enabled
    own: bool = False  # its own host told of it; False: seen from elsewhere in the fabric
    counted: bool = False  # the same answer had its counters


class IbLink(Fact, frozen=True, kw_only=True):
    """A link that is up, both its ends as one. Made by a derivation."""

    node: str = ""  # the host at the near end, "" between switches
    near: str = ""  # name and port
    far: str = ""
    width: str = ""
    speed: str = ""
    could_be: str = ""  # what both ends can do beyond that
    alike: int = 0  # links with this width, speed and possibility, this one among them
    links: int = 0  # all that were seen


class IbCounters(Fact, frozen=True, kw_only=True):
    """The error and traffic counters of one port at one moment. A counter at its highest value is left out, with "saturated" in `gaps`."""

    node: str = ""
    ca: str = ""
    port: int = 1
    lid: int | None = None
    guid: str = ""
    symbol_errors: int | None = None
    link_recoveries: int | None = None
    link_downed: int | None = None
    receive_errors: int | None = None
    remote_physical_errors: int | None = None
    transmit_discards: int | None = None
    constraint_errors: int | None = None
    local_integrity_errors: int | None = None
    buffer_overruns: int | None = None
    vl15_dropped: int | None = None
    transmit_wait: int | None = None
    transmit_data: int | None = None  # bytes
    receive_data: int | None = None
    saturated: list[str] = []  # the counters that stand at their highest value
    hardware: dict[str, int] = {}  # further counters of sysfs' hw_counters


class IbGrowth(Fact, frozen=True, kw_only=True):
    """How a port's counters grew between two samples: per second, only those that grew. Made by a derivation."""

    node: str = ""
    ca: str = ""
    port: int = 1
    lid: int | None = None
    named: str = ""  # for a person: mlx5_0 port 1, lid 4 port 1
    seconds: float = 0.0
    grew: dict[str, int] = {}
    rate: dict[str, float] = {}  # per second
    errors: str = ""  # what of it is errors, for a person: symbol errors +812, link recoveries +2
    saturated: list[str] = []
    waited: float | None = None  # share of the time with data to send in which the port waited for credits, 0 to 1
    wait_factor: float | None = None  # how many times as much it waited as most of the machine's other ports in the same time
    remote: str = ""  # what is at the other end: name and port


class Gid(Fact, frozen=True, kw_only=True):
    """One entry of a port's GID table."""

    describes = True
    node: str = ""
    ca: str
    port: int = 1
    index: int
    gid: str
    kind: str = ""  # IB, RoCE v1, RoCE v2
    address: str = ""  # IPv4, where the GID holds one
    interface: str = ""


class Cable(Fact, frozen=True, kw_only=True):
    """What LLDP says is at the other end of a host's network port."""

    describes = True
    node: str = ""
    interface: str
    neighbour: str  # name of the system there


class Reach(Fact, frozen=True, kw_only=True):
    """Tests of who reaches whom, in a table or list that somebody made: of hosts, or of the adapters of two hosts."""

    tested: int
    failed: int
    rails: bool = False  # adapters against adapters: none but those of one rail reach each other, or not even all of these
    lonely: str = ""  # the one name that is in every pair that failed, and in none that works
    parted: bool = False  # adapters: each reaches some of those of the other host and misses some
    islands: int = 0  # groups of hosts that reach each other and nobody else
    rdma: bool = False  # the test was one of RDMA, by the program that is named with it


class Interface(Fact, frozen=True, kw_only=True):
    """A network interface of a host, or of a pod."""

    describes = True
    node: str = ""
    namespace: str = ""
    pod: str = ""
    interface: str
    state: str = ""  # operstate: up, down, unknown, dormant
    kind: str = ""  # infiniband, ether
    guid: str = ""  # of the port behind it: the end of an address over InfiniBand
    enabled: bool | None = None  # set up by somebody (flag UP), whatever the cable says
    ca: str = ""  # the adapter behind it, where the answer names it
    port: int = 0  # and its port
    address: str | None = None  # its first address that is not link-local, "" for none
    mtu: int | None = None


class Limit(Fact, frozen=True, kw_only=True):
    """A limit of a process or host that RDMA and NCCL need: memlock, open files, size of /dev/shm."""

    describes = True
    node: str = ""
    namespace: str = ""
    pod: str = ""
    limit: str  # memlock, nofile, shm
    soft: float | None = None  # bytes or number; inf = unlimited
    hard: float | None = None
    used: float | None = None
