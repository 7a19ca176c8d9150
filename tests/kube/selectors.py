"""Label and field selectors, as far as the API server's own syntax goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Test = Callable[[Mapping[str, str]], bool]  # of an object's labels, or of its fields

# `tier in (gold, silver)`, `zone!=a`, `app = plugin`, `gpu`, `!cordoned`
SET = re.compile(r"^(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)$")
EQUALS = re.compile(r"^(?P<key>[^\s!=]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s!=]*)$")
EXISTS = re.compile(r"^(?P<op>!?)\s*(?P<key>[^\s!=(),]+)$")
# `status.phase!=Running`; a backslash quotes a comma or an equals sign in the value
FIELD = re.compile(r"^(?P<key>[\w.]+)(?P<op>==|=|!=)(?P<value>.*)$")

FIELDS: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "events": (
        *(f"involvedObject.{field}" for field in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")),
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "namespaces": ("status.phase",),
    "replicasets": ("status.replicas",),
    "secrets": ("type",),
}
EVERYWHERE = ("metadata.name", "metadata.namespace")


class SelectorError(ValueError):
    """The selector can't be read; the message is the API server's."""


def labels(text: str) -> list[Test]:
    """The requirements of a label selector; all of them must hold."""
    # a comma inside parentheses separates values, not requirements
    return [requirement(part.strip()) for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def requirement(text: str) -> Test:
    """One requirement of a label selector."""
    if found := SET.match(text):
        key, values = found["key"], {value.strip() for value in found["values"].split(",")}
        inside = found["op"] == "in"
        return lambda on: (on.get(key) in values) == inside
    if found := EQUALS.match(text):
        return compare(found["key"], found["op"], found["value"])
    if found := EXISTS.match(text):
        key, wanted = found["key"], not found["op"]
        return lambda on: (key in on) == wanted
    raise SelectorError(f"unable to parse requirement: found {text!r}, expected: in, notin, =, ==, !=, or an existing key")


def compare(key: str, op: str, value: str) -> Test:
    """Equality, or its contrary, which a missing key satisfies."""
    equal = op != "!="
    return lambda on: (on.get(key) == value) == equal


def fields(text: str, plural: str) -> list[Test]:
    """The requirements of a field selector on one resource; a field that it doesn't index is an error, as in the API server."""
    tests = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        found = FIELD.match(part)
        if found is None:
            raise SelectorError(f"invalid selector: {part!r}; can't understand {part!r}")
        if found["key"] not in (*EVERYWHERE, *FIELDS.get(plural, ())):
            raise SelectorError(f"field label not supported: {found['key']}")
        tests.append(compare(found["key"], found["op"], re.sub(r"\\(.)", r"\1", found["value"])))
    return tests


def fields_of(obj: Mapping[str, object], plural: str) -> dict[str, str]:
    """The fields of an object that can be selected by; one that is missing is "" (and `spec.unschedulable` is "false")."""
    made = {}
    for path in (*EVERYWHERE, *FIELDS.get(plural, ())):
        value: object = obj
        for step in path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if path == "source" and isinstance(value, Mapping):
            value = value.get("component")
        made[path] = ("true" if value else "false") if path == "spec.unschedulable" else "" if value is None else str(value)
    return made
