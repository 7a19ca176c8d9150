"""One budget of time and bytes for all that is read: what doesn't come back to the clock is interrupted, what was read before counts."""

from __future__ import annotations

import errno
import gzip
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gpudoctor import cores
from gpudoctor.analyze.gather import gather
from gpudoctor.engine.overall_verdict import is_understood
from gpudoctor.intake import budget, files, mounts, recorded_bundles, section_facts, walk
from gpudoctor.intake.budget import PARTLY, UNREAD, Budget, TimeUp, interrupted_at
from gpudoctor.intake.split import Section
from gpudoctor.report import InputFile

XID = "[   13.000001] NVRM: Xid (PCI:0000:1b:00): 79, pid=7, GPU has fallen off the bus.\n"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "GRACE", 0.1)
    monkeypatch.setattr(budget, "AGAIN", 0.1)


@pytest.mark.usefixtures("hasty")
def test_a_regular_expression_that_never_ends_is_interrupted() -> None:
    one = Budget(60)
    started = time.monotonic()
    with pytest.raises(TimeUp, match="not read to its end"):
        one.spend(started + 0.1, lambda: re.match(r"(a+)+$", "a" * 60 + "b"))
    assert time.monotonic() - started < 5
    assert not one.up  # the others still have time
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_what_must_be_interrupted_leaves_time_for_what_comes_after() -> None:
    one = Budget(2)
    with pytest.raises(TimeUp):
        one.spend(one.left(0.5), lambda: time.sleep(5))
    assert one.seconds > 0.1


@pytest.mark.usefixtures("hasty")
def test_an_interruption_that_is_swallowed_comes_again() -> None:
    def stubborn() -> None:
        with suppress(BaseException):
            time.sleep(5)
        time.sleep(5)

    started = time.monotonic()
    with pytest.raises(TimeUp):
        Budget(60).spend(started, stubborn)
    assert time.monotonic() - started < 3


@pytest.mark.usefixtures("hasty")
def test_what_stands_in_another_does_not_lose_the_others_alarm() -> None:
    started = time.monotonic()
    one = Budget(60)

    def outer() -> None:
        with interrupted_at(started + 30):
            pass
        time.sleep(10)

    with pytest.raises(TimeUp):
        one.spend(started + 0.2, outer)
    assert time.monotonic() - started < 5


def test_each_takes_half_of_what_is_left_and_the_last_all() -> None:
    one = Budget(100)
    one.turns = 2
    assert 49 < one.turn() - time.monotonic() < 51
    assert one.turn() == pytest.approx(one.end)


@pytest.mark.usefixtures("hasty")
def test_a_text_that_no_parser_gets_through_leaves_time_for_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    really = section_facts.read

    def slow(section: Section, now: float) -> section_facts.SectionRead:
        if "slow" in section.path:
            time.sleep(60)
        return really(section, now)

    monkeypatch.setattr(section_facts, "read", slow)
    for name in ("a", "slow", "z"):
        (tmp_path / name).write_text(f"{XID}{name}\n")
    started = time.monotonic()
    got = gather([str(tmp_path)], budget=Budget(3))
    assert time.monotonic() - started < 10
    assert {one.path.rpartition("/")[2]: one.note for one in got.inputs} == {"a": "", "slow": PARTLY, "z": ""}
    assert len(got.facts["xids"]) >= 1


def children() -> set[str]:
    """The processes that this one has started and not yet buried."""
    return {pid for one in Path("/proc/self/task").glob("*/children") for pid in one.read_text().split()}


def test_long_logs_are_cut_off_in_both_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "WORTH", 1)
    for name in "abcdef":
        (tmp_path / f"{name}.log").write_text(XID + f"[   14.000001] eth{name}: link is up\n" * 20_000)
    given = Budget(60)
    given.end = given.until = time.monotonic() + 1.0
    monkeypatch.setattr(Budget, "turn", lambda self: time.monotonic() - 0.001)  # each one's time is up at once
    before = children()
    got = gather([str(tmp_path)], budget=given)
    assert {one.note for one in got.inputs} <= {UNREAD, PARTLY}
    assert children() <= before


def test_nothing_is_looked_at_when_the_time_is_up_and_all_is_named(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(XID)
    got = gather([str(tmp_path)], budget=Budget(0))
    assert [one.note for one in got.inputs] == [UNREAD] * 5
    assert got.facts == {}


def test_all_archives_share_what_may_be_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MOST", 4 << 20)
    for number in range(4):
        (tmp_path / f"{number}.gz").write_bytes(gzip.compress(f"words {number}\n".encode() * 200_000))
    notes = [source.note for source in files.read([str(tmp_path)], budget=Budget(60))]
    assert [bool(note) for note in notes] == [False, False, True, True]
    assert "all archives together unpack to more than" in notes[2]


def test_a_file_that_grows_is_read_as_far_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(b"line\n" * 20_000)
    (source,) = files.read([str(path)])
    with path.open("ab") as file:
        file.write(b"more\n" * 20_000)
    assert len(b"".join(source.pieces())) == 100_000
    assert not source.note


def test_a_list_of_a_bundle_is_not_held_whatever_its_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_bundles, "LARGEST", 1000)
    (tmp_path / "bundle.json").write_text('{"bundle": 1, "outputs": []}' + " " * 200_000)
    assert gather([str(tmp_path / "bundle.json")]).inputs[0].recognised_as != [recorded_bundles.LIST]


def test_what_was_cut_off_is_not_understood() -> None:
    assert is_understood(InputFile(path="a", recognised_as=["kernel.log"]))
    assert not is_understood(InputFile(path="a", recognised_as=["kernel.log"], note=PARTLY))


# --- mounts


def test_nothing_is_asked_on_a_mount_without_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = tmp_path / "dead"
    dead.mkdir()
    (dead / "x.log").write_text(XID)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "near.log").write_text(XID)
    (tmp_path / "logs" / "one").symlink_to("two")
    (tmp_path / "logs" / "two").symlink_to("../dead/x.log")
    (tmp_path / "logs" / "folder").symlink_to(dead)
    (tmp_path / "logs" / "self").symlink_to("self")
    asked: list[str] = []
    monkeypatch.setattr(mounts, "remote", lambda: frozenset({str(dead)}))
    monkeypatch.setattr(mounts, "answers", lambda mount: bool(asked.append(mount)))
    for path in ("dead", "dead/x.log", "dead/../dead", "logs/one", "logs/folder/x.log"):
        with pytest.raises(OSError, match="gives no answer") as raised:
            mounts.check(str(tmp_path / path))
        assert raised.value.errno == errno.ETIMEDOUT
    for path in ("", "logs", "logs/near.log", "logs/self", "deadly"):
        mounts.check(str(tmp_path / path))
    assert set(asked) == {str(dead)}
    assert walk.is_there(str(dead / "no"))  # its reading will tell
    notes = {one.path.rpartition("/")[2]: one.note for one in files.read([str(tmp_path)])}
    silent = "not readable: its file system gives no answer"
    assert notes == {"near.log": "", "one": silent, "two": silent, "folder": silent, "self": notes["self"], "dead": silent}


def test_the_mounts_with_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mountinfo").write_text(
        "22 27 0:21 / /proc rw,nosuid - proc proc rw\n"
        "36 35 0:45 / /mnt/my\\040scratch rw,noatime shared:1 master:2 - nfs4 server:/scratch rw\n"
        "37 35 0:46 / /data\\134\\012x rw - fuse.s3fs s3fs rw\n"
    )
    monkeypatch.setattr(mounts, "LIST", tmp_path / "mountinfo")
    assert mounts.remote.__wrapped__() == {"/mnt/my scratch", "/data\\\nx"}
    monkeypatch.setattr(mounts, "LIST", tmp_path / "none")
    assert mounts.remote.__wrapped__() == set()


@pytest.mark.parametrize("processors", [1, 2])
def test_who_gives_no_answer_is_not_waited_for(processors: int) -> None:
    """In a process of its own: a fork is only safe where no other thread runs."""
    program = f"""
import os, time
from pathlib import Path
from gpudoctor import cores
os.sched_getaffinity = lambda pid: set(range({processors}))
started = time.monotonic()
assert not cores.ends(lambda: time.sleep(60), 0.2)
assert time.monotonic() - started < 5
assert cores.ends(lambda: Path("/nowhere").stat(), 30)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody is left")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("nobody is left\n", "")
