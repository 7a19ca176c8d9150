"""list, show: what there is, and what it would run and needs."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from typing import Any

from gpudoctor.cli.execute import find_runbook, load_library
from gpudoctor.runbook.model import Library, Runbook, Step

# What `${input.kind}` may name: the owners that `diagnose pod TYPE/NAME` starts from.
OWNERS = (
    *("deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs", "pytorchjobs", "tfjobs", "mpijobs", "trainjobs"),
    *("jobsets", "leaderworkersets", "rayclusters", "rayjobs", "rayservices"),
)
BINDING = """\
---
# Who may do so: put the group of your own in the place of `oncall`, or a user or service account.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {role}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}
subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: Group, name: oncall}}]"""
WIDTH = 100  # columns of a paragraph


def list_runbooks() -> int:
    """One line for each runbook."""
    library = load_library()
    width = max((len(name) for name in library.runbooks), default=0)
    for book in library.runbooks.values():
        note = "" if book.status == "stable" else f" ({book.status})"
        print(f"{book.id:<{width}}  {book.title}{note}")
    return 0


def steps_of(library: Library, book: Runbook) -> list[tuple[Runbook, Step]]:
    """The steps of a runbook, with those of the runbooks that it includes; what is included several times stands there once."""
    made: list[tuple[Runbook, Step]] = []
    seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()

    def add(book: Runbook) -> None:
        for step in book.steps:
            inclusion = (step.include, tuple(step.set.items()))
            if not step.include:
                made.append((book, step))
            elif inclusion not in seen:
                seen.add(inclusion)
                add(library.runbooks[step.include])

    add(book)
    return made


def show_runbook(name: str) -> int:
    """What a runbook would run, where, and for how long at most."""
    library = load_library()
    book = find_runbook(library, name)
    print(f"{book.id}: {book.title}")
    if book.summary:
        print("\n" + textwrap.fill(book.summary, WIDTH))
    if book.alerts:
        print("\n" + textwrap.fill(f"alerts that lead here: {', '.join(book.alerts)}", WIDTH))
    if book.inputs:
        print("\nInputs")
    for key, given in book.inputs.items():
        print(f"  --set {key}={default(given.default, given.type)}  {given.help}")
    total = 0.0
    for number, (owner, step) in enumerate(steps_of(library, book), 1):
        print(f"\n{number:>2}. {step.title or step.id}   [{owner.id}.{step.id}]")
        for line in step_lines(step):
            print(f"    {line}")
        total += step.timeout if step.run and not step.choices else 0
    print(f"\nNothing is changed. A whole run ends after --timeout, 120 s by default; its steps alone would after {total:.0f} s at most.")
    return 0


def step_lines(step: Step) -> Iterator[str]:
    """A step in words: when it runs, what it runs, which causes it may find."""
    if step.why:
        yield f"why     {step.why}"
    if step.when:
        yield f"when    {step.when}"
    if step.each:
        where = f" where {step.where}" if step.where else ""
        yield f"each    {step.each.name} in {step.each.type}{where} (at most {step.limit})"
    if step.choices:
        yield f"ask     {step.run[-1]}   (a person, with --guided)"
        yield f"        {'; '.join(step.choices.values())}"
    elif step.run:
        yield step_request(step) + (f"   on {step.host}" if step.host else "") + f"   (at most {step.timeout:.0f} s)"
    if step.otherwise:
        yield f"        else {shlex.join(step.otherwise)}"
    if step.sample:
        times = f"{step.sample.times} times"
        yield f"again   every {step.sample.every:g} s, {f'for {step.sample.span}' if step.sample.span else times}"
    if step.optional:
        yield "        a machine without it is passed over"
    if step.effect:
        yield "        disturbs running work: only with --allow-disruptive"
    if step.rules:
        yield f"rules   {', '.join(f'rules/{name}.yaml' for name in step.rules)}"
    if step.derive:
        yield f"derive  {step.derive}, from what was read"
    for check in step.checks:
        if check.finds:
            yield f"{'rule ' if check.table else 'check'}   {check.id} → {check.finds}"


def step_request(step: Step) -> str:
    """The request of a step: a command line, NVML, or a query to a Prometheus.

    >>> step_request(Step(id="x", run=["promql", "${input.url}", "up", "300", "15"]))
    'promql  up   of the last 300 s, every 15 s, at ${input.url}'
    """
    if step.run[0] == "nvml":
        return f"nvml    {' '.join(step.run[1:2])}" + (f" for {step.run[2]} s, every {step.run[3]} s" if len(step.run) > 3 else "")
    if step.run[0] == "promql" and len(step.run) == 3:
        _, url, query = step.run
        return f"promql  {query.removeprefix('/')}   now, at {url}"
    if step.run[0] == "promql" and len(step.run) == 5:
        _, url, query, span, every = step.run
        return f"promql  {query}   of the last {span} s, every {every} s, at {url}"
    return f"run     {shlex.join(step.run)}"


def default(value: Any, kind: str) -> str:
    """A default as `--set` takes it: `false`, `60s`, `'…'` where it is empty."""
    if kind == "bool":
        return str(value).lower()
    return f"{value:g}s" if kind == "duration" else str(value) or "''"


def show_rbac(name: str) -> int:
    """The least ClusterRole: only what the steps get; exec into pods is a role of its own."""
    library = load_library()
    book = find_runbook(library, name)
    reads: dict[str, set[str]] = {}
    execs = False
    for _, step in steps_of(library, book):
        if step.host:
            execs = True
            reads.setdefault("", set()).add("pods")
        if step.run[:1] != ["kubectl"]:
            continue
        verb = step.run[1]
        if verb == "exec":
            execs = True
        elif verb == "logs":
            reads.setdefault("", set()).add("pods/log")
        elif verb == "get" and step.run[2].startswith("--raw"):
            reads.setdefault("", set()).add(f"{'pods' if '/pods/' in step.run[-1] else 'services'}/proxy")
        elif verb == "get":
            for word in OWNERS if "${" in step.run[2] else (step.run[2].split("/")[0],):
                group, plural = resource_of(word)
                reads.setdefault(group, set()).add(plural)
    print(f"# The least that `gpudoctor run {book.id}` needs. Without a rule, exactly the checks that need it are unknown.")
    print("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: gpudoctor-read\nrules:")
    for group, resources in sorted(reads.items()):
        print(f'  - apiGroups: ["{group}"]\n    resources: [{", ".join(sorted(resources))}]\n    verbs: [get, list]')
    if execs:
        print("---\n# Only for the checks that look inside a container; leave it out and run with --no-exec.")
        print("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: gpudoctor-exec\nrules:")
        print('  - apiGroups: [""]\n    resources: [pods/exec]\n    verbs: [get, create]')
    for role in ("gpudoctor-read", *(("gpudoctor-exec",) if execs else ())):
        print(BINDING.format(role=role))
    return 0


def resource_of(word: str) -> tuple[str, str]:
    """API group and plural of a word for a resource, as RBAC has them; a word that only a server knows carries its group.

    >>> resource_of("deploy"), resource_of("nodes"), resource_of("queues.scheduling.volcano.sh")
    (('apps', 'deployments'), ('', 'nodes'), ('scheduling.volcano.sh', 'queues'))
    """
    from gpudoctor.probes.kube_resources import RESOURCES

    plural, _, group = word.partition(".")
    known = RESOURCES.get(word)
    return (known.group, known.plural) if known else (group, plural)
