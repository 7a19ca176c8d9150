"""What can be said about runbooks without running them: names, types of conditions, commands, and rules of good style."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath

from gpudoctor.derive import DERIVATIONS
from gpudoctor.derive.scheduling_fit import TIERS
from gpudoctor.facts import FACTS
from gpudoctor.facts.base import KEYS_OF_KIND
from gpudoctor.registry import PARSERS
from gpudoctor.runbook import allowed, lint_messages, scope
from gpudoctor.runbook.conditions import ConditionError, Types, cel_type, compile_expression, fields, input_types, join_types, record_types
from gpudoctor.runbook.model import Check, Early, Join, Library, Runbook, Step
from gpudoctor.runbook.templates import split_template
from gpudoctor.runbook.yamlfile import Problem

# What records can be joined by: values that are equal or not; a list or a map would be neither hashed nor meant.
KEY_TYPES = (str, int, bool, float)
TEXT_TYPES = ("STRING", "INT", "UINT", "DOUBLE", "BOOL", "LIST", "DYN")  # what `${…}` can show


def library(given: Library) -> list[Problem]:
    """Everything that would make a run wrong: a run refuses to start with any of these."""
    books = (*given.runbooks.values(), *given.tables.values(), given.signs)
    problems = [problem for book in books for problem in runbook(book, given)]
    tried = {name for book in given.runbooks.values() for step in book.steps for name in step.rules}
    problems += [Problem(one.path, 0, "no step of a runbook tries these rules") for name, one in given.tables.items() if name not in tried]
    problems += [Problem("runbooks/catalogue", 0, text) for text in catalogue_references(given)]
    problems += [Problem("knowledge/messages", 0, text) for text in lint_messages.problems(given)]
    return problems


def runbook(book: Runbook, given: Library | None) -> Iterator[Problem]:
    """The problems of one runbook, each at the line of its step or check; without a library, causes and includes are not looked up."""
    stem = PurePath(book.path).stem
    if stem != book.id:
        yield Problem(book.path, 1, f"id '{book.id}' is not the file's name '{stem}'")
    seen_steps: set[str] = set()
    seen_checks: set[str] = set()
    for number, step in enumerate(book.steps):
        name = step.id or f"include {step.include}"
        for text in step_problems(book, number, given):
            yield Problem(book.path, step.line, f"steps.{name}: {text}")
        if step.id in seen_steps:
            yield Problem(book.path, step.line, f"steps.{name}: the id is there twice")
        seen_steps.add(step.id or f"include {number}")
        for check in step.checks:
            if check.id in seen_checks:
                yield Problem(book.path, check.line, f"steps.{name}.checks.{check.id}: the id is there twice")
            seen_checks.add(check.id)
            for text in check_problems(book, check, given) if check.table in ("", book.id) else ():  # a row's are those of its table
                yield Problem(book.path, check.line, f"steps.{name}.checks.{check.id}: {text}")
    for one in book.expects:
        if one.id in seen_checks:
            yield Problem(book.path, one.line, f"expects.{one.id}: the id is there twice")
        seen_checks.add(one.id)
        known = one.each is not None and one.each.type in FACTS
        where = condition("where", one.where, scope.record_of(book, one)) if known else ()
        asked = condition("asked", one.asked, input_types(book.inputs))
        not_so = template("not_so", one.not_so, scope.check_types(book, one)) if known else ()
        for text in (*check_problems(book, one, given), *asked, *where, *not_so):
            yield Problem(book.path, one.line, f"expects.{one.id}: {text}")
    for form in book.question:
        types = {**input_types(book.inputs), "asked.machines": str}
        for text in (*condition("when", form.when, types), *template("says", form.says, types)):
            yield Problem(book.path, form.line, f"question: {text}")
    if book.early:
        for text in early_problems(book, book.early, given):
            yield Problem(book.path, book.early.line, f"early: {text}")


def early_problems(book: Runbook, early: Early, given: Library | None) -> Iterator[str]:
    """The problems of what is early."""
    if early.each.type not in FACTS or not {"namespace", "pod"} <= {*FACTS[early.each.type].__struct_fields__}:
        yield f"each: {early.each.type} are not records of pods"
        return
    types = {**input_types(book.inputs), **record_types(early.each.name, early.each.type)}
    yield from condition("when", early.when, types)
    yield from template("title", early.title, types)
    for cause in early.lasting:
        if given is not None and cause not in given.causes:
            yield unknown_name("cause", cause, given.causes)


def step_problems(book: Runbook, number: int, given: Library | None) -> Iterator[str]:
    """The problems of one step without its checks."""
    step = book.steps[number]
    before = scope.found_variables(book, number)
    inputs = input_types(book.inputs)
    yield from condition("when", step.when, {**inputs, **before})
    if step.include:
        if given is not None:
            yield from include_problems(book, step, inputs, given)
        return
    if step.each and step.each.type not in FACTS:
        yield unknown_name("fact type", step.each.type, FACTS)
        return
    own = scope.step_types(book, step)
    yield from condition("where", step.where, own)
    for key, argv in (("run", step.run), ("otherwise", step.otherwise)):
        for element in argv:
            yield from template(key, element, own)
        if argv and (why := allowed.refusal(argv, disruptive=bool(step.effect))):
            yield f"{key}: {why}" + ("" if step.effect or allowed.refusal(argv, disruptive=True) else "; it disturbs: effect: disruptive")
    yield from template("host", step.host, own)
    if step.sample:
        yield from template("sample.span", step.sample.span, inputs)
        if step.sample.span and "${" not in step.sample.span:
            yield from span_problems(step.sample.span)
    if step.run:
        if step.effect and not allowed.refusal(step.run):
            yield "effect: the command only reads, and disturbs nothing"
        if step.parse not in PARSERS:
            yield unknown_name("parser", step.parse, PARSERS)
    if given is not None:
        yield from (unknown_name("table of rules", name, given.tables) for name in step.rules if name not in given.tables)
    if step.derive and step.derive not in DERIVATIONS:
        yield unknown_name("derivation", step.derive, DERIVATIONS)
    if step.show:
        if step.show.each.type not in FACTS:
            yield unknown_name("fact type", step.show.each.type, FACTS)
            return
        shown = {**inputs, **record_types(step.show.each.name, step.show.each.type)}
        yield from condition("show.where", step.show.where, shown)
        for column, text in step.show.columns.items():
            yield from template(f"show.columns.{column}", text, shown)


def span_problems(text: str) -> Iterator[str]:
    """The problem of a span that is no template."""
    from gpudoctor.runbook.fields import seconds

    try:
        seconds(text)
    except ValueError as error:
        yield f"sample.span: {error}"


def include_problems(book: Runbook, step: Step, types: Types, given: Library) -> Iterator[str]:
    """An include names a runbook that is there and doesn't lead back to this one, and sets inputs that it has."""
    if step.include not in given.runbooks:
        yield unknown_name("runbook", step.include, given.runbooks)
        return
    target = given.runbooks[step.include]
    if way := way_back(book.id, step.include, given):
        yield f"includes itself: {' → '.join([book.id, *way])}"
    for name, text in step.set.items():
        if name not in target.inputs:
            yield unknown_name(f"input of {step.include}", name, target.inputs)
        yield from template(f"set.{name}", text, types)


def way_back(home: str, start: str, given: Library) -> list[str]:
    """The includes that lead from a runbook back to `home`, [] when none do."""
    ways, seen = [[start]], {start}
    for way in ways:
        if way[-1] == home:
            return way
        steps = given.runbooks[way[-1]].steps
        further = [s.include for s in steps if (s.include in given.runbooks or s.include == home) and s.include not in seen]
        seen.update(further)
        ways += [[*way, name] for name in dict.fromkeys(further)]
    return []


def check_problems(book: Runbook, check: Check, given: Library | None) -> Iterator[str]:
    """The problems of one check."""
    if check.each and check.each.type not in FACTS:
        yield unknown_name("fact type", check.each.type, FACTS)
        return
    for join in check.joins:
        if join.type not in FACTS:
            yield unknown_name(f"with.{join.name}: fact type", join.type, FACTS)
            return
        yield from join_problems(book, check, join)
    types = scope.check_types(book, check)
    yield from condition("when", check.when, types)
    yield from template("title", check.title, types)
    yield from template("act", check.act, types)
    yield from template("node", check.node, types)
    for text in check.settle_with:
        yield from template("settle_with", text, types)
    if check.finds and given is not None and check.finds not in given.causes:
        yield unknown_name("cause", check.finds, given.causes)
    if check.finds and not check.title:
        yield "finds a cause without a title"


def join_problems(book: Runbook, check: Check, join: Join) -> Iterator[str]:
    """The problems of one join: fields that aren't there, keys of different types."""
    outer = scope.check_types(book, check, upto=join.name)
    fact = FACTS[join.type]
    keys = {name: kind for name, kind in fields(fact).items() if name in fact.__struct_fields__ and kind in KEY_TYPES}
    for field, text in join.on.items():
        if field not in keys:
            yield unknown_name(f"with.{join.name}: field of {join.type}", field, keys)
            continue
        yield from condition(f"with.{join.name}.on.{field}", text, outer, str(cel_type(keys[field]).name()))
    yield from condition(f"with.{join.name}.where", join.where, {**outer, **join_types(join.name, join.type)})
    for text in (join.before, join.after):
        yield from condition(f"with.{join.name}: time", text, outer, "DOUBLE")


def condition(where: str, text: str, types: Types, want: str = "BOOL") -> Iterator[str]:
    """The problem of a condition, if it has one."""
    if not text:
        return
    try:
        compile_expression(text, types, want)
    except ConditionError as error:
        yield f"{where}: {error}"


def template(where: str, text: str, types: Types) -> Iterator[str]:
    """The problems of a template."""
    try:
        for kind, expression in split_template(text):
            if kind == "cel" and not (result := compile_expression(expression, types, "").result).startswith(TEXT_TYPES):
                yield f"{where}: '${{{expression}}}' is a {result}: only text, numbers, booleans and lists can be shown"
    except ConditionError as error:
        yield f"{where}: {error}"


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """`unknown parser 'kernel.xid'; did you mean 'kernel.log'?`."""
    import difflib

    close = difflib.get_close_matches(name[:80], known, n=1)
    return f"unknown {what} '{name[:80]}'" + (f"; did you mean '{close[0]}'?" if close else "")


def catalogue_references(given: Library) -> Iterator[str]:
    """`explains`, `confused_with`, `yields_to` and fixes name only what exists."""
    for cause in given.causes.values():
        for other in cause.explains:
            if other not in given.causes:
                yield f"{cause.id}: explains: {unknown_name('cause', other, given.causes)}"
        for other in cause.confused_with:
            if other not in given.causes:
                yield f"{cause.id}: confused_with: {unknown_name('cause', other, given.causes)}"
            elif other == cause.id:
                yield f"{cause.id}: confused_with: names itself"
        yield from (
            f"{cause.id}: yields_to: {unknown_name('cause', one, given.causes)}" for one in cause.yields_to if one not in given.causes
        )
        if circle := yields_to_itself(cause.id, given):
            yield f"{cause.id}: yields_to: leads back to itself: {' → '.join(circle)}"
        for look in cause.look:
            for element in look.run:
                yield from (f"{cause.id}: look '{look.title}': {text}" for text in placeholder_problems(element, cause.subject))
        for fix in cause.fixes:
            searched = lint_messages.compiled(fix.seen)
            if isinstance(searched, str):
                yield f"{cause.id}: fix '{fix.title}': seen: {searched}"
                continue
            seen = [f"seen.{name}" for name in searched.groupindex]
            for element in [fix.title, *fix.run, *fix.undo, *fix.verify, fix.manifest]:
                problems = placeholder_problems(element, cause.subject, "cause", *seen)
                yield from (f"{cause.id}: fix '{fix.title}': {text}" for text in problems)
        for change in cause.fits:
            if change not in TIERS:
                yield f"{cause.id}: fits: {unknown_name('change of the nearest fit', change, TIERS)}"


def yields_to_itself(home: str, given: Library) -> list[str]:
    """The way by which a cause yields to itself, [] where there is none."""
    ways, seen = [[home]], set[str]()
    for way in ways:
        for other in given.causes[way[-1]].yields_to:
            if other == home:
                return [*way, home]
            if other in given.causes and other not in seen:
                seen.add(other)
                ways.append([*way, other])
    return []


def placeholder_problems(element: str, subject: str, *further: str) -> Iterator[str]:
    """A fix is filled with the fields of its subject, and with what `seen` names."""
    known = (*KEYS_OF_KIND[subject], *further)
    try:
        yield from (
            unknown_name(f"field of {subject}", text, known)
            for kind, text in split_template(element)
            if kind == "cel" and text not in known
        )
    except ConditionError as error:
        yield str(error)
