"""The fields of DCGM: what the columns of `dcgmi dmon` and the metrics of dcgm-exporter are.

Source: dcgm_fields.h and dcgm_fields.cpp of DCGM 4.6.0, compared with 2.1.4, 3.1.8 and 3.3.9: ids and column headers are the same in all,
names are not. dcgm-exporter and everything up to 4.5 use the old ones.
"""

from __future__ import annotations

from typing import NamedTuple


class Field(NamedTuple):
    """`name` without DCGM_FI_, up to 4.5 and in exporters; `renamed` since 4.6, "" where it stayed; `header` is the column of dmon."""

    id: int
    name: str
    renamed: str
    header: str
    unit: str
    means: str


FIELDS: tuple[Field, ...] = (
    Field(1, "DRIVER_VERSION", "SYSTEM_DRIVER_VERSION", "DRVER", "", "driver version"),
    Field(50, "DEV_NAME", "DEV_GPU_NAME", "DVNAM", "", "product name"),
    Field(53, "DEV_SERIAL", "DEV_BOARD_SERIAL", "SRNUM", "", "serial number of the board"),
    Field(54, "DEV_UUID", "DEV_GPU_UUID", "UUID#", "", "GPU UUID"),
    Field(57, "DEV_PCI_BUSID", "DEV_PCI_BUS_ID", "PCBID", "", "PCI bus id"),
    Field(66, "DEV_PERSISTENCE_MODE", "DEV_GPU_PERSISTENCE_MODE", "PMMOD", "0/1", "persistence mode"),
    Field(67, "DEV_MIG_MODE", "", "MGMOD", "0/1", "MIG mode"),
    Field(84, "DEV_INFOROM_CONFIG_VALID", "DEV_INFOROM_VALID", "ICVLD", "0/1", "InfoROM checksum is valid; 0: it is corrupt"),
    Field(100, "DEV_SM_CLOCK", "", "SMCLK", "MHz", "current SM clock"),
    Field(101, "DEV_MEM_CLOCK", "", "MMCLK", "MHz", "current memory clock"),
    Field(110, "DEV_APP_SM_CLOCK", "", "SACLK", "MHz", "requested application SM clock"),
    Field(
        112,
        "DEV_CLOCK_THROTTLE_REASONS",
        "DEV_CLOCKS_EVENT_REASONS",
        "DVCCTR",
        "mask",
        'clock event ("throttle") reasons, as bits: see knowledge/clock_reasons',
    ),
    Field(113, "DEV_MAX_SM_CLOCK", "", "SMMAX", "MHz", "maximum SM clock"),
    Field(140, "DEV_MEMORY_TEMP", "DEV_MEMORY_TEMP_CELSIUS", "MMTMP", "°C", "memory (HBM) temperature; blank without a sensor"),
    Field(150, "DEV_GPU_TEMP", "DEV_GPU_TEMP_CELSIUS", "TMPTR", "°C", "GPU core temperature"),
    Field(151, "DEV_MEM_MAX_OP_TEMP", "DEV_MEMORY_MAX_OP_TEMP_CELSIUS", "GMMOT", "°C", "highest operating temperature of the memory"),
    Field(152, "DEV_GPU_MAX_OP_TEMP", "DEV_GPU_MAX_OP_TEMP_CELSIUS", "GGMOT", "°C", "highest operating temperature (before Ada)"),
    Field(
        153,
        "DEV_GPU_TEMP_LIMIT",
        "DEV_GPU_TEMP_MARGIN_CELSIUS",
        "GTLIMIT",
        "°C",
        "degrees left before the thermal limit (T.Limit); 0 or less: it is reached",
    ),
    Field(155, "DEV_POWER_USAGE", "DEV_BOARD_POWER_WATTS", "POWER", "W", "board power, averaged"),
    Field(156, "DEV_TOTAL_ENERGY_CONSUMPTION", "", "TOTEC", "mJ", "energy since driver load"),
    Field(157, "DEV_POWER_USAGE_INSTANT", "DEV_BOARD_POWER_RAW_WATTS", "POWINST", "W", "board power at this moment"),
    Field(158, "DEV_SLOWDOWN_TEMP", "DEV_GPU_TEMP_SLOWDOWN_CELSIUS", "SDTMP", "°C", "hardware slowdown threshold"),
    Field(159, "DEV_SHUTDOWN_TEMP", "DEV_GPU_TEMP_SHUTDOWN_CELSIUS", "SHTMP", "°C", "shutdown threshold"),
    Field(160, "DEV_POWER_MGMT_LIMIT", "DEV_BOARD_POWER_LIMIT_REQUESTED_WATTS", "PMLMT", "W", "current software power limit"),
    Field(163, "DEV_POWER_MGMT_LIMIT_DEF", "DEV_BOARD_POWER_LIMIT_DEFAULT_WATTS", "PMDEF", "W", "default power limit"),
    Field(
        164,
        "DEV_ENFORCED_POWER_LIMIT",
        "DEV_BOARD_POWER_LIMIT_ENFORCED_WATTS",
        "EPLMT",
        "W",
        "enforced power limit: the lowest of all limits",
    ),
    Field(170, "DEV_FABRIC_MANAGER_STATUS", "", "FMSTA", "", "state of the registration with the fabric"),
    Field(171, "DEV_FABRIC_MANAGER_ERROR_CODE", "DEV_FABRIC_MANAGER_ERROR", "FMFRC", "", "Fabric Manager failure code"),
    Field(174, "DEV_FABRIC_HEALTH_MASK", "", "FMHMSK", "mask", "fabric health mask"),
    Field(175, "DEV_FABRIC_HEALTH_SUMMARY", "", "FMHSUM", "", "fabric health summary"),
    Field(190, "DEV_PSTATE", "DEV_GPU_PSTATE", "PSTAT", "", "performance state"),
    Field(191, "DEV_FAN_SPEED", "", "FANSP", "%", "fan speed"),
    Field(200, "DEV_PCIE_TX_THROUGHPUT", "", "TXTPT", "KB/s", "PCIe TX as NVML samples it; 1009 replaces it"),
    Field(201, "DEV_PCIE_RX_THROUGHPUT", "", "RXTPT", "KB/s", "PCIe RX as NVML samples it; 1010 replaces it"),
    Field(202, "DEV_PCIE_REPLAY_COUNTER", "DEV_PCIE_REPLAY_TOTAL", "RPCTR", "count", "PCIe replays since driver load"),
    Field(203, "DEV_GPU_UTIL", "DEV_GPU_UTIL_RATIO", "GPUTL", "%", "share of the sample period in which a kernel ran"),
    Field(204, "DEV_MEM_COPY_UTIL", "", "MCUTL", "%", "share of the period in which device memory was read or written"),
    Field(206, "DEV_ENC_UTIL", "", "ECUTL", "%", "encoder busy"),
    Field(207, "DEV_DEC_UTIL", "", "DCUTL", "%", "decoder busy"),
    Field(
        230, "DEV_XID_ERRORS", "DEV_XID_ERROR", "XIDER", "", "the last Xid that DCGM saw; it stays until the next one, so it is no counter"
    ),
    Field(235, "DEV_PCIE_MAX_LINK_GEN", "", "PCIMG", "", "maximum PCIe generation"),
    Field(236, "DEV_PCIE_MAX_LINK_WIDTH", "", "PCIMW", "lanes", "maximum PCIe width"),
    Field(237, "DEV_PCIE_LINK_GEN", "", "PCILG", "", "current PCIe generation (drops at idle)"),
    Field(238, "DEV_PCIE_LINK_WIDTH", "", "PCILW", "lanes", "current PCIe width"),
    Field(240, "DEV_POWER_VIOLATION", "", "PVIOL", "ns", "time throttled by power cap"),
    Field(241, "DEV_THERMAL_VIOLATION", "", "TVIOL", "ns", "time throttled by temperature"),
    Field(242, "DEV_SYNC_BOOST_VIOLATION", "", "SBVIO", "ns", "time limited by sync boost"),
    Field(243, "DEV_BOARD_LIMIT_VIOLATION", "", "BLVIO", "ns", "time limited by the board"),
    Field(244, "DEV_LOW_UTIL_VIOLATION", "", "LUVIO", "ns", "time at low clocks because of low use"),
    Field(245, "DEV_RELIABILITY_VIOLATION", "", "RVIOL", "ns", "time limited for reliability"),
    Field(246, "DEV_TOTAL_APP_CLOCKS_VIOLATION", "", "TAPCV", "ns", "total time below application clocks"),
    Field(247, "DEV_TOTAL_BASE_CLOCKS_VIOLATION", "", "TAPBC", "ns", "total time below base clocks"),
    Field(250, "DEV_FB_TOTAL", "", "FBTTL", "MiB", "frame-buffer total"),
    Field(251, "DEV_FB_FREE", "", "FBFRE", "MiB", "frame-buffer free"),
    Field(252, "DEV_FB_USED", "", "FBUSD", "MiB", "frame-buffer used"),
    Field(253, "DEV_FB_RESERVED", "", "FBRSV", "MiB", "frame-buffer reserved by driver"),
    Field(254, "DEV_FB_USED_PERCENT", "DEV_FB_USED_RATIO", "FBUSP", "ratio", "used / (total - reserved)"),
    Field(300, "DEV_ECC_CURRENT", "DEV_ECC_MODE", "ECCUR", "0/1", "ECC current mode"),
    Field(310, "DEV_ECC_SBE_VOL_TOTAL", "", "ESVTL", "count", "corrected ECC, since driver load (all locations)"),
    Field(311, "DEV_ECC_DBE_VOL_TOTAL", "", "EDVTL", "count", "uncorrected ECC, since driver load"),
    Field(312, "DEV_ECC_SBE_AGG_TOTAL", "", "ESATL", "count", "corrected ECC, lifetime"),
    Field(313, "DEV_ECC_DBE_AGG_TOTAL", "", "EDATL", "count", "uncorrected ECC, lifetime"),
    Field(314, "DEV_ECC_SBE_VOL_L1", "", "ESVL1", "count", "corrected L1, volatile"),
    Field(315, "DEV_ECC_DBE_VOL_L1", "", "EDVL1", "count", "uncorrected L1, volatile"),
    Field(
        346, "DEV_THRESHOLD_SRM", "DEV_SRAM_EXCEEDED", "ECCTHRSRM", "0/1", "1: SRAM errors above the threshold at which a card is replaced"
    ),
    Field(385, "DEV_BANKS_REMAP_ROWS_AVAIL_MAX", "DEV_BANK_REMAP_AVAIL_MAX", "RRAM", "banks", "banks with all spare rows left"),
    Field(386, "DEV_BANKS_REMAP_ROWS_AVAIL_HIGH", "DEV_BANK_REMAP_AVAIL_HIGH", "RRAH", "banks", "banks with many spare rows"),
    Field(387, "DEV_BANKS_REMAP_ROWS_AVAIL_PARTIAL", "DEV_BANK_REMAP_AVAIL_PARTIAL", "RRAP", "banks", "banks with some"),
    Field(388, "DEV_BANKS_REMAP_ROWS_AVAIL_LOW", "DEV_BANK_REMAP_AVAIL_LOW", "RRAL", "banks", "banks with few"),
    Field(
        389,
        "DEV_BANKS_REMAP_ROWS_AVAIL_NONE",
        "DEV_BANK_REMAP_AVAIL_NONE",
        "RRAN",
        "banks",
        "banks with none left: their next bad row cannot be remapped",
    ),
    Field(390, "DEV_RETIRED_SBE", "DEV_PAGE_RETIRED_SBE_TOTAL", "RPSBE", "pages", "retired pages due to SBE (pre-Ampere)"),
    Field(391, "DEV_RETIRED_DBE", "DEV_PAGE_RETIRED_DBE_TOTAL", "RPDBE", "pages", "retired pages due to DBE (pre-Ampere)"),
    Field(392, "DEV_RETIRED_PENDING", "DEV_PAGE_RETIRED_PENDING", "RPPEN", "0/1", "page retirement pending"),
    Field(
        393,
        "DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "DEV_ROW_REMAP_UNCORRECTABLE_TOTAL",
        "URMPS",
        "rows",
        "rows remapped after uncorrectable errors",
    ),
    Field(
        394, "DEV_CORRECTABLE_REMAPPED_ROWS", "DEV_ROW_REMAP_CORRECTABLE_TOTAL", "CRMPS", "rows", "rows remapped after correctable errors"
    ),
    Field(395, "DEV_ROW_REMAP_FAILURE", "DEV_ROW_REMAP_FAILED", "RRF", "0/1", "1: a row could not be remapped"),
    Field(396, "DEV_ROW_REMAP_PENDING", "", "RRP", "0/1", "row remap pending a GPU reset"),
    Field(
        409,
        "DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_CRC_FLIT_ERROR_TOTAL",
        "NFELT",
        "count",
        "NVLink CRC flit errors, all links",
    ),
    Field(
        419,
        "DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_CRC_DATA_ERROR_TOTAL",
        "NDELT",
        "count",
        "NVLink CRC data errors, all links",
    ),
    Field(420, "DEV_NVLINK_REPLAY_ERROR_COUNT_L0", "DEV_NVLINK_REPLAY_ERROR_L0_TOTAL", "NREL0", "count", "NVLink replay errors, link 0"),
    Field(421, "DEV_NVLINK_REPLAY_ERROR_COUNT_L1", "DEV_NVLINK_REPLAY_ERROR_L1_TOTAL", "NREL1", "count", "NVLink replay errors link 1"),
    Field(422, "DEV_NVLINK_REPLAY_ERROR_COUNT_L2", "DEV_NVLINK_REPLAY_ERROR_L2_TOTAL", "NREL2", "count", "NVLink replay errors link 2"),
    Field(429, "DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", "DEV_NVLINK_REPLAY_ERROR_TOTAL", "NRELT", "count", "NVLink replay errors, all links"),
    Field(
        439,
        "DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "DEV_NVLINK_RECOVERY_ERROR_TOTAL",
        "NRCLT",
        "count",
        "NVLink recovery errors, all links",
    ),
    Field(440, "DEV_NVLINK_BANDWIDTH_L0", "DEV_NVLINK_THROUGHPUT_L0", "NBWL0", "MB", "NVLink throughput link 0"),
    Field(449, "DEV_NVLINK_BANDWIDTH_TOTAL", "DEV_NVLINK_THROUGHPUT_TOTAL", "NBWLT", "MB", "NVLink throughput total, both directions"),
    Field(450, "DEV_GPU_NVLINK_ERRORS", "DEV_NVLINK_ERROR", "GNVERR", "count", "NVLink errors of the GPU"),
    Field(843, "DEV_NVLINK_TX_BANDWIDTH_TOTAL", "DEV_NVLINK_TX_THROUGHPUT_TOTAL", "NTXBWLT", "MB", "NVLink TX total"),
    Field(856, "DEV_NVSWITCH_FATAL_ERRORS", "DEV_SXID_FATAL_ERROR", "SEN00", "", "NVSwitch fatal SXid"),
    Field(857, "DEV_NVSWITCH_NON_FATAL_ERRORS", "DEV_SXID_NON_FATAL_ERROR", "SEN01", "", "NVSwitch non-fatal SXid"),
    Field(897, "DEV_NVLINK_RX_BANDWIDTH_TOTAL", "DEV_NVLINK_RX_THROUGHPUT_TOTAL", "NRXBWLT", "MB", "NVLink RX total"),
    Field(1001, "PROF_GR_ENGINE_ACTIVE", "PROF_GR_ENGINE_UTIL_RATIO", "GRACT", "ratio", "graphics or compute engine active"),
    Field(1002, "PROF_SM_ACTIVE", "PROF_SM_UTIL_RATIO", "SMACT", "ratio", "share of SM cycles with a warp resident"),
    Field(1003, "PROF_SM_OCCUPANCY", "PROF_SM_OCCUPANCY_RATIO", "SMOCC", "ratio", "resident warps / maximum"),
    Field(1004, "PROF_PIPE_TENSOR_ACTIVE", "PROF_TENSOR_UTIL_RATIO", "TENSO", "ratio", "tensor pipe active"),
    Field(1005, "PROF_DRAM_ACTIVE", "PROF_DRAM_UTIL_RATIO", "DRAMA", "ratio", "device-memory interface active"),
    Field(1006, "PROF_PIPE_FP64_ACTIVE", "PROF_FP64_UTIL_RATIO", "FP64A", "ratio", "FP64 pipe"),
    Field(1007, "PROF_PIPE_FP32_ACTIVE", "PROF_FP32_UTIL_RATIO", "FP32A", "ratio", "FP32 pipe"),
    Field(1008, "PROF_PIPE_FP16_ACTIVE", "PROF_FP16_UTIL_RATIO", "FP16A", "ratio", "FP16 pipe"),
    Field(1009, "PROF_PCIE_TX_BYTES", "", "PCITX", "B/s", "PCIe TX bytes per second"),
    Field(1010, "PROF_PCIE_RX_BYTES", "", "PCIRX", "B/s", "PCIe RX"),
    Field(1011, "PROF_NVLINK_TX_BYTES", "", "NVLTX", "B/s", "NVLink TX"),
    Field(1012, "PROF_NVLINK_RX_BYTES", "", "NVLRX", "B/s", "NVLink RX"),
    Field(1420, "DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP_NS", "", "CLKPCNS", "ns", "time in SW power cap"),
    Field(1421, "DEV_CLOCKS_EVENT_REASON_SYNC_BOOST_NS", "", "CLKBSTNS", "ns", "time in sync boost"),
    Field(1422, "DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN_NS", "", "CLKSWTHNS", "ns", "time in SW thermal slowdown"),
    Field(1423, "DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", "", "CLKHWTHNS", "ns", "time in HW thermal slowdown"),
    Field(1424, "DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN_NS", "", "CLKEPBSNS", "ns", "time in HW power brake"),
    Field(1501, "DEV_PCIE_COUNT_CORRECTABLE_ERRORS", "DEV_PCIE_CORRECTABLE_ERROR_TOTAL", "PCIECOER", "count", "PCIe correctable errors"),
    Field(1502, "IMEX_DOMAIN_STATUS", "", "IMEXD", "", "IMEX domain status"),
    Field(1503, "IMEX_DAEMON_STATUS", "", "IMEXS", "", "IMEX daemon status"),
    Field(1507, "DEV_MEMORY_UNREPAIRABLE_FLAG", "DEV_MEMORY_UNREPAIRABLE", "MEMUNR", "0/1", "memory unrepairable"),
    Field(
        1523,
        "DEV_GET_GPU_RECOVERY_ACTION",
        "DEV_GPU_RECOVERY_ACTION",
        "GPURECOV",
        "",
        "0 none, 1 reset, 2 reboot, 3 drain P2P, 4 drain and reset, 5 recover IMEX",
    ),
)
BY_ID: dict[int, Field] = {field.id: field for field in FIELDS}
BY_HEADER: dict[str, Field] = {field.header: field for field in FIELDS}
BY_NAME: dict[str, Field] = {name: field for field in FIELDS for name in (field.name, field.renamed) if name}

# Field id → the field of facts.gpu.GpuSample that it fills, in the unit of both. 155 is the board's average, 157 the moment.
SAMPLE: dict[int, str] = {
    150: "temperature",
    140: "memory_temperature",
    153: "margin",
    151: "memory_temperature_max",
    152: "temperature_max_operating",
    158: "temperature_slowdown",
    159: "temperature_shutdown",
    155: "power",
    164: "power_limit",
    163: "power_limit_default",
    100: "sm_clock",
    113: "sm_clock_max",
    110: "application_clock",
    101: "memory_clock",
    203: "utilisation",
    190: "pstate",
    191: "fan",
    112: "reasons",
    310: "ecc_corrected",
    204: "memory_utilisation",
    250: "memory_total",
    251: "memory_free",
    252: "memory_used",
    1001: "engine_active",
    1002: "sm_active",
    1004: "tensor_active",
    1005: "dram_active",
}
# Counters of time below the wanted clocks → the reason, by the names of knowledge/clock_reasons. NVML counts "power" and "thermal" (240,
# 241) without saying whether hardware or software slowed down. They hold nanoseconds since the driver was loaded; the texts of older
# releases say microseconds.
THROTTLED: dict[int, str] = {
    240: "power",
    241: "thermal",
    242: "sync_boost",
    243: "board_limit",
    245: "reliability",
    1420: "sw_power_cap",
    1421: "sync_boost",
    1422: "sw_thermal",
    1423: "hw_thermal",
    1424: "hw_power_brake",
}
NANOSECONDS = 1e-9


def find_field(name: str) -> Field | None:
    """The field behind a metric's or a constant's name, by either of its names.

    >>> find_field("DCGM_FI_DEV_GPU_TEMP").id, find_field("DCGM_FI_DEV_GPU_TEMP_CELSIUS").id, find_field("up")
    (150, 150, None)
    """
    return BY_NAME.get(name.removeprefix("DCGM_FI_"))
