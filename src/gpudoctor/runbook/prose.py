"""What a machine can check of the texts that people read: their length, their words, and that a title names its GPU."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gpudoctor.facts import FACTS
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Cause, Check, Library, Runbook
from gpudoctor.runbook.templates import split_template

TITLE = 100  # characters of a title
SENTENCE = 30  # words of a sentence
NAME, NUMBER = "Gpu-0001", "1234"  # stand for what a template puts in: a typical name, a typical number

# What we don't write, and what to write instead.
WORDS = {
    "(s)": 'the form that agrees with the number: ${n} ${n == 1 ? "node" : "nodes"}',
    "acts up": "what it does: fails, hangs, restarts",
    "brakes": "lowers its clocks (power brake is the name of the signal)",
    "brake the GPU": "lower its clocks",
    "but for": "except for, or what is in the way",
    "can not": "cannot",
    "come again": "return, repeat",
    "does what stands first": "takes the first choice",
    "for lack of": "because, and what is missing",
    "for want of": "because, and what is missing",
    "gave up": "stopped, ended, timed out after",
    "hold the pod": "fit the pod",
    "in the same words": "what proves it, or nothing",
    "in vain": "what did not happen",
    "last words": "last messages",
    "next to nothing": "the number",
    "own word": "what the tool reports",
    "sleep in": "wait in",
    "spoils": "what rises or fails: symbol errors rise",
    "wants no node": "selects no node",
    "wants nothing": "requires no action",
    "who acts": "Who: …, Action: …",
    "who has access": "the instruction itself: run these commands on the node",
    "without a word": "without a message",
}
CODE = regex(r"`[^`]*`")
ENDS = regex(r"(?<=[.!?])\s+")
SNAKE = regex(r"(?<![\w/$.{=-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b")
PRONOUN = regex(r"(?:It|Its|They)\b")
# What an expression compares isn't shown: x == "a", x in ["a"], x.contains("a"), x["a"]
COMPARED = regex(r'[!=]= ?"[^"]*"|\bin \[[^\]]*\]|\.\w+\("[^"]*"\)|\["[^"]*"\]')
LITERAL = regex(r'"((?:[^"\\]|\\.)*)"')
# Marks outside of literals: an even number of quotes follows.
MARK = regex(r'([?:])(?=(?:[^"]*"[^"]*")*[^"]*$)')
PLUS = regex(r'\+(?=(?:[^"]*"[^"]*")*[^"]*$)')
GAP = regex(r"\S  \S| ,")
WHOLE = regex(r"(?s)\S+(?:\s+\S+){2,}[.?]")  # three words or more, and a full stop
NAMES_GPU = regex(r"\.(?:gpu|named|pci|uuid|index)\b")
HEAD = regex(r"(?m)^  ([a-zA-Z0-9-]+):$")


class Text(NamedTuple):
    """A text that people read: where it stands, what it is, and the record whose GPU it has to name."""

    place: str
    kind: str  # title, why, means, …
    words: str
    gpu: str = ""


def problems(given: Library, folder: Path) -> Iterator[str]:
    """All texts that break a rule, each with its place and what to write instead."""
    ours = names_of_ours(given)
    for text in (*texts_of_runbooks(given), *texts_of_causes(given, folder / "catalogue")):
        for what in text_problems(text, ours):
            yield f"{text.place}: {text.kind}: {what}"


def texts_of_runbooks(given: Library) -> Iterator[Text]:
    """The texts of runbooks and tables."""
    for book in (*given.runbooks.values(), *given.tables.values(), given.signs):
        yield Text(f"{book.path}:1", "title", book.title)
        yield Text(f"{book.path}:1", "summary", book.summary)
        for step in book.steps:
            place = f"{book.path}:{step.line}"
            yield Text(place, "title", step.title)
            yield Text(place, "why", step.why)
            yield from (Text(place, "choice", label) for label in step.choices.values())
        yield from texts_of_checks(book, given)


def texts_of_checks(book: Runbook, given: Library) -> Iterator[Text]:
    """The titles of checks and expectations; a row is read at its table."""
    for check in (one for one in book.checks() if not one.table or book is given.tables.get(one.table)):
        yield Text(f"{book.path}:{check.line}", "title", check.title, gpu_record(check, given))
    for one in book.expects:
        yield Text(f"{book.path}:{one.line}", "title", one.title)
        yield Text(f"{book.path}:{one.line}", "not_so", one.not_so)
    yield from (Text(f"{book.path}:{form.line}", "question", form.says) for form in book.question)


def gpu_record(check: Check, given: Library) -> str:
    """The name of the record where what is found is found on its GPU. The report itself names the node, and its question the pod."""
    of_gpu = check.each and {"gpu", "uuid", "pci"} <= {*FACTS[check.each.type].__struct_fields__}
    cause = given.causes.get(check.finds)
    return check.each.name if check.each and of_gpu and cause and cause.subject == "gpu" else ""


def texts_of_causes(given: Library, folder: Path) -> Iterator[Text]:
    """The texts of the catalogue, each with the file and line of its key."""
    for path in sorted(folder.glob("*.yaml")):
        content = path.read_text(encoding="utf-8")
        for found in HEAD.finditer(content):
            if cause := given.causes.get(found[1]):
                for key, kind, words in texts_of_cause(cause):
                    at = max(content.find(f"\n    {key}:", found.end()), found.start())
                    yield Text(f"runbooks/catalogue/{path.name}:{content.count(chr(10), 0, at) + 2}", kind, words)


def texts_of_cause(cause: Cause) -> Iterator[tuple[str, str, str]]:
    """The key, the kind and the words of each text of a cause."""
    yield "title", "title", cause.title
    yield "means", "means", cause.means
    yield "tell", "tell", cause.tell
    yield "no_fix", "no_fix", cause.no_fix
    yield from (("confused_with", f"confused_with {name}", words) for name, words in cause.confused_with.items())
    yield from (("look", "look", one.title) for one in cause.look)
    yield from (("fixes", "fix", one.title) for one in cause.fixes)


def names_of_ours(given: Library) -> set[str]:
    """Names that mean something only in this program: of fact types, of their fields, of known messages."""
    fields = {field for fact in FACTS.values() for field in fact.__struct_fields__}
    return {name for name in {*FACTS, *fields, *(one.name for one in (*given.messages, *given.harmless))} if "_" in name}


def text_problems(text: Text, ours: set[str]) -> Iterator[str]:
    """The rules that one text breaks."""
    forms = list(readings(text.words))
    words = " ".join(max(forms, key=len).split())
    if text.kind == "title" and len(words) > TITLE:
        yield f"has {len(words)} characters, at most {TITLE}: name the thing, what is wrong, and the number"
    for sentence in ENDS.split(CODE.sub(NAME, words)):
        if (many := len(sentence.split())) > SENTENCE:
            yield f"a sentence has {many} words, at most {SENTENCE}: make two of it"
    for said in dict.fromkeys(found.lower() for form in forms for found in unwanted().findall(form)):
        yield f"'{said}': write {WORDS[said]}"
    for name in sorted({name for form in forms for name in SNAKE.findall(CODE.sub("", form)) if name in ours}):
        yield f"'{name}' is a name of this program: say it in words"
    if any(GAP.search(form) for form in forms):
        yield "has two spaces, or one before a comma: a name is empty there"
    if text.kind == "why" and text.words and not WHOLE.fullmatch(text.words):
        yield "is no sentence: say why in one, with a full stop"
    if text.kind == "title" and PRONOUN.match(text.words):
        yield "begins with a pronoun: begin with the name of the thing"
    if text.gpu and not NAMES_GPU.search(text.words):
        yield f"does not name the GPU: ${{{text.gpu}.gpu}}"


@functools.cache
def unwanted() -> re.Pattern[str]:
    """Any of the phrases that we don't write."""
    return re.compile("|".join(rf"(?<!\w){re.escape(words)}(?!\w)" for words in WORDS).replace(r"(?<!\w)\(s", r"\(s"), re.IGNORECASE)


def readings(template: str) -> Iterator[str]:
    """A text with each alternative of its expressions at least once; what isn't in the file stands for a typical name.

    >>> list(readings('${n == 1 ? "The GPU" : string(n) + " GPUs"} of ${node.node}'))
    ['Gpu-0001 GPUs of Gpu-0001', 'The GPU of Gpu-0001']
    """
    pieces = [[piece] if kind == "text" else alternatives(piece) for kind, piece in split_template(template)]
    longest = [max(forms, key=len) for forms in pieces]
    yield "".join(longest)
    for number, forms in enumerate(pieces):
        for form in forms:
            if form != longest[number]:
                yield "".join([*longest[:number], form, *longest[number + 1 :]])


def alternatives(expression: str) -> list[str]:
    """What an expression may give: the texts between `?` and `:`, each behind what is put before the choice.

    >>> alternatives('"port " + (p.port == 0 ? "" : string(p.port))')
    ['port ', 'port Gpu-0001']
    """
    made, before = [], ""
    *parts, last = MARK.split(COMPARED.sub("", expression))
    for part, mark in zip(parts[::2], parts[1::2], strict=True):
        shown = [operand(one) for one in PLUS.split(part)]
        if mark == "?":
            before += "".join(shown[:-1])
        else:
            made.append(before + "".join(shown))
            before = "" if part.count(")") > part.count("(") else before
    return [*made, before + "".join(operand(one) for one in PLUS.split(last))]


def operand(text: str) -> str:
    """What one operand of `+` gives: its literal, a number or a name."""
    literal = LITERAL.search(text)
    return literal[1].replace("\\", "") if literal else NUMBER if "int(" in text or ".count" in text else NAME
