"""How NVML's functions answer for each field of `facts.gpu.Gpu` and `GpuSample`: field → reader. Units are the facts' own.

Constants are those of nvml.h, under the numbers that they have there: a binding may be older than this table. Of `pynvml` nothing is
imported here; a reader gets the module and the handle of a GPU, and raises what they raise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Read = Callable[[Any, Any], Any]  # the module pynvml, the handle of a GPU
FUNCTION_NOT_FOUND = 13  # nvmlReturn_t
MIB, MILLI = 1 << 20, 1e-3
CORRECTED, UNCORRECTED, VOLATILE, AGGREGATE, SRAM = 0, 1, 0, 1, 7  # nvmlMemoryErrorType_t, nvmlEccCounterType_t, nvmlMemoryLocation_t
GRAPHICS, SM, MEMORY = 0, 1, 2  # nvmlClockType_t
SHUTDOWN, SLOWDOWN, MEMORY_MAX, GPU_MAX = 0, 1, 2, 3  # nvmlTemperatureThresholds_t
RECOVERY = (
    "none",
    "reset",
    "reboot",
    "drain_p2p",
    "drain_and_reset",
    "recover_imex",
    "bus_reset",
    "reboot",
)  # nvmlDeviceGpuRecoveryAction_t
FABRIC_STATE = ("", "Not Started", "In Progress", "Completed")  # nvmlGpuFabricState_t; nvidia-smi's words
FABRIC_HEALTH = ("", "Healthy", "Unhealthy", "Limited Capacity")
COMPUTE_MODE = ("Default", "Exclusive_Thread", "Prohibited", "Exclusive_Process")
MIG_MODE = ("Disabled", "Enabled")

# The counters of nanoseconds that a reason was active, from R570 on: reason → name of the field value.
COUNTERS = {
    "sw_power_cap": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP",
    "sync_boost": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST",
    "sw_thermal": "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN",
    "hw_thermal": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN",
    "hw_power_brake": "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN",
}


class Refused(Exception):
    """NVML's error for one field of several that were asked together."""

    def __init__(self, value: int) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


def text(value: Any) -> Any:
    """A text of NVML, which older bindings give as bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def call(name: str, *arguments: Any, then: Callable[[Any], Any] = lambda value: value) -> Read:
    """Reads by one function of NVML."""
    return lambda nvml, gpu: then(getattr(nvml, f"nvmlDeviceGet{name}")(gpu, *arguments))


def part(name: str, of: str, scale: float = 1) -> Read:
    """Reads one member of what a function gives."""
    return call(name, then=lambda value: int(getattr(value, of) / scale))


def word(name: str, words: tuple[str, ...], at: int | None = None) -> Read:
    """Reads a number that stands for a word."""
    return call(name, then=lambda value: words[value if at is None else value[at]])


def field(name: str, then: Callable[[Any], Any] = lambda value: value) -> Read:
    """Reads a field value (nvmlDeviceGetFieldValues)."""

    def read(nvml: Any, gpu: Any) -> Any:
        value = nvml.nvmlDeviceGetFieldValues(gpu, [getattr(nvml, name)])[0]
        if value.nvmlReturn:
            raise Refused(value.nvmlReturn)
        # nvmlValueType_t: double, unsigned int, unsigned long, unsigned long long, signed long long, signed int, unsigned short
        kinds = ("dVal", "uiVal", "ulVal", "ullVal", "sllVal", "siVal", "usVal")
        return then(getattr(value.value, kinds[value.valueType]))

    return read


def errors(kind: int, counter: int) -> Read:
    """Reads a total of ECC errors."""
    return call("TotalEccErrors", kind, counter)


def sram_threshold(nvml: Any, gpu: Any) -> bool:
    """Whether the SRAM errors have reached the limit that NVIDIA sets."""
    status = nvml.c_nvmlEccSramErrorStatus_v1_t()
    status.version = nvml.nvmlEccSramErrorStatus_v1
    nvml.nvmlDeviceGetSramEccErrorStatus(gpu, status)
    return bool(status.bThresholdExceeded)


def sram(counter: int) -> Read:
    """Reads the uncorrected errors in on-chip memory."""
    return call("MemoryErrorCounter", UNCORRECTED, counter, SRAM)


def fabric(of: str) -> Read:
    """Reads one part of how the GPU is registered with the fabric."""

    def read(nvml: Any, gpu: Any) -> Any:
        info = nvml.c_nvmlGpuFabricInfo_v3_t()
        info.version = nvml.nvmlGpuFabricInfo_v3
        nvml.nvmlDeviceGetGpuFabricInfoV(gpu, info)
        if of == "state":
            return FABRIC_STATE[info.state] or None
        if of == "status":
            return "Success" if info.status == 0 else text(nvml.nvmlErrorString(info.status))
        if of == "health":
            return FABRIC_HEALTH[info.healthSummary] or None
        raw = bytes(info.clusterUuid).hex()
        return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:])) if raw.strip("0") else None

    return read


def retired_pages(nvml: Any, gpu: Any) -> int:
    """Pages of memory that were retired, for whatever cause."""
    return sum(len(nvml.nvmlDeviceGetRetiredPages(gpu, cause)) for cause in (0, 1))


def reasons(nvml: Any, gpu: Any) -> int:
    """The mask of what holds the clocks, by its name since R535 or the one before."""
    new = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    try:
        if new:
            return int(new(gpu))
    except nvml.NVMLError as error:
        if error.value != FUNCTION_NOT_FOUND:
            raise
    return int(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu))


NAMES: dict[str, Read] = {
    "uuid": call("UUID"),
    "pci": call("PciInfo", then=lambda info: info.busId),
    "product": call("Name"),
}
STATE: dict[str, Read] = {
    "pstate": call("PerformanceState"),
    "utilisation": part("UtilizationRates", "gpu"),
    "temperature": call("Temperature", 0),
    "memory_temperature": field("NVML_FI_DEV_MEMORY_TEMP"),
    "margin": call("MarginTemperature"),
    "fan": call("FanSpeed"),
    "power": call("PowerUsage", then=lambda milliwatts: milliwatts * MILLI),
    "power_limit": call("EnforcedPowerLimit", then=lambda milliwatts: milliwatts * MILLI),
    "power_limit_default": call("PowerManagementDefaultLimit", then=lambda milliwatts: milliwatts * MILLI),
    "sm_clock": call("ClockInfo", SM),
    "sm_clock_max": call("MaxClockInfo", SM),
    "memory_clock": call("ClockInfo", MEMORY),
    "application_clock": call("ApplicationsClock", GRAPHICS),
    "reasons": reasons,
}
GPU: dict[str, Read] = {
    **NAMES,
    "minor": call("MinorNumber"),
    "serial": call("Serial"),
    "part_number": call("BoardPartNumber"),
    "vbios": call("VbiosVersion"),
    "inforom": call("InforomImageVersion"),
    "gsp_firmware": call("GspFirmwareVersion"),
    "persistence": call("PersistenceMode", then=bool),
    "compute_mode": word("ComputeMode", COMPUTE_MODE),
    "mig_mode": word("MigMode", MIG_MODE, 0),
    "mig_pending": word("MigMode", MIG_MODE, 1),
    "memory_used": part("MemoryInfo", "used", MIB),
    "memory_total": part("MemoryInfo", "total", MIB),
    "bar1_total": part("BAR1MemoryInfo", "bar1Total", MIB),
    **STATE,
    "application_clock_default": call("DefaultApplicationsClock", GRAPHICS),
    "temperature_shutdown": call("TemperatureThreshold", SHUTDOWN),
    "temperature_slowdown": call("TemperatureThreshold", SLOWDOWN),
    "temperature_max_operating": call("TemperatureThreshold", GPU_MAX),
    "memory_temperature_max": call("TemperatureThreshold", MEMORY_MAX),
    "power_limit_max": call("PowerManagementLimitConstraints", then=lambda limits: limits[1] * MILLI),
    "pcie_gen": call("CurrPcieLinkGeneration"),
    "pcie_gen_max": call("MaxPcieLinkGeneration"),
    "pcie_gen_device": call("GpuMaxPcieLinkGeneration"),
    "pcie_width": call("CurrPcieLinkWidth"),
    "pcie_width_max": call("MaxPcieLinkWidth"),
    "pcie_replays": call("PcieReplayCounter"),
    "ecc_mode": call("EccMode", then=lambda modes: bool(modes[0])),
    "ecc_pending": call("EccMode", then=lambda modes: bool(modes[1])),
    "ecc_corrected_volatile": errors(CORRECTED, VOLATILE),
    "ecc_uncorrected_volatile": errors(UNCORRECTED, VOLATILE),
    "ecc_corrected_aggregate": errors(CORRECTED, AGGREGATE),
    "ecc_uncorrected_aggregate": errors(UNCORRECTED, AGGREGATE),
    "sram_uncorrected_volatile": sram(VOLATILE),
    "sram_uncorrected_aggregate": sram(AGGREGATE),
    "sram_threshold_exceeded": sram_threshold,
    "remapped_correctable": call("RemappedRows", then=lambda rows: rows[0]),
    "remapped_uncorrectable": call("RemappedRows", then=lambda rows: rows[1]),
    "remap_pending": call("RemappedRows", then=lambda rows: bool(rows[2])),
    "remap_failed": call("RemappedRows", then=lambda rows: bool(rows[3])),
    "remap_banks_none": part("RowRemapperHistogram", "none"),
    "retired_pages": retired_pages,
    "retired_pending": call("RetiredPagesPendingStatus", then=bool),
    "recovery_action": field("NVML_FI_DEV_GET_GPU_RECOVERY_ACTION", lambda action: RECOVERY[action]),
    "fabric_state": fabric("state"),
    "fabric_status": fabric("status"),
    "fabric_health": fabric("health"),
    "cluster_uuid": fabric("uuid"),
}
SAMPLE: dict[str, Read] = {
    **STATE,
    "memory_utilisation": part("UtilizationRates", "memory"),
    "memory_used": part("MemoryInfo", "used", MIB),
    "memory_total": part("MemoryInfo", "total", MIB),
    "ecc_corrected": errors(CORRECTED, VOLATILE),
}
