"""Where the declarative files are, and their compiled form: one JSON index, so that a run reads no YAML.

In a checkout the index is a cache that is checked against the files' times and sizes and made anew when it is stale; in a wheel it
was made at build time.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TypeVar

import msgspec

from gpudoctor.knowledge.compiled import KnownMessage
from gpudoctor.knowledge.nccl_settings import Known
from gpudoctor.knowledge.xids import Book
from gpudoctor.runbook.model import Library

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "_data"
CHECKOUT = PACKAGE.parent.parent


class Compiled(msgspec.Struct, frozen=True):
    """The index file: what it was made from, and the library."""

    sources: list[tuple[str, int, int]]  # path relative to the root, mtime in ns, size; empty in a wheel
    library: Library


class CompiledXids(msgspec.Struct, frozen=True):
    """The file of the Xid book: small, so that `gpudoctor xid 79` reads nothing else."""

    sources: list[tuple[str, int, int]]
    book: Book


class Programs(msgspec.Struct, frozen=True):
    """The file of the compiled conditions: text over slots → the form that CEL reads. `shape` is what the slots were."""

    shape: str
    programs: dict[str, bytes]


File = TypeVar("File", Compiled, CompiledXids)


class BrokenLibrary(Exception):
    """The declarative files have problems; they are listed one a line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def root() -> Path:
    """The folder that holds `runbooks/` and `tests/fixtures/`: the checkout, or the data inside a wheel."""
    return CHECKOUT if (CHECKOUT / "runbooks").is_dir() and (CHECKOUT / "pyproject.toml").is_file() else DATA


def in_checkout() -> bool:
    """Whether gpudoctor runs from a checkout (an editable installation)."""
    return root() == CHECKOUT


def runbooks_folder() -> Path:
    """The folder of the runbooks."""
    return root() / "runbooks"


def fixtures_folder() -> Path:
    """The folder of the recorded incidents that `demo` uses."""
    return root() / ("tests/fixtures" if in_checkout() else "fixtures")


def messages_folder() -> Path:
    """The folder of the known messages."""
    return PACKAGE / "knowledge" / "messages"


def xids_file() -> Path:
    """The data of the Xid book."""
    return PACKAGE / "knowledge" / "xids.yaml"


def settings_file() -> Path:
    """The data of the variables by which a distributed job communicates."""
    return PACKAGE / "knowledge" / "nccl_settings.yaml"


def harmless_file() -> Path:
    """Lines that say trouble where there is none."""
    return PACKAGE / "knowledge" / "harmless.yaml"


def signs_file() -> Path:
    """The signs of trouble, in the form of a runbook."""
    return PACKAGE / "knowledge" / "signs.yaml"


def tables_folder() -> Path:
    """The folder of the tables of rules."""
    return runbooks_folder() / "rules"


def lists_file() -> Path:
    """The lists that conditions name."""
    return tables_folder() / "lists.yaml"


def shared_fixes_file() -> Path:
    """The fixes that causes name."""
    return runbooks_folder() / "catalogue" / "shared-fixes.yaml"


def source_files() -> list[Path]:
    """All files that the index is made from, in a fixed order."""
    books = runbooks_folder()
    found = [path for path in books.glob("*.yaml") if not path.name.endswith(".test.yaml")]
    given = (harmless_file(), settings_file(), signs_file())
    folders = (books / "catalogue", tables_folder(), messages_folder())
    return sorted([*found, *(path for folder in folders for path in folder.glob("*.yaml")), *given])


def code_files() -> list[Path]:
    """The code that the YAML is checked against, and what is made of it: fact classes, the tables of parsers and derivations, the record
    of a known variable, literals, compiled conditions.
    """
    tables = ("notes/__init__.py", "derive/__init__.py", "knowledge/nccl_settings.py", "knowledge/literals.py", "runbook/conditions.py")
    declared = [*(PACKAGE / "facts").glob("*.py"), *(PACKAGE / "tools").glob("*/__init__.py")]
    return sorted([*declared, *(PACKAGE / name for name in tables)])


def stamps(files: list[Path]) -> list[tuple[str, int, int]]:
    """What tells whether the files have changed."""
    base = os.path.commonpath([root(), PACKAGE])
    return [(os.path.relpath(path, base), (stat := path.stat()).st_mtime_ns, stat.st_size) for path in files]


@functools.cache
def library() -> Library:
    """The compiled library. Raises `BrokenLibrary` with all problems when the files don't pass."""
    found = read_compiled("index.json", Compiled)
    if not in_checkout():
        return installed_file(found, "index.json").library
    now = stamps([*source_files(), *code_files()])
    if found is not None and found.sources == now:
        return found.library
    made = compile_library()
    write_cache("programs.msgpack", compile_programs())  # before the index: who finds that one finds both
    write_cache("index.json", msgspec.json.encode(Compiled(now, made)))
    return made


@functools.cache
def xids() -> Book:
    """The compiled book of Xids. Raises `BrokenLibrary` with all problems when its file doesn't pass."""
    found = read_compiled("xids.json", CompiledXids)
    if not in_checkout():
        return installed_file(found, "xids.json").book
    now = stamps([xids_file(), PACKAGE / "knowledge" / "xids.py"])
    if found is not None and found.sources == now:
        return found.book
    made = compile_xids()
    write_cache("xids.json", msgspec.json.encode(CompiledXids(now, made)))
    return made


@functools.cache
def programs(shape: str) -> dict[str, bytes]:
    """The compiled conditions; none where they are missing or over other slots: they are compiled again then."""
    try:
        found = msgspec.msgpack.decode((DATA / "programs.msgpack").read_bytes(), type=Programs)
    except (OSError, msgspec.DecodeError):
        return {}
    return found.programs if found.shape == shape else {}


def installed_file(found: File | None, name: str) -> File:
    """A file that was compiled when the wheel was built. Raises `BrokenLibrary` where it is missing."""
    if found is None:
        raise BrokenLibrary([f"{DATA / name} is missing or of another version: install gpudoctor again"])
    return found


def read_compiled(name: str, kind: type[File]) -> File | None:
    """A compiled file, None when there is none or it is of another version."""
    try:
        return msgspec.json.decode((DATA / name).read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


def write_cache(name: str, content: bytes) -> None:
    """Write the cache, atomically; a read-only checkout works without one."""
    import contextlib
    import tempfile

    with contextlib.suppress(OSError):
        DATA.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=DATA, delete=False) as file:
            file.write(content)
        Path(file.name).replace(DATA / name)


def compile_library() -> Library:
    """Read and check all YAML. Imports pydantic, YAML and CEL."""
    from gpudoctor.library.compile import compile_files

    made, problems = compile_files()
    if problems:
        raise BrokenLibrary([str(problem) for problem in problems])
    return made


def compile_programs() -> bytes:
    """The conditions that were checked with the library, as CEL executes them."""
    from gpudoctor.runbook.conditions import SHAPE, serialize_expressions

    return msgspec.msgpack.encode(Programs(SHAPE, serialize_expressions()))


def compile_xids() -> Book:
    """Read and check the book of Xids. Imports YAML."""
    from gpudoctor.library.xids import load

    made, problems = load(xids_file())
    if made is None or problems:
        raise BrokenLibrary([str(problem) for problem in problems])
    return made


def literals() -> dict[str, list[str]]:
    """Name of a known message → texts of which every line of it has one."""
    return library().literals


def texts() -> dict[str, list[str]]:
    """Name of a known message → its literals as plain texts in lower case."""
    return library().texts


def settings() -> list[Known]:
    """The variables by which a distributed job communicates."""
    return library().settings


def messages() -> list[KnownMessage]:
    """The known messages."""
    return library().messages


def harmless() -> list[KnownMessage]:
    """The lines that say trouble where there is none."""
    return library().harmless
