"""`kubectl describe pod` → a Pod object as the API has it, so that one parser makes the facts of all forms.

The text is read key by key and not by indentation: fragments, lost indentation and wrapped messages are common in what people paste.
"""

from __future__ import annotations

from typing import Any

from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.describe_keys import CONTAINER, FRAGMENT, POD

LISTS = {"Init Containers": "init", "Containers": "main", "Ephemeral Containers": "other"}
# Reasons of a waiting container; every other reason is of a terminated one (pkg/kubelet/container, kuberuntime).
WAITING = regex(
    r"CrashLoopBackOff|ContainerCreating|PodInitializing|Image|ErrImage|Registry|Create|RunContainerError|PreStart|PostStart|Invalid"
)
# `State    : Active` of other tools is no key of describe: it prints no space before the colon.
KEY = regex(r"^\s{0,20}([A-Za-z][A-Za-z0-9 ()./-]{0,62})(?<! ):(?:\s+(.*))?$")
OPENED = regex(r"^\s{0,8}([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?):\s*$")
AMOUNT = regex(r"^\s*([a-z0-9][A-Za-z0-9./_-]{0,120}):\s+(\d\S{0,40})\s*$")
VARIABLE = regex(r"^\s*([A-Za-z_][A-Za-z0-9_.-]{0,120}):\s+(.*)$")
LABEL = regex(r"^\s*([A-Za-z0-9][A-Za-z0-9._/-]{0,316})=(\S{0,63})\s*$")
# nvidia.com/gpu=present:NoSchedule op=Equal for 300s | node.kubernetes.io/not-ready:NoExecute op=Exists | op=Exists
TOLERATION = regex(r"^\s*([A-Za-z0-9][\w./-]{0,316})?(?:=([\w.-]{0,63}))?(?::([A-Z]\w{3,20}))?(?: op=(\w+))?(?: for \d+s)?\s*$")
MESSAGE_LINES = 60


def key_value(line: str) -> tuple[str, str]:
    """`Key:  value` → the two of them, stripped; ("", "") for other lines."""
    match = KEY.match(line)
    return (match.group(1).strip(), (match.group(2) or "").strip()) if match else ("", "")


# http-get http://:8000/health delay=30s timeout=1s period=10s #success=1 #failure=3
PROBE = regex(r"(delay|period|#failure)=(\d{1,6})")
PROBE_FIELDS = {"delay": "initialDelaySeconds", "period": "periodSeconds", "#failure": "failureThreshold"}


class Reader:
    """The pod so far, and where in the text the reader is."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.spec: dict[str, Any] = {}
        self.status: dict[str, Any] = {}
        self.containers: list[dict[str, Any]] = []
        self.list = ""  # init, main: whose containers follow
        self.block = ""  # the last key that opens a block: Limits, Environment, Labels, Tolerations, …
        self.state = ""  # state, lastState: which one Reason, Message and Exit Code belong to
        self.message: dict[str, Any] | None = None  # where the lines of a wrapped message go
        self.wrapped = 0
        self.loose: list[int] = []  # numbers of lines that are not understood
        self.keys: set[str] = set()

    def line(self, number: int, line: str) -> None:
        """Read one line."""
        key, value = key_value(line)
        if key != "Message":  # three spaces and more text: two columns were pasted side by side
            value = value.split("   ", 1)[0]
        indented = line[:1].isspace()
        if key in CONTAINER and self.in_container(key, indented):
            self.container_key(key, value)
        elif key in POD and not (indented and self.message is not None and key not in LISTS):
            self.pod_key(key, value)
        elif self.list and self.block not in ("Command", "Args", "Volumes") and (opened := OPENED.match(line)):
            self.open(opened.group(1))
        elif self.list and self.block in ("Limits", "Requests") and (amount := AMOUNT.match(line)):
            self.current()["resources"].setdefault(self.block.lower(), {})[amount.group(1)] = amount.group(2)
        elif self.list and self.block == "Environment" and (variable := VARIABLE.match(line)):
            if len(self.current()["env"]) < 500:
                self.current()["env"].append({"name": variable.group(1), "value": variable.group(2).strip()})
        elif self.block in ("Labels", "Node-Selectors", "Tolerations", "Conditions"):
            self.more(self.block, line)
        elif self.message is not None and self.wrapped < MESSAGE_LINES and line.strip():
            self.message["message"] += " " + line.strip()
            self.wrapped += 1
        elif line.strip() and self.block not in ("Annotations", "Volumes", "Mounts", "Command", "Args"):
            self.loose.append(number)

    def in_container(self, key: str, indented: bool) -> bool:
        """Whether a key that containers have is meant for one: `Reason`, `Message` and `SeccompProfile` are pods' keys too."""
        if self.list:  # a pod's own Reason and Message stand before its containers
            return indented or key in ("Reason", "Message") or key not in POD
        if key in FRAGMENT or (key in ("Reason", "Message") and not self.meta and not self.status):
            self.list = "main"
            return True
        return False

    def container_key(self, key: str, value: str) -> None:
        """One `Key: value` of a container or of its state."""
        self.keys.add(key)
        self.message = None
        one = self.current()
        if key in ("State", "Last State"):
            self.state = "state" if key == "State" else "lastState"
            self.block = ""
            if value.lower() in ("waiting", "running", "terminated"):
                one[self.state] = (value.lower(), {})
        elif key in ("Reason", "Message", "Exit Code", "Signal", "Started", "Finished"):
            self.state_key(one, key, value)
        else:
            self.block = key
            if key == "Image":
                one["image"] = value
            elif key == "Ready":
                one["ready"] = value == "True"
            elif key == "Restart Count" and value.isdecimal():
                one["restartCount"] = int(value[:9])
            elif key == "Restart Policy":
                one["restartPolicy"] = value
            elif key in ("Liveness", "Startup") and (times := dict(PROBE.findall(value))):
                one["livenessProbe" if key == "Liveness" else "startupProbe"] = {PROBE_FIELDS[name]: int(times[name]) for name in times}

    def state_key(self, one: dict[str, Any], key: str, value: str) -> None:
        """Reason, Message, Exit Code, … of the state that was opened last; without one the reason tells which it is."""
        if key == "Reason" and (not self.state or "reason" in one.get(self.state, ("", {}))[1]):
            self.state = "state" if "state" not in one else "lastState"
        kind, fields = one.setdefault(self.state or "state", ("", {}))
        if key == "Reason":
            fields["reason"] = value
            one[self.state] = (kind or ("waiting" if WAITING.match(value) else "terminated"), fields)
        elif key == "Message":
            fields["message"] = value
            self.message, self.wrapped = fields, 0
        elif key in ("Exit Code", "Signal"):
            if value.lstrip("-").isdecimal():
                fields["exitCode" if key == "Exit Code" else "signal"] = int(value[:9])
            one[self.state or "state"] = ("terminated", fields)
        elif time := timestamp(value):
            fields["startedAt" if key == "Started" else "finishedAt"] = time

    def pod_key(self, key: str, value: str) -> None:
        """One `Key: value` of the pod itself."""
        self.keys.add(key)
        self.block, self.message, self.state = key, None, ""
        self.list = LISTS.get(key, "")
        value = "" if value == "<none>" else value
        if key in ("Name", "Namespace"):
            self.meta[key.lower()] = value
        elif key == "Node" and value:
            self.spec["nodeName"] = value.partition("/")[0]
        elif key == "Status":
            self.status["phase"] = value.split(" ")[0]
            if value.startswith("Terminating"):
                self.status.pop("phase")
                self.meta["deletionTimestamp"] = "1970-01-01T00:00:00Z"
        elif key in ("Reason", "Message"):
            self.status[key.lower()] = value
            if key == "Message":
                self.message, self.wrapped = self.status, 0
        elif key == "Controlled By" and "/" in value:
            kind, _, name = value.partition("/")
            self.meta["ownerReferences"] = [{"kind": kind, "name": name, "controller": True}]
        elif key == "Runtime Class Name":
            self.spec["runtimeClassName"] = value
        elif key == "Start Time" and (time := timestamp(value)):
            self.status["startTime"] = self.meta["creationTimestamp"] = time
        elif key in ("Labels", "Node-Selectors", "Tolerations"):
            self.more(key, value)

    def more(self, block: str, line: str) -> None:
        """One more entry of a list of the pod."""
        if block == "Tolerations":
            match = TOLERATION.match(line)
            if match and line.strip() and line.strip() != "<none>":
                key, value, effect, operator = match.groups(default="")
                operator = operator or ("Equal" if value else "Exists")
                entry = {"key": key, "operator": operator, "value": value, "effect": effect}
                self.spec.setdefault("tolerations", []).append({name: text for name, text in entry.items() if text})
        elif block == "Conditions":
            words = line.split()
            if len(words) == 2 and words[1] in ("True", "False", "Unknown"):
                self.status.setdefault("conditions", []).append({"type": words[0], "status": words[1]})
        elif match := LABEL.match(line):
            target = self.meta.setdefault("labels", {}) if block == "Labels" else self.spec.setdefault("nodeSelector", {})
            target[match.group(1)] = match.group(2)

    def open(self, name: str) -> None:
        """A container begins."""
        self.block = self.state = ""
        self.message = None
        self.containers.append({"name": name, "kind": self.list, "resources": {}, "env": []})

    def current(self) -> dict[str, Any]:
        """The container that is being read; a fragment's has no name."""
        if not self.containers:
            self.open("")
        return self.containers[-1]


def pod_object(lines: list[tuple[int, str]]) -> tuple[dict[str, Any], Reader]:
    """(the Pod as an API object, the reader with what was seen and what was not understood)."""
    reader = Reader()
    for number, line in lines:
        reader.line(number, line)
    status = dict(reader.status)
    spec = dict(reader.spec)
    for kind, where in (("main", "containers"), ("init", "initContainers")):
        chosen = [one for one in reader.containers if one["kind"] == kind]
        spec[where] = [container_spec(one) for one in chosen]
        status[where.removesuffix("s") + "Statuses"] = [container_status(one) for one in chosen if has_status(one)]
    running = status["containerStatuses"]
    if running and all(one["ready"] for one in running) and "conditions" not in status:  # a part that leaves the conditions out
        status["conditions"] = [{"type": "Ready", "status": "True"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": reader.meta, "spec": spec, "status": status}, reader


def container_spec(one: dict[str, Any]) -> dict[str, Any]:
    """A container's entry in the spec. Limits stand for requests that are not shown, as in the API."""
    resources = one["resources"]
    if "limits" in resources:
        resources = {**resources, "requests": {**resources["limits"], **resources.get("requests", {})}}
    kept: dict[str, Any] = {key: one[key] for key in ("name", "image", "restartPolicy", "livenessProbe", "startupProbe") if key in one}
    return {**kept, "resources": resources, "env": one["env"]}


def has_status(one: dict[str, Any]) -> bool:
    """Whether anything of a container's state was shown."""
    return any(key in one for key in ("state", "lastState", "ready", "restartCount"))


def container_status(one: dict[str, Any]) -> dict[str, Any]:
    """A container's entry in the status."""
    made: dict[str, Any] = {"name": one["name"], "ready": one.get("ready", False), "restartCount": one.get("restartCount", 0)}
    for key in ("state", "lastState"):
        kind, fields = one.get(key, ("", {}))
        if kind:
            made[key] = {kind: fields}
    return made


def timestamp(text: str) -> str:
    """`Wed, 28 May 2025 15:41:53 +0200` as the API writes it; "" for anything else."""
    try:
        from email.utils import parsedate_to_datetime

        return parsedate_to_datetime(text[:64]).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""
