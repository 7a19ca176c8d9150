"""What a ClusterPolicy of the GPU operator, or the values of its chart, tell the operator."""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.configuration import ClusterPolicy
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, evidence, objects

OPERATOR = ("driver", "toolkit", "migManager", "dcgmExporter", "gfd", "daemonsets", "validator", "operator")  # parts beside the plugin


class PolicyObject(Object):
    """A ClusterPolicy."""

    spec: dict[str, Any] | None = None


def cluster_policies(output: Output, about: Subject) -> Facts:
    """One record per ClusterPolicy; there is one in a cluster."""
    items = objects(output, PolicyObject, ("ClusterPolicy",))
    told = (policy(item.spec or {}, "ClusterPolicy", evidence(output, f"ClusterPolicy {item.meta.name}")) for item in items)
    return {"cluster_policies": [one for one in told if one]}


def policy(one: dict[str, Any], kind: str, origin: Origin) -> ClusterPolicy | None:
    """What a mapping says of the operator, None where it is no ClusterPolicy's spec."""
    mig, plugin = one.get("mig"), one.get("devicePlugin")
    strategy = mig.get("strategy") if isinstance(mig, dict) else None
    strategy = strategy if isinstance(strategy, str) else None
    if not isinstance(plugin, dict):
        return ClusterPolicy(strategy=strategy, origin=origin) if strategy and kind in ("", "ClusterPolicy") else None
    if kind not in ("", "ClusterPolicy") or not (kind or any(part in one for part in OPERATOR) or "mig" in one or "config" in plugin):
        return None
    config = plugin.get("config")
    named = config if isinstance(config, dict) else {}
    enabled = plugin.get("enabled")
    whole = isinstance(config, dict) or "enabled" in plugin or "image" in plugin
    return ClusterPolicy(
        strategy=strategy,
        plugin=enabled if isinstance(enabled, bool) else None,
        sharing=str(named.get("name") or "") if whole else None,
        default=str(named.get("default") or "") if whole else None,
        origin=origin,
    )
