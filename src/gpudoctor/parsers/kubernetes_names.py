"""Names of objects of any kind, read only to say what comes close to a name that isn't there."""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import ObjectName
from gpudoctor.parsers.kubernetes_json import UNREADABLE, Object, check_answer, page_items
from gpudoctor.probes.base import Output

LIMIT = 20_000  # names; nobody reads further, and a close one is found among them


def names(output: Output, about: Subject) -> Facts:
    """`kubectl get KIND -o json` → names. Raises `ParseError` for what is not JSON."""
    check_answer(output)
    decoder = msgspec.json.Decoder(Object)
    found: list[ObjectName] = []
    for page in output.pages:
        for list_kind, raw in page_items(page, output):
            try:
                item = decoder.decode(raw)
            except UNREADABLE:
                continue
            if item.meta.name and len(found) < LIMIT:
                found.append(ObjectName(kind=item.kind or list_kind, namespace=item.meta.namespace or "", name=item.meta.name))
    return {"names": list(found)}
