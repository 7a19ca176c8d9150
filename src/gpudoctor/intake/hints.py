"""What a shown command or a file's name says about a text. Content decides what a text is; this only adds names that it lacks."""

from __future__ import annotations

import re

import msgspec

from gpudoctor.facts import Subject
from gpudoctor.intake import folders
from gpudoctor.knowledge import components
from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.jsonpath import words_of

# Options of kubectl that are followed by a value; of the rest, those with `=` carry it and the others have none.
VALUED = {
    "-n",
    "--namespace",
    "-c",
    "--container",
    "-l",
    "--selector",
    "-o",
    "--output",
    "--context",
    "--tail",
    "--since",
    "--field-selector",
    "-f",
}
NAMES = regex(r"[a-z0-9][a-z0-9.-]{0,252}$")  # of pods, nodes and namespaces
POD_WORDS = {"pod", "pods", "po"}
NODE_WORDS = {"node", "nodes", "no"}
KUEUE_WORDS = {"workload", "workloads", "wl"}
# nvidia-smi-in-pod.txt, kubectl-exec-nvidia-smi.txt  |  nvidia-smi-on-node.txt, nvidia-smi-host.txt
IN_POD = regex(r"(?:^|[-_. ])(?:pod|container|exec)(?:[-_. ]|$)")
ON_NODE = regex(r"(?:^|[-_. ])(?:node|host)(?:[-_. ]|$)")

NOBODY = Subject(kind="cluster")


class Hint(msgspec.Struct, frozen=True):
    """`about`: the names that the command has; `verb`: logs, describe, get, events, exec, else the program; `inside` for nvidia-smi."""

    about: Subject = Subject(kind="cluster")
    verb: str = ""
    inside: str = ""
    argv: tuple[str, ...] = ()


def of_section(path: str, command: str, given: Subject = NOBODY) -> Hint:
    """The hint of a command; what it doesn't say is taken from what the text around says (`given`), the folders, the file's name."""
    file = path if not command.startswith("cat ") else command[4:]
    named = of_file(file)
    shown = of_command(command or folders.command_of(path))
    told = (shown.about, given, *(folders.of_path(one) for one in dict.fromkeys((file, path))))
    about = next((one for one in told if one.kind != "cluster"), shown.about)
    if about.kind == "cluster":
        about = msgspec.structs.replace(about, namespace=shown.about.namespace)
    if not about.component and about.kind != "node":
        component = components.of_name(about.pod) or ("" if about.pod else named.about.component)
        kind = "pod" if component and about.kind == "cluster" else about.kind
        about = msgspec.structs.replace(about, kind=kind, component=component)
    return Hint(about, shown.verb or named.verb, shown.inside or ("" if shown.verb else named.inside), shown.argv)


def of_file(path: str) -> Hint:
    """The part of the GPU stack, and where nvidia-smi ran, as a file's name tells it.

    >>> of_file("x/kubectl-logs-dcgm-exporter.txt").about.component, of_file("nvidia-smi-in-pod.txt").inside, of_file("a.txt").verb
    ('dcgm-exporter', 'pod', '')
    """
    stem = path.rpartition("/")[2].lower().partition(".")[0][:255]
    verb = next((word for word in ("describe", "events", "logs") if word in stem), "logs" if path.lower().endswith(".log") else "")
    bare = re.sub(r"^(?:kubectl-|oc-)?(?:logs|log|previous|describe)-(?:pods?-)?", "", stem)
    component = bare if bare in components.BY_NAME else components.of_name(bare)
    inside = ("pod" if IN_POD.search(stem) else "node" if ON_NODE.search(stem) else "") if "nvidia-smi" in stem else ""
    return Hint(Subject(kind="pod", component=component) if component else Subject(kind="cluster"), verb, inside)


def of_command(command: str) -> Hint:
    """The names in a command line; only its first program counts, and a name that is no name is left out.

    >>> hint = of_command("kubectl -n ml exec train-0 -c main -- nvidia-smi -L | head")
    >>> hint.about.name, hint.about.container, hint.inside
    ('ml/train-0', 'main', 'pod')
    """
    words = words_of(command[:1000]) if command else []
    program = words[0].rpartition("/")[2] if words else ""
    if program not in ("kubectl", "oc", "k", "kubecolor"):
        return Hint(verb=program, argv=tuple(words))
    end = next((words.index(mark) for mark in ("--", "|") if mark in words), len(words))
    options: dict[str, str] = {}
    rest: list[str] = []
    pending = ""
    for word in words[1:end]:
        if pending:
            options[pending], pending = word, ""
        elif word.startswith("-"):
            option, equals, value = word.partition("=")
            if equals:
                options[option] = value
            elif option in VALUED:
                pending = option
        else:
            rest.append(word)
    verb, *names = rest or [""]
    about = _kubectl_subject(verb, names, options)
    inside = "pod" if verb == "exec" and "nvidia-smi" in words[end:] else ""
    return Hint(about, verb, inside, tuple(words))


def _kubectl_subject(verb: str, names: list[str], options: dict[str, str]) -> Subject:
    """The subject of a kubectl command, from `pod NAME`, `pod/NAME` or, for logs and exec, NAME."""
    if names and "/" in names[0]:
        names = [*names[0].split("/", 1), *names[1:]]
    elif verb in ("logs", "exec"):
        names = ["pod", *names[:1]]
    kind, name = (names[0].lower(), names[1]) if len(names) > 1 else ("", "")
    name = name if NAMES.match(name) else ""
    namespace = options.get("-n") or options.get("--namespace") or ""
    namespace = namespace if NAMES.match(namespace) else ""
    if kind in NODE_WORDS and name:
        return Subject(kind="node", node=name)
    if kind in POD_WORDS and name:
        container = options.get("-c") or options.get("--container") or ""
        return Subject(kind="pod", namespace=namespace, pod=name, container=container if NAMES.match(container) else "")
    if kind.partition(".")[0] in KUEUE_WORDS and name:
        return Subject(kind="workload", namespace=namespace, workload=f"Workload/{name}")
    # logs deploy/x, describe ds x: the part of the stack by the controller's name
    component = components.of_name(name) if name else ""
    return Subject(kind="pod" if component else "cluster", namespace=namespace, component=component)
