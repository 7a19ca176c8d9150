"""The `verify` commands of fixes: which there are for the findings of a run, on which machine, and what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from gpudoctor.engine import remedies
from gpudoctor.engine.relate import Found
from gpudoctor.engine.verification import Ran
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.runbook import allowed

# What asks a cluster, from any machine; every other program is about the machine it runs on.
OF_CLUSTER = ("kubectl", "scontrol", "sinfo", "squeue", "sacct", "sdiag", "promql")
SHOWN_FIXES = 2  # of a finding: the terminal report shows as many without -v
MOST = 16  # commands in all
ROWS = 200  # objects of one list
TELLING = ("Ready", "Available", "Complete", "Failed")  # conditions of objects that say how they are
HOW_SHOWN = ("-o", "--output", "-L", "--label-columns", "--sort-by")  # options of `kubectl get` about its columns, with a value


def verifies(roots: list[Found], around: remedies.Surroundings, every: bool) -> list[Ran]:
    """The commands that verify the fixes of findings, each once; those that can't be run here say why."""
    made: dict[tuple[str, tuple[str, ...]], Ran] = {}
    for root in roots:
        fixes = [one for one in remedies.fixes(root, around) if one.verify]
        for one in fixes if every else fixes[:SHOWN_FIXES]:
            host = "" if one.verify[0] in OF_CLUSTER else root.subject.node
            why = refusal(one.verify, host)
            made.setdefault((host, tuple(one.verify)), Ran(argv=one.verify, host=host, fix=one.title, why=why))
    return list(made.values())[:MOST]


def refusal(argv: list[str], host: str) -> str:
    """Why a command is left to the person, "" when it is run."""
    if any(element.startswith("<") for element in argv):
        return "yours to run: a name in it is not known"
    if not host and argv[0] not in OF_CLUSTER:
        return "yours to run: on which machine is not known"
    why = allowed.refusal(argv)
    return f"yours to run: {why}" if why else ""


def run(probe: Probe, wanted: list[Ran], timeout: float = 30.0) -> list[Ran]:
    """The commands with what they said, one after the other; `timeout` is for each, in seconds. A recording may not have them."""
    made = []
    for one in wanted:
        if not one.why:
            output = probe(Command(argv=api_command(one.argv), host=one.host, timeout=timeout))
            if output.failure == "not-recorded":
                continue
            one = msgspec.structs.replace(one, exit=output.exit, why=output.reason or output.failure, text=text_of(one.argv, output))
        made.append(one)
    return made


def api_command(argv: list[str]) -> tuple[str, ...]:
    """The command as the API is asked: `kubectl get` in JSON, whatever columns were wanted.

    >>> api_command(["kubectl", "get", "node", "gpu-02", "-L", "nvidia.com/gpu.product"])
    ('kubectl', 'get', 'node', 'gpu-02', '-o', 'json')
    """
    if argv[:2] != ["kubectl", "get"]:
        return tuple(argv)
    before = ["", *argv]
    off = (*HOW_SHOWN, "--show-labels", "--no-headers")
    kept = [word for last, word in zip(before, argv, strict=False) if last not in HOW_SHOWN and word.partition("=")[0] not in off]
    return (*kept, "-o", "json")


def text_of(argv: list[str], output: Output) -> str:
    """What a command said; of objects in JSON a line each."""
    if argv[:2] != ["kubectl", "get"]:
        return output.text or output.stderr.decode("utf-8", "replace")
    rows: list[str] = []
    for page in output.pages:
        try:
            rows += objects(json.loads(page))
        except (ValueError, RecursionError):
            return output.text
    return "\n".join(rows[:ROWS])


def objects(read: Any) -> Iterator[str]:
    """A line for each object of a list, or for the one: its kind, its name, and what its status says of it."""
    for one in items if isinstance(items := part(read, "items"), list) else [read]:
        status, spec = part(one, "status"), part(one, "spec")
        said = [part(status, "phase"), part(spec, "nodeName"), "unschedulable" if part(spec, "unschedulable") else ""]
        conditions = part(status, "conditions")
        said += (
            [f"{part(each, 'type')}={part(each, 'status')}" for each in conditions if part(each, "type") in TELLING]
            if isinstance(conditions, list)
            else []
        )
        said += [f"{name}: {value}" for name, value in pairs(part(status, "allocatable")) if "/" in name]
        said += [part(one, "reason"), part(one, "message")]
        name = part(part(one, "metadata"), "name")
        kind = part(one, "kind") or str(part(read, "kind")).removesuffix("List")
        yield "  ".join(word for word in [f"{kind}/{name}", *said] if isinstance(word, str) and word)


def part(value: Any, key: str) -> Any:
    """A member of an object, "" where there is none."""
    return value.get(key, "") if isinstance(value, dict) else ""


def pairs(value: Any) -> list[tuple[str, str]]:
    """The members of an object as texts."""
    return [(str(name), str(one)) for name, one in value.items()] if isinstance(value, dict) else []
