"""Names of objects of any kind, read only to say what comes close to a name that isn't there."""

from __future__ import annotations

from itertools import islice

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import ObjectName
from gpudoctor.probes.base import Output
from gpudoctor.tools.kubernetes.api_json import Object, objects

LIMIT = 20_000  # names; nobody reads further, and a close one is found among them


def names(output: Output, about: Subject) -> Facts:
    """`kubectl get KIND -o json` → names. Raises `ParseError` for what is not JSON."""
    named = (item for item in objects(output, Object, None) if item.meta.name)
    found = [ObjectName(kind=i.kind or "", namespace=i.meta.namespace or "", name=i.meta.name or "") for i in islice(named, LIMIT)]
    return {"names": [*found]}
