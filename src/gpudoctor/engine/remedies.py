"""What mends a finding: the fixes of its cause and of the pod's nearest fit, with the names and values that are known filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpudoctor.engine.relate import Found
from gpudoctor.engine.store import Store
from gpudoctor.facts import Subject
from gpudoctor.facts.identity import Links
from gpudoctor.facts.kubernetes import Pod
from gpudoctor.facts.scheduling import Fit
from gpudoctor.patterns import regex
from gpudoctor.report import Fix, Look
from gpudoctor.runbook.model import FixTemplate
from gpudoctor.tools.common.scanner import single_pattern

MOST_HIT = 20  # names of what a fix stops
MOST_FITS = 2  # of the nearest fit

# What a command to paste may hold: names of Kubernetes objects, KIND/NAME, UUIDs, PCI addresses. Anything else stays a placeholder.
PLAIN = regex(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,300}\Z")
# What a line of the evidence may bring into a command: the same, and paths, none of which climbs.
VALUE = regex(r"(?!.*\.\.)[A-Za-z0-9./][A-Za-z0-9._:/+=@-]{0,300}\Z")
# ${node}, ${seen.key}
FIELD = regex(r"\$\{([a-z_]+(?:\.[a-z_]+)?)\}")
# 0000:1b:00, as facts have it; nvidia-smi wants domain:bus:device.function
PCI = regex(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\Z")
# <gpu>
PLACEHOLDER = regex(r"<(node|gpu|pod|namespace|workload|container)>")

# The command that finds a name; a node's by who schedules it.
FINDS = {
    "gpu": "nvidia-smi -L",
    "pod": "kubectl get pods --all-namespaces",
    "namespace": "kubectl get pods --all-namespaces",
    "container": "kubectl describe pods",
    "workload": "kubectl get jobs,deployments,statefulsets --all-namespaces",
}
FINDS_NODE = {"kubernetes": "kubectl get nodes", "slurm": "sinfo -N", "": "kubectl get nodes, or sinfo -N"}
FINDS_WORK = "squeue --all"  # of Slurm
# Owners whose pod template may be changed in place: the others' pods are made once, by a template that is fixed.
CHANGEABLE = ("Deployment", "StatefulSet", "DaemonSet")


class Surroundings:
    """What the facts of a run tell of the places where fixes act: who schedules a node, what runs there, the nearest fit of a pod."""

    def __init__(self, store: Store, links: Links) -> None:
        self.links = links
        self.pods = {(pod.namespace, pod.pod): pod for pod in store.records("pods") if isinstance(pod, Pod)}
        self.jobs: list[Any] = list(store.records("slurm_jobs"))
        self.slurm_nodes = {getattr(one, "node", "") for one in store.records("slurm_nodes")}
        self.slurm_nodes |= {node for job in self.jobs for node in job.nodes}
        self.kube_nodes = {getattr(one, "node", "") for one in store.records("nodes")} | {pod.node for pod in self.pods.values()}
        self.fits: dict[tuple[str, str], list[Fit]] = {}
        for fit in store.records("fits"):
            if isinstance(fit, Fit):
                self.fits.setdefault((fit.namespace, fit.pod), []).append(fit)

    def scheduler(self, one: Found, node: str) -> str:
        """kubernetes or slurm; of a node that neither names what was asked, "" where nothing was."""
        if node and (node in self.slurm_nodes or node in self.kube_nodes):
            return "slurm" if node in self.slurm_nodes else "kubernetes"
        asked = {"slurm": bool(self.slurm_nodes) or one.cause.layer == "slurm", "kubernetes": bool(self.kube_nodes - {""} or self.pods)}
        return next((name for name, there in asked.items() if there and sum(asked.values()) == 1), "")

    def work_on(self, node: str) -> list[str]:
        """The work on a node that a drain or a reboot ends: pods with GPUs first, then other pods, and Slurm's jobs."""
        running = (pod for pod in self.pods.values() if pod.node == node and pod.phase == "Running")
        here = [pod for pod in running if not pod.workload.startswith("DaemonSet/")]
        here.sort(key=lambda pod: (not pod.gpus, pod.namespace, pod.pod))
        jobs = [f"Slurm job {job.workload}" for job in self.jobs if node in job.nodes and job.state == "RUNNING" and not job.step]
        return [named(pod) for pod in here] + jobs


def named(pod: Pod) -> str:
    """A pod that a drain ends; without a controller nobody makes it again, and `kubectl drain` refuses without --force."""
    name = f"{pod.namespace}/{pod.pod}" if pod.namespace else pod.pod
    return name if pod.workload else f"{name} (no controller makes it again: save its YAML, then drain with --force)"


def acted_on(one: Found) -> Subject:
    """A finding's subject, with the node that its check names where it has none."""
    node = next((hit.node for hit in one.hits if hit.node), "")
    return msgspec.structs.replace(one.subject, node=node) if node and not one.subject.node else one.subject


class Names:
    """The names of a subject for commands; one that is not known, or that no shell should see, stays a placeholder."""

    def __init__(self, subject: Subject, **further: str) -> None:
        names = {key: getattr(subject, key) for key in Subject.__struct_fields__ if key != "kind"}
        if PCI.match(names["gpu"]):
            names["gpu"] += ".0"
        self.values = {key: name if PLAIN.match(name) else f"<{key}>" for key, name in names.items()} | further

    def text(self, template: str) -> str:
        """A text with the names in place of `${…}`."""
        return FIELD.sub(lambda field: self.values.get(field[1], field[0]), template)

    def fill(self, templates: Sequence[str]) -> list[str]:
        """The same of each of several texts."""
        return [self.text(one) for one in templates]


def looks(one: Found, around: Surroundings) -> list[Look]:
    """What shows more of a finding."""
    subject = acted_on(one)
    names, scheduler = Names(subject), around.scheduler(one, subject.node)
    made = [Look(template.title, names.fill(template.run)) for template in one.cause.look]
    return [look for look in made if can_be_typed(look.run, scheduler)]


def fixes(one: Found, around: Surroundings) -> list[Fix]:
    """The fixes of a finding, the most precise first: the pod's nearest fit, what a line of the evidence decides, what always mends it."""
    subject = acted_on(one)
    scheduler = around.scheduler(one, subject.node)
    texts = [origin.text for origin in one.origins]
    made = [*of_fits(subject, one.cause.fits, around)]
    offered = [template for template in one.cause.fixes if not (template.by and scheduler) or template.by == scheduler]
    for precise in (True, False):
        wanted = [template for template in offered if bool(template.seen) is precise and not (template.otherwise and made)]
        seen = ((template, seen_in(template.seen, texts)) for template in wanted)
        made += [
            filled(template, Names(subject, cause=one.cause.id, **values), scheduler) for template, values in seen if values is not None
        ]
    made = [fix for fix in made if can_be_typed(fix.run, scheduler)]
    # What the first one has stopped no later one stops.
    if (first := next((number for number, fix in enumerate(made) if ends_work(fix)), None)) is not None:
        made[first] = msgspec.structs.replace(made[first], stops=stopped(around.work_on(subject.node)))
    return made


def can_be_typed(run: Sequence[str], scheduler: str) -> bool:
    """Whether a command has a place here: where Slurm runs the node, no pod is there whose name could be found."""
    return not (scheduler == "slurm" and run[:1] == ["kubectl"] and any(PLACEHOLDER.search(word) for word in run))


def seen_in(pattern: str, texts: Sequence[str]) -> dict[str, str] | None:
    """The named groups of a pattern in the first text that has it, as `seen.NAME`; None where none has it, or a group is no plain value."""
    if not pattern:
        return {}
    searched = single_pattern(pattern)
    for text in texts:
        if (match := searched.search(text)) and all(VALUE.match(value or "") for value in match.groupdict().values()):
            return {f"seen.{name}": value for name, value in match.groupdict().items()}
    return None


def filled(template: FixTemplate, names: Names, scheduler: str) -> Fix:
    """A fix with its names, and how to find those that are not known."""
    run, undo, verify = (names.fill(argv) for argv in (template.run, template.undo, template.verify))
    missing = dict.fromkeys(name for text in (*run, template.manifest) for name in PLACEHOLDER.findall(text))
    where = "" if scheduler or not template.by else f" ({template.by.capitalize()})"
    return Fix(
        title=names.text(template.title) + where,
        risk=template.risk,
        run=run,
        undo=undo,
        verify=verify,
        manifest=names.text(template.manifest),
        find=[f"<{name}>: {found_by(name, scheduler)}" for name in missing],
    )


def stopped(work: Sequence[str]) -> list[str]:
    """The first of the work, and how much more there is."""
    return [*work[:MOST_HIT], *([f"{len(work) - MOST_HIT} more"] if len(work) > MOST_HIT else [])]


def found_by(name: str, scheduler: str) -> str:
    """The command that finds a name."""
    if name == "node":
        return FINDS_NODE[scheduler]
    return FINDS_WORK if name == "workload" and scheduler == "slurm" else FINDS[name]


def ends_work(fix: Fix) -> bool:
    """Whether a fix ends the work on a node: a drain, a reboot."""
    return fix.risk != "safe" and (fix.run[:2] in (["kubectl", "drain"], ["systemctl", "reboot"], ["scontrol", "reboot"]))


def of_fits(subject: Subject, changes: Sequence[str], around: Surroundings) -> Iterator[Fix]:
    """The changes of a pod's nearest fit that are of these kinds, as commands and fragments."""
    nearest = [fit for fit in around.fits.get((subject.namespace, subject.pod), []) if not set(fit.changes).isdisjoint(changes)]
    order = {change: number for number, change in enumerate(changes)}  # the catalogue's: first what the one who acts may change
    for fit in sorted(nearest, key=lambda fit: (order.get(fit.change, len(order)), fit.rank))[:MOST_FITS]:
        yield from of_fit(fit, around)


def of_fit(fit: Fit, around: Surroundings) -> Iterator[Fix]:
    """What one proposal of the nearest fit asks to be done."""
    pod = around.pods.get((fit.namespace, fit.pod))
    node = fit.first
    names = (fit.namespace, fit.pod, node, *fit.labels, *fit.labels.values())
    if pod is None or not all(PLAIN.match(name) for name in names):
        return
    verify = ["kubectl", "get", "pod", fit.pod, "--namespace", fit.namespace, "-o", "wide"]
    if "uncordon" in fit.changes:
        run, undo = (["kubectl", word, node] for word in ("uncordon", "cordon"))
        yield Fix(f"Uncordon {node} when its maintenance is over", "safe", run, undo, verify)
    if fit.labels:
        label = ["kubectl", "label", "node", node]
        words = [f"{key}={value}" for key, value in fit.labels.items()]
        yield Fix(f"Label {node} with {', '.join(words)}", "safe", [*label, *words], [*label, *(f"{key}-" for key in fit.labels)], verify)
    if fit.fragment:
        yield of_spec(fit, pod, around.links.top(fit.namespace, pod.workload), verify)


def of_spec(fit: Fit, pod: Pod, owner: str, verify: list[str]) -> Fix:
    """A change of the pod's spec: in the pod where Kubernetes allows that, else in its owner's template where that may change."""
    steps: list[dict[str, Any]] = json.loads(fit.patch) if fit.patch else []
    kind, _, name = owner.partition("/")
    what = f"{CHANGE_WORDS.get(fit.changes[0], '')}{fit.detail.partition(';')[0]}"
    if steps and all(step["path"] == "/tolerations/-" for step in steps):
        then = f" in the pod, and in the template of {owner} for its next pods" if owner else ""
        return Fix(f"{what}{then}", "safe", patched(f"pod/{fit.pod}", fit.namespace, steps, "/spec"), [], verify, fit.fragment)
    if steps and kind in CHANGEABLE and PLAIN.match(name):
        run = patched(f"{kind.lower()}/{name}", fit.namespace, with_list(steps, pod), "/spec/template/spec")
        undo = ["kubectl", "rollout", "undo", f"{kind.lower()}/{name}", "--namespace", fit.namespace]
        return Fix(f"{what}, in the pod template of {owner}; this replaces its pods", "disruptive", run, undo, verify, fit.fragment)
    again = f"the manifest of {owner}, and create it again" if owner else "the pod's manifest, and create the pod again"
    return Fix(f"{what}: change {again}", "disruptive", manifest=fit.fragment)


# What a change of the nearest fit is called, before its detail.
CHANGE_WORDS = {
    "tolerate": "Tolerate the taint ",
    "select": "Choose nodes otherwise, ",
    "rename": "Ask for the resource by the name that the nodes have, ",
    "fewer_gpus": "Ask for fewer GPUs, ",
    "less_cpu": "Ask for less CPU, ",
    "less_memory": "Ask for less memory, ",
    "less_other": "Ask for less, ",
}


def patched(what: str, namespace: str, steps: Sequence[dict[str, Any]], base: str) -> list[str]:
    """The command that applies steps of a JSON patch below a place."""
    below = json.dumps([step | {"path": base + step["path"]} for step in steps], separators=(",", ":"))
    return ["kubectl", "patch", what, "--namespace", namespace, "--type=json", "-p", below]


def with_list(steps: Sequence[dict[str, Any]], pod: Pod) -> list[dict[str, Any]]:
    """The steps for a template that may have no list of tolerations yet: those of `node.kubernetes.io` are added to each pod."""
    own = any(not one.key.startswith("node.kubernetes.io/") for one in pod.tolerations)
    made = []
    for step in steps:
        if step["path"] == "/tolerations/-" and not own:
            step, own = step | {"path": "/tolerations", "value": [step["value"]]}, True
        made.append(step)
    return made
