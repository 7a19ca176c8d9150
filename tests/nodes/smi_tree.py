"""The parts of nvidia-smi -q whose shape depends on the driver's release or on the card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

Branch: TypeAlias = "tuple[str, str, str | list[Branch]]"
Tree: TypeAlias = "list[Branch]"

GONE: Branch = ("", "", "")
REASONS = (  # name in knowledge/clock_reasons, tag, label, depth of the label
    ("idle", "gpu_idle", "Idle"),
    ("applications_clocks", "applications_clocks_setting", "Applications Clocks Setting"),
    ("sw_power_cap", "sw_power_cap", "SW Power Cap"),
    ("hw_slowdown", "hw_slowdown", "HW Slowdown"),
    ("hw_thermal", "hw_thermal_slowdown", "    HW Thermal Slowdown"),
    ("hw_power_brake", "hw_power_brake_slowdown", "    HW Power Brake Slowdown"),
    ("sync_boost", "sync_boost", "Sync Boost"),
    ("sw_thermal", "sw_thermal_slowdown", "SW Thermal Slowdown"),
    ("display", "display_clocks_setting", "Display Clock Setting"),
)
COUNTERS = (  # the same, of the counters that R560 and later show
    ("sw_power_cap", "sw_power_cap", "SW Power Capping"),
    ("sync_boost", "sync_boost", "Sync Boost"),
    ("sw_thermal", "sw_therm_slowdown", "SW Thermal Slowdown"),
    ("hw_thermal", "hw_therm_slowdown", "HW Thermal Slowdown"),
    ("hw_power_brake", "hw_power_brake", "HW Power Braking"),
)


def release(driver: str) -> int:
    """The branch of a driver: 570.172.08 → 570."""
    return int(driver.partition(".")[0])


def architecture(product: str) -> str:
    """The name nvidia-smi gives the generation of a product."""
    known = {
        "H100": "Hopper",
        "H200": "Hopper",
        "B200": "Blackwell",
        "A100": "Ampere",
        "V100": "Volta",
        "T4": "Turing",
        "L40": "Ada Lovelace",
    }
    return next((name for mark, name in known.items() if mark in product), "Ampere")


def reasons(active: tuple[str, ...], counters: dict[str, int], number: int) -> Iterator[Branch]:
    """The clock event reasons, under the name that the release has for them."""
    word = "event" if number >= 535 else "throttle"
    lit = {True: "Active", False: "Not Active"}
    yield (
        f"clocks_{word}_reasons",
        f"Clocks {word.title()} Reasons",
        [(f"clocks_{word}_reason_{tag}", label, lit[name in active]) for name, tag, label in REASONS],
    )
    if number >= 560:
        yield (
            "clocks_event_reasons_counters",
            "Clocks Event Reasons Counters",
            [(f"clocks_event_reasons_counters_{tag}", label, f"{counters.get(name, 0)} us") for name, tag, label in COUNTERS],
        )


def rows(mode: str, volatile: tuple[int, int, int, int], aggregate: tuple[int, int, int, int], over: str, number: int) -> Iterator[Branch]:
    """The ECC counts: R550 splits the uncorrected ones of SRAM in two and adds the threshold."""
    on = mode == "Enabled"

    def counted(counts: tuple[int, int, int, int]) -> Tree:
        sram, bad_sram, dram, bad_dram = (str(count) if on else "N/A" for count in counts)
        split: Tree = [("sram_uncorrectable", "SRAM Uncorrectable", bad_sram)]
        if number >= 550:
            parity = ("sram_uncorrectable_parity", "SRAM Uncorrectable Parity", "0" if on else "N/A")
            split = [parity, ("sram_uncorrectable_secded", "SRAM Uncorrectable SEC-DED", bad_sram)]
        more: Tree = [("dram_correctable", "DRAM Correctable", dram), ("dram_uncorrectable", "DRAM Uncorrectable", bad_dram)]
        return [("sram_correctable", "SRAM Correctable", sram), *split, *more]

    whole = counted(aggregate)
    if number >= 550:
        whole.append(("sram_threshold_exceeded", "SRAM Threshold Exceeded", over if on else "N/A"))
    yield ("ecc_errors", "ECC Errors", [("volatile", "Volatile", counted(volatile)), ("aggregate", "Aggregate", whole)])


def retired(
    pages: tuple[int, int, str] | None, remapped: tuple[int, int, str, str], banks: tuple[int, int, int, int, int]
) -> Iterator[Branch]:
    """Retired pages of cards before Ampere, remapped rows of those after."""
    single, double, pending = (str(pages[0]), str(pages[1]), pages[2]) if pages else ("N/A", "N/A", "N/A")
    yield (
        "retired_pages",
        "Retired Pages",
        [
            ("multiple_single_bit_retirement", "", [("retired_count", "Single Bit ECC", single)]),
            ("double_bit_retirement", "", [("retired_count", "Double Bit ECC", double)]),
            ("pending_blacklist", "Pending Page Blacklist", pending),
        ],
    )
    if pages:
        yield ("remapped_rows", "Remapped Rows", "N/A")
        return
    words = ("max", "high", "partial", "low", "none")
    histogram: Tree = [
        (f"row_remapper_histogram_{word}", word.title(), f"{count} bank(s)") for word, count in zip(words, banks, strict=True)
    ]
    yield (
        "remapped_rows",
        "Remapped Rows",
        [
            ("remapped_row_corr", "Correctable Error", str(remapped[0])),
            ("remapped_row_unc", "Uncorrectable Error", str(remapped[1])),
            ("remapped_row_pending", "Pending", remapped[2]),
            ("remapped_row_failure", "Remapping Failure Occurred", remapped[3]),
            ("row_remapper_histogram", "Bank Remap Availability Histogram", histogram),
        ],
    )


def temperature(core: int, margin: int | None, memory: int | None) -> Branch:
    """Margins to the limits on Hopper and later, the limits themselves before."""
    made: Tree = [("gpu_temp", "GPU Current Temp", f"{core} C")]
    shown = "N/A" if memory is None else f"{memory} C"
    if margin is None:
        made += [
            ("gpu_temp_max_threshold", "GPU Shutdown Temp", "92 C"),
            ("gpu_temp_slow_threshold", "GPU Slowdown Temp", "89 C"),
            ("gpu_temp_max_gpu_threshold", "GPU Max Operating Temp", "85 C"),
            ("gpu_target_temperature", "GPU Target Temperature", "N/A"),
            ("memory_temp", "Memory Current Temp", shown),
            ("gpu_temp_max_mem_threshold", "Memory Max Operating Temp", "N/A" if memory is None else "95 C"),
        ]
    else:
        made += [
            ("gpu_temp_tlimit", "GPU T.Limit Temp", f"{margin} C"),
            ("gpu_temp_max_tlimit_threshold", "GPU Shutdown T.Limit Temp", "-8 C"),
            ("gpu_temp_slow_tlimit_threshold", "GPU Slowdown T.Limit Temp", "-2 C"),
            ("gpu_temp_max_gpu_tlimit_threshold", "GPU Max Operating T.Limit Temp", "0 C"),
            ("gpu_target_temperature", "GPU Target Temperature", "N/A"),
            ("memory_temp", "Memory Current Temp", shown),
            ("gpu_temp_max_mem_tlimit_threshold", "Memory Max Operating T.Limit Temp", "0 C"),
        ]
    return ("temperature", "Temperature", made)


def power(draw: float, limit: float, default: float, number: int) -> Branch:
    """The power readings: one draw up to R560, average and instantaneous later; "Enforced" became "Current" with R535."""
    watts = f"{draw:.2f} W"
    made: Tree
    if number >= 565:
        made = [("average_power_draw", "Average Power Draw", watts), ("instant_power_draw", "Instantaneous Power Draw", watts)]
    else:
        made = [("power_draw", "Power Draw", watts)]
    if number >= 535:
        made += [
            ("current_power_limit", "Current Power Limit", f"{limit:.2f} W"),
            ("requested_power_limit", "Requested Power Limit", f"{limit:.2f} W"),
        ]
    else:
        made += [("power_limit", "Power Limit", f"{limit:.2f} W")]
    made.append(("default_power_limit", "Default Power Limit", f"{default:.2f} W"))
    if number < 535:
        made.append(("enforced_power_limit", "Enforced Power Limit", f"{limit:.2f} W"))
    made += [("min_power_limit", "Min Power Limit", "200.00 W"), ("max_power_limit", "Max Power Limit", f"{default:.2f} W")]
    return ("gpu_power_readings", "GPU Power Readings", made) if number >= 535 else ("power_readings", "Power Readings", made)
