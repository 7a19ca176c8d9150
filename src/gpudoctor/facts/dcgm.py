"""Facts of DCGM's command-line tool."""

from __future__ import annotations

from gpudoctor.facts.base import Fact, OfGpu


class Graded(Fact, frozen=True, kw_only=True):
    """What DCGM grades: a warning or a failure."""

    status: str = ""

    @property
    def mild(self) -> bool:
        """A warning."""
        return self.status in ("warn", "warning")


class DcgmHealth(Graded, frozen=True, kw_only=True):
    """One line of `dcgmi health`: a system of an entity, or the answer as a whole (system "")."""

    node: str = ""
    gpu: str = ""  # "GPU 3" as DCGM counts; a discovery ties that to a UUID (facts.identity)
    entity: str = ""  # GPU, NvSwitch, …, "" = the whole
    index: int | None = None
    system: str = ""  # PCIe, NVLink, PMU, MCU, Memory, SM, InfoROM, Thermal, Power, Driver, NVSwitch, ConnectX
    status: str = ""  # healthy, warning, failure
    armed: bool | None = None  # whether watches were on; of `health -f` by system
    text: str = ""
    code: int | None = None  # DCGM_FR_*
    problem: str = ""  # "" or what dcgmi answers instead: a word of tools/dcgm/boxes


class DcgmError(Graded, frozen=True, kw_only=True):
    """One error that DCGM's health check or diagnostic reports of an entity, with what is known of its code (knowledge/dcgm_errors)."""

    node: str = ""
    gpu: str = ""
    entity: str = ""
    index: int | None = None
    source: str  # health, diag
    where: str = ""  # the system or the test
    status: str = ""  # warning, failure; warn, fail
    text: str = ""  # DCGM's sentence; of an Xid without DCGM's explanation, which is often wrong
    code: int | None = None  # DCGM_FR_*
    error: str = ""  # its name: VOLATILE_DBE_DETECTED
    severity: str = ""  # monitor, isolate, unknown, triage, config, reset
    category: str = (
        ""  # memory, nvlink, nvswitch, pcie, power, thermal, performance, xid, cuda, eud, config, library, software, internal, other
    )
    condition: str = ""  # what it states, where several errors state the same: off_bus, row_remap_pending …; "" = no known condition
    means: str = ""  # our sentence; DCGM's own where the code is not known
    act: str = ""
    xid: int | None = None  # the Xid that it names
    short: float | None = None  # of a missed target: by how many per cent


class DcgmTest(Graded, frozen=True, kw_only=True):
    """One result of `dcgmi diag`, of a test on an entity."""

    node: str = ""
    gpu: str = ""
    index: int | None = None
    test: str = ""
    category: str = ""  # Deployment, Hardware, Integration, Stress
    status: str = ""  # pass, fail, warn, skip, not_run
    text: str = ""
    code: int | None = None  # DCGM_FR_*
    error: str = ""  # its name: VOLATILE_DBE_DETECTED
    severity: str = ""  # monitor, isolate, unknown, triage, config, reset
    problem: str = ""  # "" or what dcgmi answers instead of results: a word of tools/dcgm/boxes


class DcgmPolicy(Fact, frozen=True, kw_only=True):
    """What `dcgmi policy --get` shows of one entity: the conditions and the action that DCGM would take by itself."""

    describes = True
    node: str = ""
    group: str = ""  # the group's name, or "GPU ID: 3" and the like
    gpu: str = ""
    index: int | None = None
    action: str | None = None  # none, gpu reset
    validation: str | None = None
    conditions: list[str] | None = None


class DcgmStats(Fact, frozen=True, kw_only=True):
    """What `dcgmi stats` shows of a job or process on one GPU."""

    node: str = ""
    gpu: str = ""
    index: int | None = None
    job: str = ""
    pid: int | None = None
    seconds: float | None = None
    energy: float | None = None  # J
    sm_clock: float | None = None  # mean, MHz
    throttled: dict[str, float] = {}  # reason → seconds
    ecc_double: int | None = None
    pcie_replays: int | None = None
    xids: list[int] = []
    xid_count: int | None = None  # critical ones; dcgmi shows when, not which
    problem: str = ""  # "" or what DCGM answers instead


class ErrorReading(OfGpu, frozen=True, kw_only=True):
    """What a metric that counts errors read at one moment (`time`); the gauge that keeps the last Xid is one."""

    metric: str  # DCGM_FI_DEV_ECC_DBE_VOL_TOTAL
    about: str  # a word of knowledge/error_metrics
    value: float


class ErrorMove(OfGpu, frozen=True, kw_only=True):
    """What the readings of one metric of one GPU add up to. `time` is when it last moved, where two readings near to each other show it."""

    metric: str
    about: str  # a word of knowledge/error_metrics
    value: float  # the newest
    before: float | None = None  # the oldest, where there are two
    growth: float | None = None  # over all readings, resets seen; of a gauge that keeps an Xid 1 for each change; None: read once
    seconds: float = 0.0  # between the oldest and the newest reading
    age: float = 0.0  # seconds since the newest
    standing: bool = False  # it says something of the card whenever it moved: see knowledge/error_metrics
    when: str = ""  # it moved, as a person reads it: 2026-03-01 11:52 UTC
