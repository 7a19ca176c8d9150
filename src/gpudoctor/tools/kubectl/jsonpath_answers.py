"""What `kubectl get -o jsonpath`, `-o custom-columns` and `| jq` print, as the parts of objects that were asked for.

The objects are put together again and read by the parsers of their kind; a field that was not asked for is a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Container, Node, Pod, Workload
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.registry import load
from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl import object_parts
from gpudoctor.tools.kubectl.columns import cells, header
from gpudoctor.tools.kubectl.jsonpath import Asked, Path, Shape, requested_paths
from gpudoctor.tools.kubectl.jsonpath_conditions import complete_object, required_fields
from gpudoctor.tools.kubectl.jsonpath_fields import requested_fields
from gpudoctor.tools.kubectl.jsonpath_objects import decode_value, put_at_path
from gpudoctor.tools.parser import LINE, ParseError

MOST = 2000  # objects of one answer
LARGEST = 256 << 10  # characters that are read: what people pick out is short
PARSER = {
    "Pod": "kubernetes.pods",
    "Node": "kubernetes.nodes",
    "Namespace": "kubernetes.namespaces",
    "ConfigMap": "kubernetes.stack_configs",
    "Event": "kubernetes.events",
    "ResourceQuota": "kubernetes.quotas",
    "PersistentVolumeClaim": "kubernetes.claims",
    "PersistentVolume": "kubernetes.volumes",
}
PARTLY = ("ClusterQueue", "NodePool", "ClusterPolicy")  # of which only parts are known, by their shape
GAPPED: dict[str, type[Any]] = {"pods": Pod, "containers": Container, "nodes": Node, "workloads": Workload}
NUMBERS = frozenset({"exitCode", "count", "restartCount", "replicas", "readyReplicas", "updatedReplicas", "signal"})
NUMBERED = ("desiredNumber", "currentNumber", "number", "updatedNumber")
TRUTHS = frozenset({"ready", "unschedulable", "privileged", "suspend", "started"})
TEXTS = frozenset({"labels", "annotations", "nodeSelector", "data", "env"})
GAP = regex(r" {2,40}")
LABELS = ("metadata", "labels")
NOTHING = ("", "<none>", "<nil>", "null")


def score(argv: tuple[str, ...], whole: str) -> int:
    """0 or 97: whether the command asks for paths, and this can be the answer."""
    if not argv or len(whole) > LARGEST or whole.lstrip().startswith(("error:", "Error from")):
        return 0
    question = requested_paths(argv)
    # `to_entries[] | "\(.key)=\(.value)"` prints labels or data line by line, whose readers know them
    return 97 if question and ("key",) not in question.parts else 0


def facts(output: Output, about: Subject) -> Facts:
    """The facts of the objects. Raises `ParseError` where the answer doesn't fit what was asked for."""
    question = requested_paths(output.command.argv)
    text = output.text
    if question is None or len(text) > LARGEST:
        raise ParseError(f"{output.origin_name()}: no answer of chosen fields: {text.strip()[:80]!r}")
    found = [made for values in records(question, text) if (made := rebuilt(question, values))]
    for made in found:
        complete_object(made, question.kind, output.command.argv)
    if not found:
        raise ParseError(f"{output.origin_name()}: not what the command asks for: {text.strip()[:80]!r}")
    page = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": found[:MOST]})
    read: Facts = {}
    if question.kind not in PARTLY:
        read = load(PARSER.get(question.kind, "kubernetes.workloads"))(msgspec.structs.replace(output, pages=(page,), exit=0), about)
    if question.kind not in ("Pod", "Event"):
        read |= object_parts.parts(found, output, about, whole=True)
    if not any(read.values()):  # values that stand in another form than the API's
        raise ParseError(f"{output.origin_name()}: no fields of objects: {text.strip()[:80]!r}")
    paths = [path for part in question.parts for path in paths_of(part)] + [*required_fields(question.kind, output.command.argv)]
    parts = remove_placeholders({kind: [with_gaps(one, kind, paths) for one in records] for kind, records in read.items()})
    if question.kind == "Event":
        return parts
    # What a label or a condition says in words is known, too.
    where = Origin(output.origin_name(), 1, text.strip().split("\n")[0][:LINE])
    return {**parts, "messages": [*parts.get("messages", []), *scan_text(text, source="status", about=about, origin=where)]}


def with_gaps(fact: Any, kind: str, paths: list[Path]) -> Any:
    """The fact, with gaps for what was not asked for."""
    if kind not in GAPPED:
        return fact
    seen = requested_fields(kind, paths)
    if kind == "nodes" and fact.gpu_present:
        seen.add("gpu_present")
    if kind == "nodes":
        keys = [path[2] for path in paths if path[:2] == ("metadata", "labels") and len(path) == 3 and isinstance(path[2], str)]
        fact = msgspec.structs.replace(fact, label_keys=keys)
        seen.update(("labels", "label_keys") if keys else ())
    return msgspec.structs.replace(fact, gaps={**gaps(GAPPED[kind], seen, "the command doesn't ask for it"), **fact.gaps})


def paths_of(part: Any) -> Iterator[Path]:
    """The paths in a part of a question."""
    if isinstance(part, tuple) and part:
        yield part
    elif isinstance(part, dict):
        for inner in part.values():
            yield from paths_of(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from paths_of(inner)


def records(question: Asked, text: str) -> Iterator[list[tuple[Path, Any]]]:
    """The values by path, for each object."""
    if question.form == "columns":
        yield from of_columns(question, text)
    elif question.form == "jq":
        yield from of_jq(question, text)
    else:
        yield from of_template(question, text)


def of_columns(question: Asked, text: str) -> Iterator[list[tuple[Path, Any]]]:
    """A row each; the command says what the titles stand for."""
    titles: list[tuple[int, str]] = []
    paths = dict(zip(question.parts[::2], question.parts[1::2], strict=False))
    bare = not any(title in text.split("\n")[0].split() for title in paths)  # --no-headers, or only some rows were kept
    rows: list[dict[str, str]] = []
    for raw in text.split("\n"):
        line = raw[:LINE].rstrip("\r ")
        pieces = GAP.split(line.strip(), len(paths) - 1)
        if not bare and not titles:
            titles = header(line) or [(line.find(title), title) for title in paths if title in line.split()]
        elif line.strip() and rows and len(pieces) == 1 < len(paths):  # the last cell, a message, goes on
            rows[-1][[*paths][-1]] = f"{rows[-1].get([*paths][-1], '')}\n{line.strip()}"
        elif line.strip():
            rows.append(dict(zip(paths, pieces, strict=False)) if bare else cells(line, titles))
    for row in rows:
        yield [(path, list_value(path, row.get(title, ""), ",")) for title, path in paths.items() if row.get(title, "") not in NOTHING]


def of_jq(question: Asked, text: str) -> Iterator[list[tuple[Path, Any]]]:
    """As many JSON values as the program prints for each object."""
    values = iter(stream(text))
    for _ in range(MOST if question.each else 1):
        made: list[tuple[Path, Any]] = []
        for part in question.parts:
            value = next(values, None)
            many = (isinstance(part, tuple) and -1 in part) or (part == LABELS and isinstance(value, str))  # `keys[]`: a name a line
            made += shape_values(part, [value, *values] if many and value is not None else value)
        if not made:
            return
        yield made


def shape_values(part: Shape, value: Any) -> Iterator[tuple[Path, Any]]:
    """The values of a shape by path."""
    if isinstance(part, tuple):
        if part and value is not None:
            yield part, value
    elif isinstance(part, dict) and isinstance(value, dict):
        for name, inner in part.items():
            yield from shape_values(inner, value.get(name))
    elif isinstance(part, list):
        row = [cell.strip('"') for cell in value.split("\t" if "\t" in value else ",")] if isinstance(value, str) else value  # @tsv, @csv
        for inner, one in zip(part, row if isinstance(row, list) else (), strict=False):
            yield from shape_values(inner, one)


def stream(text: str) -> list[Any]:
    """JSON values, one behind the other; with `-r` texts and numbers stand bare, one a line."""
    found: list[Any] = []
    held = ""
    for line in text[:LARGEST].split("\n"):
        held = f"{held}\n{line}" if held else line.strip()
        if not held:
            continue
        value = decode_value(held)
        if isinstance(value, str) and held[:1] in ("{", "[") and len(held) < LINE * 8 and len(found) < MOST:
            continue  # the rest of the value stands in the next lines
        held = ""
        found.append(None if value == "null" else value.strip('"') if isinstance(value, str) else value)
    return found


def of_template(question: Asked, text: str) -> Iterator[list[tuple[Path, Any]]]:
    """The values between the literal texts of a JSONPath template."""
    whole = text.strip("\r\n")
    lines = whole.split("\n") if question.each else [whole]
    for line in lines[:MOST]:
        if not line.strip():
            continue
        made = [(path, value) for path, value in cut_at_literals(question.parts, line[: LINE * 8]) if value not in NOTHING]
        if made:
            yield made


def cut_at_literals(parts: Sequence[str | Path], text: str) -> Iterator[tuple[Path, Any]]:
    """A text cut at the literal parts. Entries of a list stand with spaces between: the literal behind them is the last."""
    rest = text
    for index, part in enumerate(parts):
        if isinstance(part, str):
            rest = rest.removeprefix(part)
            continue
        following = next((one for one in parts[index + 1 :] if isinstance(one, str)), "")
        later = sum(one == following for one in parts[index + 1 :])
        if not following:
            value, rest = rest, ""
        elif rest[:1] == "{" and (end := rest.find("}" + following)) >= 0:
            value, rest = rest[: end + 1], rest[end + 1 :]
        elif -1 in part:
            cut = rest.rsplit(following, later)
            value = cut[0]
            rest = rest[len(value) :]
        else:
            value = rest.partition(following)[0]
            rest = rest[len(value) :]
        yield part, list_value(part, value, " ")


def list_value(path: Path, value: str, mark: str) -> Any:
    """The decoded value; for a path through a list the texts of its entries."""
    return [one for one in value.strip().split(mark) if one] if -1 in path and value[:1] not in ("{", "[") else decode_value(value)


def rebuilt(question: Asked, values: list[tuple[Path, Any]]) -> dict[str, Any]:
    """The object of which these are parts; {} where none fits."""
    made: dict[str, Any] = {}
    for path, value in values:
        if path == (".",) or not path or path[0] == "items":
            continue
        if path == LABELS and isinstance(value, list):
            value = {one: "" for one in value if isinstance(one, str)}  # `keys`: which labels there are, not what they say
        put_at_path(
            made, path, [api_value(path, one) for one in value] if isinstance(value, list) and -1 in path else api_value(path, value)
        )
    if not made:
        return {}
    meta = made.setdefault("metadata", {})
    if not isinstance(meta, dict):
        return {}
    meta["name"] = meta.get("name") or question.name or NAMELESS
    if question.namespace:
        meta.setdefault("namespace", question.namespace)
    if question.kind == "Pod":
        named_containers(made)
    return {**made, "kind": question.kind, "apiVersion": "v1"}


def api_value(path: Path, value: Any) -> Any:
    """Convert a text to the type that the API has at this path."""
    key = path[-1]
    if not isinstance(value, str):
        return value
    if TEXTS & {step for step in path if isinstance(step, str)} or not isinstance(key, str):
        return value
    if (key in NUMBERS or key.startswith(NUMBERED)) and value.strip().isdecimal():
        return int(value.strip()[:9])
    return value.strip() == "true" if key in TRUTHS else value.strip() if key != "message" else value


def named_containers(pod: dict[str, Any]) -> None:
    """Give the containers of a pod, and their states, the same names, which often aren't asked for."""
    spec, status = pod.setdefault("spec", {}), pod.get("status")
    if not isinstance(spec, dict):
        return
    for ours, theirs in (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses")):
        boxes = spec.get(ours) or []
        states = (status.get(theirs) if isinstance(status, dict) else None) or []
        if not isinstance(boxes, list) or not isinstance(states, list) or not (boxes or states):
            continue
        for number in range(min(max(len(boxes), len(states)), 50)):
            box = boxes[number] if number < len(boxes) else {}
            state = states[number] if number < len(states) else {}
            name = next((one["name"] for one in (box, state) if isinstance(one, dict) and isinstance(one.get("name"), str)), NAMELESS)
            if number >= len(boxes):
                boxes.append(box)
            for one in (box, state):
                if isinstance(one, dict):
                    one.setdefault("name", name)
        spec[ours] = boxes
