"""YAML → checked records: every problem of a file is reported with its line, and nothing half-checked comes out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, TypeVar

import msgspec
from pydantic import ValidationError

from gpudoctor.knowledge.compiled import Harmless, KnownMessage, Wording
from gpudoctor.patterns import regex
from gpudoctor.runbook import lint, model, paired, schema
from gpudoctor.runbook.yamlfile import Document, Problem, read

M = TypeVar("M", bound=schema.Model)
SCHEMA = 1  # the version of the format
LIST = regex(r"\blist\.([a-z][a-z0-9_]*)")  # message.name in list.rdma_failures


def validate_document(document: Document, kind: type[M]) -> tuple[M | None, list[Problem]]:
    """A document checked against a model, with all problems located; with any problem there is no model."""
    problems = list(document.problems)
    if document.value is None:
        return None, problems
    version = document.value.get("schema")
    if kind in (schema.Runbook, schema.Rules) and isinstance(version, int) and version > SCHEMA:
        message = f"is written for schema {version}; this gpudoctor reads schema {SCHEMA}: upgrade gpudoctor"
        return None, [Problem(document.path, document.line(("schema",)), message)]
    try:
        made = kind.model_validate(document.value)
    except ValidationError as error:
        problems += [locate_error(document, dict(one)) for one in error.errors(include_url=False)]
        return None, problems
    return (None if problems else made), problems


def locate_error(document: Document, error: dict[str, Any]) -> Problem:
    """A pydantic error as a problem with line, the path of keys and words for a person."""
    place = error["loc"]
    what = ".".join(str(part) for part in place)
    words = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(error["type"], error["msg"].removeprefix("Value error, "))
    if error["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(place[-1])[:80], KEYS, n=1)
        words += f"; did you mean '{close[0]}'?" if close else ""
    return Problem(document.path, document.line(place), f"{what[:200]}: {words}" if what else words)


def keys_of_models() -> Iterator[str]:
    """Every key that the format has."""
    for kind in (*vars(schema).values(), *vars(paired).values()):
        if isinstance(kind, type) and issubclass(kind, schema.Model):
            yield from (field.alias or name for name, field in kind.model_fields.items())


KEYS = sorted(set(keys_of_models()))


def runbook(
    path: Path, shown: str = "", given: model.Library | None = None, known: model.Library | None = None
) -> tuple[model.Runbook | None, list[Problem]]:
    """The runbook of a file; conditions are not yet compiled (see `lint`).

    When a part of the file has problems there is no runbook, and what is sound in the rest is linted here and now, so that all problems
    are shown at once; `given` is the library that names are then looked up in (without it causes and included runbooks aren't checked).
    The tables and lists are those of `known`, or of the same library.
    """
    document = read(path, shown)
    made, problems = validate_document(document, schema.Runbook)
    known = known or given or model.Library()
    if made is not None:
        return record(made, document, range(len(made.steps)), known), []
    problems += lint.runbook(rest, given) if (rest := sound_parts(document, known)) else []
    return None, sorted(problems, key=lambda problem: problem.line)


def load_checked(path: Path, library: model.Library) -> tuple[model.Runbook | None, list[Problem]]:
    """The runbook of a file that isn't one of the library's, linted against it: either a runbook or all of its problems."""
    book, problems = runbook(path, given=library)
    if book is not None:
        book = with_early(book, library.runbooks)
        problems = list(lint.runbook(book, library))
    return (None if problems else book), problems


def with_early(book: model.Runbook, runbooks: dict[str, model.Runbook]) -> model.Runbook:
    """A runbook that says nothing of what may pass by itself, with what one says that it includes."""
    included = (runbooks[step.include] for step in book.steps if step.include in runbooks)
    early = book.early or next((other.early for other in included if other.early), None)
    return msgspec.structs.replace(book, early=early)


def record(made: schema.Runbook, document: Document, indexes: Iterable[int], given: model.Library) -> model.Runbook:
    """The record that the engine executes; `indexes` are the places of the steps in the document. The tables that a step names, and the
    lists that conditions name, are those of a library.
    """
    steps = []
    for index, step in zip(indexes, made.steps, strict=True):
        data = step.model_dump(exclude={"nvml", "promql", "ask"})
        data["lasts"] = step.run[2] if step.run[:2] == ["nvml", "samples"] and len(step.run) > 2 else ""
        data["checks"] = [
            check_record(check) | {"line": document.line(("steps", index, "checks", n))} for n, check in enumerate(step.checks)
        ]
        data["line"] = document.line(("steps", index))
        rows = [row for name in step.rules if name in given.tables for row in given.tables[name].checks()]
        data["checks"] += map(msgspec.to_builtins, rows)
        steps.append(data)
    expects = [check_record(one) | {"line": document.line(("expects", n))} for n, one in enumerate(made.expects)]
    question = [one.model_dump() | {"line": document.line(("question", n))} for n, one in enumerate(made.question)]
    said = {"steps": steps, "expects": expects, "question": question, "path": document.path, "summary": " ".join(made.summary.split())}
    data = made.model_dump(exclude={"schema_"}) | said
    if made.early:
        data["early"] |= {"line": document.line(("early",))}
    return msgspec.convert(spelled_out(data, given.lists), model.Runbook)


def spelled_out(value: Any, lists: dict[str, str]) -> Any:
    """The data of a runbook with the lists in place of their names; a name that no list has stays, and is an error where it stands."""
    if isinstance(value, dict):
        return {key: spelled_out(one, lists) for key, one in value.items()}
    if isinstance(value, list):
        return [spelled_out(one, lists) for one in value]
    return LIST.sub(lambda named: lists.get(named[1], named[0]), value) if isinstance(value, str) and "list." in value else value


def table(path: Path, shown: str = "", given: model.Library | None = None) -> tuple[model.Runbook | None, list[Problem]]:
    """A table of rules, as a runbook of one step whose checks are the rows."""
    document = read(path, shown)
    made, problems = validate_document(document, schema.Rules)
    if made is None:
        return None, problems
    checks: list[dict[str, Any]] = []
    for number, group in enumerate(made.rules):
        for name, row in group.rows.items():
            line = document.line(("rules", number, "rows", name))
            checks.append(row_record(group, name, row) | {"table": made.id, "line": line})
    steps = [{"id": "rows", "title": made.title, "checks": checks, "line": 1}]
    data = {"id": made.id, "title": made.title, "references": made.references, "path": document.path, "steps": steps}
    return msgspec.convert(spelled_out(data, given.lists if given else {}), model.Runbook), []


def row_record(group: schema.Group, name: str, row: schema.Row) -> dict[str, Any]:
    """A row as a check."""
    record, field = group.each.name, group.by
    value = [having(record, field, name if row.is_ is None else row.is_)] if field else []
    parts = [*value, *([f"({row.when})" if value else row.when] if row.when else [])]
    joins = []
    if row.unless is not None:
        parts.append("!unless.present")
        joins.append({"name": "unless", "type": group.each.type, "where": having("unless", field, row.unless), "pick": "count"})
    made = row.model_dump(exclude={"is_", "when", "unless"})
    own = {"id": name, "title": row.title or group.title, "each": group.each.model_dump(), "when": " && ".join(parts), "joins": joins}
    return made | own


def having(record: str, field: str, values: Any) -> str:
    """The condition that a field has one of some values."""
    listed = values if isinstance(values, list) else [values]
    return f"{record}.{field} == {spelled(listed[0])}" if len(listed) == 1 else f"{record}.{field} in {spelled(listed)}"


def spelled(value: Any) -> str:
    """A value, or a list of them, as a condition spells it."""
    return json.dumps(value, ensure_ascii=False)


def lists(path: Path, shown: str = "") -> tuple[dict[str, str], list[Problem]]:
    """The lists that conditions name, each as a condition spells it."""
    made, problems = validate_document(read(path, shown), schema.Lists)
    return {name: spelled(values) for name, values in made.lists.items()} if made else {}, problems


def sound_parts(document: Document, given: model.Library) -> model.Runbook | None:
    """A file that doesn't pass, without the steps and checks that have problems: of these only the ids stay, since others refer to them."""
    value = document.value or {}
    header = {"schema": SCHEMA, "id": PurePath(document.path).stem, "title": "-", "inputs": value.get("inputs", {})}
    steps = {n: step for n, raw in enumerate(list_under(value, "steps")) if (step := sound_step(raw, header)) is not None}
    try:
        return record(schema.Runbook.model_validate(header | {"steps": list(steps.values())}), document, steps, given)
    except ValidationError:
        return None


def sound_step(raw: Any, header: dict[str, Any]) -> Any:
    """A step as it is when it passes, else its checks alone, each as it is or reduced to its id; None when nothing of it can stay."""
    checks = [
        check if passes(schema.Check, check) else {"id": check.get("id")} for check in list_under(raw, "checks") if isinstance(check, dict)
    ]
    whole = isinstance(raw, dict) and (raw | {"checks": checks} if "checks" in raw else raw)
    if passes(schema.Step, whole):
        return whole
    name = raw.get("id") if isinstance(raw, dict) else None
    return next((alone for id_ in (name, "x") if passes(schema.Step, alone := {"id": id_, "checks": checks})), None)


def passes(kind: type[schema.Model], value: Any) -> bool:
    """Whether a model accepts a value."""
    try:
        kind.model_validate(value)
    except ValidationError:
        return False
    return True


def list_under(value: Any, key: str) -> list[Any]:
    """The list under a key of what may be anything."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def check_record(check: schema.Check) -> dict[str, Any]:
    """A check with its joins in the compiled form."""
    joins = []
    for name, join in check.with_.items():
        data = join.model_dump(exclude={"from_", "on"})
        on = join.on if isinstance(join.on, dict) else {field: f"{check.each.name}.{field}" for field in join.on if check.each}
        joins.append(data | {"name": name, "type": join.from_, "on": on})
    return check.model_dump(exclude={"with_"}) | {"joins": joins}


def shared_fixes(path: Path, shown: str = "") -> tuple[dict[str, list[dict[str, Any]]], list[Problem]]:
    """The fixes that causes name, as data."""
    made, problems = validate_document(read(path, shown), schema.SharedFixes)
    return {name: [fix.model_dump() for fix in fixes] for name, fixes in made.fixes.items()} if made else {}, problems


def catalogue(
    path: Path, shown: str = "", shared: dict[str, list[dict[str, Any]]] | None = None
) -> tuple[dict[str, model.Cause], list[Problem]]:
    """The causes of one catalogue file, with the `shared` fixes in place of their names."""
    shared = shared or {}
    document = read(path, shown)
    made, problems = validate_document(document, schema.Catalogue)
    if made is None:
        return {}, problems
    causes = {}
    for name, cause in made.causes.items():
        fixes: list[dict[str, Any]] = []
        for number, fix in enumerate(cause.fixes):
            if isinstance(fix, schema.Fix):
                fixes.append(fix.model_dump())
            elif fix.do in shared:
                fixes += [titled(one, fix) for one in shared[fix.do]]
            else:
                line = document.line(("causes", name, "fixes", number))
                problems.append(Problem(document.path, line, f"{name}: {lint.unknown_name('shared fix', fix.do, shared)}"))
        causes[name] = msgspec.convert(cause.model_dump(exclude={"fixes"}) | {"id": name, "fixes": fixes}, model.Cause)
    return causes, problems


def titled(fix: dict[str, Any], named: schema.SharedFix) -> dict[str, Any]:
    """A shared fix with the words of the cause that names it."""
    title = fix["title"].replace("${before}", named.before).replace("${until}", named.until)
    return fix | {"title": title, "verify": named.verify or fix["verify"]}


def messages(path: Path, shown: str = "") -> tuple[list[KnownMessage], list[Problem]]:
    """The known messages of one file."""
    made, problems = validate_document(read(path, shown), schema.Messages)
    if made is None:
        return [], problems
    return [message(entry) for entry in made.messages], []


def message(entry: schema.Message) -> KnownMessage:
    """One known message. What is harmless, with a reason, is benign too."""
    made = KnownMessage(
        name=entry.name,
        wordings=[Wording(one.pattern, one.line) for one in entry.wordings()],
        unless=entry.unless,
        source=entry.source,
        benign=bool(entry.benign),
        sampled=entry.sampled,
        survivor=entry.survivor,
    )
    if not isinstance(entry.benign, schema.Benign):
        return made
    given = entry.benign
    return msgspec.structs.replace(made, harmless=Harmless(why=given.why, at_most=given.at_most or 0, not_last=given.not_last))


def paired_test(path: Path, shown: str = "") -> tuple[paired.PairedTest | None, list[Problem]]:
    """The paired test of a runbook."""
    return validate_document(read(path, shown), paired.PairedTest)
