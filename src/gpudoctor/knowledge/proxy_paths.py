"""What may be read of a pod or Service through the API server's proxy: the metrics of an exporter, and what Prometheus answers to reads.

/api/v1/namespaces/NAMESPACE/pods/NAME:PORT/proxy/metrics
/api/v1/namespaces/NAMESPACE/services/NAME:PORT/proxy/api/v1/targets?state=active
/api/v1/namespaces/NAMESPACE/services/NAME:PORT/proxy/api/v1/query?query=…
"""

from __future__ import annotations

from gpudoctor.patterns import regex

NAME = r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?"
# Nothing but these paths: a proxied request is as the server behind it takes it, and /-/quit would end a Prometheus.
READS = r"(?:metrics|api/v1/targets\?state=active|api/v1/query\?query=[A-Za-z0-9%._~+-]{1,1500})"
PATH = regex(rf"/api/v1/namespaces/(?P<space>{NAME})/(?P<kind>pods|services)/{NAME}(?::[a-z0-9-]{{1,15}})?/proxy/{READS}\Z")
FILLED = regex(r"\$\{[^}]*\}")  # of a runbook's template: each stands for a name or a number


def is_allowed(path: str) -> bool:
    """Whether a path (or a template of one) is on the list.

    >>> is_allowed("/api/v1/namespaces/${one.namespace}/pods/${one.pod}:9400/proxy/metrics"), is_allowed("/api/v1/namespaces/a/secrets")
    (True, False)
    """
    return bool(PATH.match(FILLED.sub("0", path)))


def rule(path: str) -> str:
    """The right that a path needs, in words: `get pods/proxy in namespace "gpu-operator"`."""
    match = PATH.match(path)
    return f'get {match["kind"]}/proxy in namespace "{match["space"]}"' if match else "get"
