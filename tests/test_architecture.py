"""The rules that keep the parts apart, read from the code itself. docs/architecture.md says what each part is for."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudoctor.library import index

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gpudoctor"
MODULES = {str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.rglob("*.py"))}

# What a part may import of ours beside itself and `patterns`, from the bottom up. The CLI may import everything, nothing imports the CLI.
MAY_IMPORT: dict[str, set[str]] = {
    "cores": {"leaving"},
    "leaving": set(),
    "facts": set(),
    "knowledge": set(),
    "nodesets": set(),
    "patterns": set(),
    "report": set(),
    "threads": set(),
    "reporters": {"report", "nodesets"},
    "probes": {"knowledge", "leaving", "threads"},
    "tools": {"facts", "knowledge", "probes.base"},
    "notes": {"facts", "knowledge", "tools", "probes.base"},
    "registry": {"facts", "tools", "notes", "probes.base"},
    "derive": {"facts", "knowledge", "nodesets"},
    "intake": {"cores", "facts", "knowledge", "tools", "notes", "registry", "probes.base", "report"},
    "analyze": {"cores", "facts", "library", "knowledge", "tools", "notes", "registry", "intake", "derive", "probes.base", "report"},
    "runbook": {"facts", "knowledge", "report", "registry", "derive"},
    "library": {"knowledge", "runbook"},
    "engine": {
        "facts",
        "knowledge.compiled",
        "knowledge.field_words",  # how a field is called in a sentence
        "library",
        "nodesets",
        "report",
        "tools",
        "registry",
        "derive",
        "runbook",
        "probes.base",
        "threads",
    },
}
# What one folder of a part may import beside that.
OF_FOLDER = {"tools/kubectl": {"registry"}}  # kubectl prints objects, which the parsers of other tools read
EXCEPTIONS = {
    ("engine/cases.py", "probes.bundle"): "a paired test replays a bundle",
    ("engine/cases.py", "probes.replay"): "a paired test replays a bundle",
}

# Who may import what of others: the start of a module's path.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "cel_expr_python": ("runbook/conditions.py",),
    "pydantic": ("runbook/",),
    "yaml": ("runbook/yamlfile.py", "tools/kubectl/manifests.py", "tools/kubernetes/configs.py", "probes/kube_config.py"),
    "re2": ("tools/common/scanner.py", "runbook/lint_messages.py", "engine/field_demands.py", "probes/redact.py"),
    "rich": ("reporters/",),
    "typer": ("cli/",),
    **dict.fromkeys(("subprocess", "socket", "ssl", "http", "urllib", "urllib3", "kubernetes", "websocket", "pynvml"), ("probes/",)),
    **dict.fromkeys(("pickle", "marshal", "shelve", "ctypes", "multiprocessing", "asyncio", "requests"), ()),
}

LEAVES = {"print", "input", "exit", "quit", "breakpoint", "sys.exit", "os._exit", "SystemExit", "sys.stdout.write", "sys.stderr.write"}
RUNS = {"eval", "exec", "compile", "__import__", "os.system", "os.popen"}

MAY_EXIT = {
    "cores.py": "a second process must not go on where the first one does",
    "leaving.py": "a second signal ends the program wherever it is",
}


def part(module: str) -> str:
    """The part of a module's path: `tools/kernel/log.py` → `tools`, `report.py` → `report`."""
    return module.removesuffix(".py").split("/")[0]


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules that a module imports, wherever in it; `from gpudoctor.x import y` counts as `gpudoctor.x.y` too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(tree: ast.Module) -> set[str]:
    """What of gpudoctor is imported, in two levels at most: `facts`, `probes.base`."""
    names = (name.removeprefix("gpudoctor.").split(".") for name in imported(tree) if name.startswith("gpudoctor."))
    known = {part(module) for module in MODULES}
    return {".".join(name[:2]) if f"{'/'.join(name[:2])}.py" in MODULES else name[0] for name in names if name[0] in known}


def calls(module: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Every call: its place for a message, its name as written (`print`, `sys.exit`), the call."""
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield f"{module}:{node.lineno}: {name}", name, node


@pytest.mark.parametrize("module", [module for module in MODULES if part(module) not in ("cli", "__main__", "__init__")])
def test_parts_import_only_what_lies_below_them(module: str) -> None:
    own = part(module)
    allowed = MAY_IMPORT[own] | {own, "patterns"} | OF_FOLDER.get(module.rpartition("/")[0], set())
    wrong = {name for name in ours(MODULES[module]) if name not in allowed and name.split(".")[0] not in allowed}
    assert {name for name in wrong if (module, name) not in EXCEPTIONS} == set()


def test_every_exception_is_still_needed() -> None:
    assert {(module, name) for module, name in EXCEPTIONS if name not in ours(MODULES[module])} == set()


def package(name: str) -> str:
    """The package of a module, by its dotted name below gpudoctor: each tool is one, and so is the leaf `probes.base`."""
    words = name.split(".")
    return ".".join(words[:2]) if words[0] == "tools" or name == "probes.base" else words[0]


def test_no_packages_import_each_other_in_a_circle() -> None:
    known = {module.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for module in MODULES}
    imports: dict[str, set[str]] = {}
    for module, tree in MODULES.items():
        if part(module) in ("cli", "__main__", "__init__"):
            continue
        own = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in (name.removeprefix("gpudoctor.") for name in imported(tree) if name.startswith("gpudoctor.")):
            found = name if name in known else name.rpartition(".")[0]
            if found in known and (module, ".".join(found.split(".")[:2])) not in EXCEPTIONS:
                imports.setdefault(package(own), set()).add(package(found))
    circles = [name for name in imports if name in reached(imports, imports[name] - {name}, name)]
    assert circles == []


def reached(imports: dict[str, set[str]], start: set[str], avoid: str) -> set[str]:
    """The packages that some packages import, and those import, and so on."""
    found: set[str] = set()
    todo = [*start]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += imports.get(name, set()) if name != avoid else ()
    return found


def test_libraries_are_used_only_where_they_belong() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, tree in MODULES.items()
        for name in {name.split(".")[0] for name in imported(tree)} & ONLY_IN.keys()
        if not module.startswith(ONLY_IN[name])
    ]
    assert wrong == []


def test_only_the_cli_prints_and_exits() -> None:
    wrong = [
        place
        for module in MODULES
        if part(module) != "cli" and module not in MAY_EXIT
        for place, name, _ in calls(module)
        if name in LEAVES
    ]
    assert wrong == []


def test_parsers_decode_types_by_a_decoder_that_threads_may_share() -> None:
    wrong = {
        place
        for module in MODULES
        if part(module) in ("tools", "notes")
        for place, name, node in calls(module)
        if name == "msgspec.json.decode" and node.keywords
    }
    assert wrong == set()


def test_nothing_runs_text_as_code() -> None:
    wrong = [
        place
        for module in MODULES
        for place, name, call in calls(module)
        if name in RUNS or name.startswith(("os.spawn", "os.exec")) or any(word.arg == "shell" for word in call.keywords)
    ]
    assert wrong == []


def test_causes_are_named_only_in_yaml() -> None:
    """Otherwise the runbooks would be a façade: code states what is, and only a runbook's check says what it means."""
    causes = index.library().causes
    assert len(causes) > 50
    named = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, causes))})(?![\w-])")
    files = [
        path for path in SOURCE.rglob("*") if path.suffix in (".py", ".yaml") and path.relative_to(SOURCE).parts[0] not in ("cli", "_data")
    ]
    wrong = [f"{path.relative_to(SOURCE)}: {match.group()}" for path in files for match in named.finditer(path.read_text(encoding="utf-8"))]
    assert wrong == []


def loaded_by(*words: str) -> set[str]:
    """The top-level modules, beside Python's own, that a gpudoctor command has loaded when it ends."""
    program = (
        "import json, sys; from gpudoctor.cli.main import run_guarded; run_guarded();"
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=60, check=True)
    return set(json.loads(done.stderr.splitlines()[-1])) - sys.stdlib_module_names


@pytest.mark.parametrize("words", [("--help",), ("diagnose", "pod", "--help"), ("run", "--help"), ("--version",)])
def test_help_loads_next_to_nothing(words: tuple[str, ...]) -> None:
    heavy = {"rich", "yaml", "pydantic", "pydantic_core", "kubernetes", "urllib3", "cel_expr_python", "re2", "msgspec"}
    assert loaded_by(*words) & heavy == set()


@pytest.mark.parametrize("words", [("xid", "79"), ("xid", "63", "79", "154"), ("xid", "180"), ("xid", "79", "--format", "json")])
def test_a_code_is_explained_from_the_small_book_alone(words: tuple[str, ...]) -> None:
    """`gpudoctor xid 79` answers at once: it loads the command line, msgspec and the compiled codes."""
    index.xids()  # in a checkout the first command after a change compiles them
    heavy = {"rich", "yaml", "pydantic", "pydantic_core", "kubernetes", "urllib3", "cel_expr_python", "re2"}
    assert loaded_by(*words) & heavy == set()


@pytest.mark.parametrize("words", [("demo", "taint"), ("demo", "taint", "--format", "json"), ("explain", "untolerated-taint")])
def test_a_run_reads_no_yaml_and_a_replay_loads_no_client(words: tuple[str, ...]) -> None:
    index.library()  # in a checkout the first command after a change compiles the runbooks
    assert loaded_by(*words) & {"yaml", "pydantic", "pydantic_core", "kubernetes", "urllib3", "websocket"} == set()


def test_the_schemas_for_editors_are_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from gpudoctor.cli.authors import print_schema

    monkeypatch.setattr(index, "root", lambda: tmp_path)
    monkeypatch.setattr(index, "in_checkout", lambda: True)
    assert print_schema(write=True) == 0
    made = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "schema").iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "schema").glob("*.json")}
    assert len(made) == len(capsys.readouterr().out.splitlines())
    assert {name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name)} == set(), "run `make schema`"
