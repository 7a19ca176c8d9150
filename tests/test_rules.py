"""Tables of rules: a row leads from one value to one cause, and is a check of every runbook whose step tries the table."""

from __future__ import annotations

from pathlib import Path

from gpudoctor.engine import outcomes
from gpudoctor.engine.store import Store
from gpudoctor.facts.kernel import Xid
from gpudoctor.library import index
from gpudoctor.runbook import lint, load, style
from gpudoctor.runbook.model import Library, Runbook
from tests.engine_fakes import CAUSES, problems_of

TABLE = """\
schema: 1
id: kernel-log
title: What one line says by itself
rules:
  - each: xid in xids
    by: code
    rows:
      lost: {is: 79, finds: sick-gpu, title: 'Xid ${xid.code} on ${xid.node}'}
      page: {is: [31, 43], when: xid.pid > 0, finds: sick-pod, confidence: likely, title: The program failed}
"""
BOOK = """\
schema: 1
id: book
title: A test
steps:
  - id: kernel
    title: Read the kernel log
    why: It says.
    run: [dmesg, --time-format=iso]
    parse: kernel.log
    rules: [kernel-log]
"""


def tables(folder: Path, text: str = TABLE, lists: dict[str, str] | None = None) -> Library:
    """A library with one table of rules."""
    path = folder / "kernel-log.yaml"
    path.write_text(text)
    known = Library(causes=CAUSES, lists=lists or {})
    made, problems = load.table(path, path.name, known)
    assert made is not None, problems
    return Library(causes=CAUSES, lists=lists or {}, tables={made.id: made})


def book(folder: Path, name: str, known: Library) -> Runbook:
    """A runbook that tries the table."""
    path = folder / f"{name}.yaml"
    path.write_text(BOOK.replace("id: book", f"id: {name}"))
    made, problems = load.runbook(path, path.name, known)
    assert made is not None, problems
    return made


def test_a_row_is_a_check_of_the_step_that_tries_its_table(tmp_path: Path) -> None:
    known = tables(tmp_path)
    lost, page = book(tmp_path, "book", known).checks()
    assert (lost.id, lost.when, lost.finds, lost.confidence) == ("lost", "xid.code == 79", "sick-gpu", "confirmed")
    assert page.when == "xid.code in [31, 43] && (xid.pid > 0)"
    assert (page.finds, page.confidence, page.table) == ("sick-pod", "likely", "kernel-log")


def test_a_value_that_a_row_is_named_after_needs_no_is(tmp_path: Path) -> None:
    text = TABLE.replace("xid in xids", "message in messages").replace("by: code", "by: name").replace("lost: {is: 79, ", "lost: {")
    text = text.replace("'Xid ${xid.code} on ${xid.node}'", "It is lost").partition("      page")[0]
    assert tables(tmp_path, text).tables["kernel-log"].checks()[0].when == 'message.name == "lost"'


def test_a_row_of_a_group_without_a_field_has_a_condition(tmp_path: Path) -> None:
    text = TABLE.replace("    by: code\n", "").replace("is: 79, ", "when: xid.code == 79 && xid.pid == 0, ").replace("is: [31, 43], ", "")
    assert [row.when for row in tables(tmp_path, text).tables["kernel-log"].checks()] == ["xid.code == 79 && xid.pid == 0", "xid.pid > 0"]
    (tmp_path / "bare.yaml").write_text(text.replace("when: xid.pid > 0, ", ""))
    made, problems = load.table(tmp_path / "bare.yaml")
    assert made is None
    assert "rows.page: without `by` a row has `when`" in str(problems[0])


def test_rows_that_say_the_same_have_one_title(tmp_path: Path) -> None:
    text = TABLE.replace("by: code", "by: code\n    title: Xid ${xid.code}").replace(
        "title: 'Xid ${xid.code} on ${xid.node}'", "act: reboot"
    )
    assert [row.title for row in tables(tmp_path, text).tables["kernel-log"].checks()] == ["Xid ${xid.code}", "The program failed"]


def test_a_row_gives_way_to_other_values(tmp_path: Path) -> None:
    known = tables(tmp_path, TABLE.replace("when: xid.pid > 0", "unless: [48, 94]"))
    library = Library(causes=CAUSES, tables=known.tables, runbooks={"book": book(tmp_path, "book", known)})
    for codes, outcome in (([31], "found"), ([31, 13], "found"), ([31, 94], "clear"), ([94], "clear")):
        store = Store()
        store.put(0, {"xids": [Xid(node="gpu-1", code=code) for code in codes]})
        assert [one.outcome for one in outcomes.of_facts(library, store)] == ["clear", outcome], codes


def test_files_are_held_against_a_row_once_however_many_runbooks_try_it(tmp_path: Path) -> None:
    known = tables(tmp_path)
    library = Library(causes=CAUSES, tables=known.tables, runbooks={name: book(tmp_path, name, known) for name in ("one", "two")})
    store = Store()
    store.put(0, {"xids": [Xid(node="gpu-1", code=79)]})
    checked = outcomes.of_facts(library, store)
    assert [(one.name, one.outcome) for one in checked] == [("one.lost", "found"), ("one.page", "clear")]


def test_what_is_wrong_with_a_row_is_said_once_and_with_its_place(tmp_path: Path) -> None:
    known = tables(tmp_path, TABLE.replace("sick-gpu", "sick-gpus").replace("xid.pid > 0", "xid.pids > 0"))
    library = Library(causes=CAUSES, tables=known.tables, runbooks={"book": book(tmp_path, "book", known)})
    said = [str(one) for one in lint.library(library)]
    assert [one for one in said if "sick-gpus" in one] == [
        "kernel-log.yaml:8: steps.rows.checks.lost: unknown cause 'sick-gpus'; did you mean 'sick-gpu'?"
    ]
    assert len([one for one in said if "pids" in one]) == 1


def test_a_table_that_is_not_there_and_one_that_nobody_tries(tmp_path: Path) -> None:
    known = tables(tmp_path)
    said = problems_of(BOOK.replace("[kernel-log]", "[kernel-logs]"), tmp_path, library=known)
    assert said == ["book.yaml:5: steps.kernel: unknown table of rules 'kernel-logs'; did you mean 'kernel-log'?"]
    assert "no step of a runbook tries these rules" in [one.message for one in lint.library(known)]
    said = problems_of(BOOK.replace("    run: [dmesg, --time-format=iso]\n    parse: kernel.log\n", ""), tmp_path, library=known)
    assert "has rules, and reads nothing that they could be tried on" in said[0]


def test_a_list_stands_once_and_conditions_name_it(tmp_path: Path) -> None:
    text = TABLE.replace("xid.pid > 0", "xid.pid in list.first_ones")
    (row,) = tables(tmp_path, text, {"first_ones": "[1, 2]"}).tables["kernel-log"].checks()[1:]
    assert row.when.endswith("(xid.pid in [1, 2])")
    unknown = tables(tmp_path, text)
    assert any("list" in str(one) for one in lint.library(unknown))


def test_a_literal_list_that_stands_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    same = 'when: message.name in ["aa_one", "bb_two", "cc_three"]\n'
    (tmp_path / "one.yaml").write_text(same)
    (tmp_path / "rules" / "two.yaml").write_text("x\n" + same)
    (said,) = style.lists_written_twice(tmp_path)
    assert said.startswith("one.yaml:1 and rules/two.yaml:2: ")


def test_the_head_of_each_table_says_which_steps_try_it() -> None:
    known = index.library()
    for name in known.tables:
        steps = [f"{book.id}.{step.id}" for book in known.runbooks.values() for step in book.steps if name in step.rules]
        head = (index.tables_folder() / f"{name}.yaml").read_text().split("\n")[1]
        assert head.startswith(f"# Tried by {' and '.join(steps)}; cases in "), name


def test_our_own_tables_and_lists_are_read() -> None:
    known = index.library()
    rows = {(check.table, check.id) for book in known.runbooks.values() for check in book.checks() if check.table}
    assert rows == {(table.id, check.id) for table in known.tables.values() for check in table.checks()}
    assert known.lists
