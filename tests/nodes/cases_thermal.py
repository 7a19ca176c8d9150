"""Machines whose GPUs run slower than they could, and two that only look so: a power cap at full load, and nothing to do."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

from gpudoctor.knowledge.clock_reasons import REASONS
from gpudoctor.library.index import library
from tests.nodes.case import Case, Said
from tests.nodes.error_metrics import PROMETHEUS, SOUND, read
from tests.nodes.smi import Card, Process, smi_xml

STEPS = {step.id: step for step in library().runbooks["thermal-throttle"].steps}
COLUMNS = next(word for word in STEPS["watch"].run if word.startswith("--query-gpu=")).partition("=")[2].split(",")
WATCH, WATCH_OLD = shlex.join(STEPS["watch"].run), shlex.join(STEPS["watch"].otherwise)
OLD_COLUMNS = next(word for word in STEPS["watch"].otherwise if word.startswith("--query-gpu=")).partition("=")[2].split(",")
UNITS = {"power": "[W]", "enforced": "[W]", "clocks": "[MHz]", "utilization": "[%]", "fan": "[%]"}
QUIET = "2026-03-01T09:02:11,000000+00:00 systemd[1]: Started Session 42 of user root.\n"
LOST = (
    "2026-03-01T12:00:10,000000+00:00 NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    "2026-03-01T12:00:10,000100+00:00 NVRM: GPU 0000:1b:00.0: GPU has fallen off the bus.\n"
)

WORK = (Process(48213, "/usr/bin/python3", 61020),)
FIRST = Card(
    0,
    "0000:1b:00.0",
    temperature=62,
    tlimit=24,
    memory_temperature=70,
    utilisation=100,
    power=652.3,
    sm_clock=1935,
    memory_used=61020,
    processes=WORK,
)
SECOND = replace(FIRST, index=1, pci="0000:43:00.0", temperature=60, tlimit=26, power=648.8, sm_clock=1950)
COOL = (FIRST, SECOND)
AMPERE = replace(
    FIRST,
    product="NVIDIA A100-SXM4-80GB",
    tlimit=None,
    memory_temperature=74,
    power=312.0,
    power_limit=400.0,
    power_default=400.0,
    sm_clock=1410,
    sm_clock_max=1410,
    application_clock=1275,
)


def csv(cards: tuple[Card, ...], second: int, columns: list[str] = COLUMNS) -> str:
    """One sample of the watching step: `--format=csv,nounits` keeps the units in the header."""
    shown = [
        f"{column} {unit}" if (unit := UNITS.get(column.partition(".")[0])) and "reasons" not in column else column for column in columns
    ]
    return "\n".join([", ".join(shown), *(", ".join(cell(card, column, second) for column in columns) for card in cards), ""])


def cell(card: Card, column: str, second: int) -> str:
    """One value of a sample."""
    known: dict[str, Any] = {
        "timestamp": f"2026/03/01 12:00:{second:02d}.250",
        "index": card.index,
        "uuid": card.name,
        "pci.bus_id": card.bus,
        "name": card.product,
        "pstate": f"P{card.pstate}",
        "temperature.gpu": card.temperature,
        "temperature.memory": "N/A" if card.memory_temperature is None else card.memory_temperature,
        "temperature.gpu.tlimit": "[N/A]" if card.tlimit is None else card.tlimit,
        "power.draw": f"{card.power:.2f}",
        "enforced.power.limit": f"{card.power_limit:.2f}",
        "power.default_limit": f"{card.power_default:.2f}",
        "clocks.current.sm": card.sm_clock,
        "clocks.max.sm": card.sm_clock_max,
        "clocks.applications.graphics": card.application_clock,
        "utilization.gpu": card.utilisation,
        "fan.speed": "[N/A]" if card.fan == "N/A" else card.fan,
    }
    mask = sum(REASONS[name].bit for name in card.active)
    return f"0x{mask:016X}" if column.endswith("reasons.active") else str(known[column])


def node(*courses: tuple[Card, ...], driver: str = "570.172.08", **more: Any) -> Case:
    """A machine watched for 6 s: the cards at the four moments (the last stays as it is), and what else it answers."""
    moments = [courses[min(number, len(courses) - 1)] for number in range(4)]
    answers: dict[str, Any] = {
        "gpu-01: dmesg --time-format=iso": QUIET,
        "gpu-01: nvidia-smi -q -x": smi_xml(list(courses[0]), driver),
        f"gpu-01: {WATCH}": [csv(cards, 2 * number) for number, cards in enumerate(moments)],
    }
    return Case("thermal-throttle", {"nodes": "gpu-01", "for": 6.0}, {**answers, **more})


def also(case: Case, inputs: dict[str, Any] | None = None, **answers: Any) -> Case:
    """A case with other inputs and answers; answers named `dmesg`, `smi`, `watch`, `watch_old`."""
    names = {"dmesg": "dmesg --time-format=iso", "smi": "nvidia-smi -q -x", "watch": WATCH, "watch_old": WATCH_OLD}
    more = {f"gpu-01: {names[key]}": value for key, value in answers.items()}
    return Case(case.runbook, {**case.inputs, **(inputs or {})}, {**case.answers, **more})


def both(**changes: Any) -> tuple[Card, ...]:
    """Both cards with the same changes."""
    return tuple(replace(card, **changes) for card in COOL)


def hot(margin: int, clock: int, *active: str) -> Card:
    """The first card, too hot."""
    return replace(FIRST, temperature=86 - margin, tlimit=margin, power=430.0, sm_clock=clock, active=active)


def exporter() -> str:
    """What Prometheus keeps of dcgm-exporter of a node with two GPUs, of which the first gets too hot."""
    course = {"DCGM_FI_DEV_GPU_TEMP": ([71, 84, 87, 88], [58, 59, 60, 60]), "DCGM_FI_DEV_SM_CLOCK": ([1950, 1620, 1230, 1215], [1950] * 4)}
    course |= {"DCGM_FI_DEV_CLOCKS_EVENT_REASONS": ([4, 32, 96, 96], [4] * 4), "DCGM_FI_DEV_POWER_USAGE": ([655, 560, 431, 428], [649] * 4)}
    course |= {"DCGM_FI_DEV_GPU_UTIL": ([100] * 4, [100] * 4), "DCGM_FI_DEV_MAX_SM_CLOCK": ([1980] * 4, [1980] * 4)}
    result = [
        {
            "metric": {
                "__name__": metric,
                "DCGM_FI_DRIVER_VERSION": "570.172.08",
                "Hostname": "gpu-07",
                "UUID": card.name,
                "device": f"nvidia{card.index}",
                "gpu": str(card.index),
                "instance": "10.0.3.7:9400",
                "job": "nvidia-dcgm-exporter",
                "modelName": card.product,
                "pci_bus_id": card.bus,
            },
            "values": [[1772366100 + 30 * at, str(value)] for at, value in enumerate(values)],
        }
        for metric, both_cards in course.items()
        for card, values in zip(COOL, both_cards, strict=True)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def measured(*courses: tuple[Card, ...]) -> str:
    """What NVML says of the cards at some moments, as the child process prints it."""
    samples = [
        {
            "time": 1772366400.5 + number,
            "index": card.index,
            "uuid": card.name,
            "pci": card.bus,
            "product": card.product,
            "temperature": card.temperature,
            "memory_temperature": {"error": 3, "text": "Not Supported"},
            "margin": card.tlimit,
            "power": card.power,
            "power_limit": card.power_limit,
            "power_limit_default": card.power_default,
            "sm_clock": card.sm_clock,
            "sm_clock_max": card.sm_clock_max,
            "utilisation": card.utilisation,
            "pstate": card.pstate,
            "reasons": sum(REASONS[name].bit for name in card.active),
        }
        for number, cards in enumerate(courses)
        for card in cards
    ]
    return json.dumps({"nvml": 1, "driver": "570.172.08", "code": 0, "error": "", "samples": samples})


def history() -> str:
    """The question to Prometheus as it is recorded."""
    words = [text.replace("${input.prometheus}", PROMETHEUS) for text in STEPS["history"].run]
    return shlex.join([*words[:3], "300", words[4]])


healthy = node(both(active=("sw_power_cap",), power=699.1, sm_clock=1740))
hot_memory = (
    replace(AMPERE, memory_temperature=97, sm_clock=1110, active=("sw_thermal",)),
    replace(AMPERE, index=1, pci="0000:43:00.0"),
)

old = replace(AMPERE, product="Tesla V100-SXM2-32GB", memory_temperature=None, sm_clock=690, active=("hw_slowdown",))
volta = (replace(old, temperature=84), replace(old, index=1, pci="0000:43:00.0"))

STAMP = "2026-03-01T10:00:00,000000+00:00"

BRAKE = "GPU-00000000-0000-4000-8000-000000000000: HW Power Brake Slowdown is engaged (External Power Brake Assertion being triggered)"

HEAT = "GPU-00000000-0000-4000-8000-000000000001: HW Thermal Slowdown is engaged (temperature being too high)"

FAN = "sel: 1a | 03/01/2026 | 09:58:11 | Fan #0x42 | Lower Critical going low  | Asserted"


def told(*lines: str) -> str:
    """The kernel log beside which a monitor writes."""
    return QUIET + "".join(f"{STAMP} {line}\n" for line in lines)


CASES: dict[str, Case] = {
    "throttle-healthy": healthy,
    "throttle-idle": node(both(utilisation=0, temperature=31, tlimit=55, power=70.1, sm_clock=345, active=("idle",))),
    "throttle-hot-card": node(
        (hot(4, 1950), SECOND), (hot(0, 1620, "sw_thermal"), SECOND), (hot(-2, 1200, "hw_slowdown", "sw_thermal", "hw_thermal"), SECOND)
    ),
    "throttle-hot-chassis": node(both(temperature=87, tlimit=-1, sm_clock=1410, active=("sw_thermal",))),
    "throttle-hot-memory": node(hot_memory, driver="550.163.01"),
    "throttle-power-brake": node(
        both(temperature=30, tlimit=56, utilisation=0, power=68.2, sm_clock=105, active=("hw_slowdown", "hw_power_brake"))
    ),
    "throttle-one-reason": also(
        node(volta, driver="525.147.05"),
        watch=Said('Field "clocks_event_reasons.active" is not a valid field to query.\n\n', exit=2),
        watch_old=[csv(volta, 2 * number, OLD_COLUMNS) for number in range(4)],
    ),
    "throttle-limit-lowered": node(
        (
            replace(FIRST, power=399.2, power_limit=400.0, sm_clock=1290, active=("sw_power_cap",)),
            replace(SECOND, utilisation=0, power=71.0, power_limit=400.0, sm_clock=345, active=("idle",)),
        )
    ),
    "throttle-clocks-set": node(
        (
            replace(
                FIRST,
                sm_clock=1200,
                application_clock=1200,
                power=388.0,
                active=("applications_clocks",),
                said={"default_applications_clocks/graphics_clock": "1980 MHz"},
            ),
            SECOND,
        )
    ),
    "throttle-sensors": node((replace(FIRST, power=3276.8, sm_clock=345, active=("sw_power_cap",)), replace(SECOND, temperature=0))),
    "throttle-lost-under-load": also(node(both(power=698.0)), dmesg=LOST),
    "throttle-prometheus": Case("thermal-throttle", {"prometheus": PROMETHEUS, "for": 0.0}, {history(): exporter()} | read(SOUND)),
    "throttle-here": Case(
        "thermal-throttle",
        {"nodes": "gpu-01", "local": True, "for": 3.0},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvidia-smi -q -x": smi_xml(list(COOL)),
            "gpu-01: nvml samples 3 1": measured(COOL, (hot(0, 1620, "sw_thermal"), SECOND), (hot(-1, 1305, "sw_thermal"), SECOND)),
        },
    ),
    "throttle-one-unreachable": Case(
        "thermal-throttle",
        {"nodes": "gpu-01,gpu-02", "for": 0.0},
        {
            "gpu-01: dmesg --time-format=iso": QUIET,
            "gpu-01: nvidia-smi -q -x": smi_xml(list(COOL)),
            "gpu-02: dmesg --time-format=iso": Said(exit=255, failure="unreachable", reason="gpu-02: no route to host"),
            "gpu-02: nvidia-smi -q -x": Said(exit=255, failure="unreachable", reason="gpu-02: no route to host"),
        },
    ),
    "throttle-no-answer": also(
        healthy,
        smi=Said(failure="timeout"),
        watch=Said(failure="timeout"),
        dmesg=Said(exit=1, stderr="dmesg: read kernel buffer failed: Operation not permitted\n"),
    ),
    "throttle-reported": also(node(COOL), dmesg=told(f"gpud[911]: {BRAKE}", f"gpud[911]: {HEAT}", FAN)),
}
