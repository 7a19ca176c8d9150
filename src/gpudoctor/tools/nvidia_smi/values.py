"""From nvidia-smi's words to the fields of a GPU: numbers with units, flags, N/A, errors, and values that can't be true."""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from gpudoctor.facts.gpu import Gpu, GpuSample
from gpudoctor.knowledge import clock_reasons, gpu_features
from gpudoctor.patterns import regex

# A cell with one of these is an error of this GPU, not a missing feature (nvmlErrorString; ERR! in the table) → the neutral word.
ERRORS = {
    "ERR!": "unknown_error",
    "Unknown Error": "unknown_error",
    "GPU requires reset": "reset_required",
    "GPU is lost": "gpu_lost",
    "Timeout": "timeout",
}
# R535 prints "Unknown Error" for the addressing mode of sound cards.
HARMLESS = frozenset({"Addressing Mode", "addressing_mode", "addressing_mode.current"})
TRUE, FALSE = frozenset({"yes", "1", "enabled", "on", "true", "active"}), frozenset({"no", "0", "disabled", "off", "false", "not active"})
# 70.50 W  |  16x  |  P0  |  -8 C  |  70,50 W (a locale with a decimal comma)
NUMBER = regex(r"[Px]?(-?\d{1,20})(?:[.,](\d{1,6}))?")
# What NVML answers for "no value": all bits of the counter's width.
SATURATED = frozenset({2**31 - 1, 2**32 - 1, 2**63 - 1, 2**64 - 1})
# field → the largest reading that a sensor or a bus can give; beyond, the reading itself is broken. °C in 8 bits; PCIe 6, 32 lanes.
LARGEST = {"temperature": 200, "memory_temperature": 200, "margin": 200, "utilisation": 100, "pcie_gen": 8, "pcie_width": 32, "pstate": 15}
# Fields that are False or "none" on a sound GPU.
TELLING = frozenset({"remap_failed", "remap_pending", "sram_threshold_exceeded", "retired_pending", "recovery_action"})
LONGEST, MOST = 100, 32  # characters of a text; fields that are named as unreadable


def kind_of(field: str) -> type:
    """The type of a field of Gpu without its None."""
    kind = KINDS.get(field, str)
    found: type = next((part for part in get_args(kind) if part is not type(None)), kind)
    return found


KINDS: dict[str, Any] = {field.name: field.type for field in msgspec.structs.fields(Gpu)}


class Card:
    """The values of one GPU while its text is read. The first word for a field wins; an error is kept beside it."""

    def __init__(self, line: int = 0, **known: Any) -> None:
        self.line = line
        self.telling = 0  # the line of the first value that no sound GPU has
        self.values: dict[str, Any] = {key: value for key, value in known.items() if value not in (None, "")}
        self.gaps: dict[str, str] = {}
        self.unreadable: list[str] = []
        self.problem = ""
        self.parts: dict[str, dict[str, int]] = {}  # of sums: corrected_volatile → {sram: 0, dram: 3}
        self.reasons: list[str] | None = None
        self.alarm = 0  # the line of an active reason that no healthy GPU has
        self.throttled: dict[str, float] = {}
        self.time: float | None = None
        self.processes: int | None = None
        self.guest = False  # a vGPU, as the machine that has it sees it

    def put(self, field: str, text: str, shown: str = "", line: int = 0) -> None:
        """One value under a field's name ("" when the name is not known: then only an error in it counts)."""
        bare = text.strip().strip("[]").strip()
        if bare in ERRORS:
            if shown not in HARMLESS and len(self.unreadable) < MOST:
                self.unreadable.append(field.lstrip("_") or shown)
                self.problem = self.problem or ERRORS[bare]
                self.telling = self.telling or line
            if field:
                self.gap(field, bare)
        elif field == "_reasons/mask":
            self.mask(bare)
        elif field.startswith("_"):
            self.part(field, bare)
        elif field and field not in self.values:
            value, why = read(field, bare)
            if value is None:
                self.gap(field, why)
            else:
                self.values[field] = value
                self.gaps.pop(field, None)
                if field in TELLING and value is not False and value != "none":
                    self.telling = self.telling or line

    def gap(self, field: str, why: str) -> None:
        """Note why a field has no value."""
        name = field.lstrip("_").partition("/")[0]
        if why and name not in self.values:
            self.gaps.setdefault(name, why)

    def part(self, field: str, bare: str) -> None:
        """One addend of a sum."""
        name, _, key = field[1:].partition("/")
        value, why = read("", bare, kind=bool if name == "reset" else int)
        if value is None:
            self.gap(field, why)
        else:
            self.parts.setdefault(name, {})[key] = int(value)

    def reason(self, name: str, text: str, line: int = 0) -> None:
        """Whether one clock event reason is active."""
        state = text.strip().lower()
        if state == "active":
            self.reasons = [*(self.reasons or []), name]
            if not clock_reasons.REASONS[name].normal:
                self.alarm = line
        elif state == "not active":
            self.reasons = self.reasons or []
        else:
            self.put("reasons", text)

    def mask(self, bare: str) -> None:
        """All reasons at once: 0x0000000000000004."""
        try:
            self.reasons = clock_reasons.from_mask(int(bare, 16)) if bare.lower().startswith("0x") and len(bare) <= 18 else self.reasons
        except ValueError:
            self.gap("reasons", bare[:LONGEST])

    def spent(self, name: str, text: str) -> None:
        """The counter of one reason, µs → seconds."""
        match = NUMBER.match(text.strip())
        if match and len(match.group(1)) < 19:
            self.throttled[name] = int(match.group(1)) / 1e6

    def done(self, **known: Any) -> Gpu:
        """The record."""
        values = {**self.values, **self.sums()}
        if self.reasons is not None:
            values["reasons"] = self.reasons
        if self.processes is not None:
            values["processes"] = self.processes
        gaps = {**lacking_fields(values, known, self.gaps), **self.gaps}
        gaps = {name: why for name, why in gaps.items() if name in KINDS and name not in values}
        gaps = gpu_features.doubted_gaps(gaps, str({**values, **known}.get("product", "")), values.get("ecc_mode"))
        return Gpu(**{**values, **known}, unreadable=self.unreadable, problem=self.problem, gaps=gaps)

    def sums(self) -> dict[str, Any]:
        """The fields that are made of several numbers."""
        made: dict[str, Any] = {}
        for span in ("volatile", "aggregate"):
            for kind in ("corrected", "uncorrected"):
                parts = self.parts.get(f"{kind}_{span}", {})
                field = f"ecc_{kind}_{span}"
                if parts:
                    made[field] = parts.get("total", sum(parts.values()))
                elif why := self.gaps.get(f"{kind}_{span}"):
                    self.gaps[field] = why
            sram = [self.parts.get(f"uncorrected_{span}", {}).get(key) for key in ("sram", "parity", "secded")]
            if known := [count for count in sram if count is not None]:
                made[f"sram_uncorrected_{span}"] = sum(known)
            elif why := self.gaps.get(f"uncorrected_{span}"):
                self.gaps[f"sram_uncorrected_{span}"] = why
        if pages := self.parts.get("retired"):
            made["retired_pages"] = sum(pages.values())
            if "double" in pages:
                made["retired_double"] = pages["double"]
        elif why := self.gaps.get("retired"):
            self.gaps["retired_pages"] = why
        # R535 to R560 say the recovery action in two flags.
        if (reset := self.parts.get("reset")) and "recovery_action" not in self.values:
            made["recovery_action"] = "reset" if reset.get("required") else "drain_and_reset" if reset.get("drain") else "none"
        return made

    def sample(self, gpu: Gpu, time: float | None) -> GpuSample | None:
        """What the card did at that moment; None where the answer shows nothing of it."""
        names = set(GpuSample.__struct_fields__) & set(KINDS) - {"origin", "gaps", "time"}
        values = {name: as_measured(name, getattr(gpu, name)) for name in names}
        measured = ("temperature", "power", "sm_clock", "reasons", "utilisation", "memory_used")
        if all(values[name] is None for name in measured) and not self.throttled and not gpu.ecc_corrected_volatile:
            return None
        gaps = {name: why for name, why in gpu.gaps.items() if name in GpuSample.__struct_fields__}
        return GpuSample(
            **values,
            throttled=self.throttled,
            ecc_corrected=gpu.ecc_corrected_volatile,
            time=self.time or time or None,
            origin=gpu.origin,
            gaps=gaps,
            seen_by="nvidia-smi",
        )


def as_measured(name: str, value: Any) -> Any:
    """A value of a sample: what is measured is a float there."""
    return float(value) if isinstance(value, int) and name not in ("index", "pstate") else value


def read(field: str, bare: str, kind: type | None = None) -> tuple[Any, str]:
    """(value, "") or (None, why there is none): `N/A`, `saturated`, what it says instead."""
    kind = kind or kind_of(field)
    if field == "recovery_action" and bare == "None":
        return "none", ""
    if bare in ("N/A", "Not Supported", "Not Available", "Unknown", "None", "") or bare.startswith("Requested functionality"):
        return None, bare[:LONGEST]
    if "????" in bare:  # /proc/driver/nvidia/gpus of a card that isn't started
        return None, bare[:LONGEST]
    if kind is str:  # Reset, Reboot, Drain P2P, Drain and Reset
        return (bare.lower().replace(" ", "_") if field == "recovery_action" else bare)[:LONGEST], ""
    if kind is bool:
        word = bare.lower()
        return (True, "") if word in TRUE else (False, "") if word in FALSE else (None, bare[:LONGEST])
    match = NUMBER.match(bare)
    if not match:
        return None, bare[:LONGEST]
    whole, fraction = int(match.group(1)), match.group(2)
    if abs(whole) in SATURATED or abs(whole) > LARGEST.get(field, 10**15):
        return None, "saturated"
    return (float(f"{whole}.{fraction or 0}") if kind is float else whole), ""


def lacking_fields(values: dict[str, Any], known: dict[str, Any], gaps: dict[str, str]) -> dict[str, str]:
    """What this product or driver doesn't have, though it isn't printed as N/A: rows are remapped from Ampere on, where pages are no longer
    retired (nvidia-smi(1)), and what has to be done is a field of its own from R565 on.
    """
    none = dict.fromkeys(("remap_pending", "remap_failed"), "N/A") if "retired_pages" in values or gaps.get("remap") == "N/A" else {}
    release = str(known.get("driver_version", "")).partition(".")[0]
    return none | ({"recovery_action": "N/A"} if release.isdigit() and int(release) < 565 else {})
