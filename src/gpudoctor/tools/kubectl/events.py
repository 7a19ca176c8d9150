"""Events as kubectl prints them: tables of `get events`, the Events of `describe`, single lines, and the bare words of the scheduler."""

from __future__ import annotations

import re

import msgspec

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.kubernetes import Event
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import scan_text
from gpudoctor.tools.kubectl import columns
from gpudoctor.tools.kubectl.ages import AGE_WORD, seconds
from gpudoctor.tools.kubernetes.scheduler_message import schedule_reasons

WRAPPED = 40  # lines of one event's message, at most
CHARS = 16_384  # of one event's message

SPAN = rf"(?P<age>{AGE_WORD})(?: +\(x(?P<count>\d{{1,9}}) over (?P<first>{AGE_WORD})\))?"
KIND = r"(?P<type>Normal|Warning)"
REASON = r"(?P<reason>[A-Za-z][\w./-]{1,127})"
OBJECT = r"(?P<kind>[a-z][a-z0-9.-]{1,80})/(?P<name>\S{1,253})"
FORMS: tuple[re.Pattern[str], ...] = tuple(
    regex(form)
    for form in (
        # [ml  ]81s   Warning   FailedCreate   daemonset/driver   Error creating: …            (kubectl get events [-A])
        rf"^\s*(?:(?P<namespace>[a-z0-9][a-z0-9-]{{0,62}})\s+)?{SPAN}\s+{KIND}\s+{REASON}\s+{OBJECT}\s+(?P<message>\S.*)$",
        # Warning  FailedScheduling  2m21s (x42 over 60m)  default-scheduler  0/3 nodes …         (kubectl describe; GKE's has a slash)
        rf"^\s*{KIND}\s+{REASON}\s+{SPAN}\s+(?P<component>[\w./-]{{1,80}}(?:, \S{{1,253}})?)\s+(?P<message>\S.*)$",
        # FailedScheduling  2m21s (x42 over 60m)  default-scheduler  …                             (its first column lost)
        rf"^\s*(?P<reason>[A-Z][A-Za-z]{{3,63}})\s+{SPAN}\s+(?P<component>[a-z][\w.-]{{2,80}}(?:, \S{{1,253}})?)\s+(?P<message>\S.*)$",
        # 1m  5s  12  default-scheduler    Warning  FailedScheduling  …                            (kubectl describe up to 1.9)
        rf"^\s*(?P<first>{AGE_WORD})\s+(?P<age>{AGE_WORD})\s+(?P<count>\d{{1,9}})\s+(?:\{{)?(?P<component>[a-z][\w.-]{{2,80}})[^|]{{0,120}}?"
        rf"\s{KIND}\s+{REASON}\s+(?P<message>\S.*)$",
        # Warning   Pending   job-sample-x   couldn't assign flavors …                             (custom columns)
        rf"^\s*{KIND}\s{{2,}}{REASON}\s{{2,}}(?P<name>[a-z0-9][a-z0-9.-]{{1,252}})\s{{2,}}(?P<message>\S.*)$",
        # Warning   FailedScheduling   0/3 nodes …                                                 (its columns in between left out)
        rf"^\s*{KIND}\s{{2,}}(?P<reason>[A-Z][A-Za-z]{{3,63}})\s{{2,}}(?P<message>\S.*)$",
    )
)
# Words that every form but the third contains; the third needs a reason that begins a line.
TYPES = ("Normal", "Warning")
HEADER = regex(
    r"^\s*(?:NAMESPACE\s+)?(?:LAST ?SEEN|FIRST ?SEEN|FirstSeen)\s|^\s*Type\s+Reason\s+(?:Age|Object)|^\s*-{3,}(?:\s+-{3,})+\s*$"
    r"|^(?:Name|Namespace|Containers|Conditions|Events|Status):"
)
# nvidia.com/gpu     2          2          (of a described node; it does not go on with the message above it)
AMOUNTS = regex(r"^\s*[a-z0-9.-]{1,80}/[\w.-]{1,80}:?\s+\d\S{0,20}(?:\s+\d\S{0,20})?\s*$")
# Allocated resources:
TITLE = regex(r"^[A-Z][A-Za-z ]{2,40}:\s*$")
CLAUSE = regex(
    r"\b\d{1,7}/\d{1,7} nodes are (?:un)?available:|\bno nodes available to schedule pods|\ball nodes are unavailable:"
    r"|\bpod has unbound immediate PersistentVolumeClaims|\bNo nodes are available that match all of the (?:following )?predicates:"
    r"|\bpersistentvolumeclaim \"[^\"]{1,253}\" (?:not found|is being deleted|bound to non-existent)"
    r"|\bcould not retrieve device class |\bwaiting for dynamic resource controller |\bResourceClaim not created yet"
)
# The new pod: `Insufficient nvidia.com/gpu`  |  Scheduler says **volume node affinity conflict**  |  node(s) had untolerated taint {a: b}
# (one clause, quoted by a person; what the autoscaler says with these words is about nodes that it could add)
QUOTED = regex(
    r"\bInsufficient [a-z0-9.-]{2,80}/[\w.-]{1,80}\b|\b(?:node\(s\) had )?volume node affinity conflict"
    r"|\bnode\(s\) had (?:untolerated )?taint \{[^{}]{1,200}\}"
)
DENIED = regex(r"(?i:\b(?:no|not|never|without|instead of|isn't|wasn't)\b[^.;:,]{0,30}$|scale-up|predicate|nodepool|\bgrep\b)")

# The kinds of involved objects in the spelling of `get events` → of the API.
KINDS = {
    "pod": "Pod",
    "node": "Node",
    "job": "Job",
    "cronjob": "CronJob",
    "deployment": "Deployment",
    "replicaset": "ReplicaSet",
    "statefulset": "StatefulSet",
    "daemonset": "DaemonSet",
    "pytorchjob": "PyTorchJob",
    "mpijob": "MPIJob",
    "raycluster": "RayCluster",
    "workload": "Workload",
    "persistentvolumeclaim": "PersistentVolumeClaim",
    "horizontalpodautoscaler": "HorizontalPodAutoscaler",
}
WORKLOADS = ("Job", "CronJob", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "PyTorchJob", "MPIJob", "RayCluster", "Workload")
# Source components that don't end in -controller.
SOURCES = ("kubelet", "default-scheduler", "cluster-autoscaler", "controllermanager", "karpenter", "volcano", "taint-eviction-controller")


class Line(msgspec.Struct):
    """One event line with the lines that its message was wrapped to."""

    number: int
    match: re.Match[str]
    message: str
    raw: str  # all of them as one line
    used: list[int]


def find(lines: list[str], first: int = 1) -> list[Line]:
    """The event lines of a text whose first line has the number `first`.

    A wrapped message goes on until a blank line, the next event, or a line that begins a new key.
    """
    found: list[Line] = []
    open_ = False
    for number, line in enumerate(lines, first):
        match = match_line(line)
        if match:
            found.append(Line(number, match, match["message"], line, [number]))
            open_ = True
        elif ends_message(line):
            open_ = False
        elif open_:
            last = found[-1]
            if len(last.used) < WRAPPED and len(last.message) < CHARS:
                last.message += " " + line.strip()
                last.raw += " " + line.strip()
                last.used.append(number)
    return found


def ends_message(line: str) -> bool:
    """Whether a line can't go on a wrapped message: a blank one, a key, an amount, or the header of a table pasted below.

    >>> [ends_message(line) for line in ("NAME    STATUS   ROLES", "Allocated resources:", "didn't match Pod's node affinity")]
    [True, True, False]
    """
    return not line.strip() or bool(HEADER.match(line) or AMOUNTS.match(line) or TITLE.match(line) or columns.header(line))


def match_line(line: str) -> re.Match[str] | None:
    """The form that a line has, None for other lines."""
    if any(word in line for word in TYPES):
        return next((match for form in FORMS if (match := form.match(line))), None)
    return FORMS[2].match(line) if line.lstrip()[:1].isupper() else None


def events(lines: list[str], source: str, about: Subject) -> Facts:
    """Events, the known messages in them, and the scheduler's reasons. `about` names the object where a line doesn't."""
    facts: Facts = {"events": [], "messages": [], "schedule_reasons": []}
    for line in find(lines):
        add(facts, event_of(line, source, about))
    return facts


def event_of(line: Line, source: str, about: Subject) -> Event:
    """One event; its object from the line, else from `about`."""
    seen = {key: value or "" for key, value in line.match.groupdict().items()}
    kind = KINDS.get(seen.get("kind", "").partition(".")[0].lower(), seen.get("kind", ""))
    name, component = seen.get("name", ""), seen.get("component", "").partition(",")[0]
    if not kind and (name in SOURCES or name.endswith("-controller")):  # Type Reason From Message, with the age left out
        name, component = "", name
    named = bool(name)
    return Event(
        namespace=seen.get("namespace", "") or about.namespace,
        kind=kind or ("" if named else about.kind.title() if about.pod or about.node else ""),
        name=name or (about.pod or about.node),
        pod=name if kind == "Pod" else ("" if named else about.pod),
        node=name if kind == "Node" else ("" if named else about.node),
        workload=f"{kind}/{name}" if kind in WORKLOADS else ("" if named else about.workload),
        type=seen.get("type", ""),
        reason=seen.get("reason", ""),
        message=line.message,
        count=int(seen.get("count") or 1),
        age=seconds(seen.get("age", "")),
        component=component,
        origin=Origin(source, line.number, line.raw.strip()),
    )


def add(facts: Facts, event: Event) -> None:
    """An event with what its message says."""
    facts["events"].append(event)
    about = Subject(kind="pod", namespace=event.namespace, pod=event.pod, node=event.node, workload=event.workload)
    facts["messages"] += scan_text(event.message, source="event", about=about, origin=event.origin, age=event.age, count=event.count)
    if event.reason == "FailedScheduling" or CLAUSE.search(event.message):
        facts["schedule_reasons"] += schedule_reasons(event.message, namespace=event.namespace, pod=event.pod, origin=event.origin)


def quoted_clause(line: str) -> str:
    """The clause of the scheduler that a person quotes in a line, as the scheduler puts it; "" for none.

    >>> quoted_clause("It says *volume node affinity conflict*, on every node"), quoted_clause("there was no Insufficient nvidia.com/gpu")
    ('node(s) had volume node affinity conflict', '')
    """
    match = QUOTED.search(line)
    if match is None or DENIED.search(line[: match.start()]):
        return ""
    words = match[0].rstrip(".")
    return words if words.startswith(("Insufficient", "node(s)")) else f"node(s) had {words}"


def scheduler_words(lines: list[str], source: str, about: Subject) -> Facts:
    """The scheduler's message pasted without its event, possibly wrapped: it goes on until a blank line. Without one, clauses of it."""
    facts: Facts = {"schedule_reasons": [], "messages": []}
    index = 0
    while index < len(lines):
        match = CLAUSE.search(lines[index])
        if not match:
            index += 1
            continue
        end = index + 1
        while (
            end < len(lines)
            and end - index < WRAPPED
            and not ends_message(lines[end])
            and not re.search(r"^(?!preemption)\S+: *$", lines[end])
        ):
            if CLAUSE.search(lines[end]) and "preemption:" not in lines[end]:
                break
            end += 1
        origin = Origin(source, index + 1, " ".join(line.strip() for line in lines[index:end])[:CHARS])
        message = " ".join([lines[index][match.start() :], *lines[index + 1 : end]])[:CHARS]
        facts["schedule_reasons"] += schedule_reasons(message, namespace=about.namespace, pod=about.pod, origin=origin)
        facts["messages"] += scan_text(message, source="event", about=about, origin=origin)
        index = end
    clauses = {clause: number for number, line in reversed([*enumerate(lines, 1)]) if (clause := quoted_clause(line))}
    for clause, number in clauses.items() if not facts["schedule_reasons"] else ():
        origin = Origin(source, number, lines[number - 1].strip())
        facts["schedule_reasons"] += schedule_reasons(clause, namespace=about.namespace, pod=about.pod, origin=origin)
    return facts
