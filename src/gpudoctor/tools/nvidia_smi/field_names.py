"""What nvidia-smi calls the fields of a GPU: in the text of -q, in the XML of -q -x, as a column of --query-gpu. Data only.

Sources: nvidia-smi(1), `nvidia-smi --help-query-gpu` of 525 to 595, nvsmi_device_v7 to v13.dtd. Alternatives are separated by `|`. A path
names the sections around a value as far as it takes to tell it from others. A field that begins with `_` is a part of one:
see `nvidia_smi_values`.
"""

from __future__ import annotations

# field: (-q, -q -x, --query-gpu)
NAMES: dict[str, tuple[str, str, str]] = {
    "index": ("", "", "index"),
    "uuid": ("GPU UUID", "uuid", "uuid|gpu_uuid"),
    "pci": ("", "", "pci.bus_id|gpu_bus_id"),
    "product": ("Product Name", "product_name", "name|gpu_name"),
    "serial": ("Serial Number", "serial", "serial|gpu_serial"),
    "minor": ("Minor Number", "minor_number", ""),
    "part_number": ("Board Part Number", "board_part_number", ""),
    "vbios": ("VBIOS Version", "vbios_version", "vbios_version"),
    "inforom": ("Inforom Version/Image Version", "inforom_version/img_version", "inforom.img|inforom.image"),
    "gsp_firmware": ("GSP Firmware Version", "gsp_firmware_version", ""),
    "driver_version": ("", "", "driver_version"),
    "persistence": ("Persistence Mode", "persistence_mode", "persistence_mode"),
    "compute_mode": ("Compute Mode", "compute_mode", "compute_mode"),
    "mig_mode": ("MIG Mode/Current", "mig_mode/current_mig", "mig.mode.current"),
    "mig_pending": ("MIG Mode/Pending", "mig_mode/pending_mig", "mig.mode.pending"),
    "pstate": ("Performance State", "performance_state", "pstate"),
    "memory_used": ("FB Memory Usage/Used", "fb_memory_usage/used", "memory.used"),
    "memory_total": ("FB Memory Usage/Total", "fb_memory_usage/total", "memory.total"),
    "memory_reserved": ("FB Memory Usage/Reserved", "fb_memory_usage/reserved", "memory.reserved"),
    "bar1_total": ("BAR1 Memory Usage/Total", "bar1_memory_usage/total", ""),
    "utilisation": ("Utilization/Gpu|Utilization/GPU", "utilization/gpu_util", "utilization.gpu"),
    "temperature": ("Temperature/GPU Current Temp|Temperature/Gpu", "temperature/gpu_temp", "temperature.gpu"),
    "memory_temperature": ("Temperature/Memory Current Temp", "temperature/memory_temp", "temperature.memory"),
    "margin": ("Temperature/GPU T.Limit Temp", "temperature/gpu_temp_tlimit", "temperature.gpu.tlimit"),
    "margin_slowdown": ("Temperature/GPU Slowdown T.Limit Temp", "temperature/gpu_temp_slow_tlimit_threshold", ""),
    "temperature_max_operating": ("Temperature/GPU Max Operating Temp", "temperature/gpu_temp_max_gpu_threshold", ""),
    "temperature_slowdown": ("Temperature/GPU Slowdown Temp", "temperature/gpu_temp_slow_threshold", ""),
    "temperature_shutdown": ("Temperature/GPU Shutdown Temp", "temperature/gpu_temp_max_threshold", ""),
    "memory_temperature_max": ("Temperature/Memory Max Operating Temp", "temperature/gpu_temp_max_mem_threshold", ""),
    "fan": ("Fan Speed", "fan_speed", "fan.speed"),
    "power": (
        "Power Readings/Power Draw|GPU Power Readings/Power Draw|GPU Power Readings/Instantaneous Power Draw",
        "power_readings/power_draw|gpu_power_readings/power_draw|gpu_power_readings/instant_power_draw",
        "power.draw|power.draw.instant",
    ),
    "power_average": ("GPU Power Readings/Average Power Draw", "gpu_power_readings/average_power_draw", "power.draw.average"),
    "power_limit": (
        "Power Readings/Enforced Power Limit|GPU Power Readings/Current Power Limit",
        "power_readings/enforced_power_limit|gpu_power_readings/current_power_limit",
        "enforced.power.limit|power.limit",
    ),
    "power_limit_default": (
        "Power Readings/Default Power Limit|GPU Power Readings/Default Power Limit",
        "power_readings/default_power_limit|gpu_power_readings/default_power_limit",
        "power.default_limit",
    ),
    "power_limit_max": (
        "Power Readings/Max Power Limit|GPU Power Readings/Max Power Limit",
        "power_readings/max_power_limit|gpu_power_readings/max_power_limit",
        "power.max_limit",
    ),
    "sm_clock": ("Clocks/SM", "clocks/sm_clock", "clocks.current.sm|clocks.sm"),
    "sm_clock_max": ("Max Clocks/SM", "max_clocks/sm_clock", "clocks.max.sm"),
    "memory_clock": ("Clocks/Memory", "clocks/mem_clock", "clocks.current.memory|clocks.mem"),
    "application_clock": (
        "Applications Clocks/Graphics",
        "applications_clocks/graphics_clock",
        "clocks.applications.graphics|clocks.applications.gr",
    ),
    "application_clock_default": (
        "Default Applications Clocks/Graphics",
        "default_applications_clocks/graphics_clock",
        "clocks.default_applications.graphics|clocks.default_applications.gr",
    ),
    "pcie_gen": ("PCIe Generation/Current", "pcie_gen/current_link_gen", "pcie.link.gen.current|pcie.link.gen.gpucurrent"),
    "pcie_gen_max": ("PCIe Generation/Max", "pcie_gen/max_link_gen", "pcie.link.gen.max"),
    "pcie_gen_device": ("PCIe Generation/Device Max", "pcie_gen/max_device_link_gen", "pcie.link.gen.gpumax"),
    "pcie_gen_host": ("PCIe Generation/Host Max", "pcie_gen/max_host_link_gen", "pcie.link.gen.hostmax"),
    "pcie_width": ("Link Width/Current", "link_widths/current_link_width", "pcie.link.width.current"),
    "pcie_width_max": ("Link Width/Max", "link_widths/max_link_width", "pcie.link.width.max"),
    "pcie_replays": ("PCI/Replays Since Reset|PCI/Replays since reset", "pci/replay_counter", ""),
    "ecc_mode": ("ECC Mode/Current|Ecc Mode/Current", "ecc_mode/current_ecc", "ecc.mode.current"),
    "ecc_pending": ("ECC Mode/Pending|Ecc Mode/Pending", "ecc_mode/pending_ecc", "ecc.mode.pending"),
    "sram_threshold_exceeded": (
        "Aggregate/SRAM Threshold Exceeded",
        "aggregate/sram_threshold_exceeded",
        "ecc.errors.uncorrected.aggregate.sram.thresholdexceeded",
    ),
    "_remap/rows": ("Remapped Rows", "remapped_rows", ""),  # N/A for the whole section
    "remap_pending": ("Remapped Rows/Pending", "remapped_rows/remapped_row_pending", "remapped_rows.pending"),
    "remap_failed": ("Remapped Rows/Remapping Failure Occurred", "remapped_rows/remapped_row_failure", "remapped_rows.failure"),
    "remapped_correctable": ("Remapped Rows/Correctable Error", "remapped_rows/remapped_row_corr", "remapped_rows.correctable"),
    "remapped_uncorrectable": ("Remapped Rows/Uncorrectable Error", "remapped_rows/remapped_row_unc", "remapped_rows.uncorrectable"),
    "remap_banks_none": (
        "Bank Remap Availability Histogram/None",
        "row_remapper_histogram/row_remapper_histogram_none",
        "remapped_rows.histogram.none",
    ),
    "_retired/single": (
        "Retired Pages/Single Bit ECC",
        "multiple_single_bit_retirement/retired_count",
        "retired_pages.single_bit_ecc.count|retired_pages.sbe",
    ),
    "_retired/double": (
        "Retired Pages/Double Bit ECC",
        "double_bit_retirement/retired_count",
        "retired_pages.double_bit.count|retired_pages.dbe",
    ),
    "retired_pending": (
        "Retired Pages/Pending Page Blacklist|Retired Pages/Pending",
        "retired_pages/pending_retirement|retired_pages/pending_blacklist",
        "retired_pages.pending",
    ),
    "recovery_action": ("GPU Recovery Action", "gpu_recovery_action", "gpu_recovery_action"),
    "_reset/required": ("GPU Reset Status/Reset Required", "gpu_reset_status/reset_required", "reset_status.reset_required"),
    "_reset/drain": (
        "GPU Reset Status/Drain and Reset Recommended",
        "gpu_reset_status/drain_and_reset_recommended",
        "reset_status.drain_and_reset_recommended",
    ),
    "fabric_state": ("Fabric/State", "fabric/state", "fabric.state"),
    "fabric_status": ("Fabric/Status", "fabric/status", "fabric.status"),
    "fabric_health": ("Health/Summary", "health/summary", "fabric.health.summary"),
    "cluster_uuid": ("Fabric/ClusterUUID", "fabric/clusterUuid", "fabric.clusterUuid"),
    "_reasons/mask": ("", "", "clocks_event_reasons.active|clocks_throttle_reasons.active"),
}
# The ECC counts. Releases differ in how they are split: SRAM and DRAM (Ampere and later), the uncorrected ones of SRAM in parity and
# SEC-DED (R535 on Hopper, later everywhere); by memory with a total before Ampere.
for _span in ("Volatile", "Aggregate"):
    _s = _span.lower()
    for _place in ("SRAM", "DRAM"):
        _p = _place.lower()
        for _kind, _word in (("corrected", "Correctable"), ("uncorrected", "Uncorrectable")):
            NAMES[f"_{_kind}_{_s}/{_p}"] = (
                f"{_span}/{_place} {_word}",
                f"{_s}/{_p}_{_word.lower()}",
                f"ecc.errors.{_kind}.{_s}.{_p}",
            )
    NAMES[f"_uncorrected_{_s}/parity"] = (f"{_span}/SRAM Uncorrectable Parity", f"{_s}/sram_uncorrectable_parity", "")
    NAMES[f"_uncorrected_{_s}/secded"] = (f"{_span}/SRAM Uncorrectable SEC-DED", f"{_s}/sram_uncorrectable_secded", "")
    for _kind, _bits in (("corrected", "Single Bit"), ("uncorrected", "Double Bit")):
        _tag = _bits.lower().replace(" ", "_")
        NAMES[f"_{_kind}_{_s}/total"] = (f"{_span}/{_bits}/Total", f"{_s}/{_tag}/total", f"ecc.errors.{_kind}.{_s}.total")


def spellings(form: int) -> dict[str, str]:
    """Name → field, of one form: 0 is -q, 1 is -q -x, 2 is --query-gpu."""
    return {name: field for field, names in NAMES.items() for name in names[form].split("|") if name}


LABELS, TAGS = spellings(0), spellings(1)
COLUMNS = {name.lower(): field for name, field in spellings(2).items()}


def standalone_names(paths: dict[str, str], mark: str) -> dict[str, str]:
    """The names that say enough without their section, as `grep` leaves them: of several words, and of one field only."""
    tails: dict[str, set[str]] = {}
    for path, field in paths.items():
        tails.setdefault(path.rpartition("/")[2], set()).add(field)
    return {name: fields.pop() for name, fields in tails.items() if mark in name and len(fields) == 1}


LONELY = standalone_names(LABELS, " ")
LONELY_TAGS = standalone_names(TAGS, "_")
# The sections of -q -x, and what says enough alone: what a part of an answer begins with.
PARTS = frozenset({section for path in TAGS for section in path.split("/")[:-1] if "_" in section}) | LONELY_TAGS.keys()
