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


def answer_of(text: str) -> list[str]:
    """The lines from the verdict on."""
    lines = text.rstrip("\n").split("\n")
    return lines[max(number for number, line in enumerate(lines) if VERDICT.match(line)) :]


@pytest.mark.parametrize("demo", SCENARIOS)
def test_the_answer_of_a_demo_is_the_last_screen(demo: str) -> None:
    answer = answer_of(on_terminal("demo", demo))
    assert len(answer) < ROWS  # the prompt has a row too
    assert max(map(len, answer)) <= COLUMNS or any(line.startswith("  type") for line in answer if len(line) > COLUMNS)
    before = answer[: next((number for number, line in enumerate(answer) if line.startswith(("  type", "  put in", "  do "))), len(answer))]
    assert len(" ".join(before).split()) <= WORDS
    path = GOLDEN / f"{demo}.txt"
    text = "".join(f"{line}\n" for line in answer)
    if os.environ.get("GPUDOCTOR_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


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
    piped = subprocess.run(
        [sys.executable, "-m", "gpudoctor", "demo", "taint"], capture_output=True, text=True, check=False, timeout=60
    ).stdout
    assert VERDICT.match(piped)


def test_a_paste_of_which_nothing_is_known_says_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("nothing that anybody knows\n")
    answer = answer_of(on_terminal("analyze", str(tmp_path / "a.txt")))
    assert answer[0].startswith("INCONCLUSIVE")
    assert any(line.startswith("  next") for line in answer)
