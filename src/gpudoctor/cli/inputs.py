"""What the user gives becomes a runbook's inputs.

Names are checked here, before anything runs: none can become an option, a path or a shell word.
"""

from __future__ import annotations

import math
from typing import Any

from gpudoctor.cli.errors import Refused
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Runbook

# Names of Kubernetes objects: RFC 1123 subdomains, at most 253 characters.
NAME = regex(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\Z")
NAMESPACE = regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
KIND = regex(r"[a-zA-Z][a-zA-Z0-9.-]{0,100}\Z")
SELECTOR = regex(r"(?!-)[A-Za-z0-9_./=!, ()-]{0,500}\Z")

# What an input of this name holds, in all runbooks: its form, and the form in words.
FORMS = {
    "name": (NAME, "a name of a Kubernetes object: lower-case letters, digits, '-' and '.', at most 253"),
    "node": (NAME, "a name of a node: lower-case letters, digits, '-' and '.', at most 253"),
    "namespace": (NAMESPACE, "a name of a namespace: lower-case letters, digits and '-', at most 63"),
    "kind": (KIND, "a kind such as pod, job or deployment"),
    "selector": (SELECTOR, "a label selector such as app=train,tier!=web"),
}
# What an input of any other name may not hold: nothing that could become an option, nothing that a terminal would obey.
PLAIN = regex(r"(?!-)[^\x00-\x1f\x7f]{0,500}\Z")
TYPES: dict[str, tuple[type, ...]] = {"string": (str,), "bool": (bool,), "int": (int,), "float": (int, float), "duration": (int, float)}


def pod_inputs(target: str, namespace: str, selector: str, all_namespaces: bool) -> tuple[dict[str, Any], str]:
    """The inputs of `diagnose-pod` that were given, and the question in one line. Raises `Refused` for names that can't be."""
    kind, slash, name = target.rpartition("/")
    if slash and not name:
        raise Refused(f"'{target[:80]}' lacks a name: give TYPE/NAME, for example job/train")
    if target and (selector or all_namespaces):
        raise Refused("give a name, or a selector or -A, not both")
    inputs: dict[str, Any] = {"namespace": namespace, "selector": selector, "all_namespaces": all_namespaces}
    if target:
        inputs |= {"name": name, "kind": "pod" if kind.lower() in ("", "pods", "po") else kind.lower()}
    given = {key: value for key, value in inputs.items() if value}
    for key, value in given.items():
        check(key, value)
    return given, target


def check(name: str, value: Any, given: str = "") -> None:
    """Raise `Refused` for text that an input of this name can't have. Empty text is "not given"."""
    form, words = FORMS.get(
        name, (PLAIN, "a value that may be used: at most 500 characters, none of them a control character, no '-' first")
    )
    if isinstance(value, str) and value and not form.match(value):
        raise Refused(f"{given or ''}'{value[:80]}' is not {words}")


def settings(book: Runbook, given: list[str]) -> dict[str, Any]:
    """`name=value` of `--set`, and `--name=value`, as typed inputs. Raises `Refused`."""
    from gpudoctor.engine.plan import cast
    from gpudoctor.runbook.lint import unknown_name

    made: dict[str, Any] = {}
    for item in given:
        own = item.startswith("--")
        name, equals, text = item.removeprefix("--").partition("=")
        shown = f"{'' if own else '--set '}{item[:120]}: "
        if not equals:
            raise Refused(f"{shown}the form is name=value")
        if name not in book.inputs:
            said = unknown_name("input of " + book.id, name, book.inputs)
            there = f"there are {', '.join(book.inputs)}" if book.inputs else "it has none"
            raise Refused(f"{shown}{said}{'' if said.endswith('?') else ';'} {there}")
        try:
            made[name] = cast(text, book.inputs[name].type)
        except ValueError as error:
            raise Refused(f"{shown}{error}") from None
        check(name, made[name], shown)
        if isinstance(made[name], float) and not math.isfinite(made[name]):
            raise Refused(f"{shown}it must be a finite number")
    return made


def further_options(words: list[str]) -> tuple[str, list[str]]:
    """The runbook, and the options that no command has: a runbook's inputs, as `--name=value`. Raises `Refused`.

    >>> further_options(["thermal-throttle", "--for", "30s", "--all-nodes"])
    ('thermal-throttle', ['--for=30s', '--all_nodes=true'])
    """
    runbook, made = "", []
    rest = [word for word in words if word]
    while rest:
        word = rest.pop(0)
        if word.startswith("--") and len(word) > 2:
            name, equals, value = word[2:].partition("=")
            if not equals:
                value = rest.pop(0) if rest and not rest[0].startswith("-") else "true"
            made.append(f"--{name.replace('-', '_')}={value}")
        elif word.startswith("-") or runbook:
            raise Refused(f"there is no option or argument '{word[:80]}' here: `gpudoctor run --help`")
        else:
            runbook = word
    return runbook, made


def no_such_option(given: str, known: list[str]) -> Refused:
    """The refusal of an option that neither the command nor, for want of one, a runbook has."""
    from difflib import get_close_matches

    name = given.partition("=")[0]
    close = get_close_matches(name, known, cutoff=0.8)
    return Refused(f"No such option: {name[:80]}" + (f" (Possible options: {', '.join(sorted(close))})" if close else ""))


def recorded_inputs(book: Runbook, recorded: dict[str, Any]) -> dict[str, Any]:
    """The inputs that a bundle names, of those that the runbook has.

    A bundle may come from a stranger: raises `Refused` for a value of the wrong type.
    """
    made = {name: value for name, value in recorded.items() if name in book.inputs}
    for name, value in made.items():
        kind = book.inputs[name].type
        if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "bool"):
            raise Refused(f"the bundle's input '{name}' is no {kind}: record it again")
    return made
