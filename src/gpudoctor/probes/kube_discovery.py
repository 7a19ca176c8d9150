"""What resources a server has, for those whose group version differs between clusters and those that the static table doesn't know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from gpudoctor.probes.base import decoder
from gpudoctor.probes.kube_resources import RESOURCES, Resource

# All resources in one answer from Kubernetes 1.27 on (https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery);
# older servers answer with the plain list of groups.
ACCEPT = ",".join(
    [*(f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")), "application/json"]
)
T = TypeVar("T")
_MAX_GROUPS = 100  # asked one by one on an old server


class _Scoped(msgspec.Struct, frozen=True):
    resource: str = ""
    scope: str = ""
    singularResource: str = ""
    shortNames: list[str] = []


class _Version(msgspec.Struct, frozen=True):
    version: str = ""
    resources: list[_Scoped] = []


class _Name(msgspec.Struct, frozen=True):
    name: str = ""


class _Group(msgspec.Struct, frozen=True):
    metadata: _Name = _Name()
    versions: list[_Version] = []


class _Preferred(msgspec.Struct, frozen=True):
    version: str = ""


class _PlainGroup(msgspec.Struct, frozen=True):
    name: str = ""
    preferredVersion: _Preferred = _Preferred()


class _Groups(msgspec.Struct, frozen=True):
    """APIGroupDiscoveryList (items) or APIGroupList (groups); both name the preferred version first."""

    items: list[_Group] = []
    groups: list[_PlainGroup] = []


class _PlainResource(msgspec.Struct, frozen=True):
    name: str = ""
    singularName: str = ""
    namespaced: bool = False
    shortNames: list[str] | None = None


class _Resources(msgspec.Struct, frozen=True):
    resources: list[_PlainResource] = []


def discover(word: str, get: Callable[[str], bytes]) -> Resource | None:
    """The resource that a word means on this server (`podgroups`, `workloads.kueue.x-k8s.io`), None if it has none.

    `get` fetches a path; /apis is asked for each time, so it should remember that answer. An answer that isn't what it should be holds
    no resources.
    """
    known = RESOURCES.get(word)
    plural, _, group = (f"{known.plural}.{known.group}" if known else word).partition(".")
    answer = _decode(get("/apis"), _Groups)
    versions = {item.metadata.name: item.versions[0].version for item in answer.items if item.versions}
    versions |= {item.name: item.preferredVersion.version for item in answer.groups}
    if known:
        version = _version(answer, known) or versions.get(group, "")
        return known._replace(version=version) if version else None
    listed = _aggregated_resources(answer) if answer.items else _one_by_one(versions, group, get)
    return next((resource for words, resource in listed if plural in words and (not group or group == resource.group)), None)


def _version(answer: _Groups, known: Resource) -> str:
    """The first version in which a resource is listed, "" where its group lists none: the server behind it may be away.

    A group may serve its kinds in different versions: kubeflow.org has had v1 of PyTorchJob beside v2beta1 alone of MPIJob.
    """
    served = [version for item in answer.items if item.metadata.name == known.group for version in item.versions]
    return next((one.version for one in served if any(found.resource == known.plural for found in one.resources)), "")


def _aggregated_resources(answer: _Groups) -> Iterator[tuple[set[str], Resource]]:
    for group in answer.items:
        for version in group.versions:
            for found in version.resources:
                resource = Resource(found.resource, group.metadata.name, version.version, found.scope == "Namespaced")
                yield {found.resource, found.singularResource, *found.shortNames}, resource


def _one_by_one(versions: dict[str, str], wanted: str, get: Callable[[str], bytes]) -> Iterator[tuple[set[str], Resource]]:
    groups = [wanted] if wanted in versions else [] if wanted else sorted(versions)[:_MAX_GROUPS]
    for group in groups:
        for found in _decode(get(f"/apis/{group}/{versions[group]}"), _Resources).resources:
            resource = Resource(found.name, group, versions[group], found.namespaced)
            yield {found.name, found.singularName, *(found.shortNames or ())}, resource


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        return decoder(kind).decode(body)
    except (msgspec.MsgspecError, RecursionError):
        return kind()
