"""What dcgmi prints, from a short description: the boxes of DCGM 3 and 4 and the JSON of `-j`, in the widths of the real ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

UNREACHABLE = "Error: Unable to connect to host engine. Host engine connection invalid/disconnected.\n"
NOT_ARMED = "Error: Health watches not enabled. Please enable watches. \n"
LINE = "+---------------------------+------------------------------------------------+"
HEAD = f"{LINE}\n| Diagnostic                | Result                                         |\n{LINE.replace('-', '=')}\n"
SECTIONS = {
    "Metadata": "|-----  Metadata  ----------+------------------------------------------------|",
    "Deployment": "|-----  Deployment  --------+------------------------------------------------|",
    "Hardware": "+-----  Hardware  ----------+------------------------------------------------+",
    "Integration": "+-----  Integration  -------+------------------------------------------------+",
    "Stress": "+-----  Stress  ------------+------------------------------------------------+",
}
# (system, status, its errors)
System = tuple[str, str, Sequence[str]]
# (test, {GPU: status}, [(GPU, error, DCGM_FR_*, severity)])
Test = tuple[str, Mapping[int, str], Sequence[tuple[int, str, int, int]]]


def uuid(index: int, node: int = 2) -> str:
    """The UUID of a GPU, as tests.nodes.smi makes them up."""
    return f"GPU-{node:08x}-0000-4000-8000-{index:012x}"


def discovery(gpus: Mapping[int, tuple[str, str]], product: str = "NVIDIA H100 80GB HBM3") -> str:
    """`dcgmi discovery -l`: index → (UUID, PCI address)."""
    line = "+--------+----------------------------------------------------------------------+\n"
    made = f"{len(gpus)} GPU{'' if len(gpus) == 1 else 's'} found.\n{line}| GPU ID | {'Device Information':<68} |\n{line}"
    for index, (identity, address) in gpus.items():
        values = (f"Name: {product}", f"PCI Bus ID: {address}", f"Device UUID: {identity}")
        made += "".join(f"| {index if not number else '':<6} | {value:<68} |\n" for number, value in enumerate(values)) + line
    empty = "+-----------+\n"
    return made + f"0 NvSwitches found.\n{empty}| Switch ID |\n{empty}{empty}0 ConnectX found.\n0 CPUs found.\n"


def health(overall: str, found: Mapping[tuple[str, int], Sequence[System]] | None = None) -> str:
    """`dcgmi health -c -j`: (entity, index) → its systems that aren't well."""
    body: dict[str, Any] = {"Overall Health": {"value": overall}}
    for (entity, index), systems in (found or {}).items():
        children = {name: {"overflow": broken(", ".join(said)), "value": status} for name, status, said in systems}
        worst = "Failure" if any(status == "Failure" for _, status, _ in systems) else "Warning"
        body.setdefault(entity, {"children": {}})["children"][str(index)] = {"children": {"Errors": {"children": children}}, "value": worst}
    return json.dumps({"body": body, "header": ["Health Monitor Report"]}, indent=3) + "\n"


def health_box(overall: str, found: Mapping[tuple[str, int], Sequence[System]] | None = None) -> str:
    """The same as a box, of `dcgmi health -c`."""
    line = "+---------------------------+----------------------------------------------------------+\n"

    def row(left: str, right: str) -> str:
        return f"| {left:<25} | {right:<56} |\n"

    made = f"{line}| {'Health Monitor Report':<85}|\n{line.replace('-', '=')}{row('Overall Health', overall)}"
    for (entity, index), systems in (found or {}).items():
        made += row(entity, "") + row(f"-> {index}", overall) + row("   -> Errors", "")
        for name, status, said in systems:
            made += row(f"      -> {name}", status) + "".join(row("", piece) for piece in broken(", ".join(said)))
    return made + line


def broken(text: str, width: int = 54) -> list[str]:
    """A text broken at spaces, as Health.cpp does."""
    pieces = [""]
    for word in text.split(" "):
        if len(pieces[-1]) + len(word) >= width:
            pieces.append("")
        pieces[-1] = f"{pieces[-1]} {word}".strip()
    return pieces


def row(left: str, right: str) -> str:
    """One row of the diagnostic's table."""
    return f"| {left:<25} | {right:<46} |\n"


def sentence(left: str, text: str) -> str:
    """A sentence, cut after 45 characters."""
    return "".join(row(left if not at else "", text[at : at + 45]) for at in range(0, len(text), 45))


def diag_3(tests: Mapping[str, Sequence[Test]], version: str = "3.3.9") -> str:
    """The table of DCGM 3: category → its tests."""
    made = "Successfully ran diagnostic for group.\n" + HEAD + SECTIONS["Metadata"] + "\n"
    made += row("DCGM Version", version) + row("Driver Version Detected", "535.183.06") + row("GPU Device IDs Detected", "2330,2330")
    for category, of_it in tests.items():
        made += SECTIONS[category] + "\n"
        for name, statuses, said in of_it:
            if category == "Deployment":
                made += row(name, worst(statuses.values()))
            elif len(set(statuses.values())) == 1:
                made += row(name, f"{next(iter(statuses.values()))} - All")
            else:
                for number, status in enumerate(s for s in ("Pass", "Fail", "Warn", "Skip") if s in statuses.values()):
                    gpus = [str(gpu) for gpu, its in statuses.items() if its == status]
                    made += row("" if number else name, f"{status} - GPU{'' if len(gpus) == 1 else 's'}: {', '.join(gpus)}   ")
            made += "".join(sentence("Error" if category == "Deployment" else "Warning", text) for _, text, _, _ in said)
    return made + LINE + "\n"


def diag_4(tests: Mapping[str, Sequence[Test]], version: str = "4.4.2") -> str:
    """The table of DCGM 4."""
    made = "Successfully ran diagnostic for group.\n" + HEAD + SECTIONS["Metadata"] + "\n"
    made += row("DCGM Version", version) + row("Driver Version Detected", "570.172.08") + row("GPU Device IDs Detected", "2330, 2330")
    for category, of_it in tests.items():
        made += SECTIONS[category] + "\n"
        for name, statuses, said in of_it:
            made += row(name, worst(statuses.values()))
            for gpu, status in statuses.items():
                made += row("", f"GPU{gpu}: {status}")
                made += "".join(sentence(f"Warning: GPU{gpu}", text) for of, text, _, _ in said if of == gpu)
    return made + LINE + "\n"


def diag_json(tests: Mapping[str, Sequence[Test]], version: str = "4.4.2") -> str:
    """`dcgmi diag -j` of DCGM 4."""
    categories = []
    for category, of_it in tests.items():
        made = []
        for name, statuses, said in of_it:
            results = []
            for gpu, status in statuses.items():
                result: dict[str, Any] = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": status}
                if own := [warning(*rest) for of, *rest in said if of == gpu]:
                    result["warnings"] = own
                results.append(result)
            summary: dict[str, Any] = {"status": worst(statuses.values())}
            if said:
                summary["warnings"] = [warning(*rest) for _, *rest in said]
            made.append({"name": name, "results": results, "test_summary": summary})
        categories.append({"category": category, "tests": made})
    entities = [{"device_id": "2330", "entity_id": gpu, "serial_num": f"16540230{gpu:05}"} for gpu in (0, 1)]
    tree = {
        "DCGM Diagnostic": {"test_categories": categories},
        "entity_groups": [{"entities": entities, "entity_group": "GPU", "entity_group_id": 1}],
        "metadata": {"Driver Version Detected": "570.172.08", "version": version},
    }
    return json.dumps(tree, indent=3) + "\n"


def diag_json_3(tests: Mapping[str, Sequence[Test]], version: str = "3.3.9") -> str:
    """`dcgmi diag -j` of DCGM 3, with its slip: `warnings` for `warning` in the tests of Deployment."""
    categories = []
    for category, of_it in tests.items():
        made = []
        for name, statuses, said in of_it:
            key = "warnings" if category == "Deployment" else "warning"
            warnings: dict[int, list[dict[str, Any]]] = {gpu: [] for gpu in statuses}
            for of, text, code, severity in said:
                warnings[of].append({key: text, "error_id": code, "error_category": 10, "error_severity": severity})
            if category == "Deployment":
                every = [one for own in warnings.values() for one in own]
                result: dict[str, Any] = {"status": worst(statuses.values())}
                results = [{**result, "gpu_id": said[-1][0], "warnings": every} if every else result]
            else:
                results = [
                    {"gpu_id": str(gpu), "status": status, **({"warnings": warnings[gpu]} if warnings[gpu] else {})}
                    for gpu, status in statuses.items()
                ]
            made.append({"name": name, "results": results})
        categories.append({"category": category, "tests": made})
    tree = {"DCGM GPU Diagnostic": {"test_categories": categories}, "Driver Version Detected": "535.183.06", "version": version}
    return json.dumps(tree, indent=3) + "\n"


def warning(text: str, code: int, severity: int) -> dict[str, Any]:
    """One warning of DCGM 4."""
    return {"error_category": 10, "error_id": code, "error_severity": severity, "warning": text}


def worst(statuses: Any) -> str:
    """The status of a test as a whole."""
    return max(statuses, key=("Skip", "Pass", "Warn", "Fail").index)


def dmon(headers: Mapping[str, int], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """`dcgmi dmon`: header → width of its field; rows of (entity, values)."""
    made = f"{'#Entity':<16}" + "".join(f"{name:<{width + 8}}" for name, width in headers.items()) + "\n"
    made += f"{'ID':<16}\n"
    for entity, values in rows:
        cells = zip(values, headers.values(), strict=True)
        made += f"{entity:<16}" + "".join(f"{value:<{width + 8}}" for value, width in cells) + "\n"
    return made


def policy(action: str = "None", conditions: Sequence[str] = ("None",), group: str = "DCGM_ALL_SUPPORTED_GPUS") -> str:
    """`dcgmi policy --get`."""
    line = "+-----------------------------+------------------------------------------------+\n"
    made = f"Policy information\n{line}| {'Policy Information':<77}|\n| {group:<77}|\n{line.replace('-', '=')}"
    made += "".join(row27("Violation conditions" if not n else "", text) for n, text in enumerate(conditions))
    made += row27("Isolation mode", "Manual") + row27("Action on violation", action)
    return made + row27("Validation after action", "None") + row27("Validation failure action", "None") + line


def row27(left: str, right: str) -> str:
    """One row of the policy's box."""
    return f"| {left:<27} | {right:<46} |\n"


def stats(gpus: Mapping[int, Mapping[str, str]], job: str = "train-7") -> str:
    """`dcgmi stats -v -j JOB`: GPU → its rows over the defaults."""
    line = "+------------------------------------+-----------------------------------------+\n"
    defaults = {
        "|-----  Execution Stats": "",
        "Start Time": "Sun Mar  1 10:00:00 2026",
        "End Time": "Sun Mar  1 11:00:00 2026",
        "Total Execution Time (sec)": "3600",
        "No. of Processes": "1",
        "+-----  Performance Stats": "",
        "Energy Consumed (Joules)": "1800000",
        "Power Usage (Watts)": "Avg: 500.1, Max: 699.2, Min: 70.3",
        "SM Clock (MHz)": "Avg: 1905, Max: 1980, Min: 345",
        "+-----  Event Stats": "",
        "Double Bit ECC Errors": "0",
        "PCIe Replay Warnings": "0",
        "Critical XID Errors": "0",
        "+-----  Slowdown Stats": "",
        "Due to - Power (%)": "2.5",
        "       - Thermal (%)": "0",
        "       - Reliability (%)": "N/A",
    }
    made = f"Successfully retrieved statistics for job: {job}. \n"
    for gpu, said in gpus.items():
        made += f"+{'-' * 78}+\n| GPU ID: {gpu:<68} |\n{line.replace('-', '=')}"
        for name, value in (defaults | dict(said)).items():
            made += f"{name}  {'-' * (35 - len(name))}+{'-' * 41}|\n" if re.match(r"[|+]-", name) else f"| {name:<34} | {value:<39} |\n"
        made += line
    return made


def nvlink(gpu: int = 0, links: int = 2, counts: Mapping[tuple[int, str], int | str] | None = None) -> str:
    """`dcgmi nvlink -e -g GPU` up to Hopper; `counts` by (link, name)."""
    made = tree(gpu)
    for link in range(links):
        made += wide(f"Link {link}", "")
        for name in ("CRC FLIT Error", "CRC Data Error", "Replay Error", "Recovery Error"):
            made += wide(f"-> {name}", str((counts or {}).get((link, name), 0)))
    return f"{made}{WIDE}\n"


def nvlink5(gpu: int = 0, counts: Mapping[str, int | str] | None = None) -> str:
    """The same for Blackwell: one list for all links together."""
    quiet = ("Malformed Packet Error", "Buffer Overrun Error", "Rx Error", "Rx Remote Error", "Rx General Error", "Rx Symbol Error")
    values = {**dict.fromkeys((*quiet, "Effective Error", "Tx Discards", "Link Integrity Error"), 0), **(counts or {})}
    return tree(gpu) + wide("Error Detail", "") + "".join(wide(f"-> {name}", str(count)) for name, count in values.items()) + f"{WIDE}\n"


def nvlink1(gpu: int = 0, links: int = 2, counts: Mapping[tuple[int, str], int | str] | None = None) -> str:
    """The same of DCGM 1: the link stands in each row."""
    edge = f"+{'-' * 61}+\n"
    made = f"{edge}| GPU ID: {gpu} | {'NVLINK Error Counts':<48}|\n{edge}"
    for link in range(links):
        for name in ("CRC FLIT Error", "CRC Data Error", "Replay Error", "Recovery Error"):
            made += f"|{f'Link {link}':<10} | {name:<19} | {(counts or {}).get((link, name), 0):<26}|\n"
    return made + edge


WIDE = f"+{'-' * 29}+{'-' * 48}+"


def wide(left: str, right: str) -> str:
    """One row of a tree."""
    return f"| {left:<27} | {right:<46} |\n"


def tree(gpu: int) -> str:
    """The head of a tree: what it shows, and of which GPU."""
    return f"{WIDE}\n| {'NVLINK Error Counts':<77}|\n| {f'GPU {gpu}':<77}|\n{WIDE.replace('-', '=')}\n"
