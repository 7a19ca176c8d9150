"""For every recorded case: the report of the live run equals that of its replay, and the committed bundle still tells the same story."""

from __future__ import annotations

import contextlib
import difflib
import functools
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpudoctor.cli.app import app
from gpudoctor.cli.errors import Refused
from gpudoctor.probes import transcript
from tests.kube.api import PATH
from tests.kube.case import Case
from tests.kube.record import FIXTURES, NOW, cases
from tests.kube.switch import Switched

CASES = cases()
HURRY = ["--timeout", "4"]  # for clusters that don't answer
PASSING = re.compile(r"127\.0\.0\.1:\d+| within [0-9.]+ s")  # the port, and a time that was up
SECRET = "hunter2-Zk9vQ1xW7tLr"  # planted in every cluster; must occur in no bundle
TOKEN = "eyJhbGciOiJSUzI1NiIsImtpZCI6InBsYW50ZWQifQ.eyJzdWIiOiJwbGFudGVkIn0.c2lnbmF0dXJlLXBsYW50ZWQtaGVyZQ"
PLANTED = [
    {"name": "DB_PASSWORD", "value": SECRET},
    {"name": "NCCL_DEBUG_FILE", "value": TOKEN},  # a name on the list of evidence, a value that is none
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switched]:
    server = Switched(tmp_path_factory.mktemp("kube"))
    yield server
    server.close()


def gpudoctor(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The command line in this process: its exit code and the report that it printed, or the sentence with which it refused."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            code = app([*arguments, "--format", "json"], standalone_mode=False)
    except Refused as error:
        return error.code, {"refused": str(error), "steps": []}
    return code, json.loads(printed.getvalue())


def told(report: dict[str, Any]) -> list[str]:
    """What a report says about the cluster, line by line: everything but how long it took, and where the server was."""
    steps = [{key: value for key, value in step.items() if key != "seconds"} for step in report["steps"]]
    return PASSING.sub("…", json.dumps(report | {"steps": steps, "tool": ""}, indent=1, ensure_ascii=False)).split("\n")


def planted(cluster: dict[str, Any]) -> dict[str, Any]:
    """The cluster with secrets where real ones are found: in a container's environment and arguments, in annotations, in logs."""
    copy: dict[str, Any] = json.loads(json.dumps(cluster))
    for each in copy["objects"]:
        each["metadata"].setdefault("annotations", {})["example.com/connection"] = f"postgres://trainer:{SECRET}@db.example.com/runs"
        for container in each.get("spec", {}).get("containers", []):
            container["env"] = [*container.get("env", []), *PLANTED]
            container["args"] = [*container.get("args", []), f"--password={SECRET}"]
    copy["logs"] = {name: f"{text}Authorization: Bearer {TOKEN}\n" for name, text in (copy.get("logs") or {}).items()}
    return copy


def stalls(case: Case) -> bool:
    """Whether the case's cluster leaves a request without an answer."""
    return any(fault.get("stall") for fault in case.cluster.get("faults") or ())


@functools.cache
def allowed(runbook: str) -> frozenset[tuple[str, str]]:
    """What `gpudoctor show RUNBOOK --rbac` grants: (API group, resource)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        app(["show", runbook, "--rbac"], standalone_mode=False)
    roles = list(yaml.safe_load_all(printed.getvalue()))
    rules = [rule for role in roles for rule in role.get("rules", ())]
    return frozenset((group, resource) for rule in rules for group in rule["apiGroups"] for resource in rule["resources"])


def needed(request: str) -> tuple[str, str]:
    """The API group and resource that a request reads: `GET /api/v1/namespaces/ml/pods/train-0/log?…` is pods/log of group ""."""
    found = PATH.match(request.split(" ", 1)[1].split("?", 1)[0])
    assert found, request
    group = "" if found["core"] else found["api"].split("/")[0]
    return group, found["plural"] + (f"/{found['sub']}" if found["sub"] else "")


@pytest.mark.parametrize("name", CASES)
def test_live_replay_and_the_committed_bundle_say_the_same(
    name: str, served: Switched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", NOW)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    case = CASES[name]
    served.show(planted(case.cluster))
    served.server.seen.clear()
    folder = tmp_path / "kept"
    options = ["--kubeconfig", str(served.kubeconfig), "--record", str(folder), *(HURRY if stalls(case) else ())]
    code, live = gpudoctor(*case.words, *options)

    asked = {needed(request) for request in served.server.seen if PATH.match(request.split(" ", 1)[1].split("?", 1)[0])}
    assert asked <= allowed(case.runbook)
    assert {request.split()[0] for request in served.server.seen if "/exec" not in request} <= {"GET"}

    assert gpudoctor("run", "--replay", str(folder)) == (code, live)

    kept = b"".join(file.read_bytes() for file in folder.iterdir())
    for secret in (SECRET, TOKEN, served.server.token, str(tmp_path)):  # and where a bundle was made is nobody's business
        assert secret.encode() not in kept

    committed = FIXTURES / case.runbook / name
    again = f"python -m tests.kube.record {name}"
    assert transcript.transcript_path(committed), again
    committed_code, report = gpudoctor("run", "--replay", str(committed))
    assert told(report) == told(live), again + "\n" + "\n".join(difflib.unified_diff(told(report), told(live), "committed", "today", n=3))
    assert committed_code == code
