"""Why an expectation isn't shown, where everything was read: the values that decide, and what they should be, in plain words."""

from __future__ import annotations

from gpudoctor.facts import Fact
from gpudoctor.knowledge.field_words import in_words
from gpudoctor.patterns import regex
from gpudoctor.runbook.conditions import Types, Unsure, Values, as_text, compile_expression, names_in
from gpudoctor.runbook.model import Expectation
from gpudoctor.runbook.terms import Term, deciding_terms

MOST = 3  # parts that are told
LONGEST = 80  # characters of one value
# size(port.errors) == 0  |  gpu.count == smi.gpus  |  t.share.hw_slowdown == 0.0  |  node.state in ["IDLE", "MIXED"]
COMPARED = regex(r"(?:size\()?([a-z_]\w*)\.(\w+)(?:\.(\w+))?\)?\s*(==|!=|<=|>=|<|>|\bin\b)\s*(.+)")
BARE = regex(r"(!?)\s*\(?([a-z_]\w*)\.(\w+)\)?")
UNKNOWN = regex(r"([a-z_]\w*)\.(\w+) is not known")  # conditions.Unsure
SHOULD = {"==": "", "in": "", "!=": "anything but ", "<": "less than ", "<=": "at most ", ">": "more than ", ">=": "at least "}


def why_not(one: Expectation, types: Types, values: Values) -> str:
    """The parts by which an expectation's condition is false: `link width: 4, expected 16`."""

    def ask(part: str) -> Term:
        try:
            return Term(part, compile_expression(part, types).holds(values))
        except Unsure as why:
            return Term(part, None, str(why))

    parts = [term.text for term in deciding_terms(one.when, ask) if term.holds is False]
    telling = [part for part in parts if not part.endswith(("_na", "_known"))]  # that the thing has such a property says nothing of it
    said = [explain_part(part, one, types, values) for part in telling or parts]
    return "; ".join(list(dict.fromkeys(filter(None, said)))[:MOST]) or f"{' '.join(one.when.split())} does not hold"


def not_known(why: str, one: Expectation, record: Fact) -> str:
    """`gpu.memory_total is not known` in words, with the reason that the record carries for it."""
    if not (match := UNKNOWN.fullmatch(why)):
        return why
    gap = record.gaps.get(match[2], "") if one.each and match[1] == one.each.name else ""
    return f"{label(f'{match[1]}.{match[2]}', one)} is not known" + (f": {gap}" if gap else "")


def explain_part(part: str, one: Expectation, types: Types, values: Values) -> str:
    """One part: what it looks at, its value, and where the part says so what it should be."""
    if match := BARE.fullmatch(part):
        name, wanted = f"{match[2]}.{match[3]}", "no" if match[1] else "yes"
        if match[3] == "present":
            return f"{label(name, one)}: {'some' if match[1] else 'none'}"
        return f"{label(name, one)}: {value_text(values.get(name))}, expected {wanted}"
    match = COMPARED.fullmatch(part)
    if match is None:
        return ", ".join(f"{label(name, one)}: {value_text(values.get(name))}" for name in names_in(part) if name in types)
    owner, field, key, sign, right = match.groups()
    value = values.get(f"{owner}.{field}")
    if key and isinstance(value, dict):
        value, field = value.get(key), key
    if field == "unreadable" and isinstance(value, list):
        value = [in_words(name) for name in value]
    wanted = expected_value(right, types, values)
    if wanted == "0" and sign == "==" and part.startswith("size("):  # the things are told, not how many they are
        wanted = "none"
    return f"{label(f'{owner}.{field}', one)}: {value_text(value)}" + (f", expected {SHOULD[sign]}{wanted}" if wanted else "")


def expected_value(text: str, types: Types, values: Values) -> str:
    """The value of the right side of a comparison; "" where there is none."""
    try:
        return value_text(compile_expression(text, types, "")(values))
    except (Unsure, ValueError):
        return ""


def label(name: str, one: Expectation) -> str:
    """What a variable is called: a field of the record by its own name, one of a joined record with that one's.

    >>> from gpudoctor.runbook.model import Each, Join
    >>> one = Expectation(id="x", each=Each(name="gpu", type="gpus"), joins=[Join(name="down", type="ib_ports", pick="count")])
    >>> label("gpu.link_width", one), label("down.count", one), label("down.rate", one)
    ('link width', 'down ib ports', 'down rate')
    """
    owner, _, field = name.partition(".")
    joined = next((join for join in one.joins if join.name == owner), None)
    if joined is None:
        return in_words(field)
    if field not in ("count", "present"):
        return f"{owner.replace('_', ' ')} {in_words(field)}"
    kind = joined.type.replace("_", " ")
    return kind if owner in joined.type else f"{owner} {kind}".replace("_", " ")


def value_text(value: object) -> str:
    """A value in words.

    >>> value_text(True), value_text(""), value_text([]), value_text(["a", "b"]), value_text(2.5), value_text(None)
    ('yes', 'none', 'none', 'a, b', '2.50', 'not known')
    """
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(f"{key} {as_text(one)}" for key, one in value.items()) if isinstance(value, dict) else as_text(value)
    return (text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…") or "none"
