"""ConfigMaps that configure the device plugin (sharing) and the MIG manager (layouts); every other ConfigMap is passed over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import StackConfig
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, Strings, evidence, objects
from gpudoctor.tools.parser import ParseError

LARGEST = 32 << 10  # characters of one value; the operator's own MIG configuration has 10 KiB
KEYS = 100  # of one ConfigMap, and resources of one configuration
METHODS = ("timeSlicing", "mps")
# Where the plugin looks for an option (k8s-device-plugin, api/config/v1): an option on another of these levels is not read.
LEVELS: dict[str, frozenset[str]] = {
    "top": frozenset({"version", "flags", "resources", "sharing", "imex"}),
    "flags": frozenset({"migStrategy", "failOnInitError", "nvidiaDriverRoot", "gdsEnabled", "mofedEnabled", "plugin", "gfd"}),
    "plugin": frozenset({"passDeviceSpecs", "deviceListStrategy", "deviceIDStrategy", "cdiAnnotationPrefix", "nvidiaCTKPath"}),
    "sharing": frozenset(METHODS),
    "method": frozenset({"renameByDefault", "failRequestsGreaterThanOne", "resources"}),
    "resource": frozenset({"name", "rename", "devices", "replicas"}),
}
KNOWN = frozenset().union(*LEVELS.values())


class ConfigMapObject(Object):
    """A ConfigMap, as far as its texts."""

    data: Strings = None


def stack_configs(output: Output, about: Subject) -> Facts:
    """One record per configuration and shared resource. A value that is no YAML, or not of these programs, gives none."""
    found: list[StackConfig] = []
    for item in objects(output, ConfigMapObject, ("ConfigMap",)):
        for key, text in list((item.data or {}).items())[:KEYS]:
            value = content(text)
            name, space = item.meta.name or "", item.meta.namespace or ""
            for fields in [*plugin_configs(value), *mig_configs(value)]:
                where = evidence(output, f"{name} {key}: {summary(fields)}")
                found.append(StackConfig(namespace=space, config_map=name, key=key[:253], origin=where, **fields))
    return {"stack_configs": [*found]}


def plain_config(output: Output, about: Subject) -> Facts:
    """The same of a value alone, as it stands in a file before it becomes a ConfigMap; `key` is then "".

    Raises `ParseError` for a text that configures neither program.
    """
    value = content(output.text)
    made = [*plugin_configs(value), *mig_configs(value)]
    if not made:
        raise ParseError(f"{output.origin_name()}: no configuration of the device plugin or the MIG manager: {output.text.strip()[:80]!r}")
    space, name = about.namespace, output.origin_name()
    found = [StackConfig(namespace=space, config_map=name, key="", origin=evidence(output, summary(fields)), **fields) for fields in made]
    return {"stack_configs": [*found]}


def summary(fields: dict[str, Any]) -> str:
    """What a configuration says, in short."""
    if fields.get("layouts"):
        return f"{len(fields['layouts'])} MIG layouts"
    return f"{fields.get('method', '')} {fields.get('resource', '')} replicas: {fields.get('replicas', 0)}"


def content(text: str) -> dict[str, Any]:
    """A value as YAML, {} for anything that is not a mapping of one of the two programs. The parser in Python: deep nesting is an error."""
    if len(text) > LARGEST or "<<" in text:  # ten lines of nested merge keys stand for billions of entries
        return {}
    if not any(word in text for word in (*METHODS, "mig-configs", "flags", "migStrategy", "sharing:")):
        return {}
    import yaml

    try:
        value = yaml.load(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def plugin_configs(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of the device plugin's records: one for each shared resource, one where nothing is shared."""
    if not {"version", "flags", "sharing", *METHODS} & value.keys() or "mig-configs" in value:
        return
    base = {"tool": "device-plugin", "misplaced": misplaced_option(value)}
    sharing = mapping(value.get("sharing"))
    made = False
    for method in METHODS:
        for one in short_list(mapping(sharing.get(method)).get("resources")):
            name, replicas = mapping(one).get("name"), mapping(one).get("replicas")
            if isinstance(name, str) and isinstance(replicas, int) and 0 < replicas < 10**6:
                made = True
                alone = method == "mps" or mapping(sharing.get(method)).get("failRequestsGreaterThanOne") is True
                yield {**base, "method": method, "resource": name[:253], "replicas": int(replicas), "one_share": alone}
    if not made:
        yield base


def misplaced_option(value: dict[str, Any]) -> str:
    """The first option that stands on a level where it isn't read, "" when all stand where they belong."""
    flags, sharing = mapping(value.get("flags")), mapping(value.get("sharing"))
    levels = [("top", value), ("flags", flags), ("plugin", mapping(flags.get("plugin"))), ("sharing", sharing)]
    methods = [mapping(sharing.get(method)) for method in METHODS]
    levels += [("method", method) for method in methods]
    levels += [("resource", mapping(one)) for method in methods for one in short_list(method.get("resources"))]
    return next((key for level, options in levels for key in options if key in KNOWN - LEVELS[level] or is_misspelt(key)), "")


def is_misspelt(key: str) -> bool:
    """Whether an option has letters of the wrong case, or a mark between its words: the plugin passes over what it doesn't know."""
    return key not in KNOWN and re.sub(r"[-_]", "", key).lower() in {name.lower() for name in KNOWN}


def mig_configs(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The fields of the MIG manager's record: the layouts by name."""
    layouts = mapping(value.get("mig-configs"))
    if layouts:
        yield {"tool": "mig-manager", "layouts": [str(name)[:253] for name in list(layouts)[:KEYS]]}


def short_list(value: Any) -> list[Any]:
    """A list, cut to `KEYS`; [] for everything else."""
    return value[:KEYS] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    """A mapping with texts as keys; {} for everything else."""
    return value if isinstance(value, dict) and all(isinstance(key, str) for key in value) else {}
