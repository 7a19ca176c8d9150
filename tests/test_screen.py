"""The last lines of a report on a terminal of 24 rows and 80 columns: the answer, as a person sees it.

`GPUDOCTOR_UPDATE=1 pytest tests/test_screen.py` renews the golden screens.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from gpudoctor.cli.scenarios import SCENARIOS

GOLDEN = Path(__file__).parent / "golden" / "screens"
ROWS, COLUMNS = 24, 80
WORDS = 60  # from the verdict to the first command
COMMAND = re.compile(r"  (fix|or|then|verify|after|look|check) ")  # a command, or what to put in or do
VERDICT = re.compile(r"(HEALTHY|PROBLEM|INCONCLUSIVE)(  |$)")


def on_terminal(*words: str) -> str:
    """What gpudoctor prints on a terminal."""
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "gpudoctor", *words]
    with subprocess.Popen(command, stdin=there, stdout=there, stderr=subprocess.DEVNULL, env=environment) as running:
        os.close(there)
        printed = b""
        while True:
            try:
                more = os.read(here, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            printed += more
        os.close(here)
        running.wait(timeout=60)
    return printed.decode().replace("\r\n", "\n")


def brief(answer: list[str]) -> None:
    """Few words and lines stand before the first command."""
    before = answer[: next((number for number, line in enumerate(answer) if COMMAND.match(line)), len(answer))]
    assert len(" ".join(before).split()) <= WORDS
    assert len(before) <= 25


def piped(*words: str, **environment: str) -> str:
    """What gpudoctor prints into a pipe that is as wide as the terminal."""
    given = {**os.environ, "COLUMNS": str(COLUMNS), **environment}
    command = [sys.executable, "-m", "gpudoctor", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=given).stdout


def answer_of(text: str) -> list[str]:
    """The lines from the verdict on."""
    lines = text.rstrip("\n").split("\n")
    return lines[max(number for number, line in enumerate(lines) if VERDICT.match(line)) :]


@pytest.mark.parametrize("demo", SCENARIOS)
def test_the_answer_of_a_demo_is_the_last_screen(demo: str) -> None:
    answer = answer_of(on_terminal("demo", demo))
    assert sum(-(-len(line) // COLUMNS) for line in answer) < ROWS  # a long command takes several, the prompt one
    assert all(COMMAND.match(line) for line in answer if len(line) > COLUMNS)
    assert not [line for line in answer if "…" in line and not re.search("^ {11}|  seen in", line)]  # only lines of programs are cut
    brief(answer)
    path = GOLDEN / f"{demo}.txt"
    text = "".join(f"{line}\n" for line in answer)
    if os.environ.get("GPUDOCTOR_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("demo", SCENARIOS)
def test_in_a_pipe_the_same_answer_comes_first(demo: str) -> None:
    text = piped("demo", demo)
    assert VERDICT.match(text)
    answer = text.split("\n\n")[0].split("\n")
    brief(answer)
    shown = answer_of(on_terminal("demo", demo))
    assert " ".join(" ".join(answer).split()) == " ".join(" ".join(shown).split())  # but for the width
    assert set(text.split("\n\n")[1:]) == set(piped("demo", demo).split("\n\n")[1:])


def test_details_stand_above_the_answer_and_nothing_is_lost() -> None:
    text = on_terminal("demo", "teams")
    assert text.index("2. ") < text.rindex("PROBLEM")
    assert "affinity-mismatch" in text[: text.rindex("PROBLEM")]


@pytest.mark.parametrize(
    ("name", "begins"), [("a.html", "<!DOCTYPE html>"), ("a.json", "{"), ("a.md", "#"), ("a.xml", "<?xml"), ("a.txt", "PROBLEM")]
)
def test_the_file_of_a_report_has_the_form_of_its_ending(name: str, begins: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor", "demo", "taint", "-o", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, f"report written to {tmp_path / name} (verdict: problem)\n")
    assert (tmp_path / name).read_text().lower().startswith(begins.lower())


def test_with_v_and_in_a_pipe_the_verdict_comes_first() -> None:
    assert VERDICT.match(on_terminal("demo", "taint", "-v").lstrip())
    assert VERDICT.match(piped("demo", "taint"))


def test_short_is_one_line_for_each_cause() -> None:
    lines = piped("demo", "teams", "--short").splitlines()
    rows = [line.split(maxsplit=4) for line in lines]
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("problem", "gpu-fallen-off-bus", "confirmed"),
        ("problem", "affinity-mismatch", "confirmed"),
    ]
    assert rows[0][1].startswith("gpu-01/GPU-")
    assert rows[0][4].startswith("kubectl drain gpu-01 ")
    assert on_terminal("demo", "teams", "--short").splitlines() == lines
    assert piped("demo", "healthy", "--short").split()[:2] == ["healthy", "pod_ml/train-0"]
    assert piped("demo", "teams", "--short", "--format", "short").splitlines() == lines


def test_colours_are_for_terminals_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = piped("demo", "taint")
    assert "\x1b[" not in plain
    forced = piped("demo", "taint", CLICOLOR_FORCE="1")
    assert "\x1b[1;31mPROBLEM" in forced
    bare = re.sub(r"\x1b\[[0-9;]*m", "", forced)
    assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()  # no meaning by colour alone
    for quiet in ({"CLICOLOR_FORCE": "0"}, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}):
        assert piped("demo", "taint", **quiet) == plain
    assert piped("demo", "taint", "--no-color", CLICOLOR_FORCE="1") == plain


def test_a_paste_of_which_nothing_is_known_says_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing that anybody knows\n")
    answer = answer_of(on_terminal("analyze", str(tmp_path / "a.txt")))
    assert answer[0].startswith("INCONCLUSIVE")
    assert any(line.startswith("  next") for line in answer)
