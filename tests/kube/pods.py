"""Builders of pods and their containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.kube.shapes import Object, ago, condition, lean, meta, tolerations_of, uid

# Every pod gets these two from the DefaultTolerationSeconds admission plugin.
DEFAULT_TOLERATIONS: list[Object] = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
    for key in ("not-ready", "unreachable")
]
# The volume that every pod gets from the ServiceAccount admission plugin (kubectl describe needs all three sources).
SERVICE_ACCOUNT: Object = {
    "name": "kube-api-access",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ],
        "defaultMode": 420,
    },
}
RETRIED = ("CrashLoopBackOff", "RunContainerError", "CreateContainerError")  # waiting reasons seen in pods that have run before


def container(
    name: str = "main",
    image: str = "registry.example.com/ml/trainer:2.4.1",
    *,
    gpus: int = 0,
    gpu_resource: str = "nvidia.com/gpu",
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
    waiting: tuple[str, str] | None = None,
    terminated: tuple[Any, ...] | None = None,
    last: tuple[Any, ...] | None = None,
    running: bool = False,
    restarts: int = 0,
    ready: bool | None = None,
    privileged: bool = False,
    sidecar: bool = False,
    age: str = "1h",
) -> Object:
    """A container as {"spec": …, "status": …}, for `pod(containers=…)` and `pod(init=…)`.

    `waiting` is (reason, message); `terminated` and `last` (the previous run) are (reason, exit code[, message]). Without any of these the
    pod decides: a main container runs, an init container has completed. `running` keeps an init container at work.
    """
    devices = {gpu_resource: str(gpus)} if gpus else {}
    state: Object | None = None
    if waiting:
        state = {"waiting": lean(reason=waiting[0], message=waiting[1])}
    elif terminated:
        state = {"terminated": ended(terminated, age)}
    elif running:
        state = {"running": {"startedAt": ago(age)}}
    spec = lean(
        name=name,
        image=image,
        command=list(command),
        env=[{"name": key, "value": value} for key, value in (env or {}).items()],
        securityContext={"privileged": True} if privileged else None,
        restartPolicy="Always" if sidecar else None,
    )
    spec["resources"] = lean(requests={**(requests or {}), **devices}, limits={**(limits or {}), **devices})
    spec |= {
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "volumeMounts": [{"name": "kube-api-access", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
    }
    status = {
        "name": name,
        "image": image,
        "imageID": "" if waiting and not restarts else f"{image.partition(':')[0]}@sha256:{uid(image).replace('-', '') * 2}",
        "state": state,
        "lastState": {"terminated": ended(last, age)} if last else {},
        "ready": ready,
        "restartCount": restarts,
        "age": age,
    }
    return {"spec": spec, "status": status}


def ended(run: tuple[Any, ...], age: str) -> Object:
    """A ContainerStateTerminated from (reason, exit code[, message])."""
    reason, code, *message = run
    return lean(
        exitCode=code,
        reason=reason,
        message=message[0] if message else None,
        startedAt=ago(age),
        finishedAt=ago(age),
        containerID="containerd://" + "0" * 64,
    )


def settle(init: Sequence[Object], main: Sequence[Object]) -> tuple[list[Object], list[Object]]:
    """The container statuses of a scheduled pod: what was not said follows from the start order. Returns (init, main)."""
    blocked = False
    done: list[list[Object]] = [[], []]
    for kind, boxes in enumerate((init, main)):
        for box in boxes:
            status, sidecar = dict(box["status"]), box["spec"].get("restartPolicy") == "Always"
            age = status.pop("age")
            runs = kind == 1 or sidecar
            if status["state"] is None and blocked:
                status["state"] = {"waiting": {"reason": "PodInitializing"}}
            elif status["state"] is None:
                status["state"] = {"running": {"startedAt": ago(age)}} if runs else {"terminated": ended(("Completed", 0), age)}
            if status["ready"] is None:
                status["ready"] = "running" in status["state"] if runs else status["state"].get("terminated", {}).get("exitCode") == 0
            status["started"] = "running" in status["state"]
            blocked = blocked or (kind == 0 and not status["ready"])
            done[kind].append(status)
    return done[0], done[1]


def phase_of(init: Sequence[Object], main: Sequence[Object]) -> str:
    """The phase that the kubelet would report for these container statuses."""
    if any(not status["ready"] for status in init):
        return "Pending"
    ends = [status["state"].get("terminated") for status in main]
    if main and all(ends):
        return "Succeeded" if all(end["exitCode"] == 0 for end in ends if end) else "Failed"
    waits = [status for status in main if "waiting" in status["state"]]
    retried = all(status["restartCount"] or status["state"]["waiting"].get("reason") in RETRIED for status in waits)
    return "Running" if retried else "Pending"


def pod(
    name: str,
    ns: str = "ml",
    *,
    gpus: int = 0,
    gpu_resource: str = "nvidia.com/gpu",
    node: str | None = None,
    phase: str | None = None,
    waiting: tuple[str, str] | None = None,
    terminated: tuple[Any, ...] | None = None,
    last: tuple[Any, ...] | None = None,
    restarts: int = 0,
    image: str = "registry.example.com/ml/trainer:2.4.1",
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
    command: Sequence[str] = (),
    privileged: bool = False,
    containers: Sequence[Object] = (),
    init: Sequence[Object] = (),
    owner: str = "",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    tolerations: Sequence[str | tuple[str, str, str] | Object] = (),
    node_selector: Mapping[str, str] | None = None,
    affinity: Object | None = None,
    runtime_class: str | None = None,
    scheduler_name: str = "default-scheduler",
    priority_class: str | None = None,
    gates: Sequence[str] = (),
    claims: Sequence[str] = (),
    unschedulable: str | None = None,
    reason: str | None = None,
    message: str | None = None,
    ready: bool | None = None,
    deleting: bool = False,
    overhead: Mapping[str, str] | None = None,
    age: str = "2h",
) -> Object:
    """A pod. Without `node` it is Pending and has no container statuses; with one its container runs unless told otherwise.

    `waiting`, `terminated`, `last`, `restarts`, `image`, `requests`, `limits`, `env`, `command` and `gpus` describe its one container
    `main`; `containers` replaces it. `unschedulable` is the scheduler's message, `gates` the scheduling gates, `claims` names of
    PersistentVolumeClaims, `reason` and `message` are those of status, `owner` is KIND/NAME.
    """
    boxes = list(containers) or [
        container(
            image=image,
            gpus=gpus,
            gpu_resource=gpu_resource,
            requests=requests if requests is not None else {"cpu": "4", "memory": "16Gi"},
            limits=limits,
            env=env,
            command=command,
            waiting=waiting,
            terminated=terminated,
            last=last,
            restarts=restarts,
            privileged=privileged,
            ready=ready,
            age=age,
        )
    ]
    volumes: list[Object] = [{"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    volumes.append(SERVICE_ACCOUNT)
    spec = lean(
        volumes=volumes,
        initContainers=[box["spec"] for box in init],
        containers=[box["spec"] for box in boxes],
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
        dnsPolicy="ClusterFirst",
        nodeSelector=dict(node_selector or {}),
        serviceAccountName="default",
        nodeName=node,
        securityContext=None,
        affinity=affinity,
        schedulerName=scheduler_name,
        tolerations=tolerations_of(tolerations) + DEFAULT_TOLERATIONS,
        schedulingGates=[{"name": gate} for gate in gates],
        runtimeClassName=runtime_class,
        priorityClassName=priority_class,
        enableServiceLinks=True,
        preemptionPolicy="PreemptLowerPriority",
        overhead=dict(overhead or {}),
    )
    metadata = meta("Pod", name, ns, age=age, labels=labels, annotations=annotations, owner=owner)
    if deleting:
        metadata |= {"deletionTimestamp": ago("5m"), "deletionGracePeriodSeconds": 30}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": pod_status(boxes, init, node, phase, gates, unschedulable, reason, message, age),
    }


def pod_status(
    boxes: Sequence[Object],
    init: Sequence[Object],
    node: str | None,
    phase: str | None,
    gates: Sequence[str],
    unschedulable: str | None,
    reason: str | None,
    message: str | None,
    age: str,
) -> Object:
    """PodStatus: conditions, container statuses and addresses, as far as the pod has come."""
    if node is None:
        why = (
            ("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
            if gates
            else ("Unschedulable", unschedulable or "")
        )
        waits = [condition("PodScheduled", False, *why, age)] if gates or unschedulable else []
        return lean(phase=phase or "Pending", conditions=waits, reason=reason, message=message, qosClass="Burstable")
    if phase in ("Failed", "Succeeded") and reason:  # refused by the kubelet or evicted: no container was started
        return lean(phase=phase, reason=reason, message=message, startTime=ago(age), qosClass="Burstable")
    first, main = settle(init, boxes)
    runs = phase or phase_of(first, main)
    initialized, ready = all(status["ready"] for status in first), runs == "Running" and all(status["ready"] for status in main)
    unready = "PodCompleted" if runs == "Succeeded" else "ContainersNotReady"
    return lean(
        phase=runs,
        conditions=[
            condition("Initialized", initialized, "" if initialized else "ContainersNotInitialized", age=age),
            condition("Ready", ready, "" if ready else unready, age=age),
            condition("ContainersReady", ready, "" if ready else unready, age=age),
            condition("PodScheduled", True, age=age),
        ],
        reason=reason,
        message=message,
        hostIP=address(10, node),
        podIP=None if runs == "Pending" else address(172, node, boxes[0]["spec"]["name"]),
        startTime=ago(age),
        initContainerStatuses=first,
        containerStatuses=main,
        qosClass="Burstable",
    )


def address(first: int, *names: str) -> str:
    """An IP address that depends only on the names."""
    number = int(uid("ip", *names)[:6], 16)
    return f"{first}.{16 + (number >> 16) % 16}.{(number >> 8) % 256}.{number % 254 + 1}"
