"""NVML in a process of its own, since a call into a sick driver can hang for ever: `python -m gpudoctor.probes.nvml_child gpus`,
or `… samples SECONDS EVERY`. Prints one JSON object; what is in it stands in tools/nvidia_smi/nvml.py.

Every field is read by itself: an error of one is {"error": nvmlReturn_t, "text": …} there, and the others are read all the same.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from typing import Any

from gpudoctor.probes.nvml_fields import COUNTERS, FUNCTION_NOT_FOUND, GPU, MIB, NAMES, SAMPLE, Read, field, text

LIBRARY_NOT_FOUND, UNKNOWN = 12, 999  # nvmlReturn_t
NANO = 1e-9
MOST_SAMPLES = 600
PROCESSES = {"C": "ComputeRunningProcesses", "G": "GraphicsRunningProcesses"}


def refusal(nvml: Any, error: Exception) -> dict[str, Any]:
    """An error in the form of the answer."""
    code = getattr(error, "value", None)
    if isinstance(error, AttributeError):
        code = FUNCTION_NOT_FOUND  # this pynvml doesn't know it
    elif not isinstance(code, int):
        return {"error": UNKNOWN, "text": f"{type(error).__name__}: {error}"[:200]}
    try:
        words = text(nvml.nvmlErrorString(code))
    except Exception:  # without the library nothing can be asked, not even that
        words = str(error)
    return {"error": code, "text": words}


def read(nvml: Any, gpu: Any, table: dict[str, Read]) -> dict[str, Any]:
    """The fields of a table."""
    found: dict[str, Any] = {}
    for name, reader in table.items():
        try:
            value = text(reader(nvml, gpu))
        except Exception as error:  # whatever a driver, a binding or a number that nobody knows makes of it
            value = refusal(nvml, error)
        if value is not None:
            found[name] = value
    return found


def handles(nvml: Any) -> list[tuple[dict[str, Any], Any]]:
    """(index, handle) of each GPU; a handle that can't be got is None, and the error stands beside the index."""
    found: list[tuple[dict[str, Any], Any]] = []
    for index in range(nvml.nvmlDeviceGetCount()):
        try:
            found.append(({"index": index}, nvml.nvmlDeviceGetHandleByIndex(index)))
        except Exception as error:
            found.append(({"index": index, **refusal(nvml, error)}, None))
    return found


def gpus(nvml: Any) -> dict[str, Any]:
    """Every GPU and what holds it."""
    found, processes = [], []
    for index, gpu in handles(nvml):
        one = index if gpu is None else {**index, **read(nvml, gpu, GPU)}
        found.append(one)
        for kind, name in PROCESSES.items() if gpu is not None else ():
            try:
                running = getattr(nvml, f"nvmlDeviceGet{name}")(gpu)
            except Exception:  # noqa: S112  # the table of a GPU that doesn't answer is empty; its fields say why
                continue
            for process in running:
                memory = process.usedGpuMemory
                held = {"memory": memory // MIB} if memory else {}
                processes.append({"uuid": one.get("uuid"), "pid": process.pid, "process": name_of(nvml, process.pid), "kind": kind, **held})
    return {"gpus": found, "processes": processes}


def name_of(nvml: Any, pid: int) -> str:
    """The name of a process, "" where NVML may not know."""
    try:
        return str(text(nvml.nvmlSystemGetProcessName(pid)))
    except Exception:
        return ""


def samples(nvml: Any, seconds: float, every: float) -> dict[str, Any]:
    """What each GPU does, again and again for `seconds`."""
    named = [({**index, **read(nvml, gpu, NAMES)}, gpu) for index, gpu in handles(nvml) if gpu is not None]
    taken: list[dict[str, Any]] = []
    begun = time.monotonic()
    for number in range(min(MOST_SAMPLES, max(2, int(seconds / every) + 1))):
        time.sleep(max(0.0, begun + number * every - time.monotonic()))
        for names, gpu in named:
            counted = read(nvml, gpu, {reason: field(name) for reason, name in COUNTERS.items()})
            throttled = {reason: value * NANO for reason, value in counted.items() if isinstance(value, int)}
            taken.append({"time": time.time(), **names, **read(nvml, gpu, SAMPLE), "throttled": throttled})
    return {"samples": taken}


def cuda(number: int) -> str:
    """12080 as 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"


def system(nvml: Any) -> dict[str, Any]:
    """The versions of the driver, of NVML, and of CUDA as far as the driver supports it."""
    found = read(
        nvml,
        None,
        {
            "driver": lambda module, _: module.nvmlSystemGetDriverVersion(),
            "library": lambda module, _: module.nvmlSystemGetNVMLVersion(),
            "cuda": lambda module, _: cuda(module.nvmlSystemGetCudaDriverVersion()),
        },
    )
    return {name: value for name, value in found.items() if isinstance(value, str)}


def answer(words: list[str]) -> dict[str, Any]:
    """The whole answer to the words of the command line."""
    try:
        nvml = importlib.import_module("pynvml")
    except ImportError:
        return {"nvml": 1, "code": LIBRARY_NOT_FOUND, "error": "the Python package nvidia-ml-py is not installed"}
    try:
        nvml.nvmlInit()
    except Exception as error:
        refused = refusal(nvml, error)
        return {"nvml": 1, "code": refused["error"], "error": refused["text"]}
    try:
        found = samples(nvml, float(words[1]), float(words[2])) if words[0] == "samples" else gpus(nvml)
    except nvml.NVMLError as error:  # the count of the GPUs
        refused = refusal(nvml, error)
        return {"nvml": 1, **system(nvml), "code": refused["error"], "error": refused["text"]}
    return {"nvml": 1, **system(nvml), "code": 0, "error": "", **found}


if __name__ == "__main__":
    json.dump(answer(sys.argv[1:]), sys.stdout)
