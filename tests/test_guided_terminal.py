"""The guided dialogue in a real terminal: tmux types every key, and what is on the screen is what a person would read."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from gpudoctor.cli.scenarios import SCENARIOS
from gpudoctor.cli.sessions import State
from gpudoctor.probes.bundle import load

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: the dialogue is not tried in a terminal")

ROOT = Path(__file__).parents[1]
PATIENCE = 60.0  # seconds for a text to appear on a busy machine

# A machine: its kernel log, an nvidia-smi that hangs while the file `hang` is there, and a diagnostic that notes that it ran.
PROGRAMS = {
    "dmesg": "echo '2026-03-01T11:31:07,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 13, pid=7, name=python3, Graphics Exception'",
    "nvidia-smi": 'while [ -e "$MACHINE/hang" ]; do sleep 0.1; done; echo "No devices were found"; exit 6',
    "dcgmi": 'echo ran >> "$MACHINE/diagnosed"; echo "{}"',
}
RUNBOOK = """\
schema: 1
id: machine
title: A machine
status: experimental
steps:
  - id: log
    title: Read the kernel log
    why: The driver writes what happened to a GPU only here.
    run: [dmesg]
    parse: kernel.log
    checks:
      - {id: lost, each: xid in xids, when: xid.code == 79, finds: gpu-fallen-off-bus, title: 'Xid 79: the GPU fell off the bus'}
  - id: lamp
    title: Look at the front
    why: The lamp lights for faults that the software can't see.
    when: '!found.lost'
    ask: Is the amber fault LED lit?
    choices: {lit: 'Yes, amber', dark: 'No'}
    checks:
      - {id: lit, each: a in answers, when: a.choice == "lit", finds: gpu-hardware-failure, title: The fault LED is lit}
  - id: smi
    title: Ask nvidia-smi
    why: What it counts is compared with the bus.
    run: [nvidia-smi, -L]
    parse: nvidia.smi
  - id: diag
    title: Run the diagnostic
    why: Only work shows whether a GPU can work.
    effect: disruptive
    run: [dcgmi, diag, -r, "1", -j]
    parse: dcgm.diag
"""


class Window:
    """One tmux window with a command in it."""

    def __init__(self, folder: Path, *words: str, columns: int = 80, rows: int = 24, **environment: str) -> None:
        self.home = tempfile.TemporaryDirectory(prefix="gpudoctor-")  # a socket's path is short
        self.folder, self.raw = folder, Path(self.home.name) / "raw"
        settings = {
            "XDG_STATE_HOME": str(folder / "state"),
            "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
            "MACHINE": str(folder),
            "LC_ALL": "C.UTF-8",
            **environment,
        }
        command = shlex.join(
            ["env", "-u", "NO_COLOR", "-u", "COLUMNS", "-u", "LINES", *(f"{key}={value}" for key, value in settings.items()), *words]
        )
        hold = f'{command}; echo "LEFT WITH $?"; exec sleep 1000'
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "cat")
        self.tmux("set-option", "-g", "history-limit", "100000")
        self.tmux("pipe-pane", f"cat > {shlex.quote(str(self.raw))}")
        self.tmux("respawn-pane", "-k", "-c", str(ROOT), hold)

    def tmux(self, *words: str) -> str:
        """One command to this window's own server."""
        return subprocess.run(["tmux", "-S", f"{self.home.name}/s", *words], check=True, capture_output=True, text=True, timeout=60).stdout

    def screen(self, history: bool = False) -> str:
        """What is to be seen, with long lines as they wrap; with `history` all that was."""
        return self.tmux("capture-pane", "-p", *(("-S", "-") if history else ()))

    def wait(self, *texts: str, history: bool = False) -> str:
        """The screen, once all texts are on it."""
        ends = time.monotonic() + PATIENCE
        while True:
            screen = self.screen(history)
            flat = " ".join(screen.split())
            if all(text in flat for text in texts):
                return screen
            assert time.monotonic() < ends, f"no {[text for text in texts if text not in flat]} in\n{screen}"
            time.sleep(0.1)

    def type(self, *lines: str) -> None:
        """Type lines, each with Return, each at a prompt."""
        for line in lines:
            self.prompted()
            if line:
                self.tmux("send-keys", "-l", line)
            self.tmux("send-keys", "Enter")

    def prompted(self) -> None:
        """Wait for a prompt."""
        ends = time.monotonic() + PATIENCE
        while not self.screen().rstrip().endswith((">", "to stop --")):
            assert time.monotonic() < ends, f"no prompt in\n{self.screen()}"
            time.sleep(0.05)

    def key(self, name: str) -> None:
        """Press one key, in tmux's name for it: C-c."""
        self.tmux("send-keys", name)

    def paste(self, path: Path, brackets: bool = True) -> None:
        """Paste a file, as a terminal does."""
        self.tmux("load-buffer", str(path))
        self.tmux("paste-buffer", *(("-p",) if brackets else ()))

    def close(self) -> None:
        """End the window and what runs in it."""
        subprocess.run(["tmux", "-S", f"{self.home.name}/s", "kill-server"], capture_output=True, check=False)
        self.home.cleanup()


Open = Callable[..., Window]


@pytest.fixture
def window(tmp_path: Path) -> Iterator[Open]:
    """Opens windows, and closes them in the end."""
    windows: list[Window] = []

    def opened(*words: str, columns: int = 80, rows: int = 24, **environment: str) -> Window:
        windows.append(Window(tmp_path, sys.executable, "-m", "gpudoctor", *words, columns=columns, rows=rows, **environment))
        return windows[-1]

    yield opened
    for one in windows:
        one.close()


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A runbook over programs that are scripts; returns its path."""
    (tmp_path / "bin").mkdir()
    for name, text in PROGRAMS.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "machine.yaml").write_text(RUNBOOK)
    return tmp_path / "machine.yaml"


def sessions(folder: Path) -> list[Path]:
    """The sessions of a test."""
    return sorted((folder / "state" / "gpudoctor" / "sessions").iterdir())


def state(folder: Path) -> State:
    """What the one session of a test holds."""
    (only,) = sessions(folder)
    return msgspec.json.decode((only / "session.json").read_bytes(), type=State)


READY = "q quit >"


def test_the_first_step_fits_on_the_first_screen(window: Open, tmp_path: Path) -> None:
    seen = window("demo", "taint", "--guided")
    rows = seen.wait("Step 1", READY).rstrip("\n").split("\n")
    name = sessions(tmp_path)[0].name
    assert rows[:2] == [f"Session {name}. Ctrl-C ends it at any time; go on with:", f"gpudoctor resume {name}"]
    assert rows[3].startswith("Step 1 of at most ")
    assert rows[3].endswith(": Read the pod")
    assert rows[4:] == [
        "  so far: no cause found yet",
        rows[5],  # why: a sentence of the runbook
        "  command: kubectl get pods train-0 --namespace ml -o json",
        "  where: a recorded incident: nothing is asked",
        "  changes: nothing, it only reads",
        "  takes: 30 s at most",
        "",
        "Return run, s skip, e explain, p paste, b back, n note, o output, q quit >",
    ]
    assert rows[5].startswith("  why: ")


def test_every_key_of_the_dialogue(window: Open, tmp_path: Path) -> None:
    seen = window("demo", "taint", "--guided")
    seen.wait("Step 1", READY)
    seen.type("help")
    seen.wait("skip: leaves the step out", "quit: ends with the report", "The first letter or the whole word")
    seen.type("x")
    seen.wait("There is no key 'x' here; ? says")
    seen.type("o")
    seen.wait("Nothing was read yet.")
    seen.type("n")
    seen.wait("Note, or Return for none >")
    seen.type("it began at noon")
    seen.type("note")
    seen.wait("diagnose-pod.pod: it began at noon")
    seen.type("")
    seen.type("explain")
    seen.wait("diagnose-pod.pod: Read the pod", "only when", "command: kubectl get pods train-0")
    seen.type("run")
    seen.wait("FOUND: 3 nodes have the taint", "Return go on, f fix, r retest")
    seen.type("f")
    seen.wait("Tolerate the taint", "Return for more, q to stop")
    seen.type("")
    seen.wait("gpudoctor runs none of these.")
    seen.type("o")
    seen.wait("$ kubectl get pods train-0", "more lines: Return for more, q to stop")
    seen.type("q")
    seen.type("n")
    seen.wait("Note, or Return for none >")
    seen.type("a taint it is")
    seen.type("r")
    seen.wait("Read: 1 container", "Step 1", history=True)
    seen.type("b")
    seen.wait("run takes that answer, again asks anew")
    seen.type("again")
    seen.wait("Return go on, f fix")
    seen.type("go on")
    seen.wait("Step 2", READY)
    seen.type("skip")
    seen.wait("No answer: skipped by the person who guides", "Step 3")
    seen.type("q")
    text = seen.wait("LEFT WITH 1", history=True)
    assert "Stopped; go on with: gpudoctor resume" in " ".join(text.split())
    assert "Note at diagnose-pod.pod: a taint it is" in " ".join(text.split())
    assert [one.did for one in state(tmp_path).decisions] == ["run", "skip"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_demo_is_gone_through_with_return_alone(name: str, window: Open, tmp_path: Path) -> None:
    seen = window("demo", name, "--guided", rows=50)
    seen.wait("Step 1", ">")
    for _ in range(1000):
        if "LEFT WITH" in seen.screen():
            break
        if seen.screen().rstrip().endswith((">", "to stop --")):
            seen.tmux("send-keys", "Enter")
        time.sleep(0.1)
    text = " ".join(seen.wait("LEFT WITH", history=True).split())
    assert "Done; the bundle is" in text
    verdict, code = ("HEALTHY", 0) if name == "healthy" else ("PROBLEM", 1)
    assert f"LEFT WITH {code}" in text
    assert verdict in text
    bundle = sessions(tmp_path)[0] / "bundle"
    replay = [sys.executable, "-m", "gpudoctor", "run", "--replay", str(bundle), "--format", "json"]
    done = subprocess.run(replay, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == code


@pytest.mark.parametrize("columns", [40, 80])
def test_nothing_is_lost_on_a_dumb_terminal_and_in_a_narrow_window(columns: int, window: Open) -> None:
    seen = window("demo", "taint", "--guided", columns=columns, rows=24, TERM="dumb")
    seen.wait("Step 1", READY)
    seen.type("")
    for _ in range(300):
        if "Return go on, f fix, r retest" in " ".join(seen.screen(history=True).split()):
            break
        if seen.screen().rstrip().endswith("to stop --"):
            seen.tmux("send-keys", "Enter")
        time.sleep(0.1)
    words = " ".join(seen.screen(history=True).split())
    assert "FOUND: 3 nodes have the taint nvidia.com/gpu that the pod does not tolerate" in words
    assert "\x1b" not in seen.raw.read_text()


def test_no_colour_when_none_is_wanted(window: Open) -> None:
    seen = window("demo", "taint", "--guided", "--no-color")
    seen.wait("Step 1", READY)
    assert "\x1b" not in seen.raw.read_text()


def test_a_session_that_was_killed_goes_on_where_it_was(window: Open, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "hang").touch()
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.type("")
    seen.wait("2 No", "3 I can't tell")
    seen.type("2", "")
    seen.wait("Step 3", "nvidia-smi -L", READY)
    seen.type("")
    seen.wait("Asking. Ctrl-C ends; the session stays.")
    lock = (sessions(tmp_path)[0] / "lock").read_text()
    other = window("resume")
    other.wait("there is no unfinished session", "LEFT WITH 2")
    other = window("resume", sessions(tmp_path)[0].name)
    other.wait("is open elsewhere", "LEFT WITH 2")
    os.kill(int(lock.split()[1]), signal.SIGKILL)
    seen.wait("LEFT WITH 137")
    (tmp_path / "hang").unlink()
    again = window("resume")
    again.wait("2 steps are as you decided before", "Step 3", "nvidia-smi -L", READY)
    assert "Read the kernel log" not in again.screen(history=True)
    again.type("")
    again.wait("Step 4", "IT DISTURBS RUNNING WORK", "yes runs it")
    again.type("s")
    text = again.wait("LEFT WITH", history=True)
    assert "Done" in text
    assert not (tmp_path / "diagnosed").exists()


def test_what_disturbs_needs_the_word_yes(window: Open, machine: Path, tmp_path: Path) -> None:
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.type("")
    seen.wait("I can't tell")
    seen.type("dark", "")
    seen.wait("Step 3", READY)
    seen.type("")
    seen.wait("yes runs it")
    seen.type("", "y", "run")
    seen.wait("type the word yes to run it")
    assert not (tmp_path / "diagnosed").exists()
    seen.type("yes")
    seen.wait("LEFT WITH")
    assert (tmp_path / "diagnosed").read_text() == "ran\n"


def test_a_question_is_answered_by_number_and_noted(window: Open, machine: Path, tmp_path: Path) -> None:
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.type("")
    seen.wait("Is the amber fault LED lit?", "1 Yes, amber", "2 No", "3 I can't tell")
    seen.type("7")
    seen.wait("There is no key '7' here; ? says")
    seen.type("1")
    seen.wait("A note to it, or Return for none >")
    seen.type("left supply")
    seen.wait("FOUND: The fault LED is lit", "Yes, amber (left supply)")
    seen.key("C-c")
    seen.wait("The session is kept: gpudoctor resume", "LEFT WITH 130")
    assert [one.did for one in state(tmp_path).decisions] == ["run", "answer"]


@pytest.mark.parametrize("brackets", [True, False])
def test_five_megabytes_are_pasted(brackets: bool, window: Open, machine: Path, tmp_path: Path) -> None:
    line = "2026-03-01T11:31:07,412309+00:00 kernel: [drm] a line that says nothing of a GPU\n"
    lost = "2026-03-01T11:31:09,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    text = line * 30_000 + "2026-03-01T11:31:08,412309+00:00 " + "x" * 20_000 + "\n.\n.. a dot that ends nothing\n" + line * 33_000 + lost
    if not brackets:  # then a line with only a dot is the end
        text = text.replace("\n.\n", "\n")
    assert len(text) > 5_000_000
    (tmp_path / "log.txt").write_text(text)
    seen = window("run", str(machine), "--guided", TERM="screen" if brackets else "dumb")
    seen.wait("Step 1", READY)
    seen.type("p")
    seen.wait("Return to paste, or @FILE >")
    seen.type("")
    seen.wait("End with a line that has only a dot")
    seen.paste(tmp_path / "log.txt", brackets)
    seen.tmux("send-keys", ".", "Enter")
    seen.wait(f"{len(text)} bytes", "FOUND: Xid 79: the GPU fell off the bus")
    bundle = sessions(tmp_path)[0] / "bundle"
    (answer,) = load(bundle).outputs
    assert answer.via == "pasted"
    assert (bundle / answer.stdout[0]).read_text() == text


def test_a_file_is_taken_for_an_output_and_a_paste_in_the_wrong_place_is_not_read(window: Open, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(
        "2026-03-01T11:31:09,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid=1, GPU has fallen off the bus.\n" * 50
    )
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.paste(tmp_path / "log.txt", brackets=False)
    seen.wait("That looks like pasted text, and was not read: press p first.")
    seen.type("p")
    seen.wait("Return to paste, or @FILE >")
    seen.type("@/nowhere/at/all")
    seen.wait("/nowhere/at/all can't be read: No such file or directory", "Nothing was taken.")
    seen.type("paste")
    seen.type(f"@{tmp_path / 'log.txt'}")
    seen.wait("FOUND: Xid 79: the GPU fell off the bus")


def test_what_is_pasted_at_once_is_read_from_its_first_line(window: Open, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(
        "2026-03-01T11:31:09,412309+00:00 NVRM: Xid (PCI:0000:ab:00): 79, pid=1, GPU has fallen off the bus.\n"
        "2026-03-01T11:31:10,412309+00:00 last line\n.\n"
    )
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.type("p")
    seen.wait("Return to paste, or @FILE >")
    seen.paste(tmp_path / "log.txt", brackets=False)
    seen.wait("FOUND: Xid 79: the GPU fell off the bus")


def test_a_line_that_the_terminal_may_have_cut_is_not_taken(window: Open, machine: Path, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("x" * 6000 + "\n" + "y\n" * 20)
    seen = window("run", str(machine), "--guided")
    seen.wait("Step 1", READY)
    seen.type("p")
    seen.wait("Return to paste, or @FILE >")
    seen.paste(tmp_path / "log.txt", brackets=False)
    seen.wait("press Return here first, then paste.", READY)
