"""All declarative files → one library, with every problem of every file."""

from __future__ import annotations

import os

from gpudoctor.knowledge.compiled import KnownMessage
from gpudoctor.knowledge.literals import literals, lower_literal
from gpudoctor.knowledge.nccl_settings import Known
from gpudoctor.library import index, nccl_settings
from gpudoctor.runbook import lint, load
from gpudoctor.runbook.model import Cause, Library, Runbook
from gpudoctor.runbook.yamlfile import Problem


def compile_files() -> tuple[Library, list[Problem]]:
    """Read the runbooks, the catalogue and the messages, and check them against each other."""
    runbooks: dict[str, Runbook] = {}
    causes: dict[str, Cause] = {}
    messages: list[KnownMessage] = []
    harmless: list[KnownMessage] = []
    settings: list[Known] = []
    signs = Library().signs
    lists, problems = load.lists(index.lists_file(), "runbooks/rules/lists.yaml")
    known = Library(lists=lists)
    tables: dict[str, Runbook] = {}
    for path in sorted(set(index.tables_folder().glob("*.yaml")) - {index.lists_file()}):
        rows, found = load.table(path, os.path.relpath(path, index.root()), known)
        tables |= {rows.id: rows} if rows else {}
        problems += found
    known = Library(lists=lists, tables=tables)
    shared, found = load.shared_fixes(index.shared_fixes_file(), "runbooks/catalogue/shared-fixes.yaml")
    problems += found
    for path in index.source_files():
        shown = os.path.relpath(path, index.root())
        if path.parent == index.tables_folder() or path == index.shared_fixes_file():
            continue
        if path.parent == index.messages_folder():
            more, found = load.messages(path, shown)
            messages += more
        elif path == index.harmless_file():
            harmless, found = load.messages(path, shown)
        elif path == index.settings_file():
            settings, found = nccl_settings.load(path, shown)
        elif path == index.signs_file():
            book, found = load.runbook(path, shown, known=known)
            signs = book or signs
        elif path.parent.name == "catalogue":
            entries, found = load.catalogue(path, shown, shared)
            found = found + [Problem(shown, 0, f"the cause '{name}' is in two files") for name in entries.keys() & causes.keys()]
            causes.update(entries)
        else:
            book, found = load.runbook(path, shown, known=known)
            if book is not None:
                runbooks[book.id] = book
        problems += found
    marks = {message.name: signs_in for message in (*messages, *harmless) if (signs_in := literals(message.pattern))}
    made = Library(
        runbooks={name: load.with_early(book, runbooks) for name, book in sorted(runbooks.items())},
        tables=tables,
        lists=lists,
        causes=dict(sorted(causes.items())),
        messages=messages,
        harmless=harmless,
        literals=marks,
        texts={name: sorted({lower_literal(sign) for sign in signs_in}) for name, signs_in in marks.items()},
        settings=settings,
        signs=signs,
    )
    return made, problems + lint.library(made)
