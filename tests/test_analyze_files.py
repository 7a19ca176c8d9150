"""What somebody has, as texts: packed, archived, piped, in strange letters, and made to do harm. Each ends soon, with one clear note."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.analyze.kernel_files import read
from gpudoctor.intake import archives, files, opening, packed_texts, pieces, walk
from gpudoctor.intake.budget import Budget, CutShort
from gpudoctor.reporters.progress import reader

XID = "[   13.000001] NVRM: Xid (PCI:0000:1b:00): 79, pid=7, GPU has fallen off the bus.\n"
DMESG = f"[   12.000001] usb 1-1: new device\n{XID}"
ZSTD = pieces.zstd()


def texts(*paths: str | Path, **options: Any) -> dict[str, str]:
    """Path → content of all sources, the first folder left out; a note stands for what has one."""
    found = {}
    for source in files.read([str(path) for path in paths], **options):
        content = b"".join(source.pieces()).decode()
        found[Path(source.path).name if len(paths) == 1 and "/" not in source.path else source.path] = source.note or content
    return found


def under(folder: Path, found: dict[str, str]) -> dict[str, str]:
    return {path.removeprefix(f"{folder}/"): text for path, text in found.items()}


def tar_of(members: dict[str, bytes], mode: str = "w", format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, format=format) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": ZSTD.compress,
}


# --- packed


@pytest.mark.parametrize("kind", PACKERS)
def test_one_packed_text(tmp_path: Path, kind: str) -> None:
    pack = PACKERS[kind]
    (tmp_path / "short").write_bytes(pack(DMESG.encode()) + pack(b"more\n"))  # the tools have it as one text
    (tmp_path / "long").write_bytes(pack(b"line\n" * 50_000) + b"\0" * 600)  # padding, as a tape has it
    found = texts(tmp_path / "short") | texts(tmp_path / "long")
    assert list(found.values()) == [f"{DMESG}more\n", "line\n" * 50_000]


@pytest.mark.parametrize("kind", PACKERS)
def test_what_came_before_the_damage_counts(tmp_path: Path, kind: str) -> None:
    noise = "".join(f"{n * 7919 % 1000003} {n}\n" for n in range(60_000)).encode()
    packed = PACKERS[kind](noise)
    (tmp_path / "cut").write_bytes(packed[: len(packed) * 9 // 10])
    (source,) = files.read([str(tmp_path / "cut")])
    assert source.note == f"{kind} data that is cut off: read as far as it goes"
    assert noise.startswith(b"".join(source.pieces()))
    (tmp_path / "damaged").write_bytes(packed[: len(packed) // 2] + b"\xff" * 200 + packed[len(packed) // 2 :])
    (source,) = files.read([str(tmp_path / "damaged")])
    got = b"".join(source.pieces())
    assert "damaged" in source.note
    assert len(got) > 1000 or kind == "bzip2"  # whose blocks are 900 KB
    assert noise.startswith(got[:1000])


@pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd is not installed")
def test_what_the_zstd_program_writes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("line\n" * 50_000)
    subprocess.run(["zstd", "-q", "--long=27", str(tmp_path / "a"), "-o", str(tmp_path / "a.zst")], check=True)
    assert list(texts(tmp_path / "a.zst").values()) == ["line\n" * 50_000]


@settings(max_examples=60)
@given(st.sampled_from(sorted(PACKERS)), st.binary(max_size=3000), st.integers(1, 700), st.data())
def test_pieces_cut_anywhere_give_the_same_and_cut_off_ones_their_beginning(
    kind: str, data: bytes, size: int, drawn: st.DataObject
) -> None:
    packed = PACKERS[kind](data)
    assert b"".join(pieces.unpack(cut(packed, size), kind, pieces.Guard(Budget()))) == data
    short = packed[: drawn.draw(st.integers(1, len(packed) - 1))]
    got: list[bytes] = []
    with suppress(CutShort):
        got.extend(pieces.unpack(cut(short, size), kind, pieces.Guard(Budget())))
    assert data.startswith(b"".join(got))


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


# --- archives

MEMBERS = {"mg/pods/x.log": DMESG.encode(), "mg/nodes.txt": b"nodes\n" * 20_000, "mg/empty": b""}
WANTED = {"mg/pods/x.log": DMESG, "mg/nodes.txt": "nodes\n" * 20_000, "mg/empty": ""}
ARCHIVES: dict[str, Callable[[dict[str, bytes]], bytes]] = {
    "tar": tar_of,
    "tar.gz": lambda members: tar_of(members, "w:gz"),
    "tar.bz2": lambda members: tar_of(members, "w:bz2"),
    "tar.xz": lambda members: tar_of(members, "w:xz"),
    "tar.zst": lambda members: ZSTD.compress(tar_of(members)),
    "tar, ustar": lambda members: tar_of(members, format=tarfile.USTAR_FORMAT),
    "tar, gnu": lambda members: tar_of(members, format=tarfile.GNU_FORMAT),
    "zip": zip_of,
    "zip, stored": lambda members: zip_of(members, zipfile.ZIP_STORED),
    "zip, bzip2": lambda members: zip_of(members, zipfile.ZIP_BZIP2),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_is_read_like_a_folder_whatever_it_is_called(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.txt").write_bytes(ARCHIVES[kind](MEMBERS))
    assert under(tmp_path / "a.txt", texts(tmp_path / "a.txt")) == WANTED


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_on_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    (tmp_path / "x").write_bytes(ARCHIVES[kind](MEMBERS))
    with (tmp_path / "x").open() as given:
        monkeypatch.setattr("sys.stdin", given)
        assert under(Path("-"), texts("-")) == WANTED


def test_long_names_of_each_tar(tmp_path: Path) -> None:
    name = "/".join(["a-folder-with-a-long-name"] * 12) + "/\u00fc.log"
    for number, format in enumerate((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT)):
        path = tmp_path / str(number)
        path.write_bytes(tar_of({name: b"x\n", "b": b"y\n"}, format=format))
        assert under(path, texts(path)) == {name: "x\n", "b": "y\n"}


def test_archives_in_an_archive_are_read_and_those_inside_them_are_not(tmp_path: Path) -> None:
    inner = ARCHIVES["tar.xz"]({"dmesg": DMESG.encode(), "logs/a.gz": gzip.compress(b"a\n"), "deep.zip": zip_of({"x": b"x"})})
    outer = ARCHIVES["tar.gz"]({"sos.tar.xz": inner, "more.zip": zip_of({"b.log": b"b\n"}), "c.log.zst": ZSTD.compress(b"c\n")})
    (tmp_path / "mg.tar.gz").write_bytes(outer)
    assert under(tmp_path / "mg.tar.gz", texts(tmp_path / "mg.tar.gz")) == {
        "sos.tar.xz/dmesg": DMESG,
        "sos.tar.xz/logs/a.gz": "a\n",
        "sos.tar.xz/deep.zip": "an archive in an archive in another: not read, unpack it first",
        "more.zip/b.log": "b\n",
        "c.log.zst": "c\n",
    }


def test_the_diagnosis_of_an_archive_is_that_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mg"
    (folder / "nodes").mkdir(parents=True)
    (folder / "nodes" / "gpu-07.txt").write_text(DMESG)
    (folder / "long.log").write_text("2026-03-01 10:00:00 INFO nothing\n" * 20_000 + XID)
    (tmp_path / "mg.tar.gz").write_bytes(ARCHIVES["tar.gz"]({f"mg/{p.relative_to(folder)}": p.read_bytes() for p in folder.rglob("*.*")}))
    loose, packed = gather([str(folder)]), gather([str(tmp_path / "mg.tar.gz")])
    assert {kind: len(records) for kind, records in loose.facts.items()} == {kind: len(records) for kind, records in packed.facts.items()}
    assert sorted(x.origin.line for x in packed.facts["xids"]) == [2, 20_001]
    assert packed.now == loose.now
    assert len(read([str(tmp_path / "mg.tar.gz")], None).facts["xids"]) == 2


# --- archives that are made to do harm


def test_names_never_leave_the_archive_and_links_and_devices_are_passed_over(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in ("../../etc/passwd", "/etc/shadow", "a\nb\x1b[31m.log", "./.git/config", "__MACOSX/._a", ".hidden.log"):
            info = tarfile.TarInfo(name)
            info.size = 2
            archive.addfile(info, io.BytesIO(b"x\n"))
        for kind, name in ((tarfile.SYMTYPE, "link"), (tarfile.LNKTYPE, "hard"), (tarfile.CHRTYPE, "device"), (tarfile.FIFOTYPE, "pipe")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, "/etc/passwd", 0
            archive.addfile(info)
    (tmp_path / "a.tar").write_bytes(buffer.getvalue())
    assert set(under(tmp_path / "a.tar", texts(tmp_path / "a.tar"))) == {"etc/passwd", "etc/shadow", r"a\nb\x1b[31m.log", ".hidden.log"}


def test_a_cut_off_archive_counts_as_far_as_it_goes(tmp_path: Path) -> None:
    members = {f"{n}.log": os.urandom(3000).hex().encode() for n in range(40)}
    for kind in ("tar", "tar.gz"):
        whole = ARCHIVES[kind](members)
        (tmp_path / kind).write_bytes(whole[: len(whole) // 2])
        found = texts(tmp_path / kind)
        good = [name for name, text in found.items() if text.encode() in members.values()]
        assert 15 <= len(good) <= 22
        assert any("cut off" in text for text in found.values())
        assert len(found) <= len(good) + 2
    (tmp_path / "zip").write_bytes(zip_of(members)[:-30])
    (note,) = texts(tmp_path / "zip").values()
    assert note.startswith("damaged or cut off zip archive")


def test_a_damaged_header_ends_a_tar_with_a_note(tmp_path: Path) -> None:
    whole = bytearray(tar_of({"a": b"a\n", "b": b"b\n"}, format=tarfile.USTAR_FORMAT))
    whole[1024:1100] = b"\xff" * 76
    (tmp_path / "x").write_bytes(whole)
    found = under(tmp_path, texts(tmp_path / "x"))
    assert found["x/a"] == "a\n"
    assert "damaged tar archive" in found["x"]


def test_a_name_of_a_gigabyte_is_not_read(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1 << 30
    (tmp_path / "x").write_bytes(info.tobuf() + b"a" * 4096)
    (note,) = texts(tmp_path / "x").values()
    assert note == "damaged tar archive (a name of 1073741824 bytes): read as far as it goes"


def test_an_encrypted_zip_and_a_method_that_nobody_knows(tmp_path: Path) -> None:
    data = bytearray(zip_of({"a": b"a\n", "b": b"b\n", "c": b"c\n"}, zipfile.ZIP_STORED))
    directory = data.index(b"PK\x01\x02")
    data[directory + 8] |= archives.ENCRYPTED
    data[data.index(b"PK\x01\x02", directory + 1) + 10] = 97
    (tmp_path / "x").write_bytes(data)
    assert under(tmp_path / "x", texts(tmp_path / "x")) == {
        "a": "encrypted: not read",
        "b": "packed by zip's method 97: not read, unpack it first",
        "c": "c\n",
    }


def test_a_million_members_end_at_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "ENTRIES", 50)
    for name, data in (("tar", tar_of({f".x/{n}": b"" for n in range(60)})), ("zip", zip_of({f".x/{n}": b"" for n in range(60)}))):
        (tmp_path / name).write_bytes(data)
        assert list(texts(tmp_path / name).values()) == ["more than 50 members: the rest was not read"]
    monkeypatch.setattr(archives, "DIRECTORY", 2000)
    assert "a directory of" in next(iter(texts(tmp_path / "zip").values()))


# --- bombs


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces.Guard.__init__, "__defaults__", (2 << 20,))


LIMIT = "unpacks to more than 2 MiB: the rest was not read"


@pytest.mark.usefixtures("small_bounds")
@pytest.mark.parametrize("kind", PACKERS)
def test_a_bomb_of_text_ends_at_a_limit(tmp_path: Path, kind: str) -> None:
    (tmp_path / "x").write_bytes(PACKERS[kind](b"A" * (7 << 20)))
    (tmp_path / "x.tar").write_bytes(tar_of({"a": PACKERS[kind](b"A\n" * (4 << 20)), "b": b"b\n"}))
    tracemalloc.start()
    found = under(tmp_path, {**texts(tmp_path / "x"), **texts(tmp_path / "x.tar")})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert set(found) == {"x", "x.tar/a", "x.tar"}
    assert all(re.fullmatch(r"unpacks to more than [2-9] MiB: the rest was not read", note) for note in found.values())
    assert peak < 24 << 20


@pytest.mark.usefixtures("small_bounds")
def test_many_members_are_one_bomb(tmp_path: Path) -> None:
    member = b"A\n" * (1 << 19)
    (tmp_path / "many.zip").write_bytes(zip_of({str(n): member for n in range(50)}))
    found = texts(tmp_path / "many.zip")
    assert len(found) <= 5
    assert LIMIT in found.values()


def test_members_that_share_their_bytes_are_not_read_and_those_beside_them_are(tmp_path: Path) -> None:
    """Every entry of the directory leads to the same member, but for the last; and each stands in the one before it (bamsoftware.com)."""
    one = zip_of({"a": b"A\n" * (1 << 19), "b.txt": b"b\n"}, zipfile.ZIP_STORED)
    start, end = one.index(b"PK\x01\x02"), one.index(b"PK\x05\x06")
    entry, rest = one[start : start + 46 + 1], one[start + 46 + 1 : end]
    longer = bytearray(entry)
    longer[20:24] = (start).to_bytes(4, "little")  # its packed size: up to the directory, over the next member
    for name, entries in (("same.zip", [entry] * 1000), ("inside.zip", [bytes(longer)])):
        directory = b"".join(entries) + rest
        tail = bytearray(one[end:])
        tail[8:10] = tail[10:12] = (len(entries) + 1).to_bytes(2, "little")
        tail[12:16] = len(directory).to_bytes(4, "little")
        (tmp_path / name).write_bytes(one[:start] + directory + tail)
        notes = {source.note for source in files.read([str(tmp_path / name)])}
        assert notes == {"shares its bytes with other members, as only a bomb does: not read", ""}
        assert texts(tmp_path / name)[f"{tmp_path / name}/b.txt"] == "b\n"


def test_zeros_are_seen_to_be_no_text_before_they_are_unpacked(tmp_path: Path) -> None:
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"\0" * (64 << 20)))
    started = time.monotonic()
    (source,) = files.read([str(tmp_path / "x.gz")])
    assert source.note == "binary: not read"
    assert time.monotonic() - started < 10


# --- texts


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (DMESG.encode("utf-16"), DMESG),
        (b"\xfe\xff" + DMESG.encode("utf-16-be"), DMESG),
        (DMESG.encode("utf-16-le"), DMESG),
        (DMESG.encode("utf-16-be"), DMESG),
        ((DMESG * 4000).encode("utf-16-le"), DMESG * 4000),
        (b"\xef\xbb\xbf" + DMESG.encode(), DMESG),
        (b"\xef\xbb\xbf" + DMESG.encode() * 4000, DMESG * 4000),
        (DMESG.replace("\n", "\r").encode(), DMESG),
        (b"caf\xe9\xe9 \n", "caf\ufffd\ufffd \n"),
    ],
    ids=["utf-16", "be", "le-bare", "be-bare", "le-long", "mark", "mark-long", "old-mac", "latin-1"],
)
def test_letters_of_other_machines(tmp_path: Path, data: bytes, wanted: str) -> None:
    for name, written in (("a", data), ("b", gzip.compress(data, mtime=0)), ("c", tar_of({"x": data}))):
        (tmp_path / name).write_bytes(written)
        assert [b"".join(one.pieces()).decode("utf-8", "replace") for one in files.read([str(tmp_path / name)])] == [wanted]


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_windows_and_old_mac_line_ends(tmp_path: Path, end: str) -> None:
    (tmp_path / "a").write_bytes(DMESG.replace("\n", end).encode())
    got: Any = gather([str(tmp_path)])
    assert [(x.code, x.origin.line) for x in got.facts["xids"]] == [(79, 2)]


def test_a_long_text_that_only_was_glanced_at(tmp_path: Path) -> None:
    data = b"".join(b"line %d\n" % n for n in range(300_000))
    (tmp_path / "x").write_bytes(data)
    (source,) = files.read([str(tmp_path / "x")])
    assert (source.data, source.size) == (None, len(data))
    assert source.ends == data[: files.END] + data[-files.END :]
    assert b"".join(source.pieces()) == data


@settings(max_examples=40)
@given(st.lists(st.binary(max_size=30)), st.integers(1, 40))
def test_blocks_lose_nothing_and_end_at_line_ends(given_pieces: list[bytes], size: int) -> None:
    blocks = list(pieces.whole_lines(iter(given_pieces), size))
    assert b"".join(blocks) == b"".join(given_pieces)
    assert all(block.endswith(b"\n") or b"\n" not in block for block in blocks[:-1])


# --- what changes or can't be read


def test_a_file_that_shrinks_or_goes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    for change, note in (
        (lambda: os.truncate(path, 100_000), "became shorter while it was read"),
        (path.unlink, "not readable to its end: No such file or directory"),
    ):
        path.write_bytes(b"line\n" * 60_000)
        (source,) = files.read([str(path)])
        change()
        assert len(b"".join(source.pieces())) in (100_000, 0)
        assert source.note == note


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text(DMESG)
    (tmp_path / "b").write_text(DMESG)
    really = os.open

    def refuse(path: Any, *rest: Any) -> int:
        if str(path).endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return really(path, *rest)

    monkeypatch.setattr(os, "open", refuse)
    assert under(tmp_path, texts(tmp_path)) == {"a": "not readable: Permission denied", "b": DMESG}


def test_a_pipe_without_a_writer_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    note = "not readable: not a file (a device, a socket or a pipe)"
    assert list(texts(tmp_path / "pipe", "/dev/null").values()) == [note, note]


def test_a_file_that_becomes_a_pipe_does_not_hold_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("x")
    found = (tmp_path / "file").stat()
    monkeypatch.setattr(os, "stat", lambda path: found)
    with pytest.raises(OSError, match="not a file"):
        opening.open_plain(str(tmp_path / "pipe"))


def test_a_pipe_of_the_shell_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(writing, DMESG.encode()), os.close(writing)))
    writer.start()
    try:
        assert list(texts(f"/dev/fd/{reading}").values()) == [DMESG]
    finally:
        writer.join()
        os.close(reading)


def test_links_are_followed_to_files_once_and_to_folders_never(tmp_path: Path) -> None:
    (tmp_path / "pods").mkdir()
    (tmp_path / "pods" / "x.log").write_text(DMESG)
    (tmp_path / "pods" / "loop").symlink_to(tmp_path)
    (tmp_path / "containers").mkdir()
    (tmp_path / "containers" / "x.log").symlink_to(tmp_path / "pods" / "x.log")
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    assert under(tmp_path, texts(tmp_path)) == {
        "nowhere": "not readable: No such file or directory",
        "containers/x.log": DMESG,
    }


def test_names_that_would_write_to_the_terminal(tmp_path: Path) -> None:
    for name in (b"a\n\x1b[31m\xe2\x80\xae.log", b"\xff\xfe.log"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x\n")
    assert set(under(tmp_path, texts(tmp_path))) == {r"a\n\x1b[31m\u202e.log", r"\xff\xfe.log"}


def test_patterns_in_quotes(tmp_path: Path) -> None:
    for name in ("a/rank-1.log", "a/b/rank-2.log", "a/other.txt", "a/[x].log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    assert set(under(tmp_path, texts(f"{tmp_path}/**/rank-?.log"))) == {"a/rank-1.log", "a/b/rank-2.log"}
    assert set(under(tmp_path, texts(f"{tmp_path}/a/[x].log"))) == {"a/[x].log"}  # a file of that name comes first
    assert walk.expand_pattern(f"{tmp_path}/*.none") == walk.expand_pattern("a\0*") == walk.expand_pattern("x" * 5000) == []
    assert walk.expand_pattern("-") == ["-"]


def test_patterns_are_those_of_the_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/x.log", "a/b/x.log", "a/.b/x.log", ".c/x.log", "x.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "a" / "up").symlink_to("..")  # `**` doesn't follow it
    monkeypatch.chdir(tmp_path)
    for pattern in ("*.log", "*/*.log", "./?/x.log", "*/", "*/../x.log", ".*/x.log", "a/[!b]*", "no/*", f"{tmp_path}/*/b/x.log"):
        assert walk.expand_pattern(pattern) == sorted(glob.glob(pattern)), pattern  # noqa: PTH207
    assert walk.expand_pattern("**/x.log") == ["a/b/x.log", "a/x.log", "x.log"]
    assert walk.expand_pattern("**") == ["."]
    assert walk.expand_pattern("x.log/") == walk.expand_pattern("") == []


def test_an_empty_file_and_one_of_proc(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    assert list(texts(tmp_path / "x").values()) == [""]
    if sys.platform == "linux":
        assert "MemTotal" in next(iter(texts("/proc/meminfo").values()))


# --- bounds


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "FILES", 3)
    (tmp_path / "x.tar").write_bytes(tar_of({str(n): b"x\n" for n in range(9)}))
    assert list(texts(tmp_path / "x.tar").values()) == ["x\n"] * 3 + ["more than 3 files: the rest was not read"]


def test_a_file_too_large_is_read_at_both_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "LARGEST", 200_000)
    (tmp_path / "x").write_bytes(b"begin\n" + b"middle\n" * 100_000 + b"end\n")
    (source,) = files.read([str(tmp_path / "x")])
    got = b"".join(source.pieces())
    assert (len(got), got[:6], got[-4:]) == (200_000, b"begin\n", b"end\n")
    assert source.note == "larger than 0 GiB: its middle was not read"


def test_a_pipe_longer_than_what_is_kept_is_read_at_both_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = b"begin\n" + os.urandom(400_000).hex().encode() + b"\nend\n"
    (tmp_path / "x").write_bytes(data)
    for name, value in (("ROOM", 100_000), ("LAST", 1000)):
        monkeypatch.setattr(packed_texts, name, value)
    monkeypatch.setattr(opening, "PIECE", 4096)
    with (tmp_path / "x").open() as given:
        monkeypatch.setattr("sys.stdin", given)
        (source,) = files.read(["-"])
    got = b"".join(source.pieces())
    assert got == b"".join(source.pieces())
    assert got.startswith(data[:100_000])
    assert got.endswith(b"\nend\n")
    assert "before its end were not read" in source.note


def test_four_thousand_ranks_fit(tmp_path: Path) -> None:
    for rank in range(4096):
        (tmp_path / f"rank-{rank}.log").write_bytes(b"x\n")
    assert len(texts(tmp_path)) == 4096


@settings(max_examples=150)
@given(st.binary(max_size=1500), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08\x00", b"BZh9", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\x00"]))
def test_no_bytes_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes, begins: bytes) -> None:
    path = tmp_path_factory.mktemp("x") / "x"
    for made in (begins + data, tar_of({"x": begins + data})[: 600 + len(data)], zip_of({"x": data})[:-3] + data[:8]):
        path.write_bytes(made)
        for source in files.read([str(path)]):
            assert len(b"".join(source.pieces())) <= len(made) * 1100


@pytest.mark.parametrize("kind", ["tar", "zip", "tar.gz"])
def test_archives_cut_at_every_byte_and_with_every_byte_changed(tmp_path: Path, kind: str) -> None:
    whole = ARCHIVES[kind]({"a.log": b"a\n", "b.log": DMESG.encode()})
    path = tmp_path / "x"
    for at in range(0, len(whole), 1 if kind != "tar" else 31):
        for made in (whole[:at], whole[:at] + bytes((whole[at] ^ 0xFF,)) + whole[at + 1 :]):
            path.write_bytes(made)
            for source in files.read([str(path)]):
                list(source.pieces())


# --- progress


def test_how_far_it_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return True

    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    screen, log = Screen(), io.StringIO()
    on_read, silent = reader(screen), reader(log)
    for at, step in ((0.5, ("read", 1, 200, 1 << 20)), (2.0, ("read", 120, 200, 310 << 20)), (2.1, ("read", 121, 200, 311 << 20))):
        clock[0] = at
        on_read(*step)
        silent(*step)
    assert screen.getvalue() == "read 120 of 200 files, 310 MiB\r"
    on_read("read", 200, 200, 500 << 20)
    assert screen.getvalue().endswith("\r" + " " * 30 + "\r")
    assert log.getvalue() == ""


def test_progress_counts_files_and_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(DMESG)
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"2026-03-01 10:00:00 INFO nothing\n" * 20_000))
    said: list[tuple[str, int, int]] = []
    gather([str(tmp_path)], lambda doing, done, total, size: said.append((doing, done, total)))
    assert said[-1] == ("read", 3, 3)
    assert ("looked at", 3, 0) in said
