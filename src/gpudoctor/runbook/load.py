"""YAML → checked records: every problem of a file is reported with its line, and nothing half-checked comes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from pydantic import ValidationError

from gpudoctor.runbook import model, schema
from gpudoctor.runbook.yamlfile import Document, Problem, read

M = TypeVar("M", bound=schema.Model)


def validated(document: Document, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """A document checked against a model, with all problems located."""
    problems = list(document.problems)
    if document.value is None:
        return None, problems
    if kind is schema.Runbook and isinstance(document.value, dict) and document.value.get("schema") not in (1, None):
        version = document.value["schema"]
        message = f"is written for schema {version}; this gpudoctor reads schema 1: upgrade gpudoctor"
        return None, [Problem(document.path, document.line(("schema",)), message)]
    try:
        made = kind.model_validate(document.value)
    except ValidationError as error:
        problems += [located(document, dict(one)) for one in error.errors(include_url=False)]
        return None, problems
    return (None if problems else made), problems


def located(document: Document, error: dict[str, Any]) -> Problem:
    """A pydantic error as a problem with line, the path of keys and words for a person."""
    place = tuple(part for part in error["loc"] if not (isinstance(part, str) and part.startswith(("function-", "union", "str", "list[", "dict["))))
    what = ".".join(str(part) for part in place)
    words = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(error["type"], error["msg"].removeprefix("Value error, "))
    if error["type"] == "extra_forbidden":
        import difflib

        close = difflib.get_close_matches(str(place[-1]), KEYS, n=1)
        words += f"; did you mean '{close[0]}'?" if close else ""
    return Problem(document.path, document.line(place), f"{what}: {words}" if what else words)


KEYS = sorted({field.alias or name for kind in vars(schema).values() if isinstance(kind, type) and issubclass(kind, schema.Model) for name, field in kind.model_fields.items()})


def runbook(path: Path, shown: str = "") -> tuple[model.Runbook | None, list[Problem]]:
    """The runbook of a file; conditions are not yet compiled (see `lint`)."""
    document = read(path, shown)
    made, problems = validated(document, schema.Runbook)
    if made is None:
        return None, problems
    steps = []
    for index, step in enumerate(made.steps):
        data = step.model_dump()
        data["checks"] = [check_record(check) for check in step.checks]
        data["line"] = document.line(("steps", index))
        steps.append(data)
    data = made.model_dump(exclude={"schema_"}) | {"steps": steps, "path": document.path, "summary": " ".join(made.summary.split())}
    return msgspec.convert(data, model.Runbook), []


def check_record(check: schema.Check) -> dict[str, Any]:
    """A check with its joins in the compiled form."""
    joins = []
    for name, join in check.with_.items():
        data = join.model_dump(exclude={"from_", "on"})
        own = check.each.name if check.each else ""
        on = join.on if isinstance(join.on, dict) else {field: f"{own}.{field}" for field in join.on}
        joins.append(data | {"name": name, "type": join.from_, "on": on})
    return check.model_dump(exclude={"with_"}) | {"joins": joins}


def catalogue(path: Path, shown: str = "") -> tuple[dict[str, model.Cause], list[Problem]]:
    """The causes of one catalogue file."""
    made, problems = validated(read(path, shown), schema.Catalogue)
    if made is None:
        return {}, problems
    return {name: msgspec.convert(cause.model_dump() | {"id": name}, model.Cause) for name, cause in made.causes.items()}, []


def messages(path: Path, shown: str = "") -> tuple[list[model.KnownMessage], list[Problem]]:
    """The known messages of one file."""
    made, problems = validated(read(path, shown), schema.Messages)
    if made is None:
        return [], problems
    return [msgspec.convert(entry.model_dump(), model.KnownMessage) for entry in made.messages], []


def paired_test(path: Path, shown: str = "") -> tuple[schema.PairedTest | None, list[Problem]]:
    """The paired test of a runbook."""
    return validated(read(path, shown), schema.PairedTest)
