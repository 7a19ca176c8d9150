"""Why a GPU runs below its highest clock: NVML's clock event reasons ("throttle reasons" before R535), under the names the facts use.

Source: nvml.h, nvmlClocksEventReasons* (bits); nvidia-smi(1) and `nvidia-smi --help-query-gpu` (words); DCGM field 112 is the same mask.
"""

from __future__ import annotations

from typing import NamedTuple


class ClockReason(NamedTuple):
    """`bit` in the mask; `words` are the spellings of nvidia-smi's text, XML and query fields, without their common beginnings.

    `normal`: a healthy GPU shows it (nothing to do, a setting, a power cap under full load), so it is no alarm by itself.
    """

    bit: int
    words: tuple[str, ...]
    normal: bool
    means: str


REASONS: dict[str, ClockReason] = {
    "idle": ClockReason(0x1, ("idle", "gpu_idle"), True, "nothing runs on the GPU"),
    "applications_clocks": ClockReason(
        0x2, ("applications_clocks_setting", "applications_clock_setting"), True, "application clocks are set"
    ),
    "sw_power_cap": ClockReason(0x4, ("sw_power_cap", "sw_power_capping"), True, "the software power limit is reached"),
    "hw_slowdown": ClockReason(0x8, ("hw_slowdown",), False, "the hardware halves the clocks: too hot, or the power brake"),
    "sync_boost": ClockReason(0x10, ("sync_boost",), True, "it keeps step with the other GPUs of a sync boost group"),
    "sw_thermal": ClockReason(
        0x20, ("sw_thermal_slowdown", "sw_therm_slowdown"), False, "the driver lowers the clocks: above the operating temperature"
    ),
    "hw_thermal": ClockReason(0x40, ("hw_thermal_slowdown", "hw_therm_slowdown"), False, "the hardware halves the clocks: too hot"),
    "hw_power_brake": ClockReason(
        0x80, ("hw_power_brake_slowdown", "hw_power_brake", "hw_power_braking"), False, "a signal from outside: power supply, chassis"
    ),
    "display": ClockReason(0x100, ("display_clock_setting", "display_clocks_setting"), True, "the display clock holds it"),
}
BY_WORD: dict[str, str] = {word: name for name, reason in REASONS.items() for word in (name, *reason.words)}
PREFIXES = (
    "clocks_event_reasons_counters",
    "clocks_event_reasons",
    "clocks_throttle_reasons",
    "clocks_event_reason",
    "clocks_throttle_reason",
)


def from_mask(mask: int) -> list[str]:
    """The names in a mask, in the order of their bits. A bit that isn't known here is left out.

    >>> from_mask(0x48), from_mask(0)
    (['hw_slowdown', 'hw_thermal'], [])
    """
    return [name for name, reason in REASONS.items() if mask & reason.bit]


def from_word(word: str) -> str:
    """The name behind a spelling of nvidia-smi, "" for none.

    >>> from_word("HW Thermal Slowdown"), from_word("clocks_throttle_reason_gpu_idle"), from_word("clocks_event_reasons.sw_power_cap")
    ('hw_thermal', 'idle', 'sw_power_cap')
    """
    plain = word.strip().lower().replace(" ", "_")
    for prefix in PREFIXES:
        if plain.startswith(prefix):
            plain = plain[len(prefix) :].lstrip("._")
            break
    return BY_WORD.get(plain, "")
