"""Texts with `${…}`: titles, arguments of commands and cells of tables, whose expressions are conditions' CEL."""

from __future__ import annotations

import functools

from gpudoctor.knowledge.field_words import in_words
from gpudoctor.patterns import regex
from gpudoctor.runbook.conditions import ConditionError, Lookup, Types, Unsure, as_text, compile_expression

# pod ${pod.namespace}/${pod.pod} waits
EXPRESSION = regex(r"\$\{((?:[^{}\"']|\"[^\"]*\"|'[^']*')*)\}")

# what names something: gpu.gpu, device.pci, hd.node, pod.namespace
NAME = regex(r"[a-z_]\w*\.(?:gpu|pci|node|namespace)")
UNNAMED = {"node": "the host"}
FIELDS = regex(r"[a-z_]\w*\.(?:unreadable|field)")  # what lists fields by their names
GAP = regex(r" +(?=[ ,;]|$)")


@functools.lru_cache(maxsize=8192)
def split_template(template: str) -> list[tuple[str, str]]:
    """A template cut into ("text", …) and ("cel", …) pieces.

    >>> split_template("pod ${pod.pod} waits")
    [('text', 'pod '), ('cel', 'pod.pod'), ('text', ' waits')]
    """
    cut: list[tuple[str, str]] = []
    end = 0
    for match in EXPRESSION.finditer(template):
        if match.start() > end:
            cut.append(("text", template[end : match.start()]))
        cut.append(("cel", match.group(1)))
        end = match.end()
    if end < len(template):
        cut.append(("text", template[end:]))
    if any(kind == "text" and "${" in text for kind, text in cut):
        raise ConditionError(f"'{template}' has a '${{' that is not closed")
    return cut


def fill(template: str, variables: Types, values: Lookup, unknown: str | None = None) -> str:
    """A template with its expressions filled in. One without a value is shown as `unknown`; without that, `Unsure` is raised."""
    if "${" not in template:
        return template
    return "".join(text if kind == "text" else expression_text(text, variables, values, unknown) for kind, text in split_template(template))


def fill_for_person(template: str, variables: Types, values: Lookup) -> str:
    """A text for people with its expressions filled in. What has no value is `?`; a name that isn't known leaves no gap, a GPU whose
    name says that it is one isn't called so twice, and fields stand in words.
    """
    made = ""
    nameless = False  # the namespace isn't known
    for kind, text in split_template(template):
        said = text if kind == "text" else expression_text(text, variables, values, "?")
        if kind == "text":
            said = said.removeprefix("/") if nameless else said
        elif NAME.fullmatch(text):
            owner, field = text.split(".")
            if field != "namespace":
                said = said or (UNNAMED.get(field) or expression_text(f"{owner}.index", variables, values, "?"))
        elif FIELDS.fullmatch(text):
            said = ", ".join(in_words(field) for field in said.split(", "))
        if said.startswith(("GPU ", "GPU-")):
            said, made = said.replace("GPU GPU-", "GPU-", 1), made.removesuffix("GPU ")
        nameless = kind == "cel" and text.endswith(".namespace") and not said
        made += said
    return GAP.sub("", made.replace("GPU ?", "a GPU" if not made.startswith("GPU ?") else "A GPU"))


def expression_text(expression: str, variables: Types, values: Lookup, unknown: str | None) -> str:
    """The text of one `${…}`."""
    try:
        return as_text(compile_expression(expression, variables, "")(values))
    except Unsure:
        if unknown is None:
            raise
        return unknown
