"""What a ClusterPolicy of the GPU operator, or the values of its chart, say beside ConfigMaps and nodes, in the words of the program that
would say it: the device plugin and its configuration manager.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpudoctor.facts import Fact, Facts
from gpudoctor.facts.base import Origin
from gpudoctor.facts.gpu import Gpu, Smi
from gpudoctor.facts.kubernetes import Message, Node, StackConfig

CHOICE = "nvidia.com/device-plugin.config"  # the label by which a node chooses
OPERATOR = ("driver", "toolkit", "migManager", "dcgmExporter", "gfd", "daemonsets", "validator", "operator")  # parts beside the plugin


class Policy(Fact, frozen=True, kw_only=True):
    """What the operator is told. What wasn't shown is None."""

    strategy: str | None = None  # of MIG: none, single, mixed
    plugin: bool | None = None  # whether the operator runs the device plugin
    sharing: str | None = None  # the ConfigMap with the plugin's configurations, "" for none
    default: str | None = None  # the configuration for nodes that choose none, "" for none


def policy(one: dict[str, Any], kind: str, origin: Origin) -> Policy | None:
    """What a mapping says of the operator, None where it is no ClusterPolicy's spec."""
    mig, plugin = one.get("mig"), one.get("devicePlugin")
    strategy = mig.get("strategy") if isinstance(mig, dict) else None
    strategy = strategy if isinstance(strategy, str) else None
    if not isinstance(plugin, dict):
        return Policy(strategy=strategy, origin=origin) if strategy and kind in ("", "ClusterPolicy") else None
    if kind not in ("", "ClusterPolicy") or not (kind or any(part in one for part in OPERATOR) or "mig" in one or "config" in plugin):
        return None
    config = plugin.get("config")
    named = config if isinstance(config, dict) else {}
    enabled = plugin.get("enabled")
    whole = isinstance(config, dict) or "enabled" in plugin or "image" in plugin
    return Policy(
        strategy=strategy,
        plugin=enabled if isinstance(enabled, bool) else None,
        sharing=str(named.get("name") or "") if whole else None,
        default=str(named.get("default") or "") if whole else None,
        origin=origin,
    )


def of_policies(policies: Sequence[Policy], facts: Facts) -> Iterator[Message]:
    """The plugin and its configuration manager, on what they are told."""
    configs = [one for one in facts.get("stack_configs", []) if isinstance(one, StackConfig) and one.tool == "device-plugin" and one.key]
    nodes = [one for one in facts.get("nodes", []) if isinstance(one, Node)]
    strategies = {one.strategy: one for one in policies if one.strategy}
    for strategy, one in strategies.items() if len(strategies) == 1 else ():
        if strategy in ("none", "single"):
            yield Message(name=f"mig_strategy_{strategy}", source="status", origin=one.origin)
    for one in policies:
        if one.plugin is False:
            yield Message(name="plugin_switched_off", source="status", origin=one.origin)
        if one.sharing is not None and (missing := unknown_config(one, configs, nodes)) is not None:
            yield Message(name="plugin_config_not_named", detail=missing, source="status", origin=one.origin)


def of_gpus(facts: Facts) -> Iterator[Message]:
    """The plugin, on a machine whose GPUs are in MIG mode and where a list of its GPUs and instances shows no instance."""
    lists = [one for one in facts.get("smi", []) if isinstance(one, Smi) and one.text.startswith("GPU ") and "(UUID: GPU-" in one.text]
    if not lists or any(one.mig_profiles or one.pod or one.inside == "pod" for one in lists):
        return
    for gpu in facts.get("gpus", []):
        if isinstance(gpu, Gpu) and gpu.mig_mode == "Enabled" and gpu.mig_pending in (None, "Enabled"):
            yield Message(name="mig_device_without_instances", source="status", node=gpu.node, origin=gpu.origin)
            return


def unknown_config(one: Policy, configs: Sequence[StackConfig], nodes: Sequence[Node]) -> str | None:
    """The name that leads to no configuration, "" where none is given; None where one of those that were shown is used, or none was."""
    shared = [config for config in configs if config.replicas > 1]
    if not shared or any(CHOICE in node.labels for node in nodes):
        return None
    there = [config for config in configs if config.config_map == one.sharing]
    if not one.sharing or (not there and all(config.config_map for config in configs)):
        return one.sharing
    labelled = any("labels" not in node.gaps and not node.label_keys for node in nodes)
    if not one.default:
        return "" if labelled else None
    return None if any(config.key == one.default for config in there) else one.default
