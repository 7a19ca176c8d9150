"""Requests in, answers out: the API server's paths over a store. It knows nothing of sockets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

import msgspec

from tests.kube.containers import Query, first, log, number
from tests.kube.faults import Fault, Faults
from tests.kube.kinds import REVIEWS, Resource, discovery
from tests.kube.statuses import ApiError, failure, forbidden
from tests.kube.store import Store, record_of

# /api/v1/namespaces/ml/pods/train-0/log  ·  /apis/apps/v1/daemonsets
PATH = re.compile(
    r"^/(?:api/(?P<core>v1)|apis/(?P<api>[^/]+/[^/]+))(?:/namespaces/(?P<ns>[^/]+)(?=/))?/(?P<plural>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<sub>[^/]+))?$"
)
VERSION = {
    "major": "1",
    "minor": "31",
    "gitVersion": "v1.31.4",
    "gitCommit": "a78aa47129b8539636eb86a9d00e31b2720fe06b",
    "gitTreeState": "clean",
    "buildDate": "2024-12-10T18:46:09Z",
    "goVersion": "go1.22.9",
    "compiler": "gc",
    "platform": "linux/amd64",
}


class Response(NamedTuple):
    """One answer, whole."""

    code: int
    body: bytes
    type: str = "application/json"


class Place(NamedTuple):
    """What a path names."""

    resource: Resource
    ns: str
    name: str
    sub: str


class Api:
    """The answers to every request that is not an exec."""

    def __init__(self, contents: Mapping[str, Any], store: Store, url: str) -> None:
        self.now: str = contents.get("now", "2026-03-01T12:00:00Z")
        self.logs: Mapping[str, str] = contents.get("logs") or {}
        self.exec: Mapping[str, list[Mapping[str, Any]]] = contents.get("exec") or {}
        self.version = VERSION | (contents.get("version") or {})
        self.proxied: Mapping[str, str] = contents.get("proxied") or {}
        self.new_pod: dict[str, Any] = contents.get("created") or {}
        self.faults = Faults(contents.get("faults") or ())
        self.store = store
        self.documents = discovery(store.resources.values(), url)

    def answer(self, method: str, path: str, query: Query, body: bytes) -> Response:
        """The answer to one request. Raises ApiError."""
        if path in ("/healthz", "/livez", "/readyz"):
            return Response(200, b"ok", "text/plain")
        if path == "/version":
            return Response(200, msgspec.json.encode(self.version))
        if path in self.documents:
            return Response(200, msgspec.json.encode(self.documents[path]))
        if method == "POST" and path == f"/apis/{REVIEWS}/selfsubjectaccessreviews":
            return self.review(body)
        if "/proxy/" in path and method == "GET":
            return self.through(path, query)
        place = self.place(path)
        if place is None:
            return Response(404, b"404 page not found\n", "text/plain; charset=utf-8")
        if place.resource.plural == "pods" and method == "POST" and not place.name:
            return self.created(place, body)
        if place.resource.plural == "pods" and method == "DELETE" and place.name and not place.sub:
            gone = self.store.one(place.resource, place.ns, place.name)
            self.store.remove(place.resource, place.ns, place.name)
            return Response(200, gone)
        if method != "GET":
            raise ApiError(405)
        if place.sub == "log" and place.resource.plural == "pods":
            return Response(200, log(self.pod(place), query, self.logs, self.now), "text/plain")
        if place.sub:
            raise ApiError(404)
        if place.name:
            return Response(200, self.store.one(place.resource, place.ns, place.name))
        wanted = (place.ns, first(query, "labelSelector"), first(query, "fieldSelector"))
        return Response(200, self.store.page(place.resource, wanted, number(query, "limit") or 0, first(query, "continue")))

    def through(self, path: str, query: Query) -> Response:
        """What a pod or Service answers to a request that the API server hands on; nobody listens where the cluster file says nothing."""
        asked = f"{path}?query={first(query, 'query')}" if "query" in query else path
        if asked not in self.proxied:
            port = path.split("/proxy/")[0].rpartition(":")[2]
            words = f"error trying to reach service: dial tcp 10.244.1.7:{port}: connect: connection refused"
            return Response(503, msgspec.json.encode(failure(503, words)))
        return Response(200, self.proxied[asked].encode(), "text/plain")

    def place(self, path: str) -> Place | None:
        """What a percent-encoded path names, or None where the server serves no such resource."""
        found = PATH.match(path)
        if found is None:
            return None
        resource = self.store.resources.get((found["core"] or found["api"], unquote(found["plural"])))
        ns = unquote(found["ns"] or "")
        # a namespaced object is named with its namespace, a cluster-scoped one without
        if resource is None or (ns and not resource.namespaced) or (found["name"] and resource.namespaced and not ns):
            return None
        return Place(resource, ns, unquote(found["name"] or ""), found["sub"] or "")

    def pod(self, place: Place) -> dict[str, Any]:
        """The pod of a subresource, decoded. Raises ApiError 404."""
        decoded: dict[str, Any] = msgspec.json.decode(self.store.one(place.resource, place.ns, place.name))
        return decoded

    def created(self, place: Place, body: bytes) -> Response:
        """A pod that a client made; it is at once what the cluster file says, running by default."""
        pod = msgspec.json.decode(body)
        states = [{"name": each["name"], "state": {"running": {"startedAt": self.now}}} for each in pod["spec"]["containers"]]
        pod["metadata"]["namespace"] = place.ns
        pod["status"] = self.new_pod or {"phase": "Running", "containerStatuses": states}
        self.store.add(place.resource, [record_of(pod, place.resource)])
        self.store.sort()
        return Response(201, self.store.one(place.resource, place.ns, pod["metadata"]["name"]))

    def review(self, body: bytes) -> Response:
        """A SelfSubjectAccessReview: allowed unless a 403 fault would refuse the same request."""
        asked = msgspec.json.decode(body)
        about = asked["spec"].get("resourceAttributes", {})
        group = f"/apis/{about['group']}/{about.get('version') or 'v1'}" if about.get("group") else "/api/v1"
        parts = [f"/namespaces/{about['namespace']}" if about.get("namespace") else "", about.get("resource", "")]
        parts += [about.get("name", ""), about.get("subresource", "")]
        path = group + parts[0] + "".join(f"/{part}" for part in parts[1:] if part)
        refused = self.faults.forbids(f"{'POST' if about.get('verb') == 'create' else 'GET'} {path}")
        return Response(201, msgspec.json.encode(asked | {"status": {"allowed": not refused}}))

    def fault_status(self, fault: Fault, method: str, path: str) -> dict[str, Any]:
        """The Status of a fault; a 403 and a 404 without a message are worded as the API server would for this very request."""
        place = self.place(path)
        if fault.message or place is None or fault.status != 403:
            return failure(fault.status, fault.message)
        verb = {"POST": "create", "DELETE": "delete"}.get(method, "get" if place.name else "list")
        resource = f"{place.resource.plural}/{place.sub}" if place.sub else place.resource.plural
        return forbidden(verb, resource, place.resource.group, place.name, place.ns).status


def parse(target: str) -> tuple[str, Query]:
    """A request target as (path, query)."""
    path, _, query = target.partition("?")
    return path, parse_qs(query, keep_blank_values=True)
