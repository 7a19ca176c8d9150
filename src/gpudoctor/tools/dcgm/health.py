"""`dcgmi health -c` and `-f`, as boxes and as JSON: what DCGM's background watches have seen, and which watches are armed.

DCGM 3 and 4 draw a tree (entity group → entity → Errors → system), with the errors of a system strung together and broken over rows; DCGM 1
and 2 a row for each GPU. The JSON is that tree: objects with `value`, `overflow` (the broken text) and `children`. Neither has error codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.facts import Fact, Facts, Origin, Subject
from gpudoctor.facts.dcgm import DcgmError, DcgmHealth
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import box_rows, decode_json, gpu_name, not_read, number, problem
from gpudoctor.tools.dcgm.report import error, sentences

STATUSES = {"Healthy": "healthy", "Warning": "warning", "Failure": "failure", "Warn": "warning", "Fail": "failure"}
# Health.cpp writes other labels where it shows which systems are watched; one name each.
SYSTEMS = {"NVLINK": "NVLink", "NvSwitch NF": "NVSwitch non-fatal", "NvSwitch F": "NVSwitch fatal"}
ENTITIES = ("GPU", "NvSwitch", "Switch", "GPU_I", "GPU_CI", "Link", "CPU", "CPU_CORE", "ConnectX", "None", "Global")
# |       -> PCIe system     | Warning          (the depth is in the columns before the arrow)
NESTED = regex(r"(\s*)-> ?(.*)")
# GPU ID: 0   (DCGM 1 and 2)        PCIe system: Warning - Detected more than …
OLD_GPU = regex(r"GPU ID: (\d{1,4})\Z")
OLD_SYSTEM = regex(
    r"([A-Za-z]{2,20} system|PCIe|NVLink|NvSwitch|PMU|MCU|Memory|SM|InfoROM|Inforom|Thermal|Power|Driver)"
    r": (Healthy|Warning|Failure) ?-? ?(.*)"
)
# GPU 3   |   GPU ID: 3   |   -> 3
QUOTED_GPU = regex(r"(?:GPU(?: ID:)?|->) (\d{1,4})(?:\Z| *[:|-])")
OVERALL = regex(r"Overall Health: *(Healthy|Warning|Failure)")


class Incident(msgspec.Struct, frozen=True):
    """One system of one entity that is not well."""

    entity: str
    index: int | None
    system: str
    status: str
    text: str
    origin: Origin


def health(output: Output, about: Subject) -> Facts:
    """Health as a whole, one record for each system that is not well, and its errors. `-f`: one record for each system."""
    tree = decode_json(output)
    if watched := [*watched_systems(tree, output, about)]:
        return {"dcgm_health": watched}
    overall, incidents = of_tree(tree, output) if tree is not None else of_boxes(output)
    if not overall:
        word, origin = problem(output)
        if not word:
            raise not_read(output, "an answer of `dcgmi health`")
        armed = False if word == "not_armed" else None
        return {"dcgm_health": [DcgmHealth(node=about.node, problem=word, armed=armed, text=origin.text, origin=origin)]}
    whole = DcgmHealth(node=about.node, status=overall[0], armed=True, text=f"Overall Health: {overall[0]}", origin=overall[1])
    records: list[Fact] = [whole]
    errors: list[Fact] = []
    for one in incidents:
        made = [*errors_of(one, about)]
        errors += made
        records.append(
            DcgmHealth(
                node=about.node,
                gpu=gpu_name(one.entity, one.index),
                entity=one.entity,
                index=one.index,
                system=one.system,
                status=one.status,
                armed=True,
                text=", ".join(each.text for each in made),
                code=made[0].code if made else None,
                origin=one.origin,
            )
        )
    return {"dcgm_health": records, "dcgm_errors": errors}


def errors_of(one: Incident, about: Subject) -> Iterator[DcgmError]:
    """The errors of a system; one that DCGM says nothing about is an error without words."""
    for text in sentences(one.text) if one.text else [""]:
        yield error("health", one.system, one.status, one.entity, one.index, text, one.origin, about)


def system(label: str) -> str:
    """The name of a system without the word.

    >>> system("PCIe system"), system("NVLINK system"), system("Driver")
    ('PCIe', 'NVLink', 'Driver')
    """
    bare = label.strip().removesuffix(" system")[:40]
    return SYSTEMS.get(bare, bare)


def watched_systems(tree: Any, output: Output, about: Subject) -> Iterator[Fact]:
    """The systems of `health -f` with On or Off."""
    if isinstance(tree, dict) and isinstance(tree.get("body"), dict):
        whole = Origin(output.origin_name())
        labels = [(label, value.get("value"), whole) for label, value in tree["body"].items() if isinstance(value, dict)]
    elif tree is None:
        labels = [(row.left, row.right.strip(), row.origin(output)) for row in box_rows(output)]
    else:
        labels = []
    for label, value, origin in labels:
        if value in ("On", "Off"):
            name = system(label)
            yield DcgmHealth(node=about.node, system=name, armed=value == "On", text=f"{name}: {value}", origin=origin)


def of_tree(tree: Any, output: Output) -> tuple[tuple[str, Origin] | None, list[Incident]]:
    """Health as a whole and the incidents, from the JSON."""
    body = tree.get("body") if isinstance(tree, dict) else None
    sections = {str(label): value for label, value in body.items() if isinstance(value, dict)} if isinstance(body, dict) else {}
    whole = STATUSES.get(str(sections.get("Overall Health", {}).get("value", "")), "")
    origin = Origin(output.origin_name(), 0, f"Overall Health: {whole}")
    incidents = []
    for entity, group in sections.items():
        for index, one in children(group):
            for _, errors in children(one):
                for label, node in children(errors):
                    text = " ".join(str(part) for part in overflow_pieces(node))
                    status = STATUSES.get(str(node.get("value", "")), "")
                    place = Origin(output.origin_name(), 0, f"{entity} {index}: {label}: {node.get('value', '')}"[:500])
                    incidents.append(Incident(entity[:20], number(index), system(label), status, text, place))
    return ((whole, origin) if whole else None), incidents


def children(node: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The named objects below one."""
    below = node.get("children")
    return [(str(name), one) for name, one in below.items() if isinstance(one, dict)] if isinstance(below, dict) else []


def overflow_pieces(node: dict[str, Any]) -> list[Any]:
    """The pieces of a text that was broken for the box."""
    pieces = node.get("overflow")
    return pieces if isinstance(pieces, list) else []


def of_boxes(output: Output) -> tuple[tuple[str, Origin] | None, list[Incident]]:
    """Health as a whole and the incidents, from the boxes of any release."""
    overall: tuple[str, Origin] | None = None
    found: list[Incident] = []
    entity, index = "", None
    speaking = False  # the last row named a system, so rows without a label continue its text
    for row in box_rows(output):
        left, right = row.left.strip(), row.right.strip()
        nested = NESTED.match(row.left)
        old = OLD_SYSTEM.match(right)
        if (first := OVERALL.search(f"{left} {right}")) or (left == "Overall Health" and right in STATUSES):
            overall = overall or (STATUSES[first.group(1) if first else right], row.origin(output))
            speaking = False
        elif old and (not left or OLD_GPU.match(left)):
            found.append(Incident(entity, index, system(old.group(1)), STATUSES[old.group(2)], old.group(3), row.origin(output)))
            speaking = True
        elif given := OLD_GPU.match(left):
            entity, index, speaking = "GPU", int(given.group(1)), False
        elif nested and nested.group(2).strip().isdecimal():
            index, speaking = number(nested.group(2)), False
        elif nested and right in STATUSES:
            found.append(Incident(entity, index, system(nested.group(2)), STATUSES[right], "", row.origin(output)))
            speaking = True
        elif not left and speaking and right:
            found[-1] = msgspec.structs.replace(found[-1], text=f"{found[-1].text} {right}"[:8192].strip())
        elif left in ENTITIES:
            entity, index, speaking = left, None, False
    return (overall, found) if overall else unboxed_health(output)


def unboxed_health(output: Output) -> tuple[tuple[str, Origin] | None, list[Incident]]:
    """The same outside of any box, as people quote it: `Overall Health: …`, `GPU 3`, `PCIe system: Warning - …`."""
    overall: tuple[str, Origin] | None = None
    found: list[Incident] = []
    index = None
    for row, line in lines(output):
        text = line.strip()
        place = Origin(output.origin_name(), row, text)
        if first := OVERALL.match(text):
            overall = overall or (STATUSES[first.group(1)], place)
        elif given := QUOTED_GPU.match(text):
            index = int(given.group(1))
        elif (match := OLD_SYSTEM.match(text)) and match.group(2) != "Healthy":
            name, status, said = match.groups()
            found.append(Incident("" if index is None else "GPU", index, system(name), STATUSES[status], said, place))
    if found and overall is None:
        overall = (max((one.status for one in found), key=("healthy", "warning", "failure").index), found[0].origin)
    return overall, found
