"""`dcgmi policy --get`, as a box and as JSON: the conditions that DCGM watches for, and what it would do by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.dcgm import DcgmPolicy
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines
from gpudoctor.tools.dcgm.boxes import box_rows, decode_json, gpu_name, not_read, problem

HEADING = "Policy Information"
MIXED = "****"  # the entities of the group differ: `-v` shows each
KEYS = ("Violation conditions", "Isolation mode", "Action on violation", "Validation after action", "Validation failure action")
# GPU ID: 3
ENTITY = regex(r"([A-Za-z_]{1,20}) ID: (\d{1,4})\Z")
# What names the box of the second row: `| DCGM_ALL_SUPPORTED_GPUS        |`
Box = tuple[str, dict[str, list[str]], Origin]


def policy(output: Output, about: Subject) -> Facts:
    """One record for each box: of the group, or with -v of each entity; {} where dcgmi says why it has none."""
    boxes = [*of_json(output), *of_boxes(output)]
    if not boxes:
        if problem(output)[0] or any(HEADING.lower() in line.lower() for _, line in lines(output)):
            return {}
        raise not_read(output, "an answer of `dcgmi policy --get`")
    return {"dcgm_policies": [record(*box, about) for box in boxes]}


def record(group: str, values: dict[str, list[str]], origin: Origin, about: Subject) -> DcgmPolicy:
    """The record of one box. What differs within the group is a gap."""
    entity = ENTITY.match(group)
    index = int(entity.group(2)) if entity else None
    gaps = {
        name: "differs" for name, key in (("conditions", KEYS[0]), ("action", KEYS[2]), ("validation", KEYS[3])) if is_mixed(values, key)
    }
    conditions = values.get(KEYS[0])
    return DcgmPolicy(
        node=about.node,
        group=group[:100],
        gpu=gpu_name(entity.group(1), index) if entity else "",
        index=index,
        action=None if "action" in gaps else action(values),
        validation=None if "validation" in gaps else first_value(values, KEYS[3]),
        conditions=None if conditions is None or "conditions" in gaps else [one for one in conditions if one not in ("", "None")],
        gaps=gaps,
        origin=origin,
    )


def is_mixed(values: dict[str, list[str]], key: str) -> bool:
    """Whether the entities of the group differ in a value."""
    return MIXED in values.get(key, [])


def first_value(values: dict[str, list[str]], key: str) -> str | None:
    """The first value in lower case, None where the box lacks the key."""
    return values[key][0].lower() if values.get(key) else None


def action(values: dict[str, list[str]]) -> str | None:
    """What DCGM does by itself: none, gpu reset."""
    said = first_value(values, KEYS[2])
    return "gpu reset" if said is not None and "reset" in said else said


def of_boxes(output: Output) -> Iterator[Box]:
    """The boxes of the text."""
    heading, key = "", ""
    box: Box | None = None
    for row in box_rows(output):
        left, right = row.left.strip(), row.right.strip()
        if left == HEADING:
            heading, key = HEADING, ""
        elif heading and left in KEYS:
            if box is None or left in box[1]:
                if box is not None:
                    yield box
                box = ("", {}, row.origin(output))
            key = left
            box[1][key] = [right]
        elif heading and not left and key and box is not None:
            box[1][key].append(right)
        elif heading and left:
            if box is not None:
                yield box
            box, key = (left, {}, row.origin(output)), ""
    if box is not None:
        yield box


def of_json(output: Output) -> Iterator[Box]:
    """The box of the JSON: headings under `header`, rows under `body` with `value` and `overflow`."""
    tree = decode_json(output)
    body: Any = tree.get("body") if isinstance(tree, dict) else None
    if not isinstance(body, dict):
        return
    named = [str(one) for one in tree["header"] if one != HEADING] if isinstance(tree.get("header"), list) else []
    values = {
        str(key): [str(node.get("value", "")), *(str(piece) for piece in node.get("overflow") or [] if isinstance(piece, str))]
        for key, node in body.items()
        if isinstance(node, dict)
    }
    yield named[0] if named else "", values, Origin(output.origin_name(), 0, f"{KEYS[2]}: {first_value(values, KEYS[2]) or '?'}")
