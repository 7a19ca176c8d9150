"""Objects of the API as JSON or YAML: answers of `-o json` and `-o yaml`, and manifests, which have no status."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.registry import load
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl.events import CLAUSE
from gpudoctor.tools.kubernetes.scheduler_message import schedule_reasons
from gpudoctor.tools.parser import LINE, ParseError

PICKED = 128 << 10  # bytes of objects whose inner parts are looked at
YAML_BYTES = 8 << 20  # libyaml reads about 3 MiB a second
ALIASES = 20  # of one document; kubectl writes none, and a few hundred can stand for billions of nodes
NESTING = 100  # levels of one document; libyaml's composer recurses on the C stack, a Pod has about 15
DEPTH = 12  # how deep conditions are looked for in objects of other kinds
WORDS = 200  # messages of one object
OVER = ("Running", "Completed", "Succeeded", "Finished")  # phases of what has waited once and doesn't any more

# Kind → the parser that reads it; every other kind may be a workload, which has a pod template.
PARSERS_OF_KIND: dict[str, str] = {
    "Pod": "kubernetes.pods",
    "Node": "kubernetes.nodes",
    "Event": "kubernetes.events",
    "PersistentVolumeClaim": "kubernetes.claims",
    "PersistentVolume": "kubernetes.volumes",
    "ResourceQuota": "kubernetes.quotas",
    "RuntimeClass": "kubernetes.runtime_classes",
    "StorageClass": "kubernetes.storage_classes",
    "ResourceClaim": "kubernetes.device_claims",
    "ResourceSlice": "kubernetes.device_slices",
    "ConfigMap": "kubernetes.stack_configs",
    "Service": "kubernetes.services",
    "Endpoints": "kubernetes.endpoints",
    "EndpointSlice": "kubernetes.endpoints",
    "Namespace": "kubernetes.namespaces",
    "ServiceMonitor": "kubernetes.service_monitors",
    "PodMonitor": "kubernetes.pod_monitors",
    "Prometheus": "kubernetes.prometheuses",
    "PrometheusRule": "kubernetes.prometheus_rules",
}
# Kind → what else is read of it: the exporters among pods and templates, and their lists of counters.
ALSO_OF_KIND: dict[str, str] = {
    "ConfigMap": "kubernetes.counters",
    **dict.fromkeys(("Pod", "DaemonSet", "Deployment"), "kubernetes.exporter_templates"),
}

TOP_KEY = regex(r"^(apiVersion|kind|metadata|spec|status|items|data|allocatable):", re.MULTILINE)
# "nvidia.com/gpu.count": "8",  |  nvidia.com/mig.strategy=single  |  feature.node.kubernetes.io/pci-10de.present: "true"
LABEL = regex(
    r'^(?:Labels:)?[\s"-]*((?:[\w-]+\.)*(?:nvidia\.com|node\.kubernetes\.io|kubernetes\.io|kubernetes\.azure\.com|cloud\.google\.com|amazonaws\.com)'
    r'/[\w.-]{1,63})"?\s*[:=]\s*"?([\w.-]{0,63})"?,?\s*$'
)
#   nvidia.com/gpu: "2"      (of a container's limits or a node's capacity)
AMOUNT = regex(r'^[\s"-]*nvidia\.com/(?:gpu|gpu\.shared|mig-\d{1,2}g\.\d{1,4}gb)"?: *"?\d{1,6}"?,?\s*$')
# gpu-07        (alone on its line, above the labels of that node)
NODE_NAME = regex(r"^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\r?$")


OF_NODE = (b'"capacity"', b'"allocatable"', b'"podCIDR"', b'"providerID"', b'"unschedulable"')
# Keys below which somebody cuts out a part of a pod's spec, a queue, a volume, or the values of the operator's chart.
PART = regex(
    r"^ {0,20}(?:- )?(?:containers|resources|nodeSelector|tolerations|nodeAffinity|resourceGroups|capability|workerGroupSpecs"
    r"|devicePlugin|migManager):",
    re.MULTILINE,
)
# nodeSelector:  |  - name: main  |  cpu: "4"  |  - --scheduler-name=volcano  |  ]
ENTRY = regex(r"^ *(?:- +)*(?:[\w./$-]{1,120}:(?: .*)?|\{.*|\[.*|[\]}],?|- .*|\.\.\.)$")


class Kinded(msgspec.Struct):
    """An object or a list of objects, as far as its kind."""

    kind: Any = None
    items: Any = None


HELM = ("USER-SUPPLIED VALUES:", "COMPUTED VALUES:")  # above what `helm get values` prints
LISTED = msgspec.json.Decoder(list[Kinded])
KINDED = msgspec.json.Decoder(Kinded)


def score(text: str) -> int:
    """0 to 95: whether a text is API objects in JSON or YAML."""
    head = text[:65536].lstrip("\ufeff \t\r\n")
    if head[:1] in "{[":
        return 95 if '"kind"' in head and ('"apiVersion"' in head or '"metadata"' in head) else 0
    keys = {match.group(1) for match in TOP_KEY.finditer(head)}
    if not keys and len(head) < 32768 and PART.search(head) and mostly_yaml(head):
        return 45
    if len(keys & {"apiVersion", "kind", "metadata", "spec", "status", "items"}) >= 2:
        return 92
    if keys == {"data"} and any(word in head for word in ("timeSlicing", "mig-configs", "sharing:")):
        return 91
    return 50 if keys & {"status", "metadata", "spec", "allocatable"} and len(head) < 32768 else 0


def mostly_yaml(head: str) -> bool:
    """Whether nearly all lines are a key with or without a value, or an entry of a list."""
    filled = [line for line in head.split("\n")[:400] if line.strip() and not line.lstrip().startswith(("#", *HELM))]
    return sum(ENTRY.match(line) is not None for line in filled) * 10 >= len(filled) * 9


def objects(output: Output, about: Subject) -> Facts:
    """The facts of all objects in a text. Raises `ParseError` for text that is neither JSON nor YAML, or too large or knotted YAML."""
    page = as_json(output)
    from gpudoctor.tools.kubectl import manifest_parts

    if part := part_of_node(page, about):
        return part_facts(part, output, about)
    page = manifest_parts.with_kind(page)
    facts: Facts = {}
    there = kinds(page, output)
    wanted = {PARSERS_OF_KIND.get(kind, "kubernetes.workloads") for kind in there}
    for parser in sorted(wanted | {ALSO_OF_KIND[kind] for kind in there if kind in ALSO_OF_KIND}):
        for kind, records in load(parser)(msgspec.structs.replace(output, pages=(page,), exit=0), about).items():
            facts.setdefault(kind, []).extend(records)
    if "pods" in facts:
        # the newest time that any text shows is the pod's own creation: how long ago that is isn't known
        facts["pods"] = [msgspec.structs.replace(pod, age=None) if getattr(pod, "age", None) == 0.0 else pod for pod in facts["pods"]]
    if len(page) <= YAML_BYTES:
        for kind, records in [*other_words(page, output, about).items(), *inner_parts(page, output, about).items()]:
            facts.setdefault(kind, []).extend(records)
    if said := manifest_parts.labels_said(output, about):
        facts.setdefault("messages", []).extend(said)
    return facts


def inner_parts(page: bytes, output: Output, about: Subject) -> Facts:
    """The pod templates, queues and volumes inside objects that are short enough to have been picked out by somebody."""
    from gpudoctor.tools.kubectl import object_parts

    if len(page) > PICKED:
        return {}
    try:
        value = msgspec.json.decode(page)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return {}
    return object_parts.parts(value, output, about, whole=b'"kind"' in page)


def part_of_node(page: bytes, about: Subject) -> dict[str, Any] | None:
    """The Node of which a page without a kind is a part."""
    from gpudoctor.tools.kubectl import manifest_parts

    if b'"kind"' in page[:65536] or not any(key in page for key in OF_NODE) or len(page) > YAML_BYTES:
        return None
    try:
        return manifest_parts.node_of(msgspec.json.decode(page), about.node)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def part_facts(node: dict[str, Any], output: Output, about: Subject) -> Facts:
    """What a part of a Node shows."""
    from gpudoctor.tools.kubectl import manifest_parts

    page = msgspec.json.encode(node)
    return manifest_parts.with_gaps(load("kubernetes.nodes")(msgspec.structs.replace(output, pages=(page,), exit=0), about), node)


def as_json(output: Output) -> bytes:
    """The text as JSON: as it is, or converted from YAML."""
    whole = b"".join(output.pages).strip(b"\xef\xbb\xbf \t\r\n")
    if whole[:1] in (b"{", b"["):
        return whole
    if len(whole) > YAML_BYTES:
        raise ParseError(f"{output.origin_name()}: YAML of more than {YAML_BYTES >> 20} MiB is not read")
    import yaml

    text = output.text
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if text.startswith(" ") and TOP_KEY.search(text):  # cut out from an inner level on: it gets a parent
        text = f"cut:\n{text}"
    try:
        check_yaml(text, loader, output)
        documents = [document for document in yaml.load_all(text, Loader=loader) if document is not None]
        return msgspec.json.encode(documents[0] if len(documents) == 1 else [d for d in documents if isinstance(d, dict)])
    except ParseError:
        raise
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ParseError(f"{output.origin_name()}: not YAML: {str(error)[:160]}") from None


def check_yaml(text: str, loader: Any, output: Output) -> None:
    """Raise `ParseError` for YAML that would grow without bounds, or nest deeper than the stack, when it is composed."""
    import yaml

    depth = aliases = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.AliasEvent):
            aliases += 1
        elif isinstance(event, yaml.DocumentStartEvent):
            aliases = 0
        if depth > NESTING or aliases > ALIASES:
            raise ParseError(f"{output.origin_name()}: YAML with more than {NESTING} levels or {ALIASES} aliases is not read")


def kinds(page: bytes, output: Output) -> set[str]:
    """The kinds of the objects in a page. Items of a typed list (PodList) have its kind."""
    try:
        found = LISTED.decode(page) if page[:1] == b"[" else [KINDED.decode(page)]
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise ParseError(f"{output.origin_name()}: not JSON: {str(error)[:160]}") from None
    named: set[str] = set()
    for one in found:
        if isinstance(one.kind, str):
            named.add(one.kind.removesuffix("List") if isinstance(one.items, list) else one.kind)
        if isinstance(one.items, list):
            named |= {item["kind"] for item in one.items if isinstance(item, dict) and isinstance(item.get("kind"), str)}
    return named


def other_words(page: bytes, output: Output, about: Subject) -> Facts:
    """Known messages, and a scheduler's, in the conditions of objects that no parser reads (ClusterQueue, PodGroup, a `status:` alone)."""
    try:
        value = msgspec.json.decode(page)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return {}
    from gpudoctor.tools.kubernetes.workloads import KINDS

    documents = value if isinstance(value, list) else [value]
    known = PARSERS_OF_KIND.keys() | KINDS.keys() | {"List"}
    found: Facts = {"messages": []}
    for document in documents[:1000]:
        if not isinstance(document, dict) or str(document.get("kind")) in known or "items" in document:
            continue
        for words, _ in zip(messages(without_past(document), DEPTH), range(WORDS), strict=False):
            origin = Origin(output.origin_name(), 0, words[:400])
            found["messages"] += scan_text(words, source="status", about=about, origin=origin)
            if CLAUSE.search(words):
                reasons = schedule_reasons(words, namespace=about.namespace, pod=about.pod, origin=origin)
                found.setdefault("schedule_reasons", []).extend(reasons)
    return found


def without_past(document: dict[str, Any]) -> dict[str, Any]:
    """An object without the conditions of a time that is over. Volcano leaves Unschedulable behind in a PodGroup that runs."""
    status = document.get("status")
    if isinstance(status, dict) and status.get("phase") in OVER and isinstance(status.get("conditions"), list):
        return {**document, "status": {**status, "conditions": []}}
    return document


def messages(value: Any, depth: int) -> Iterator[str]:
    """The texts under the key `message`, at any place."""
    if depth and isinstance(value, dict):
        for key, inner in value.items():
            if key == "message" and isinstance(inner, str):
                yield inner
            else:
                yield from messages(inner, depth - 1)
    elif depth and isinstance(value, list):
        for inner in value[:1000]:
            yield from messages(inner, depth - 1)


def label_score(lines: list[str], argv: Sequence[str] = ()) -> int:
    """0 or 60: whether a text is a node's labels, one a line; one of a PCI device, a product or a MIG layout tells by itself.

    So does the command: `kubectl get node gpu-07 --show-labels | tr , '\\n' | grep gpu`.
    """
    found = [line for line in lines if LABEL.match(line) and not AMOUNT.match(line)]
    telling = any("/pci-" in line or "/gpu.product=" in line or ("/mig.config" in line and "=" in line) for line in found)
    asked = "--show-labels" in argv and any(word.partition("/")[0] in ("node", "nodes", "no") for word in argv[1:4])
    return 60 if len(found) >= 3 or telling or (asked and found) else 0


def labels(output: Output, about: Subject) -> Facts:
    """The nodes of which only labels were pasted; must-gather of the GPU operator writes each one's name above them."""
    from gpudoctor.facts.kubernetes import Node
    from gpudoctor.tools.common.line_numbers import NAMELESS, gaps, remove_placeholders

    found: dict[str, dict[str, str]] = {}
    name = about.node or NAMELESS
    for line in output.text.split("\n"):
        if match := LABEL.match(line[:LINE]):
            found.setdefault(name, {})[match[1]] = match[2]
        elif NODE_NAME.match(line):
            name = line.strip()
    items = [{"kind": "Node", "metadata": {"name": name, "labels": labels}} for name, labels in found.items()]
    made = {"kind": "NodeList", "apiVersion": "v1", "items": items}
    facts = load("kubernetes.nodes")(msgspec.structs.replace(output, pages=(msgspec.json.encode(made),), exit=0), about)
    missing = gaps(Node, {"node", "labels", "label_keys", "gpus_expected", "gpu_present"}, "only labels were given")
    return remove_placeholders({"nodes": [msgspec.structs.replace(node, gaps=missing) for node in facts.get("nodes", [])]})
