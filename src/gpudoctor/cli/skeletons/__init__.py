"""The files that `gpudoctor new` writes. Nothing that is there is replaced; a line is added where a table or a list ends."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from re import Pattern

from gpudoctor.cli.authors import need_checkout
from gpudoctor.cli.errors import Refused, no_such
from gpudoctor.cli.execute import load_library
from gpudoctor.library import index
from gpudoctor.patterns import regex
from gpudoctor.runbook import style
from gpudoctor.runbook.model import Runbook

HERE = Path(__file__).parent
ID = regex(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
WORD = regex(r"[a-z][a-z0-9_]*")
# A case's name → what systemctl answered
STATES = {"failed": "failed", "sound": "active"}


def runbook_path(name: str) -> Path:
    """Where a runbook is written: among ours in a checkout, else here."""
    return (index.runbooks_folder() if index.in_checkout() else Path()) / f"{name}.yaml"


def fill_skeleton(skeleton: str, **values: str) -> str:
    """Fill in each `@NAME@` of a skeleton."""
    text = (HERE / skeleton).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key.upper()}@", value)
    return text


def write(files: dict[Path, str]) -> list[Path]:
    """Write new files. Raises `Refused` where one is there already, before any is written."""
    for path in files:
        if path.exists():
            raise Refused(f"{path} is there already: choose another name, or edit it")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [*files]


def valid_name(name: str, form: Pattern[str], what: str) -> str:
    """A name that may become part of a path. Raises `Refused`."""
    if not form.fullmatch(name):
        raise Refused(f"'{name[:80]}' is no name for a {what}: it is made of small letters, digits and {'-' if form is ID else '_'}")
    return name


def runbook(name: str) -> list[Path]:
    """Write a runbook, its paired test and its cases."""
    path = runbook_path(valid_name(name, ID, "runbook"))
    cases = index.fixtures_folder() / name if index.in_checkout() else Path(f"{name}.cases")
    answers = {case: f"Id=nvidia-fabricmanager.service\nLoadState=loaded\nActiveState={state}" for case, state in STATES.items()}
    answers["silent"] = "--- exit 124\n--- timeout: no answer within 30 s"
    return write(
        {
            path: fill_skeleton("runbook.yaml", id=name),
            path.with_suffix(".test.yaml"): fill_skeleton(
                "runbook.test.yaml", id=name, fixtures=f"../tests/fixtures/{name}" if index.in_checkout() else cases.name
            ),
            **{cases / f"{case}.txt": fill_skeleton("case.txt", id=name, answer=answer) for case, answer in answers.items()},
        }
    )


def check(runbook: str, name: str, cause: str, step: str) -> list[Path]:
    """Add a check to a runbook of ours, two cases to its test, and a cause that is new to the catalogue."""
    need_checkout("new check")
    library = load_library()
    if runbook not in library.runbooks:
        raise no_such("runbook", runbook, library.runbooks, "list shows all: gpudoctor list")
    book = library.runbooks[runbook]
    valid_name(name, WORD, "check")
    valid_name(cause, ID, "cause")
    if any(one.id == name for one in book.checks()):
        raise Refused(f"{runbook} has a check '{name}' already")
    path = index.runbooks_folder() / f"{runbook}.yaml"
    test = style.test_of(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    at = end_of_checks(lines, chosen(book, step))
    lines[at:at] = fill_skeleton("check.yaml", id=name, cause=cause).rstrip("\n").split("\n")
    path.write_text("\n".join(lines), encoding="utf-8")
    with test.open("a", encoding="utf-8") as file:
        file.write(fill_skeleton("check.test.yaml", id=name, cause=cause, runbook=runbook, case=name.replace("_", "-")))
    written = [path, test]
    if cause not in library.causes:
        layer = path.parent / "catalogue" / "workload.yaml"
        with layer.open("a", encoding="utf-8") as file:
            file.write("\n" + fill_skeleton("cause.yaml", id=cause))
        written.append(layer)
    return written


def chosen(book: Runbook, step: str) -> str:
    """The id of the step that a check is added to. Raises `Refused`."""
    steps = [one.id for one in book.steps if any(not check.table for check in one.checks)]
    if step and step not in steps:
        raise no_such("step with checks", step, steps, f"{book.id} has {', '.join(steps)}")
    if not steps:
        raise Refused(f"{book.id} has no step with checks: write the first one by hand")
    return step or steps[-1]


def end_of_checks(lines: list[str], step: str) -> int:
    """The number of the line behind the last check of a step, from 0. A step begins with `  - id:`, its checks with `      - id:`."""
    start = next(number for number, line in enumerate(lines) if line == f"  - id: {step}")
    inside = next(number for number in range(start, len(lines)) if lines[number] == "    checks:") + 1
    while inside < len(lines) and (lines[inside].startswith("      ") or not lines[inside].strip()):
        inside += 1
    while not lines[inside - 1].strip():
        inside -= 1
    return inside


def parser(tool: str, name: str, command: str) -> list[Path]:
    """Write a reader of an output, and declare it."""
    need_checkout("new parser")
    tools = index.PACKAGE / "tools"
    known = sorted(
        path.parent.name for path in tools.glob("*/forms.py") if "PARSERS" in (path.parent / "__init__.py").read_text(encoding="utf-8")
    )
    if tool not in known:
        raise no_such("tool", tool, known, f"there are {', '.join(known)}; a new tool is a new folder")
    valid_name(name, WORD, "parser")
    command = command.replace("\\", "").replace('"', "'")
    argv = ", ".join(f'"{word}"' for word in command.split()) + ("" if " " in command.strip() else ",")
    values = {"name": name, "tool": tool, "command": command, "argv": argv}
    called = f"{prefix((tools / tool / '__init__.py').read_text(encoding='utf-8'), tool)}.{name}"
    tests = index.root() / "tests"
    written = write(
        {
            tools / tool / f"{name}.py": fill_skeleton("output.py.txt", **values),
            tests / f"test_{tool}_{name}.py": fill_skeleton("test_output.py.txt", **values),
        }
    )
    added = {
        tools / tool / "__init__.py": f'    "{called}": Parser(("units",), "{name}:{name}"),\n',
        tools / tool / "forms.py": f'    Form("{called}", lambda text: of_{name}(text.lines), embedded=True, mixed=True),\n',
        tests / "parser_samples.py": f'    "{called}": "state: ready\\n",\n',
    }
    for path, line in added.items():
        text = path.read_text(encoding="utf-8")
        at = len(text.rstrip()) - 1  # the bracket that closes the table is the last character
        text = text[:at] + line + text[at:]
        if path.name == "forms.py":
            text = with_import(text, f"gpudoctor.tools.{tool}.{name}", f"score as of_{name}")
        path.write_text(text, encoding="utf-8")
    return [*written, *added]


def prefix(parsers: str, tool: str) -> str:
    """What most names of a package's parsers begin with: those of `nvidia_smi` with `nvidia`."""
    names = Counter(re.findall(r'^    "(\w+)\.\w+": Parser\(', parsers, re.MULTILINE))
    return names.most_common(1)[0][0] if names else tool


def with_import(text: str, module: str, name: str) -> str:
    """A text of ours that imports from one more module of ours, in the place where the rules of style want it."""
    ours = list(re.finditer(r"^from (gpudoctor[\w.]*) import (?:\([^)]*\)|.*)\n", text, re.MULTILINE))
    at = next((one.start() for one in ours if one[1] > module), ours[-1].end())
    return f"{text[:at]}from {module} import {name}\n{text[at:]}"
