"""The small parts of the format: identifiers, durations, conditions. What each accepts, and the sentence for what it doesn't."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, StringConstraints, WithJsonSchema

from gpudoctor.patterns import regex

Kebab = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
# A cause may carry a letter that the field writes large, such as the state D of a process.
CauseName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-([a-z0-9]+|[A-Z]))*$")]
CauseNameOrEmpty = Annotated[str, StringConstraints(pattern=r"^([a-z0-9]+(-([a-z0-9]+|[A-Z]))*)?$")]
Snake = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
SnakeOrEmpty = Annotated[str, StringConstraints(pattern=r"^([a-z][a-z0-9_]*)?$")]
Url = Annotated[str, StringConstraints(pattern=r"^https?://")]
EACH = regex(r"([a-z][a-z0-9_]*) in ([a-z][a-z0-9_]*)\Z")
DURATION = regex(r"(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9}(?:\.[0-9]{1,9})?)s)?\Z")
# The words that CEL keeps for itself (its grammar's keywords and RESERVED), and the names that conditions use otherwise.
CEL_WORDS = frozenset(
    {"as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"}
    | {"package", "namespace", "null", "return", "true", "var", "void", "while"}
)
TAKEN = CEL_WORDS | {"input", "found"}


def duration(text: Any) -> float:
    """Seconds of `90s`, `5m`, `1h30m`.

    >>> duration("1h30m"), duration("10s")
    (5400.0, 10.0)
    """
    match = DURATION.match(text) if isinstance(text, str) else None
    if not match or not text:
        raise ValueError("is a duration such as 90s, 5m or 1h30m")
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds


def each(text: Any) -> dict[str, str]:
    """`pod in pods` → name and fact type."""
    match = EACH.match(text) if isinstance(text, str) else None
    if not match:
        raise ValueError("has the form 'pod in pods'")
    return {"name": free_name(match.group(1)), "type": match.group(2)}


def free_name(name: str) -> str:
    """Check that the name of a record means nothing else in a condition, and return it."""
    if name in TAKEN:
        raise ValueError(f"'{name}' can't be the name of a record: conditions use this word otherwise")
    return name


def condition(value: Any) -> str:
    """A condition is text; a plain `true` in YAML is one too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        raise ValueError("is a CEL expression")
    return " ".join(value.split())


def equalities(value: Any) -> Any:
    """`on:` of a join: a list of fields that both sides have, or field → expression."""
    if isinstance(value, dict) and value:
        return {key: condition(text) for key, text in value.items()}
    if isinstance(value, list) and value and all(isinstance(field, str) for field in value):
        return value
    raise ValueError("is a list of fields that both sides have, or a mapping from a field to an expression")


def argument(value: Any) -> Any:
    """An element of an argv; an integer is written without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def seconds(value: Any) -> str:
    """An element of an argv that is a number of seconds: a duration, a plain number, or a template that gives one.

    >>> seconds("5m"), seconds(15), seconds("${input.for}")
    ('300', '15', '${input.for}')
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return value if isinstance(value, str) and "${" in value else f"{duration(value):g}"


def plain_value(value: Any) -> Any:
    """Check the value of an input, and return it."""
    if not isinstance(value, str | int | float | bool):
        raise ValueError("is a text, a number, true or false")
    return value


# The JSON Schema, which editors use, has what is written in the file; the models have what it means.
TEXT = WithJsonSchema({"type": "string"})
Duration = Annotated[float, BeforeValidator(duration), TEXT]
Condition = Annotated[str, BeforeValidator(condition), WithJsonSchema({"type": ["string", "boolean"]})]
Plain = Annotated[str | int | float | bool, BeforeValidator(plain_value)]
Equalities = Annotated[list[str] | dict[str, str], BeforeValidator(equalities)]
Seconds = Annotated[str, BeforeValidator(seconds), WithJsonSchema({"type": ["string", "number"]})]
Argument = Annotated[str, BeforeValidator(argument), WithJsonSchema({"type": ["string", "integer"]})]
