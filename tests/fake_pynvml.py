"""Stands in for `pynvml` in the child process that asks NVML: two GPUs, and what $FAKE_NVML names goes wrong."""

from __future__ import annotations

import os
import time
from types import SimpleNamespace

WRONG = os.environ.get("FAKE_NVML", "")
NVML_FI_DEV_MEMORY_TEMP = 82
NVML_FI_DEV_GET_GPU_RECOVERY_ACTION = 230
NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP = 74
TEXTS = {3: "Not Supported", 15: "GPU is lost", 18: "Driver/library version mismatch", 13: "Function Not Found", 999: "Unknown Error"}


class NVMLError(Exception):
    def __init__(self, value: int) -> None:
        super().__init__(TEXTS.get(value, str(value)))
        self.value = value


def nvmlInit() -> None:
    if WRONG == "mismatch":
        raise NVMLError(18)
    while WRONG == "hangs":
        time.sleep(1)


def nvmlErrorString(code: int) -> str:
    if WRONG == "mismatch":
        raise NVMLError(1)
    return TEXTS[code]


def nvmlSystemGetDriverVersion() -> bytes:
    return b"570.172.08"


def nvmlSystemGetNVMLVersion() -> str:
    return "12.570.172.08"


def nvmlSystemGetCudaDriverVersion() -> int:
    return 12080


def nvmlDeviceGetCount() -> int:
    if WRONG == "count":
        raise NVMLError(999)
    return 0 if WRONG == "none" else 2


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    if WRONG == "lost" and index == 1:
        raise NVMLError(15)
    return index


def nvmlDeviceGetUUID(gpu: int) -> str:
    return f"GPU-0000000{gpu}-1111-2222-3333-444444444444"


def nvmlDeviceGetPciInfo(gpu: int) -> SimpleNamespace:
    return SimpleNamespace(busId=f"00000000:{gpu + 1}B:00.0".encode())


def nvmlDeviceGetName(gpu: int) -> str:
    return "NVIDIA H100 80GB HBM3"


def nvmlDeviceGetTemperature(gpu: int, sensor: int) -> int:
    if WRONG == "temperature":
        raise NVMLError(999)
    return 41


def nvmlDeviceGetPowerUsage(gpu: int) -> int:
    return 123456


def nvmlDeviceGetFanSpeed(gpu: int) -> int:
    raise NVMLError(3)


def nvmlDeviceGetPersistenceMode(gpu: int) -> int:
    return 1


def nvmlDeviceGetMigMode(gpu: int) -> list[int]:
    return [0, 1]


def nvmlDeviceGetMemoryInfo(gpu: int) -> SimpleNamespace:
    return SimpleNamespace(used=2 << 20, total=80 << 30)


def nvmlDeviceGetRemappedRows(gpu: int) -> tuple[int, int, int, int]:
    return (1, 2, 1, 0)


def nvmlDeviceGetCurrentClocksEventReasons(gpu: int) -> int:
    raise NVMLError(13)  # before R535


def nvmlDeviceGetCurrentClocksThrottleReasons(gpu: int) -> int:
    return 0x44


def nvmlDeviceGetPerformanceState(gpu: int) -> int:
    return 0


def nvmlDeviceGetClockInfo(gpu: int, clock: int) -> int:
    return {1: 1410, 2: 2619}[clock]


def nvmlDeviceGetTotalEccErrors(gpu: int, kind: int, counter: int) -> int:
    return 2**64 - 1 if WRONG == "saturated" else 7


def nvmlDeviceGetFieldValues(gpu: int, fields: list[int]) -> list[SimpleNamespace]:
    values = {82: (1, "uiVal", 48), 230: (1, "uiVal", 2), 74: (3, "ullVal", 2_500_000_000)}
    if fields[0] not in values:
        return [SimpleNamespace(nvmlReturn=3)]
    kind, name, value = values[fields[0]]
    return [SimpleNamespace(nvmlReturn=0, valueType=kind, value=SimpleNamespace(**{name: value}))]


def nvmlDeviceGetComputeRunningProcesses(gpu: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=4711, usedGpuMemory=1 << 30)] if gpu == 0 else []


def nvmlDeviceGetGraphicsRunningProcesses(gpu: int) -> list[SimpleNamespace]:
    raise NVMLError(3)


def nvmlSystemGetProcessName(pid: int) -> bytes:
    return b"/usr/bin/python3"
