"""The build hook: what a wheel holds beside the code, under `gpudoctor/_data`.

A wheel reads no YAML to diagnose: the runbooks, the catalogue and the known messages are checked and compiled here into one index, and
any problem in them fails the build. The YAML itself comes along to be read by people, and the bundles that `gpudoctor demo` replays.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

DATA = Path("gpudoctor/_data")


class DataHook(BuildHookInterface):
    """Adds the data to a wheel. An editable installation reads its checkout instead, and an sdist holds the sources of everything."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built; `version` is `standard` or `editable`."""
        if version == "editable":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root / "src"))  # this checkout's gpudoctor, wherever another one is installed
        self.folder = tempfile.TemporaryDirectory(prefix="gpudoctor-build-")
        made = {name: Path(self.folder.name, name) for name in ("index.json", "xids.json", "programs.msgpack")}
        for name, content in compiled().items():
            made[name].write_bytes(content)
        files = {path: name for name, path in made.items()} | data_files(root)
        build_data["force_include"] |= {str(source): str(DATA / target) for source, target in files.items()}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called when the wheel is written."""
        if version != "editable":
            self.folder.cleanup()


def compiled() -> dict[str, bytes]:
    """The compiled forms of all declarative files, by name. Raises `BrokenLibrary` with every problem in them."""
    import msgspec

    from gpudoctor.library.index import Compiled, CompiledXids, compile_library, compile_programs, compile_xids

    return {
        "index.json": msgspec.json.encode(Compiled([], compile_library())),
        "xids.json": msgspec.json.encode(CompiledXids([], compile_xids())),
        "programs.msgpack": compile_programs(),  # of the library that was just compiled
    }


def data_files(root: Path) -> dict[Path, str]:
    """The files of a checkout that go into the wheel as they are, each with its place under the data folder."""
    from gpudoctor.cli.scenarios import SCENARIOS
    from gpudoctor.probes import transcript

    books = [path for path in (root / "runbooks").rglob("*.yaml") if not path.name.endswith(".test.yaml")]
    fixtures = root / "tests" / "fixtures"
    texts = [fixtures / f"{scenario.bundle}.txt" for scenario in SCENARIOS.values()]
    bundles = {file for text in texts for file in (text, *transcript.shared_files(text))}
    return {path: str(path.relative_to(root)) for path in books} | {path: f"fixtures/{path.relative_to(fixtures)}" for path in bundles}
