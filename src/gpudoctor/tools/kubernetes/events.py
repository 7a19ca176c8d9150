"""Events of both API versions (core/v1 and events.k8s.io/v1), with the scheduler's reasons and the known messages in them."""

from __future__ import annotations

import msgspec

from gpudoctor.facts import Facts, Subject
from gpudoctor.facts.kubernetes import Event, Message, ScheduleReason
from gpudoctor.knowledge import components
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import fold, scan_text
from gpudoctor.tools.kubernetes.api_json import Object, age, evidence, objects, seconds
from gpudoctor.tools.kubernetes.scheduler_message import schedule_reasons

SCHEDULING = ("FailedScheduling", "Unschedulable")  # the default scheduler and Volcano
# spec.initContainers{toolkit-validation}
FIELD_PATH = regex(r"spec\.(?:init|ephemeral)?[cC]ontainers\{([^{}]{1,63})\}$")


class Involved(msgspec.Struct):
    """The object that the event is about."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    fieldPath: str | None = None


class Source(msgspec.Struct):
    """Who wrote the event, and on which node."""

    component: str | None = None
    host: str | None = None


class Series(msgspec.Struct):
    """How often the event has repeated itself."""

    count: int | None = None
    lastObservedTime: str | None = None


class EventObject(Object):
    """An event; the second name of a field is that of events.k8s.io/v1."""

    type: str | None = None
    reason: str | None = None
    message: str | None = None
    note: str | None = None
    involvedObject: Involved | None = None
    regarding: Involved | None = None
    count: int | None = None
    deprecatedCount: int | None = None
    firstTimestamp: str | None = None
    lastTimestamp: str | None = None
    deprecatedLastTimestamp: str | None = None
    eventTime: str | None = None
    series: Series | None = None
    source: Source | None = None
    deprecatedSource: Source | None = None
    reportingComponent: str | None = None
    reportingController: str | None = None


def events(output: Output, about: Subject) -> Facts:
    """Events, the known messages in them, and the clauses of the newest FailedScheduling event of each pod."""
    found: list[Event] = []
    known: list[Message] = []
    for item in objects(output, EventObject, ("Event",)):
        event = event_fact(item, output)
        found.append(event)
        if event.message:
            known += scan_text(
                event.message,
                source="event",
                about=subject_of(event, item),
                origin=event.origin,
                age=event.age,
                time=event.time,
                count=event.count,
            )
    return {"events": [*found], "messages": [*fold(known)], "schedule_reasons": [*newest_reasons(found)]}


def event_fact(item: EventObject, output: Output) -> Event:
    """The record of one event. The subject's fields are those that fit the kind of the involved object."""
    on = item.involvedObject or item.regarding or Involved()
    source = item.source or item.deprecatedSource or Source()
    series = item.series or Series()
    last = next(
        filter(None, map(seconds, (series.lastObservedTime, item.lastTimestamp, item.deprecatedLastTimestamp, item.eventTime))), None
    )
    last = last or seconds(item.firstTimestamp) or seconds(item.meta.creationTimestamp)
    kind, name = on.kind or "", on.name or ""
    component = source.component or item.reportingComponent or item.reportingController or ""
    message = item.message or item.note or ""
    return Event(
        namespace="" if kind == "Node" else on.namespace or "",  # a node's events are kept in `default`
        pod=name if kind == "Pod" else "",
        workload=f"{kind}/{name}" if kind not in ("Pod", "Node", "") and name else "",
        node=name if kind == "Node" else node_of(kind, component, source),
        kind=kind,
        name=name,
        type=item.type or "",
        reason=item.reason or "",
        message=message,
        count=max(1, series.count or item.count or item.deprecatedCount or 1),
        age=age(last, output),
        component=component,
        time=last,
        origin=evidence(output, f"{item.type or ''} {item.reason or ''} {kind.lower()}/{name}: {message}"),
    )


def node_of(kind: str, component: str, source: Source) -> str:
    """The node of a pod's event: the one whose kubelet wrote it."""
    return source.host or "" if kind == "Pod" and component == "kubelet" else ""


def subject_of(event: Event, item: EventObject) -> Subject:
    """What the event is about, down to the container and the part of the GPU stack."""
    path = FIELD_PATH.match((item.involvedObject or item.regarding or Involved()).fieldPath or "")
    subject = event.subject()
    component = components.of_name(event.name) if event.kind in ("Pod", "DaemonSet", "Deployment") else ""
    return msgspec.structs.replace(subject, container=path[1] if path else "", component=component)


def newest_reasons(found: list[Event]) -> list[ScheduleReason]:
    """The clauses of the newest scheduling event of each pod: older ones tell of a cluster that has changed since."""
    newest: dict[tuple[str, str], Event] = {}
    for event in found:
        if event.pod and event.reason in SCHEDULING:
            known = newest.get((event.namespace, event.pod))
            if known is None or (event.time or 0.0) >= (known.time or 0.0):
                newest[event.namespace, event.pod] = event
    return [
        reason
        for event in newest.values()
        for reason in schedule_reasons(event.message, namespace=event.namespace, pod=event.pod, origin=event.origin, time=event.time)
    ]
