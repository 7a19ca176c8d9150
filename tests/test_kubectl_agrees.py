"""The commands that a report shows are true: the real kubectl, given the same words, says the same; and an old kubectl knows them."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.library.index import library
from gpudoctor.probes import transcript
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.live import Live
from tests.kube.record import FIXTURES, cases
from tests.kube.switch import Switched

KUBECTL = shutil.which("kubectl") or ""
FIRST_WITH_WEBSOCKETS = (1, 30)  # before that `kubectl exec` spoke SPDY only (KEP-4006)
SEPARATOR = "ɸ"  # stands for ${…} in a command that is checked for its options only


def shown() -> dict[tuple[str, ...], str]:
    """Every kubectl command that a recorded run asked, with the case to ask it in: one where it had an answer, if there is one."""
    found: dict[tuple[str, ...], tuple[bool, str]] = {}
    for name, case in cases().items():
        folder = FIXTURES / case.runbook / name
        if (text := transcript.transcript_path(folder)) is None:
            continue  # test_live_replay complains
        for answer in transcript.load(text)[0].outputs:
            if answer.argv[0] == "kubectl" and not answer.host:
                worth = (not answer.failure and bool(answer.stdout), name)
                found[answer.argv] = max(found.get(answer.argv, (False, "")), worth)
    return {argv: name for argv, (_, name) in found.items()}


SHOWN = shown()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Switched]:
    server = Switched(tmp_path_factory.mktemp("kube"))
    yield server
    server.close()


def version() -> tuple[int, int]:
    """Major and minor of the kubectl on PATH."""
    said = subprocess.run([KUBECTL, "version", "--client", "-o", "json"], capture_output=True, check=True, timeout=20).stdout
    known = json.loads(said)["clientVersion"]
    return int(known["major"]), int(re.sub(r"\D", "", known["minor"]))


def real(served: Switched, argv: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    """What the real kubectl says."""
    home = {"HOME": str(served.folder), "KUBECONFIG": str(served.kubeconfig), "KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "true"}
    return subprocess.run([KUBECTL, *argv[1:]], capture_output=True, env=os.environ | home, timeout=30, check=False)


def ours(served: Switched, argv: tuple[str, ...]) -> Output:
    """What our probe says."""
    live = Live(str(served.kubeconfig))
    try:
        return live(Command(argv, timeout=10))
    finally:
        live.close()


def by_uid(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The objects of lists, and of answers that are one object. (The server's lists name the type once, kubectl names it on each item.)"""
    items = [item for document in documents for item in document.get("items", [document])]
    return {item["metadata"]["uid"]: {key: item[key] for key in item if key not in ("apiVersion", "kind")} for item in items}


def words(command: str) -> str:
    """An error of the server without the prefix that kubectl or we put before it."""
    return re.sub(r"^(Error from server( \(\w+\))?|error): |^\W+|\W+$", "", command.strip().split("\n")[-1])


@pytest.mark.skipif(not KUBECTL, reason="there is no kubectl on PATH")
@pytest.mark.parametrize("argv", SHOWN, ids=" ".join)
def test_kubectl_says_the_same(argv: tuple[str, ...], served: Switched) -> None:
    if argv[1] == "exec" and version() < FIRST_WITH_WEBSOCKETS:
        pytest.skip("this kubectl speaks no websockets; the served cluster speaks nothing else")
    served.show(cases()[SHOWN[argv]].cluster)
    theirs, mine = real(served, argv), ours(served, argv)
    if mine.failure:
        assert theirs.returncode != 0
        assert words(theirs.stderr.decode()) in mine.reason
        return
    assert mine.exit == theirs.returncode, theirs.stderr
    if argv[1] == "get" and "--raw" not in argv and not mine.exit:
        assert by_uid([json.loads(page) for page in mine.pages]) == by_uid([json.loads(theirs.stdout)] if theirs.stdout.strip() else [])
    else:
        assert b"".join(mine.pages) == theirs.stdout
        remark = rb"command terminated with exit code \d+\n"  # kubectl's own line after the program's
        said, own = words(re.sub(remark, b"", theirs.stderr).decode()), words(mine.stderr.decode())
        # A newer kubectl (seen in 1.32) looks for the namespace of what isn't there, and names that where it isn't there either.
        assert own == said or (own.endswith("not found") and re.fullmatch(r'namespaces "[^"]+" not found', said))


def known_options() -> dict[str, set[str]]:
    """kubectl 1.20's options by verb; the verb `*` has those that every verb takes."""
    lines = (Path(__file__).parent / "kube" / "kubectl-1.20.txt").read_text(encoding="utf-8").splitlines()
    rows = (line.partition(":") for line in lines if not line.startswith("#"))
    return {verb: set(options.split()) for verb, _, options in rows}


KNOWN = known_options()


def refused(argv: list[str]) -> str:
    """Why kubectl 1.20 would not take these words, "" when it would."""
    verb = " ".join(argv[1:3]) if " ".join(argv[1:3]) in KNOWN else argv[1]
    if verb not in KNOWN:
        return f"no verb {verb}"
    known = KNOWN[verb] | KNOWN["*"]
    rest = iter(argv[2:])
    for word in rest:
        if word == "--":
            return ""
        option, attached, _ = word.partition("=")
        if not word.startswith("-"):
            continue
        if f"{option}=" in known:
            if not attached and next(rest, None) is None:
                return f"{option} lacks its value"
        elif option not in known:
            return f"{verb} has no {option}"
    return ""


def advised() -> dict[str, list[str]]:
    """Every kubectl command in the runbooks and the catalogue, with the place that has it."""
    found: dict[str, list[str]] = {}
    for book in library().runbooks.values():
        for step in book.steps:
            found[f"{book.id}.{step.id}"] = list(step.run)
            for check in step.checks:
                for number, text in enumerate(check.settle_with):
                    if text.startswith("kubectl "):
                        plain = re.sub(r"\$\{[^}]*\}|<[^>]*>", SEPARATOR, text)
                        found[f"{book.id}.{check.id} settle_with {number}"] = shlex.split(re.split(r" [|;&]+ ", plain)[0])
    for cause in library().causes.values():
        for number, fix in enumerate(cause.fixes):
            for part in ("run", "undo", "verify"):
                found[f"{cause.id} fix {number} {part}"] = list(getattr(fix, part))
    return {place: argv for place, argv in found.items() if argv[:1] == ["kubectl"]}


def test_kubectl_1_20_knows_every_command_that_we_show() -> None:
    """Debian 12 ships 1.20; a command that a person can't run is no fix."""
    commands = advised() | {" ".join(argv): list(argv) for argv in SHOWN}
    assert len(commands) > 100
    assert {place: why for place, argv in commands.items() if (why := refused(argv))} == {}


def test_the_check_for_options_can_fail() -> None:
    assert refused(["kubectl", "get", "pods", "-A", "-o", "json"]) == ""
    assert refused(["kubectl", "get", "pods", "-n"]) == "-n lacks its value"
    assert refused(["kubectl", "get", "pod", "a", "--subresource=status"]) == "get has no --subresource"
    assert refused(["kubectl", "events"]) == "no verb events"
    assert refused(["kubectl", "rollout", "status", "--watch", "deployment/a"]) == ""
