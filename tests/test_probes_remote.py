"""Many commands in one round trip: the script under every POSIX shell there is, and the far side as hostile as it can be."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.probes import remote, round_trips
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.frames import Cutter
from gpudoctor.probes.process import Child
from gpudoctor.probes.remote import NoWay

SHELLS = {"dash": ["dash", "-s"], "bash": ["bash", "-s"], "busybox": ["busybox", "sh", "-s"], "mksh": ["mksh", "-s"], "ksh": ["ksh", "-s"]}
HERE = [name for name, argv in SHELLS.items() if shutil.which(argv[0])]


class Local:
    """A wire to a shell on this machine."""

    opened = 0

    def __init__(self, script: bytes, argv: Sequence[str] = ("sh", "-s"), path: str = "") -> None:
        type(self).opened += 1
        self.child = Child(argv, script, {"PATH": path} if path else {})

    @property
    def ended(self) -> bool:
        return self.child.ended

    def read(self, seconds: float) -> list[tuple[int, bytes]]:
        return self.child.read(seconds)

    def why(self) -> NoWay:
        return NoWay("broken", f"the shell ended with {self.child.exit}")

    def close(self) -> None:
        if self.child.ended:
            self.child.close()
        else:
            self.child.stop()


def command(*argv: str, timeout: float = 10.0) -> Command:
    return Command(argv, host="gpu-07", timeout=timeout)


def ask(*commands: Command, shell: str = "", path: str = "") -> dict[str, Output]:
    """The answers by command line."""
    argv = SHELLS[shell] if shell else ["sh", "-s"]
    answers = list(round_trips.ask("gpu-07", commands, lambda script, _: Local(script, argv, path)))
    assert sorted(output.command.argv for output in answers) == sorted(each.argv for each in commands)
    return {output.command.shown: output for output in answers}


# ---- the script


@pytest.mark.parametrize("shell", HERE)
def test_every_shell_gives_the_same(shell: str) -> None:
    answers = ask(
        command("printf", "no newline"),
        command("sh", "-c", "echo out; echo err >&2; exit 9"),
        command("echo", "it's", "$(touch x)", "`id`", "*", "a  b", "\\n", "-n", ""),
        command("true"),
        command("cat"),
        command("nosuch-program", "-q"),
        command("/etc"),
        command("sh", "-c", "kill -SEGV $$"),
        shell=shell,
    )
    first, second, words, quiet, cat, absent, folder, killed = answers.values()
    assert (first.pages, first.stderr, first.exit, first.failure) == ((b"no newline",), b"", 0, "")
    assert (second.text, second.stderr, second.exit, second.failure) == ("out\n", b"err\n", 9, "")
    assert words.text == "it's $(touch x) `id` * a  b \\n -n \n"
    assert (quiet.pages, quiet.exit) == ((b"",), 0)
    assert (cat.pages, cat.exit) == ((b"",), 0)  # its stdin is empty: it can't eat the script
    assert (absent.failure, absent.reason) == ("not-found", "nosuch-program: command not found on gpu-07")
    assert folder.failure == "refused"
    assert killed.exit == 139
    assert all(abs(output.time - time.time()) < 30 for output in answers.values())


@pytest.mark.parametrize("shell", HERE)
def test_a_program_that_hangs_is_not_started_again(shell: str) -> None:
    answers = ask(
        command("sleep", "30", timeout=1),
        command("sleep", "31", timeout=1),
        command("echo", "x"),
        command("sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done", timeout=1),
        shell=shell,
    )
    hung, again, other, deaf = answers.values()
    assert hung.failure == "timeout"
    assert hung.reason == "sleep did not answer within 1 s"
    assert 0.9 < hung.seconds < 20
    assert (again.failure, again.reason) == ("timeout", "not asked: sleep did not answer before")
    assert (other.text, other.failure) == ("x\n", "")
    assert deaf.failure == "timeout"


def test_one_file_that_hangs_says_nothing_of_another(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hangs")
    (tmp_path / "file").write_text("fine\n")
    answers = ask(command("cat", str(tmp_path / "hangs"), timeout=1), command("cat", str(tmp_path / "file")))
    hangs, file = answers.values()
    assert (hangs.failure, file.text) == ("timeout", "fine\n")


def test_what_is_printed_comes_through_byte_by_byte() -> None:
    data = bytes(range(256)) * 20_000 + "é".encode()[:1]
    octal = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 20000 + b'\\xc3'); sys.stderr.buffer.write(b'\\0\\xff')"
    (output,) = ask(command("python3", "-c", octal)).values()
    assert output.pages == (data,)
    assert output.stderr == b"\0\xff"
    assert output.text.endswith("�")


def test_too_much_is_cut_and_the_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "LIMIT", 1 << 20)
    before = Local.opened
    flood, after = ask(command("sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"), command("echo", "x")).values()
    assert (flood.failure, flood.reason) == ("too-large", "sh printed more than 1 MiB")
    assert len(flood.pages[0]) == 1 << 20
    assert after.text == "x\n"
    assert Local.opened == before + 2


def without_timeout(folder: Path) -> str:
    """A PATH of a machine that has no timeout(1)."""
    for name in ("sh", "sleep", "echo", "date", "cat", "true"):
        (folder / name).symlink_to(shutil.which(name) or "/bin/false")
    (folder / "timeout").write_text("#!/bin/sh\nexit 127\n")
    (folder / "timeout").chmod(0o755)
    return str(folder)


def test_what_cannot_be_ended_is_left_behind_and_the_rest_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "GRACE", 0.5)
    before, started = Local.opened, time.monotonic()
    answers = ask(
        command("echo", "first"),
        command("sh", "-c", "echo half; sleep 30", timeout=0.5),
        command("sh", "-c", "echo the same program"),
        command("echo", "last"),
        path=without_timeout(tmp_path),
    )
    first, stuck, same, last = answers.values()
    assert (first.text, last.text) == ("first\n", "last\n")
    assert stuck.failure == "unkillable"
    assert stuck.text == "half\n"
    assert stuck.reason == "sh did not answer within 0.5 s, could not be ended and was left behind on gpu-07"
    assert same.reason == "not asked: sh did not answer before"
    assert Local.opened == before + 2
    assert time.monotonic() - started < 15


def test_what_hangs_takes_no_time_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "SLOW", 0.3)
    before, started = Local.opened, time.monotonic()
    commands = [
        command("echo", "first"),
        command("sleep", "20", timeout=2),
        command("sleep", "21", timeout=2),
        command("sh", "-c", "trap '' TERM; while :; do sleep 1; done", timeout=2),
        command("tail", "-f", "/dev/null", timeout=2),
        command("echo", "last"),
    ]
    answers = round_trips.ask("gpu-07", commands, lambda script, _: Local(script))
    came = [(output.command.shown, output.failure, time.monotonic() - started) for output in answers]
    assert [shown for shown, _, _ in came][:2] == ["echo first", "echo last"]
    assert came[1][2] < 2  # before any of the three was given up
    assert sorted(shown for shown, failure, _ in came if failure == "timeout") == sorted(one.shown for one in commands[1:-1])
    assert came[-1][2] < 8  # their times run beside each other, where one after the other would be 7 s and the logins
    assert Local.opened == before + 4


def test_what_is_slow_is_overtaken_and_its_program_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "SLOW", 0.3)
    answers = ask(command("sh", "-c", "sleep 1; echo slow"), command("sh", "-c", "echo again"), command("echo", "x"))
    assert [output.text for output in answers.values()] == ["x\n", "slow\n", "again\n"]


def test_a_host_that_lets_nobody_in_beside_the_first_is_asked_when_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(round_trips, "SLOW", 0.2)
    wires: list[Local] = []

    def connect(script: bytes, _: float) -> Local:
        if wires and wires[-1].child.process.poll() is None:
            raise NoWay("unreachable", "full")
        wires.append(Local(script))
        return wires[-1]

    hung, other = round_trips.ask("gpu-07", [command("sleep", "20", timeout=1), command("echo", "x")], connect)
    assert (hung.failure, other.text) == ("timeout", "x\n")


def test_a_grandchild_that_keeps_the_streams_open_holds_nobody() -> None:
    started = time.monotonic()
    first, second = ask(command("sh", "-c", "(sleep 20; echo late)& echo started"), command("echo", "x")).values()
    assert (first.text, second.text) == ("started\n", "x\n")
    assert time.monotonic() - started < 15


def test_half_a_script_runs_nothing() -> None:
    whole = remote.script("T" * 32, [command("touch", "/nonexistent/x"), command("echo", "x")])
    for cut in range(whole.index(b"\n{\n") + 3, len(whole) - 2, 7):
        child = Child(["sh", "-s"], whole[:cut])
        printed = b""
        while not child.ended:
            printed += b"".join(chunk for _, chunk in child.read(1))
        child.close()
        assert b"begin" not in printed


# ---- a far side that is hostile or ill


class Scripted:
    """A wire that says what a test wants; `{T}` in it is the token of the round trip."""

    def __init__(self, script: bytes, pieces: Sequence[tuple[int, bytes]], ends: bool = True) -> None:
        token = script.split(b"\n", 1)[0].removeprefix(b"token=")
        self.pieces = [(stream, piece.replace(b"{T}", token)) for stream, piece in pieces]
        self.ends, self.ended, self.closed = ends, False, False

    def read(self, seconds: float) -> list[tuple[int, bytes]]:
        if self.pieces:
            return [self.pieces.pop(0)]
        self.ended = self.ends
        if not self.ended:
            time.sleep(min(seconds, 0.01))
        return []

    def why(self) -> NoWay:
        return NoWay("unreachable", "closed")

    def close(self) -> None:
        self.closed = True


def scripted(*trips: Sequence[tuple[int, bytes]], ends: bool = True) -> Callable[[bytes, float], Scripted]:
    left = list(trips)
    return lambda script, _: Scripted(script, left.pop(0) if len(left) > 1 else left[0], ends)


def both(text: bytes) -> list[tuple[int, bytes]]:
    return [(1, text), (2, text)]


WHOLE = [
    (1, b"motd\n{T} 1.00 hello 100\n{T} 1.00 begin 0\n"),
    (2, b"{T} 1.00 hello 100\n{T} 1.00 begin 0\nwarn{T} 2.50 end 0 3\n{T} 2.50 bye\n"),
]
WHOLE += [(1, b"a\0b{T} 2.50 end 0 3\n{T} 2.50 bye\n")]


def test_the_frames_and_the_clock() -> None:
    (output,) = round_trips.ask("gpu-07", [command("x")], scripted(WHOLE))
    assert (output.pages, output.stderr, output.exit, output.seconds, output.time) == ((b"a\0b",), b"warn", 3, 1.5, 101.5)


@settings(max_examples=60, derandomize=True)
@given(st.data())
def test_however_the_bytes_are_cut(data: st.DataObject) -> None:
    def connect(script: bytes, _: float) -> Scripted:
        wire = Scripted(script, WHOLE)
        streams = {stream: b"".join(piece for number, piece in wire.pieces if number == stream) for stream in (1, 2)}
        wire.pieces = []
        while any(streams.values()):
            stream = data.draw(st.sampled_from([number for number, left in streams.items() if left]))
            size = data.draw(st.integers(1, 40))
            wire.pieces.append((stream, streams[stream][:size]))
            streams[stream] = streams[stream][size:]
        return wire

    (output,) = round_trips.ask("gpu-07", [command("x")], connect)
    assert (output.pages, output.stderr, output.exit) == ((b"a\0b",), b"warn", 3)


def test_a_host_that_closes_in_the_middle() -> None:
    begun = both(b"{T} 1 hello 1\n{T} 1 begin 0\nhalf")
    lost, after = round_trips.ask("gpu-07", [command("x"), command("y")], scripted(begun, WHOLE))
    assert (lost.failure, lost.text) == ("broken", "half")
    assert "the connection to gpu-07 was lost while x ran: closed" in lost.reason
    assert (after.command.argv, after.exit) == (("y",), 3)


def test_a_host_that_always_closes_is_left_alone() -> None:
    outputs = list(round_trips.ask("gpu-07", [command(str(number)) for number in range(9)], scripted(both(b"{T} 1 hello 1\n"))))
    assert len(outputs) == 9
    assert {output.reason for output in outputs} == {"not asked: 4 round trips to gpu-07 ended early"}


def test_no_shell_at_all() -> None:
    with pytest.raises(NoWay, match="closed"):
        list(round_trips.ask("gpu-07", [command("x")], scripted([(1, b"This account is not available.\n")])))
    with pytest.raises(NoWay, match="gpu-07 did not answer within"):
        list(round_trips.ask("gpu-07", [command("x", timeout=0.1)], scripted([(2, b"...")], ends=False)))
    with pytest.raises(NoWay, match=r"gpu-07 did not answer within 0\.1 s"):
        list(round_trips.ask("gpu-07", [command("x", timeout=9.0)], scripted([], ends=False), 0.1))


MARKS = st.builds(
    lambda up, kind, number, code: f"{{T}} {up} {kind} {number}{code}\n".encode(),
    st.sampled_from(["1.0", "nan", "-1", "1e99", "9" * 40, ""]),
    st.sampled_from(["hello", "begin", "end", "skip", "bye", "BEGIN", ""]),
    st.sampled_from(["", "0", "1", "2", "-1", "99", "1" * 30, "x"]),
    st.sampled_from(["", " 0", " 124", " 999999", " x", " 1 2 3"]),
)
PIECES = st.tuples(st.sampled_from([1, 2]), st.one_of(MARKS, st.binary(max_size=20), st.just(b"{T}"), st.just(b"{T} " + b"z" * 300)))


@settings(max_examples=150, derandomize=True)
@given(st.lists(PIECES, max_size=20))
def test_hostile_marks_never_raise_and_every_command_is_answered_at_most_once(pieces: list[tuple[int, bytes]]) -> None:
    commands = [command(name) for name in ("a", "b", "c")]
    try:
        outputs = list(round_trips.ask("gpu-07", commands, scripted(pieces)))
    except NoWay:
        return
    assert sorted(output.command.argv for output in outputs) == [("a",), ("b",), ("c",)]


def test_a_mark_that_never_ends_is_bounded_and_linear() -> None:
    cutter = Cutter("T" * 32)
    started = time.monotonic()
    kept = 0
    for _ in range(200):
        kept += sum(len(piece) for piece in cutter.feed(b"T" * 32 + b" " + b"x" * (1 << 16)) if isinstance(piece, bytes))
    assert len(cutter.held) < 300
    assert kept >= 199 << 16
    assert time.monotonic() - started < 20


def test_a_reader_that_leaves_early_closes_the_wire() -> None:
    wires: list[Scripted] = []

    def connect(script: bytes, _: float) -> Scripted:
        wires.append(Scripted(script, WHOLE, ends=False))
        return wires[-1]

    answers: Iterator[Output] = round_trips.ask("gpu-07", [command("x"), command("y")], connect)
    assert next(answers).exit == 3
    answers.close()  # type: ignore[attr-defined]
    assert wires[0].closed
