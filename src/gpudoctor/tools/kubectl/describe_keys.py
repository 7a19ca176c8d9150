"""The keys that `kubectl describe` prints, in the spelling of kubectl 1.10 to 1.34 (pkg/describe/describe.go)."""

from __future__ import annotations


def keys(text: str) -> frozenset[str]:
    """The names in a text, separated by `|`.

    >>> sorted(keys("Last State|Image"))
    ['Image', 'Last State']
    """
    return frozenset(text.split("|"))


# Of a container's block.
CONTAINER = keys(
    "Container ID|Image|Image ID|Port|Ports|Host Port|Host Ports|SeccompProfile|Command|Args|State|Last State|Ready|Restart Count|"
    "Limits|Requests|Liveness|Readiness|Startup|Environment|Environment Variables from|Mounts|Devices|Reason|Message|Exit Code|"
    "Signal|Started|Finished|Restart Policy|Resize Policy"
)
# Of containers only: seen without `Containers:` they begin a fragment.
FRAGMENT = keys("Image|State|Last State|Restart Count|Exit Code|Limits|Requests|Container ID|Image ID|Host Port")
# Of a pod.
POD = keys(
    "Name|Namespace|Priority|Priority Class Name|PriorityClassName|Runtime Class Name|Service Account|Node|Start Time|Labels|"
    "Annotations|Status|Reason|Message|IP|IPs|Controlled By|NominatedNodeName|Init Containers|Containers|Ephemeral Containers|"
    "Conditions|Volumes|QoS Class|Node-Selectors|Tolerations|Topology Spread Constraints|Events|SeccompProfile|"
    "Termination Grace Period|Security Context"
)
# Of a node.
NODE = keys(
    "Name|Roles|Labels|Annotations|CreationTimestamp|Taints|Unschedulable|Lease|Conditions|Addresses|Capacity|Allocatable|"
    "System Info|PodCIDR|PodCIDRs|ProviderID|Non-terminated Pods|Allocated resources|Events"
)
# By which the kind of object is told.
OF_POD = keys("Containers|Init Containers|Node-Selectors|QoS Class|Tolerations") | FRAGMENT
OF_NODE = keys("Capacity|Allocatable|Non-terminated Pods|Allocated resources|System Info|Taints|Lease")
# Words that other tools use as keys too (ibstat prints `State: Active`): two of them are needed.
WEAK = keys("State|Image|Limits|Requests|Taints|Lease|Host Port")
ALL = POD | NODE | OF_POD
