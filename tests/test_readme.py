"""The README shows what the program prints, and names only what there is."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from gpudoctor.cli.pages import numbered
from gpudoctor.library import index
from tests.kube.record import ROOT
from tests.test_screen import answer_of, on_terminal

README = (ROOT / "README.md").read_text(encoding="utf-8")


def gpudoctor(*words: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run([sys.executable, "-m", "gpudoctor", *words], capture_output=True, text=True, env=environment, timeout=60)


def test_the_run_it_shows_is_the_run() -> None:
    shown = README.split("$ gpudoctor diagnose pod train-0 -n ml\n")[1].split("```")[0]
    above, _, answer = shown.partition("…\n\n")
    assert not above
    assert answer == "".join(f"{line}\n" for line in answer_of(on_terminal("demo", "lost-gpu")))


def test_the_numbers_it_names_are_right() -> None:
    library = index.library()
    assert f"{len(library.runbooks)} runbooks with " in README
    assert numbered(README, library) == README, "run `make docs`"
    assert numbered(README.replace(f"{len(library.causes)} causes and", "1 causes and"), library) == README


def test_every_command_it_shows_exists() -> None:
    for command in sorted(set(re.findall(r"gpudoctor ((?:diagnose pod|analyze|run|explain|show|list|demo))", README))):
        assert gpudoctor(*command.split(), "--help").returncode == 0, command
    for target in re.findall(r"\$ make ([\w-]+)", README):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), target


def test_every_file_it_links_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_its_pictures_are_of_this_program() -> None:
    """The words of a report change often, and its pictures with `make pictures`; the cause and the command stay."""
    drawn = (ROOT / "docs/pictures/terminal.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    for words in ("PROBLEM", "gpu-fallen-off-bus", "kubectl drain gpu-01"):
        assert words in drawn, "run `make pictures`"
    assert "http" not in drawn.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")  # nothing is asked of a network
    assert all(picture.stat().st_size < 300_000 for picture in (ROOT / "docs/pictures").iterdir())
