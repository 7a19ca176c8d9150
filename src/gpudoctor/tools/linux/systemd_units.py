"""The state of systemd units: `systemctl show -p …`, `systemctl status`, and the lines of `systemctl list-units`."""

from __future__ import annotations

from typing import Any

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.node import Unit
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.parser import reject_foreign

FIELDS = {
    "Id": "unit",
    "LoadState": "load",
    "ActiveState": "active",
    "SubState": "sub",
    "Result": "result",
    "UnitFileState": "enabled",
}
# ActiveState=failed
PROPERTY = regex(rf"^({'|'.join(FIELDS)})=(\S{{0,200}})$")
# ● nvidia-fabricmanager.service - NVIDIA fabric manager service
STATUS = regex(r"^(?:[●○×↻*] |\s{0,2})(\S{1,120}\.service) (?:- .*|(?:loaded|not-found|masked|error)\s.*)?$")
#      Loaded: loaded (/usr/lib/systemd/system/nvidia-dcgm.service; enabled; preset: enabled)
LOADED = regex(r"^\s*Loaded: ([a-z-]{1,20})(?: \([^;)]{0,200}; ?([a-z-]{1,20}))?")
#      Active: failed (Result: exit-code) since …  |  Active: active (running) since …
#      Active: activating (auto-restart) (Result: exit-code) since …
ACTIVE = regex(r"^\s*Active: ([a-z-]{1,20})(?: \(([a-z-]{1,30})\))?(?: \(Result: ([a-z-]{1,30})\))?")
#   nvidia-dcgm.service  loaded active running NVIDIA DCGM service
LISTED = regex(r"^(?:[●○×*] |\s{0,2})(\S{1,120}\.service)\s+(loaded|not-found|masked|error)\s+([a-z-]{1,20})\s+([a-z-]{1,20})\b")
MOST = 10_000


def units(output: Output, about: Subject) -> Facts:
    """One Unit for each that the answer shows; the name is without `.service`."""
    found: list[dict[str, Any]] = []
    for number, raw in enumerate(output.text.split("\n"), 1):
        line = raw[:1024].rstrip()
        at: dict[str, Any] = {"node": about.node, "origin": Origin(output.origin_name(), number, line.strip())}
        if len(found) >= MOST:
            break
        if match := PROPERTY.match(line):
            field, value = FIELDS[match.group(1)], match.group(2)
            # A block begins with the name, or with a property that the present block has already.
            if not found or field in found[-1]:
                found.append(at)
            found[-1][field] = value.removesuffix(".service") if field == "unit" else value
        elif match := LISTED.match(line):
            unit, load, active, sub = match.groups()
            found.append({**at, "unit": unit.removesuffix(".service"), "load": load, "active": active, "sub": sub})
        elif (match := STATUS.match(line)) and " - " in line:
            found.append({**at, "unit": match.group(1).removesuffix(".service")})
        elif found and (match := LOADED.match(line)) and "load" not in found[-1]:
            found[-1].update(load=match.group(1), enabled=match.group(2) or "")
        elif found and (match := ACTIVE.match(line)) and "active" not in found[-1]:
            found[-1].update(active=match.group(1), **({"sub": match.group(2)} if match.group(2) else {}))
            found[-1].update({"result": match.group(3)} if match.group(3) else {})
            found[-1]["origin"] = at["origin"]
    if not found:
        reject_foreign(output, "systemctl")
    return {"units": [Unit(**one) for one in found if one.get("unit")]}
