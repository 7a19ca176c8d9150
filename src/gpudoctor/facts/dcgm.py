"""Facts of DCGM's command-line tool."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class DcgmHealth(Fact, frozen=True, kw_only=True):
    """One line of `dcgmi health`: a system of an entity, or the answer as a whole (system "")."""

    node: str = ""
    gpu: str = ""  # UUID or PCI address, where discovery tied the index to one
    entity: str = ""  # GPU, NvSwitch, …, "" = the whole
    index: int | None = None
    system: str = ""  # PCIe, NVLink, PMU, MCU, Memory, SM, InfoROM, Thermal, Power, Driver, NVSwitch, ConnectX
    status: str = ""  # healthy, warning, failure
    armed: bool | None = None  # whether watches were on; of `health -f` by system
    text: str = ""
    code: int | None = None  # DCGM_FR_*


class DcgmTest(Fact, frozen=True, kw_only=True):
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


class DcgmPolicy(Fact, frozen=True, kw_only=True):
    """What `dcgmi policy --get` shows of one entity: the conditions and the action that DCGM would take by itself."""

    node: str = ""
    group: str = ""
    action: str = ""  # none, gpu reset
    validation: str = ""
    conditions: list[str] = []


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
    problem: str = ""  # "" or what DCGM answers instead
