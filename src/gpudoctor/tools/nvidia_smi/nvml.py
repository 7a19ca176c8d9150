"""NVML's answers, as `probes/nvml_child.py` prints them: one JSON object.

    {"nvml": 1,                                          the version of this format
     "driver": "570.172.08", "library": "12.570.172.08", "cuda": "12.8",   where they could be read
     "code": 0, "error": "",                             of nvmlInit: 18, "Driver/library version mismatch"
     "gpus": [{"index": 0, "uuid": "GPU-…", "pci": "00000000:1B:00.0", "temperature": 41, "reasons": 4,
               "ecc_uncorrected_volatile": {"error": 3, "text": "Not Supported"}, …}],
     "processes": [{"uuid": "GPU-…", "pid": 4711, "process": "python", "kind": "C", "memory": 1024}],
     "samples": [{"time": 1772366400.0, "uuid": "GPU-…", "sm_clock": 1410, "reasons": 4, "throttled": {"sw_power_cap": 0.2}, …}]}

The keys of a GPU, a process and a sample are the fields of `facts.gpu.Gpu`, `GpuProcess` and `GpuSample` with their units. `reasons` is
NVML's mask or a list of names. A value that NVML refused is {"error": return code, "text": nvmlErrorString}: code 3 is no such feature,
any other one stands in `unreadable` too. A GPU whose handle could not be got is {"index": 2, "error": 15, "text": "GPU is lost"}.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.gpu import Gpu, GpuProcess, GpuSample, Smi
from gpudoctor.knowledge import clock_reasons, gpu_features
from gpudoctor.probes.base import Output
from gpudoctor.tools.common import pci
from gpudoctor.tools.nvidia_smi.errors import FAILURES
from gpudoctor.tools.nvidia_smi.values import SATURATED
from gpudoctor.tools.parser import ParseError

# nvmlReturn_t → the neutral word of Smi.problem (nvml.h). What isn't here is `other`.
CODES = {
    0: "",
    4: "insufficient_permissions",
    6: "no_devices",
    8: "power_cable",
    9: "driver_not_loaded",
    10: "timeout",
    11: "interrupt",
    12: "library_missing",
    14: "inforom",
    15: "gpu_lost",
    16: "reset_required",
    17: "insufficient_permissions",
    18: "mismatch",
    19: "in_use",
    999: "unknown_error",
}
# Not supported, no data; a function, argument or structure that an older driver doesn't know: nothing is wrong with the GPU.
NOT_SUPPORTED = frozenset({2, 3, 13, 21, 22, 25, 26})
MOST = 1024  # GPUs; samples and processes 64 times as many
TEXT = 200


def gpus(output: Output, about: Subject) -> Facts:
    """One Smi for NVML as a whole, a Gpu for each device, the processes."""
    if output.failure:
        problem = FAILURES.get(output.failure, "")
        return {"smi": [smi_record(output, about, {}, problem, output.reason)]} if problem == "timeout" else {}
    said = decode_answer(output)
    origin = Origin(output.origin_name(), 0, "")
    code = said.get("code")
    problem = CODES.get(code, "other") if isinstance(code, int) and code else ""
    found = [one for one in (gpu(raw, about, origin, said) for raw in object_list(said, "gpus", MOST)) if one]
    if not problem and not found:
        problem = "no_devices"
    answer = smi_record(output, about, said, problem, text(said.get("error")), len(found) if found or problem == "no_devices" else None)
    held = [one for one in (process(raw, about, origin, found) for raw in object_list(said, "processes", MOST * 64)) if one]
    if problem not in ("", "no_devices") and not found:  # it says nothing of GPUs: they were not read
        return {"smi": [answer]}
    return {"smi": [answer], "gpus": list(found), "gpu_processes": list(held)}


def samples(output: Output, about: Subject) -> Facts:
    """One GpuSample for each GPU and moment."""
    said = decode_answer(output)
    origin = Origin(output.origin_name(), 0, "")
    found: list[GpuSample] = []
    for raw in object_list(said, "samples", MOST * 64):
        values, gaps, _ = fields(GpuSample, raw)
        found.append(
            GpuSample(
                **{**values, **names(values, about), "time": values.get("time") or output.time or None, "seen_by": "NVML"},
                gaps=gaps,
                origin=origin,
            )
        )
    return {"gpu_samples": list(found)}


def decode_answer(output: Output) -> dict[str, Any]:
    """The JSON object, which must be of this format."""
    try:
        said = msgspec.json.decode(b"".join(output.pages))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"{output.origin_name()}: not the JSON of NVML: {str(error)[:200]}") from None
    if not isinstance(said, dict) or said.get("nvml") != 1:
        raise ParseError(f"{output.origin_name()}: not the JSON of NVML: {output.text[:80]!r}")
    return said


def smi_record(output: Output, about: Subject, said: dict[str, Any], problem: str, why: str, count: int | None = None) -> Smi:
    """The record of the answer as a whole."""
    return Smi(
        node=about.node,
        namespace=about.namespace,
        pod=about.pod,
        container=about.container,
        inside="pod" if about.pod else "node" if about.node else "",
        problem=problem,
        waited=output.seconds if output.failure else None,
        text=why,
        driver_version=text(said.get("driver")) or None,
        library_version=text(said.get("library")) or None,
        cuda_version=text(said.get("cuda")) or None,
        gpus=count,
        origin=Origin(output.origin_name(), 0, why),
    )


def gpu(raw: dict[str, Any], about: Subject, origin: Origin, said: dict[str, Any]) -> Gpu | None:
    """One device; None for one that has no name at all."""
    values, gaps, bad = fields(Gpu, raw)
    if isinstance(raw.get("error"), int):  # its handle
        bad = ["handle", *bad]
        gaps["handle"] = text(raw.get("text"))
    values |= names(values, about)
    if not (values["gpu"] or values.get("index") is not None):
        return None
    values.setdefault("driver_version", text(said.get("driver")))
    first = raw if isinstance(raw.get("error"), int) else next((raw[name] for name in bad if isinstance(raw.get(name), dict)), {})
    problem = CODES.get(first.get("error", 0), "other") if bad else ""
    gaps = gpu_features.doubted_gaps(gaps, values.get("product", ""), values.get("ecc_mode"))
    return Gpu(**values, unreadable=bad[:32], problem=problem, gaps=gaps, origin=origin)


def process(raw: dict[str, Any], about: Subject, origin: Origin, known: list[Gpu]) -> GpuProcess | None:
    """One process; None without its number."""
    values, gaps, _ = fields(GpuProcess, raw)
    if "pid" not in values:
        return None
    values |= names(values, about)
    owner = next((one for one in known if one.uuid and one.uuid == values.get("uuid")), None)
    if owner and not values.get("pci"):
        values["pci"] = owner.pci
    return GpuProcess(**values, gaps=gaps, origin=origin)


def names(values: dict[str, Any], about: Subject) -> dict[str, str]:
    """Node and name of a GPU."""
    address = pci.canonical(values.get("pci", ""))
    return {"node": about.node, "pci": address, "gpu": values.get("uuid") or address}


def fields(kind: type[msgspec.Struct], raw: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """(values, gaps, unreadable) of the keys that are fields of the kind and have its types; the rest is left out."""
    values: dict[str, Any] = {}
    gaps: dict[str, str] = {}
    bad: list[str] = []
    for field in msgspec.structs.fields(kind):
        value = raw.get(field.name)
        if value is None or field.name in ("origin", "gaps", "node", "gpu", "unreadable", "problem"):
            continue
        if isinstance(value, dict) and isinstance(value.get("error"), int):
            gaps[field.name] = text(value.get("text")) or f"NVML error {value['error']}"
            bad += [field.name] if value["error"] not in NOT_SUPPORTED else []
        elif field.name == "reasons":
            values["reasons"] = reasons(value)
        elif isinstance(value, int) and not isinstance(value, bool) and value in SATURATED:
            gaps[field.name] = "saturated"
        else:
            kinds = [part for part in (get_args(field.type) or (field.type,)) if part is not type(None)]
            if (made := fit_value(value, kinds)) is not None:
                values[field.name] = made
    return values, gaps, bad


def fit_value(value: Any, kinds: list[Any]) -> Any:
    """The value, where a field of these types accepts it, else None."""
    if isinstance(value, bool):
        return value if bool in kinds else None
    if isinstance(value, int):
        return value if int in kinds else float(value) if float in kinds and abs(value) < 2**63 else None
    if isinstance(value, float):
        return value if float in kinds else None
    if isinstance(value, str):
        return value[:TEXT] if str in kinds else None
    if isinstance(value, dict) and float in kinds:  # throttled: dict[str, float]
        return {str(key): float(one) for key, one in list(value.items())[:64] if isinstance(one, int | float) and abs(one) < 2**63}
    return None


def reasons(value: Any) -> list[str]:
    """The names of a mask, or those of a list that are known."""
    if isinstance(value, int):
        return clock_reasons.from_mask(value)
    return [name for name in value if isinstance(name, str) and name in clock_reasons.REASONS] if isinstance(value, list) else []


def object_list(said: dict[str, Any], name: str, most: int) -> list[dict[str, Any]]:
    """The objects of a named list."""
    found = said.get(name)
    return [one for one in found[:most] if isinstance(one, dict)] if isinstance(found, list) else []


def text(value: Any) -> str:
    """A text, "" for anything else."""
    return value[:TEXT] if isinstance(value, str) else ""
