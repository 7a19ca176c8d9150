"""The ports along the way of the metrics: what the exporter listens on, the Service leads to, the monitor and the annotations ask for."""

from __future__ import annotations

from collections.abc import Iterable

from gpudoctor.facts.monitoring import Exporter, Monitor, Port, Scrape, Service

NAMED = 2  # ports that a sentence lists


def of_service(service: Service, exporters: Iterable[Exporter]) -> str:
    """Why none of a Service's ports leads to a port of the exporter, "" where one does or nothing is known."""
    for one in exporters:
        listens = {one.listens} if one.listens else {port.number for port in one.ports}
        if not listens or not service.ports:
            continue
        reached = [target(port, one) for port in service.ports]
        if any(number is None or number in listens for number in reached if number != 0):
            continue
        named = [port.target for port, number in zip(service.ports, reached, strict=True) if number == 0]
        leads = f'the port named "{named[0]}", which no container has' if named else f"port {reached[0]}"
        return f"its targetPort is {leads}, and the exporter listens on {_numbers(listens)}"
    return ""


def target(port: Port, exporter: Exporter) -> int | None:
    """The number of the container's port that a Service's port leads to, 0 for a name that no container has, None where it isn't known."""
    if port.target.isdecimal():
        return int(port.target[:7])
    if not exporter.ports:
        return None
    return next((one.number for one in exporter.ports if one.name == port.target), 0)


def of_annotations(service: Service, exporters: Iterable[Exporter]) -> str:
    """Why prometheus.io/port is no port of the Service nor of its exporters, "" where it is one, or isn't set."""
    if not service.scrape_port.isdecimal() or not service.ports:
        return ""
    known = {port.number for port in service.ports} | {int(port.target[:7]) for port in service.ports if port.target.isdecimal()}
    known |= {number for one in exporters for number in (one.listens, *(port.number for port in one.ports)) if number}
    if int(service.scrape_port[:7]) in known:
        return ""
    return f"the annotation prometheus.io/port is {service.scrape_port[:7]}, and the Service has {_numbers(known)}"


def of_pod_annotations(exporters: Iterable[Exporter]) -> str:
    """Why prometheus.io/port of an exporter's pod is no port of the exporter, "" where it is one, or isn't set."""
    for one in exporters:
        known = {one.listens} if one.listens else {port.number for port in one.ports if port.number}
        if one.scrape_port.isdecimal() and known and int(one.scrape_port[:7]) not in known:
            return f"the annotation prometheus.io/port is {one.scrape_port[:7]}, and the exporter listens on {_numbers(known)}"
    return ""


def of_monitor(monitor: Monitor, service: Service) -> str:
    """Why no entry of a ServiceMonitor asks for a port that the Service has, "" where one does."""
    if not monitor.scrapes or not service.ports:
        return ""
    if any(asks_for(entry, service) for entry in monitor.scrapes):
        return ""
    has = ", ".join(port.name or f"{port.number} without a name" for port in service.ports[:NAMED])
    entry = monitor.scrapes[0]
    asked = f'the port named "{entry.port}"' if entry.port else f"targetPort {entry.target_port}" if entry.target_port else "no port"
    hint = ": `port` is a name, not a number" if entry.port.isdecimal() else ""
    return f"it asks for {asked}, and the Service has {has}{hint}"


def asks_for(entry: Scrape, service: Service) -> bool:
    """Whether a Service has the port that an entry asks for: `port` is a port's name, `targetPort` a container's port."""
    if entry.port:
        return any(port.name == entry.port for port in service.ports)
    return not entry.target_port or not entry.target_port.isdecimal() or any(port.target == entry.target_port for port in service.ports)


def _numbers(known: Iterable[int]) -> str:
    return " and ".join(map(str, sorted(known)))
