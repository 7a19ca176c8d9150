"""What a change of the nearest fit is in a manifest: steps of a JSON patch of the pod's spec, and the fragment of YAML."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from gpudoctor.derive.scheduling_plugins import Ask
from gpudoctor.derive.scheduling_text import amount
from gpudoctor.facts.kubernetes import Toleration


class Patch(NamedTuple):
    """`steps` is JSON (RFC 6902), "" where the change can't be said so; `fragment` is YAML, "" where nothing of the spec changes."""

    steps: str
    fragment: str


def patch(before: Ask, after: Ask) -> Patch:
    """The difference of two pods. Which container asks for a resource is not known here: that is left to who reads the fragment."""
    steps: list[dict[str, Any]] = []
    lines: list[str] = []
    further = after.pod.tolerations[len(before.pod.tolerations) :]
    steps += [{"op": "add", "path": "/tolerations/-", "value": toleration(one)} for one in further]
    if further:
        lines += ["tolerations:", *(line for one in further for line in toleration_lines(one))]
    old, new = before.pod.node_selector, after.pod.node_selector
    steps += [{"op": "remove", "path": f"/nodeSelector/{escaped(key)}"} for key in old if key not in new]
    steps += [{"op": "replace", "path": f"/nodeSelector/{escaped(key)}", "value": new[key]} for key in new if new[key] != old.get(key)]
    if old != new:
        lines += ["nodeSelector:", *(f"  {key}: {quoted(value)}" for key, value in new.items())] if new else ["nodeSelector: {}"]
    asked = {key: value for key, value in after.requests.items() if value != before.requests.get(key)}
    if asked:
        lines += ["containers:", "  - resources:"]
    for kind, own in (("limits", True), ("requests", False)):  # a device's request is its limit
        amounts = {key: value for key, value in asked.items() if ("/" in key) is own}
        lines += [f"      {kind}:", *(f"        {key}: {quoted(amount(key, value))}" for key, value in amounts.items())] if amounts else []
    whole = not asked and before.pod.node_affinity == after.pod.node_affinity and before.pod.host_ports == after.pod.host_ports
    fragment = "\n".join(["spec:", *(f"  {line}" for line in lines)]) if lines else ""
    return Patch(json.dumps(steps) if steps and whole else "", fragment)


def toleration(one: Toleration) -> dict[str, str]:
    """A toleration as the API has it. Of a taint without a value only its key has to exist."""
    said = {"key": one.key, "operator": "Equal" if one.value else "Exists", "value": one.value, "effect": one.effect}
    return {key: value for key, value in said.items() if value}


def toleration_lines(one: Toleration) -> list[str]:
    """The same in YAML, as an item of a list."""
    lines = [f"{key}: {quoted(value)}" for key, value in toleration(one).items()]
    return [f"  - {lines[0]}", *(f"    {line}" for line in lines[1:])]


def quoted(text: str) -> str:
    """A text as YAML reads a text, not a number or a truth value: JSON's form is YAML's too."""
    return text if text.replace(".", "").replace("/", "").replace("-", "").isalpha() and text.lower() not in WORDS else json.dumps(text)


# Words that YAML 1.1 reads as truth values, or as nothing.
WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})


def escaped(key: str) -> str:
    """A key in a JSON pointer (RFC 6901).

    >>> escaped("nvidia.com/gpu.product")
    'nvidia.com~1gpu.product'
    """
    return key.replace("~", "~0").replace("/", "~1")
