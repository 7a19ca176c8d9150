"""The pod subresources `log` and `exec`: which container is meant, and what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.kube.statuses import ApiError

TRUE = ("true", "True", "1")  # the API server looks at no case, and the client of Python writes it so
Query = Mapping[str, Sequence[str]]

# 2026-03-01T11:58:03.123456789Z Registered device plugin
STAMPED = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ", re.ASCII)
# reasons with which the kubelet refuses a log, and what it says then
WAITING = {
    "ContainerCreating": "ContainerCreating",
    "PodInitializing": "PodInitializing",
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
    "CreateContainerConfigError": "CreateContainerConfigError",
}


class Answer(NamedTuple):
    """What one command prints in a container, `stall` seconds after it was started."""

    stdout: bytes
    stderr: bytes
    exit: int
    stall: float
    missing: bool = False  # the image has no such program
    shell: str = ""  # a PATH: what is sent on stdin is given to a real `sh -s` that finds its programs there


def first(query: Query, name: str, default: str = "") -> str:
    """The first value of a query parameter."""
    return query.get(name, [default])[0]


def number(query: Query, name: str) -> int | None:
    """A parameter that counts something, None where it is missing. Raises ApiError 400."""
    text = first(query, name)
    if text and not text.isdecimal():
        raise ApiError(400, f'strconv.ParseInt: parsing "{text}": invalid syntax')
    return int(text) if text else None


def container_of(pod: Mapping[str, Any], asked: str) -> tuple[str, dict[str, Any]]:
    """The container meant, and its state. Raises ApiError 400 where the API server would."""
    spec, name = pod["spec"], pod["metadata"]["name"]
    main = [each["name"] for each in spec["containers"]]
    init = [each["name"] for each in spec.get("initContainers", [])]
    if not asked and len(main) > 1:
        more = f" or one of the init containers: [{' '.join(init)}]" if init else ""
        raise ApiError(400, f"a container name must be specified for pod {name}, choose one of: [{' '.join(main)}]{more}")
    chosen = asked or main[0]
    if chosen not in (*main, *init):
        raise ApiError(400, f"container {chosen} is not valid for pod {name}")
    status = pod.get("status", {})
    states = {
        each["name"]: each.get("state", {}) for part in ("initContainerStatuses", "containerStatuses") for each in status.get(part, [])
    }
    return chosen, states.get(chosen, {})


def log(pod: Mapping[str, Any], query: Query, logs: Mapping[str, str], now: str) -> bytes:
    """The log of one container. Lines that begin with the kubelet's own time stamps (nine decimals) lose them unless they are asked for.

    Reads container, previous, sinceSeconds, tailLines, timestamps and limitBytes. Raises ApiError 400.
    """
    chosen, state = container_of(pod, first(query, "container"))
    name = pod["metadata"]["name"]
    key = f"{pod['metadata'].get('namespace', '')}/{name}/{chosen}"
    if first(query, "previous") in TRUE:
        if key + ":previous" not in logs:
            raise ApiError(400, f'previous terminated container "{chosen}" in pod "{name}" not found')
        key += ":previous"
    waits = state.get("waiting", {}).get("reason", "")
    if key not in logs and waits in WAITING:
        raise ApiError(400, f'container "{chosen}" in pod "{name}" is waiting to start: {WAITING[waits]}')
    return cut(logs.get(key, "").splitlines(keepends=True), query, now)


def cut(lines: list[str], query: Query, now: str) -> bytes:
    """The part of a log that was asked for, in the kubelet's order: since, tail, time stamps, bytes."""
    since, tail, limit = (number(query, name) for name in ("sinceSeconds", "tailLines", "limitBytes"))
    if since is not None:
        oldest = datetime.fromisoformat(now).timestamp() - since
        lines = [line for line in lines if not STAMPED.match(line) or time_of(line) >= oldest]
    if tail is not None:
        lines = lines[-tail:] if tail else []
    if first(query, "timestamps") in TRUE:
        lines = [line if STAMPED.match(line) else f"{now[:19]}.000000000Z {line}" for line in lines]
    else:
        lines = [STAMPED.sub("", line) for line in lines]
    return "".join(lines).encode()[:limit]


def time_of(line: str) -> float:
    """The kubelet's time stamp of a log line, in seconds since the epoch."""
    return datetime.fromisoformat(line[:19]).replace(tzinfo=UTC).timestamp()


def executed(pod: Mapping[str, Any], query: Query, recorded: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[list[str], Answer]:
    """What an exec prints: the recorded answer with exactly this argv, else that there is no such program. Raises ApiError 400 and 500."""
    name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
    if phase in ("Succeeded", "Failed"):
        raise ApiError(400, f"cannot exec into a container in a completed pod; current phase is {phase}")
    chosen, state = container_of(pod, first(query, "container"))
    if not pod["spec"].get("nodeName"):
        raise ApiError(400, f"pod {name} does not have a host assigned")
    if "running" not in state:
        raise ApiError(500, f'container not found ("{chosen}")')
    argv = list(query.get("command", ()))
    if not argv:
        raise ApiError(400, "you must specify at least 1 command for the container")
    ns = pod["metadata"].get("namespace", "")
    for answer in (*recorded.get(f"{ns}/{name}/{chosen}", ()), *recorded.get(f"{ns}/*/{chosen}", ())):
        if list(answer["argv"]) == argv:
            stdout, stderr = (
                str(answer.get(stream, "")).encode() if first(query, stream) in TRUE else b"" for stream in ("stdout", "stderr")
            )
            return argv, Answer(stdout, stderr, int(answer.get("exit", 0)), float(answer.get("stall", 0)), shell=answer.get("shell", ""))
    return argv, Answer(b"", b"", 127, 0, missing=True)
