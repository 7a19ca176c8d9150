"""lint, test, schema: for people who write runbooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.execute import load_library
from gpudoctor.library import compile as compiling
from gpudoctor.library import index, xids
from gpudoctor.reporters.text import count
from gpudoctor.runbook import load, style


def lint_files(paths: list[Path]) -> int:
    """All problems of our own files, or of the runbooks given."""
    if paths:
        library = load_library()
        problems = [str(problem) for path in paths for problem in load.load_checked(path, library)[1]]
    else:
        need_checkout("lint", ", or give the path of a runbook")
        library, located = compiling.compile_files()
        located += xids.load(index.xids_file())[1]
        problems = [str(problem) for problem in located] or list(style.problems(library, index.runbooks_folder()))
    for text in problems:
        print(text)
    what = (
        count(len(paths), "file")
        if paths
        else f"{len(library.runbooks)} runbooks, {len(library.causes)} causes, {len(library.messages)} messages"
    )
    print(f"{what}: " + (count(len(problems), "problem") if problems else "clean"))
    return 1 if problems else 0


def run_tests(paths: list[Path]) -> int:
    """Run paired tests and the coverage rule."""
    from gpudoctor.engine.cases import run_file

    library = load_library()
    passed = failed = 0
    for path in test_files(paths):
        test, found = load.paired_test(path)
        results = [(path.name, [str(problem) for problem in found])] if test is None else run_file(library, path, test)
        print(path.name)
        for name, problems in results:
            print(f"  {'ok  ' if not problems else 'FAIL'} {name}")
            for problem in problems:
                print(f"         {problem}")
            passed, failed = passed + (not problems), failed + bool(problems)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


def test_files(paths: list[Path]) -> list[Path]:
    """The test files that were asked for; a runbook stands for its test."""
    if not paths:
        need_checkout("test", ", or give the path of a runbook")
        return sorted(index.runbooks_folder().glob("*.test.yaml"))
    files = list(dict.fromkeys(path if path.name.endswith(".test.yaml") else style.test_of(path) for path in paths))
    for path in files:
        if not path.is_file():
            raise Refused(f"{path} is not there: a runbook's test lies beside it, with the same stem, or covers it")
    return files


def need_checkout(command: str, instead: str = "") -> None:
    """Refuse what works on our own sources where there are none: an installed gpudoctor has its runbooks compiled."""
    if not index.in_checkout():
        raise Refused(f"`gpudoctor {command}` works on gpudoctor's own sources, which are not installed: run it in a checkout{instead}")


def print_schema(write: bool) -> int:
    """The JSON Schemas, generated from the models."""
    from gpudoctor.runbook import paired, schema

    kinds: dict[str, type[schema.Model]] = {
        "runbook": schema.Runbook,
        "runbook-test": paired.PairedTest,
        "rules": schema.Rules,
        "lists": schema.Lists,
        "catalogue": schema.Catalogue,
        "messages": schema.Messages,
    }
    if not write:
        json.dump(schema.Runbook.model_json_schema(), sys.stdout, indent=2)
        print()
        return 0
    need_checkout("schema --write")
    folder = index.root() / "schema"
    folder.mkdir(exist_ok=True)
    for name, kind in kinds.items():
        (folder / f"{name}.schema.json").write_text(json.dumps(kind.model_json_schema(), indent=2) + "\n")
        print(f"schema/{name}.schema.json")
    return 0
