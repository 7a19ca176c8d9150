"""Scenarios: a setting is brought about on the cluster, questions are asked about it, and the answers are judged."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.probes.kube_config import Given
from gpudoctor.probes.live import Live
from gpudoctor.report import EXIT_CODES, Report
from tests.cluster.api import Object
from tests.cluster.control_plane import ControlPlane, until
from tests.cluster.objects import written_out
from tests.cluster.stand import change_node, restore

HERE = Path(__file__).parent
SOON = 10.0  # seconds in which the scheduler judges a pod on a busy machine; some it never does
LATER = 90.0  # seconds: a pod that is still placed gets a minute


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One question and what a right answer has."""

    name: str
    pod: dict[str, Any] | None = None  # the short form of a pod, made before the question and asked about
    ask: str = ""  # KIND/NAME, -n or -A; the pod by default
    user: str = "admin"
    given: Given = Given()  # in place of the kubeconfig; its server may be `{server}`
    spread: bool = False  # the kubeconfig is several files of $KUBECONFIG
    pasted: bool = False  # it is asked of what `kubectl describe pod` prints
    young: bool = False  # it is asked at once
    answered: bool = False  # nothing that was asked was refused
    verdict: str = "problem"
    cause: str | list[str] = ""  # of the first finding; where the verdict is another one, of the first candidate
    subject: str = ""  # in its subject
    says: list[str] = []  # in its title
    silent: list[str] = []  # in no title
    names: list[str] = []  # each is the subject of a finding of that cause, or what its title speaks of
    without: list[str] = []  # causes that are neither found nor possible
    counts: dict[str, int] = {}  # of the subjects by cause
    rows: dict[str, int] = {}  # of the findings by cause
    named: bool = False  # no command has a placeholder
    offers: list[str] = []  # kinds of change that the nearest fit has
    never: list[str] = []  # kinds of change that it has not
    where: dict[str, str] = {}  # by kind of change the nodes that it names, all rows together


class Setting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A state of the cluster and the questions about it."""

    setting: str
    steps: list[dict[str, Any]] = []
    cases: list[Case]

    @property
    def namespace(self) -> str:
        """Its own namespace."""
        return slug(self.setting)


def slug(words: str) -> str:
    """Words as a name of Kubernetes."""
    return re.sub(r"[^a-z0-9]+", "-", words.lower())[:40].strip("-")


class Answer(NamedTuple):
    """What a question brought; `wrong` is "" where it is right."""

    case: Case
    report: Report
    seconds: float
    wrong: str


class Later:
    """A probe whose clock is ahead."""

    def __init__(self, probe: Probe, ahead: float) -> None:
        self.probe, self.ahead = probe, ahead

    def __call__(self, command: Command) -> Output:
        return self.aged(self.probe(command))

    def stream(self, command: Command) -> Iterator[Output]:
        yield from map(self.aged, self.probe.stream(command))

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        yield from map(self.aged, self.probe.many(commands))

    def aged(self, output: Output) -> Output:
        return msgspec.structs.replace(output, time=output.time + self.ahead) if output.time else output


def settings() -> list[Setting]:
    """All settings, in the order of their files."""
    return [
        msgspec.convert(said, Setting)
        for path in sorted((HERE / "scenarios").glob("*.yaml"))
        for said in yaml.safe_load(path.read_text(encoding="utf-8"))
    ]


class Stage:
    """The cluster during one setting; puts it back at the end."""

    def __init__(self, plane: ControlPlane, setting: Setting) -> None:
        self.plane, self.api, self.setting = plane, plane.api, setting
        self.namespace = setting.namespace
        self.changed: set[str] = set()
        self.halted: set[str] = set()

    def __enter__(self) -> Stage:
        self.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        until(lambda: bool(self.api.items(f"/api/v1/namespaces/{self.namespace}/serviceaccounts")), "the service account")
        try:
            for step in self.setting.steps:
                self.step(step)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for name in self.halted:
            if name in self.plane.running:
                self.plane.go_on(name)
            else:
                self.plane.run(name)
        restore(self.api, self.changed)

    def step(self, step: dict[str, Any]) -> None:
        """Do one step: create, node, delete, patch, fail, status, wait, stop, pause or resume."""
        for word, what in step.items():
            match word:
                case "create":
                    for said in what:
                        self.create(said)
                case "node":
                    for name, change in what.items():
                        self.changed.add(name)
                        change_node(self.api, name, change)
                case "delete":
                    for name in what:
                        self.api.delete(self.path(name))
                case "patch":
                    for path, change in what.items():
                        self.api.patch(self.path(path), change)
                case "fail":
                    self.fail(",".join(f"{key}={value}" for key, value in what.items()))
                case "status":
                    for name, status in what.items():
                        self.api.patch(f"{self.path(name)}/status", {"status": status})
                case "wait":
                    self.wait(what)
                case "stop":
                    self.halted.add(what)
                    self.plane.end(what)
                case "pause":
                    self.halted.add(what)
                    self.plane.pause(what)
                case "resume":
                    self.halted.remove(what)
                    self.plane.go_on(what)
                case _:
                    raise ValueError(f"no step is named {word}")

    def create(self, said: dict[str, Any]) -> None:
        for one in written_out(said, self.namespace):
            self.api.create(one)

    def fail(self, selector: str) -> None:
        """Let the pods that a selector finds end with exit code 1. kwok is paused before they are made: it would let them succeed."""
        found: list[Object] = []

        def placed() -> bool:
            found[:] = self.api.items(f"/api/v1/namespaces/{self.namespace}/pods?labelSelector={selector}")
            return bool(found) and all(one["spec"].get("nodeName") for one in found)

        until(placed, f"pods with {selector} have a node")
        ended = {"exitCode": 1, "reason": "Error", "finishedAt": found[0]["metadata"]["creationTimestamp"]}
        for one in found:
            states = [
                {"name": box["name"], "image": box["image"], "imageID": "", "ready": False, "restartCount": 0}
                for box in one["spec"]["containers"]
            ]
            status = {"phase": "Failed", "containerStatuses": [state | {"state": {"terminated": ended}} for state in states]}
            status["podIP"] = "10.0.0.1"  # kwok starts what has none
            self.api.patch(f"{self.path('pod/' + one['metadata']['name'])}/status", {"status": status})

    def path(self, name: str) -> str:
        """The path of `KIND/NAME`, or of one that is written out."""
        if name.startswith("/"):
            return name.format(namespace=self.namespace)
        kind, _, own = name.partition("/")
        base = {"job": "/apis/batch/v1", "statefulset": "/apis/apps/v1", "deployment": "/apis/apps/v1"}.get(kind, "/api/v1")
        return f"{base}/namespaces/{self.namespace}/{kind}s/{own}"

    def wait(self, what: dict[str, Any]) -> None:
        """Wait for an event with a reason, for a pod's phase, or until the scheduler has said no."""
        if "seconds" in what:
            time.sleep(what["seconds"])
        if "event" in what:
            until(lambda: any(one.get("reason") == what["event"] for one in self.events()), f"an event {what['event']}")
        for name in what.get("bound", []):
            path = f"/api/v1/namespaces/{self.namespace}/persistentvolumeclaims/{name}"
            until(lambda path=path: self.api.get(path)["status"].get("phase") == "Bound", f"{name} is bound")  # type: ignore[misc]
        for name in what.get("running", []):
            until(lambda name=name: self.pod(name)["status"]["phase"] == "Running", f"{name} runs")  # type: ignore[misc]
        for name in what.get("pending", []):
            until(lambda name=name: judged(self.pod(name)), f"a word about {name}")  # type: ignore[misc]

    def events(self) -> list[Object]:
        return self.api.items(f"/api/v1/namespaces/{self.namespace}/events")

    def pod(self, name: str) -> Object:
        return dict(self.api.get(f"/api/v1/namespaces/{self.namespace}/pods/{name}"))


def judged(pod: Object) -> bool:
    """Whether the scheduler has decided about a pod, or may not."""
    return bool(pod["spec"].get("nodeName") or pod["spec"].get("schedulingGates")) or any(
        one["type"] == "PodScheduled" for one in pod["status"].get("conditions", [])
    )


def answers(stage: Stage) -> Iterator[Answer]:
    """Bring about each case's pod, and ask."""
    for case in stage.setting.cases:
        if case.pasted and not shutil.which("kubectl"):
            continue
        if case.pod is not None:
            said = {"pod": name_of(case), **case.pod}
            stage.create(said)
            with contextlib.suppress(TimeoutError):  # nobody may be there to judge it
                until(lambda name=said["pod"]: judged(stage.pod(name)), "a word about it", SOON)  # type: ignore[misc]
        yield ask(stage, case)


def ask(stage: Stage, case: Case) -> Answer:
    """One question."""
    books = library()
    book = books.runbooks["diagnose-pod"]
    given = {name: declared.default for name, declared in book.inputs.items()} | {"namespace": stage.namespace}
    target = case.ask or f"pod/{name_of(case)}"
    if target == "-A":
        given["all_namespaces"] = True
    elif target != "-n":
        kind, _, name = target.rpartition("/")
        given |= {"kind": kind, "name": name}
    file = stage.plane.folder / f"{case.user}.kubeconfig"
    begun = time.perf_counter()
    if case.pasted:
        report = of_paste(file, target, stage.namespace)
        return Answer(case, report, time.perf_counter() - begun, wrong(case, report, stage.namespace))
    url = yaml.safe_load(file.read_text(encoding="utf-8"))["clusters"][0]["cluster"]["server"]
    options = msgspec.structs.replace(case.given, server=case.given.server.format(server=url))
    with environment(file) if case.spread else contextlib.nullcontext():
        live = Live(kubeconfig=None if case.spread else str(file), given=options)
    probe: Probe = live if case.young else Later(live, LATER)
    try:
        report = diagnose(books, book, given, probe, asked=target, started=time.time())
    finally:
        live.close()
    seconds = time.perf_counter() - begun
    return Answer(case, report, seconds, wrong(case, report, stage.namespace))


@contextlib.contextmanager
def environment(file: Path) -> Iterator[None]:
    """$KUBECONFIG with a file for each part of a kubeconfig, and one that isn't there."""
    whole, before = yaml.safe_load(file.read_text(encoding="utf-8")), os.environ.get("KUBECONFIG")
    paths = [file.with_suffix(".nowhere")]
    for part in (["contexts", "current-context"], ["users"], ["clusters"]):
        paths.append(file.with_suffix(f".{part[0]}"))
        kept = {"apiVersion": "v1", "kind": "Config", **{key: whole[key] for key in part}}
        paths[-1].write_text(yaml.safe_dump(kept), encoding="utf-8")
    os.environ["KUBECONFIG"] = os.pathsep.join(map(str, paths))
    try:
        yield
    finally:
        del os.environ["KUBECONFIG"]
        os.environ |= {"KUBECONFIG": before} if before is not None else {}


def of_paste(kubeconfig: Path, target: str, namespace: str) -> Report:
    """The report on what kubectl prints of a pod."""
    kubectl = ["kubectl", "--kubeconfig", str(kubeconfig), "describe", target, "--namespace", namespace]
    text = subprocess.run(kubectl, capture_output=True, check=True, timeout=30).stdout
    analyze = [sys.executable, "-m", "gpudoctor", "analyze", "-", "--format", "json"]
    said = subprocess.run(analyze, input=text, capture_output=True, check=False, timeout=60).stdout
    return msgspec.json.decode(said, type=Report)


def name_of(case: Case) -> str:
    """The name of the pod that a case makes."""
    assert case.pod is not None, f"{case.name}: it makes no pod and asks for nothing"
    return str(case.pod.get("pod") or f"asked-{slug(case.name)}")


def wrong(case: Case, report: Report, namespace: str) -> str:
    """What is wrong with an answer, "" where nothing is."""
    said = []
    if report.verdict != case.verdict:
        said.append(f"verdict {report.verdict} (exit {EXIT_CODES[report.verdict]}), not {case.verdict}")
    named = [*report.findings, *report.candidates]
    causes = [case.cause] if isinstance(case.cause, str) else case.cause
    first = named[0] if named else None
    title = str(getattr(first, "title", getattr(first, "why", "")))
    if causes != [""] and (first is None or first.cause not in causes):
        said.append(f"cause {first.cause if first else 'none'}, not {' or '.join(causes)}")
    if case.subject and first:
        names = [first.subject.name, first.subject.node, first.subject.pod, first.subject.workload, *getattr(first, "also", [])]
        if not any(case.subject in name for name in names):
            said.append(f"subject {names}, not {case.subject}")
    said += [f"'{words}' is not in the title" for words in case.says if words not in title]
    titles = " | ".join([*(one.title for one in report.findings), *(one.why for one in report.candidates)])
    said += [f"'{words}' is in a title" for words in case.silent if words in titles]
    own = [one for one in named if one.cause in causes]
    spoken = [
        name
        for one in own
        for name in (one.subject.workload, str(getattr(one, "title", getattr(one, "why", ""))), *getattr(one, "also", []))
    ]
    said += [f"nothing is said of {name}" for name in case.names if not any(name in words for words in spoken)]
    there = {one.cause for one in [*report.findings, *report.candidates]}
    said += [f"{cause} is named" for cause in case.without if cause in there]
    refused = [f"{one.what}: {one.why}" for one in report.coverage.missing if "forbidden" in one.why or "RBAC" in one.why]
    said += refused if case.answered else []
    counts: Counter[str] = Counter()
    for one in report.findings:
        counts[one.cause] += 1 + len(one.also)
    if case.counts:
        rows_of = Counter(name for one in report.findings if one.subject.kind == "pod" for name in (one.subject.name, *one.also))
        said += [f"{name} is in {times} rows" for name, times in rows_of.items() if times > 1]
    said += [f"{counts[cause]} of {cause}, not {count}" for cause, count in case.counts.items() if counts[cause] != count]
    rows = Counter(one.cause for one in report.findings)
    said += [f"{rows[cause]} rows of {cause}, not {count}" for cause, count in case.rows.items() if rows[cause] != count]
    commands = [" ".join(argv) for one in report.findings for fix in one.fixes for argv in (fix.run, fix.undo, fix.verify)]
    said += [f"`{command}` lacks a name" for command in commands if case.named and re.search(r"<[a-z]+>", command)]
    kinds = {kind for row in fit_rows(report) for kind in row[2].split(" + ")}
    said += [f"the nearest fit lacks {kind}" for kind in case.offers if kind not in kinds]
    said += [f"the nearest fit has {kind}" for kind in case.never if kind in kinds]
    for change, nodes in case.where.items():
        named_there = ",".join(row[4] for row in fit_rows(report) if change in row[2].split(" + "))
        said += [f"{change} is for {named_there}, not {nodes}"] if named_there != nodes else []
    return "; ".join(said) + (f" [{title}]" if said else "")


def fit_rows(report: Report) -> list[list[str]]:
    """The rows of the nearest fit: pod, rank, change, what, where."""
    return [row for table in report.tables if table.title == "Nearest fit" for row in table.rows]
