"""Takes secrets out of what a bundle keeps: `<redacted:ab12cd>` stands for a value, the same token for the same value in one bundle.

The token is a keyed hash whose key is forgotten with the run, so no value can be guessed from it. IP addresses, host names and UUIDs are
kept: they are evidence. Redacting twice changes nothing.
"""

from __future__ import annotations

import functools
import hmac
import re
import secrets as randomness
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from gpudoctor.knowledge.environment import names_secret
from gpudoctor.knowledge.secret_rules import COMMANDS, ENVIRONMENT_LINE, RULES
from gpudoctor.knowledge.secrets import JOINT, STAND_IN, Rule, is_evidence, looks_mixed, looks_random
from gpudoctor.patterns import regex

LINE_END = regex(r"\\{1,8}n")
TOKEN = regex(r"<redacted:[0-9a-f]{6}>")
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"  # a second copy of the object, with its environment
ROUNDS = 8  # a text that still changes after so many was made for it
MEMORY = 100_000  # strings whose answer is remembered: in a list of pods most strings come again and again

BLOCK = 200  # characters of whole lines that are looked at together: most hold nothing that any rule is about
HINTS_MEMORY = 64 << 20  # bytes RE2 may use for its automaton; it grows only as far as the texts need

ALL = (*RULES, ENVIRONMENT_LINE)
FORMS = range(len(RULES))
WITH_LINES = range(len(ALL))
IN_COMMANDS = range(len(COMMANDS))  # the first of them
WIDE = frozenset(number for number in WITH_LINES if ALL[number].wide)

# Fields that hold a command or variables, in lower case: of Kubernetes, Docker, containerd and Ray
ARGUMENTS = frozenset({"args", "argv", "cmd", "cmdline", "command", "entrypoint"})
VARIABLES = frozenset({"env", "envs", "environment", "env_vars", "envvars"})
LONE_KEY = regex(r"[A-Za-z0-9+/]{40}")  # a secret key of AWS, which has no form of its own

# Fields that name objects. They're copied as they are, since commands are made of them.
IDENTITIES = frozenset({"name", "namespace", "nodeName"})
IDENTITY = regex(r"[a-z0-9.-]{1,253}", re.ASCII)


@functools.cache
def hints() -> Any:
    """For a text, the rules that may fit: one pass of RE2 for all of them."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = HINTS_MEMORY
    made = re2.Set.SearchSet(options)
    for rule in ALL:
        made.Add(rule.hint)
    made.Compile()
    return made


def candidate_rules(text: str) -> Iterable[int]:
    """The numbers of the rules that may fit a text, in their order."""
    return sorted(hints().Match(text.encode("utf-8", "replace")) or ())


def blocks(text: str) -> Iterator[str]:
    """A text in pieces of whole lines."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + BLOCK) + 1 or len(text)
        yield text[start:end]
        start = end


class Redactor:
    """Redacts one bundle. Safe to use from several threads: its only state is the key and a memory of what it answered."""

    def __init__(self) -> None:
        self._key = randomness.token_bytes(32)
        self._seen: dict[str, str] = {}

    def hide(self, value: str) -> str:
        """The token of a value; an empty value and a token stay what they are."""
        if not value or TOKEN.fullmatch(value):
            return value
        return f"<redacted:{hmac.digest(self._key, value.encode('utf-8', 'surrogatepass'), 'sha256').hex()[:6]}>"

    def page(self, page: bytes) -> bytes:
        """One page of an answer: JSON by its structure, without the fields that only repeat it, other text by the forms of secrets."""
        if page.lstrip()[:1] in (b"{", b"["):
            try:
                return msgspec.json.encode(self.tree(msgspec.json.decode(page)))
            except (msgspec.MsgspecError, RecursionError, OverflowError, ValueError):
                pass  # cut off, or no JSON at all
        return self.raw(page)

    def raw(self, text: bytes) -> bytes:
        """Text as it was printed; bytes that are no UTF-8 stay as they are. A NUL ends a variable of /proc/PID/environ or an argument."""
        parts = text.decode("utf-8", "surrogateescape").split("\0")
        return "\0".join(map(self._text, self._elements(parts) if len(parts) > 1 else parts)).encode("utf-8", "surrogateescape")

    def text(self, text: str) -> str:
        """A text, without the values that have the form of a secret and without lone surrogates, which JSON can't hold."""
        return self._text(text.encode("utf-8", "replace").decode())

    def argv(self, argv: Iterable[str]) -> list[str]:
        """A command's elements without the secrets that options carry: `--password=…`, `--token …`, `-p…` of mysql."""
        return [self._forms(element, FORMS) for element in self._elements([one.encode("utf-8", "replace").decode() for one in argv])]

    def _elements(self, elements: list[str]) -> list[str]:
        """The elements without what the ones before them say is a secret."""
        joined = JOINT.join(element.replace(JOINT, STAND_IN) for element in elements)
        kept: list[str] = []
        hide_next = False
        for element in self._stable(joined, IN_COMMANDS).split(JOINT):
            option, equals, value = element.partition("=")
            if hide_next and not element.startswith("-"):
                kept.append(self.hide(element))
            elif equals and option.startswith("-") and names_secret(option):
                kept.append(f"{option}={self.hide(value)}")
            else:
                kept.append(element)
            hide_next = element.startswith("-") and not equals and names_secret(element)
        return [element.replace(STAND_IN, JOINT) for element in kept] if elements else []

    def inputs(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """A runbook's inputs, by the same rules as the commands that are made of them."""
        return {
            name: (self.hide(value) if names_secret(name) else self.argv([value])[0]) if isinstance(value, str) else value
            for name, value in inputs.items()
        }

    def tree(self, value: Any, key: str = "", kind: str = "") -> Any:
        """Decoded JSON, whose values may be anything. `key` is the field that holds the value, `kind` the kind of object around it."""
        if isinstance(value, str):
            return self._leaf(value, key)
        if isinstance(value, list):
            if key.lower() in ARGUMENTS and all(isinstance(item, str) for item in value):
                return [self._text(item) for item in self.argv(value)]
            return [self.tree(item, f"{key}[]", kind) for item in value]
        if isinstance(value, dict):
            return self._object(value, key, kind)
        return value

    def _object(self, value: dict[str, Any], key: str, kind: str) -> dict[str, Any]:
        """One JSON object: a Kubernetes object, a part of one, or anything else."""
        own = value.get("kind")
        kind = own.removesuffix("List") if isinstance(own, str) else kind  # the items of a SecretList don't repeat their kind
        if (kind == "Secret" and key in ("data", "stringData")) or key == "binaryData":
            return {field: self.hide(content) if isinstance(content, str) else None for field, content in value.items()}
        if key == "annotations":
            return {field: self._annotation(field, content) for field, content in value.items() if field != LAST_APPLIED}
        if key.lower() in VARIABLES:
            return {field: self._variable(field, content) for field, content in value.items()}
        name = value.get("name", value.get("key"))
        if isinstance(name, str) and "value" in value and key.removesuffix("[]").lower() in VARIABLES:
            return {**self.tree(value), "value": self._variable(name, value["value"])}
        secret = isinstance(name, str) and names_secret(name)  # a header of a probe: {"name": "X-Api-Key", "value": …}
        return {
            field: self.hide(content) if secret and field == "value" and isinstance(content, str) else self.tree(content, field, kind)
            for field, content in value.items()
            if field != "managedFields"
        }

    def _variable(self, name: str, value: Any) -> Any:
        """The value of an environment variable."""
        if not isinstance(value, str):
            return self.tree(value, name)
        return self._text(value) if is_evidence(name, value) else self.hide(value)

    def _annotation(self, name: str, content: Any) -> Any:
        if not isinstance(content, str):
            return self.tree(content, name)
        return self.hide(content) if names_secret(name) or looks_mixed(content) else self._text(content)

    def _leaf(self, value: str, key: str) -> str:
        """A string in JSON, by the name of its field and by its form."""
        if key in IDENTITIES and IDENTITY.fullmatch(value):
            return value
        field = key.removesuffix("[]")
        name, equals, content = value.partition("=")
        if equals and field != key and field.lower() in VARIABLES:  # ["LICENSE=s3cr3t"]
            return f"{name}={self._variable(name, content)}"
        if names_secret(field if field == key else field.removesuffix("s")) or (key.lower().endswith("key") and looks_random(value)):
            return self.hide(value)
        return self.hide(value) if LONE_KEY.fullmatch(value) and looks_mixed(value) else self._text(value)

    def _text(self, text: str) -> str:
        """The forms of secrets, and lines of an environment. Short strings are remembered."""
        known = self._seen.get(text)
        if known is None:
            known = self._forms(text, WITH_LINES)
            if len(text) < 1000 and len(self._seen) < MEMORY:
                self._seen[text] = known
        return known

    def _forms(self, text: str, rules: range) -> str:
        """The text after these rules, as it is and with the lines that it has when what is escaped in it is printed."""
        for _ in range(ROUNDS):
            before = text
            if "\\n" in text:  # before the rest: a value ends where its line does
                text = "\n".join(self._unescape(line, rules) if "\\n" in line else line for line in text.split("\n"))
            text = self._lines(text, rules)
            if text == before:
                break
        return text

    def _unescape(self, line: str, rules: range) -> str:
        """A line, whose text has line ends in the notation of JSON, or of JSON in JSON."""
        for escaped in sorted(set(LINE_END.findall(line)), reverse=True):
            line = self._lines(line.replace(escaped, "\n"), rules).replace("\n", escaped)
        return line

    def _lines(self, text: str, rules: range) -> str:
        """The text after these rules. Most are about single lines, which of a long text are looked at block by block."""
        if len(text) <= BLOCK:
            return self._stable(text, rules)
        wide, narrow = WIDE.intersection(rules), frozenset(rules) - WIDE
        return "".join(self._stable(block, narrow) for block in blocks(self._stable(text, wide)))

    def _stable(self, text: str, rules: range | frozenset[int]) -> str:
        """The text after every rule, again until nothing changes: what one rule hides can bare what another one looks for."""
        for _ in range(ROUNDS):
            before = text
            for number in candidate_rules(text):
                if number in rules:
                    text = self._without(text, ALL[number])
            if text == before:
                break
        return text

    def _without(self, text: str, rule: Rule) -> str:
        """The text without the secrets that one rule is about."""

        def inside(match: re.Match[str]) -> str:
            start, end = match.start("rest") - match.start(), match.end("rest") - match.start()
            return match[0][:start] + rule.pattern.sub(replaced, match["rest"]) + match[0][end:]

        replaced = partial(self._replace, rule)
        return rule.pattern.sub(replaced, text) if rule.within is None else rule.within.sub(inside, text)

    def _replace(self, rule: Rule, match: re.Match[str]) -> str:
        """The match with its secret hidden."""
        if rule.spare(match):
            return match[0]
        start, end = match.start("secret") - match.start(), match.end("secret") - match.start()
        return match[0][:start] + self.hide(match["secret"]) + match[0][end:]
