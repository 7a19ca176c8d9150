"""What may be done to the files of an incident without changing its diagnosis: order, names, packing, line ends, prompts, other files."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from gpudoctor.analyze.gather import gather
from gpudoctor.engine.diagnose import analyze
from gpudoctor.library.index import library
from gpudoctor.probes import transcript
from tests.fixture_files import cases

LOGS = {"kernel.log", "logs.text", "slurm.log"}  # a rank says its host only where its log begins
# Nobody's trouble: what else lies in a folder.
UNRELATED = {
    "notes.md": b"# Hand-over\n\nLooked at it with Kim, see the folder. Nothing else was changed.\n",
    "free.txt": b"               total        used        free\nMem:           62954        9120       41230\n",
    "hosts": b"127.0.0.1 localhost\n10.0.0.1 jump\n",
    "empty.log": b"",
    "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(64),
    "uptime.txt": b" 12:00:01 up 41 days,  2:11,  1 user,  load average: 0.08, 0.03, 0.01\n",
    "kernel-quiet.log": b"[    1.000000] Linux version 6.8.0\n[    2.500000] usb 1-1: new high-speed USB device number 2 using xhci_hcd\n",
}

Files = dict[str, bytes]
Change = Callable[[Files, random.Random], Files]
Diagnosis = list[tuple[str, str, str]]  # (cause, kind of the subject, its name) of each finding


@cache
def incidents() -> list[Path]:
    """The recorded bundles, without those that asked one thing twice: which file of counters is the older one, no file says."""
    return [case for case in cases() if files_of(case) and not sampled(case)]


def sampled(case: Path) -> bool:
    """Whether a run took several samples."""
    return any(answer.sample for answer in transcript.load(case)[0].outputs)


def files_of(case: Path) -> Files:
    """The answers of a bundle under names that say nothing."""
    run, pages = transcript.load(case)
    names = dict.fromkeys(name for answer in run.outputs for name in answer.stdout)
    return {f"out-{number}.txt": pages[name] for number, name in enumerate(names)}


def diagnosis(files: Files) -> Diagnosis:
    """What `analyze` says of files."""
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_bytes(data)
        gathered = gather([folder])
    report = analyze(library(), gathered.facts, gathered.inputs, gathered.now)
    # Several subjects of one finding may be folded in another order.
    found = {(one.cause, one.subject.kind, name) for one in report.findings for name in [one.subject.name, *one.also]}
    return sorted(found)


@cache
def recognised(data: bytes) -> tuple[str, ...]:
    """What a text is."""
    with TemporaryDirectory() as folder:
        Path(folder, "out.txt").write_bytes(data)
        return tuple(gather([folder]).inputs[0].recognised_as)


def shuffled(files: Files, dice: random.Random) -> Files:
    """Other names, so that they are read in another order, in other folders."""
    numbers = dice.sample(range(1000), len(files))
    return {
        f"{dice.choice(('', 'a/', 'b/c/'))}{number:03}.{dice.choice(('txt', 'out', 'dat'))}": data
        for number, data in zip(numbers, files.values(), strict=True)
    }


def packed(files: Files, dice: random.Random) -> Files:
    """Some of them packed."""
    return {
        (f"{name}.gz" if (pack := dice.random() < 0.5) else name): gzip.compress(data) if pack else data for name, data in files.items()
    }


def archived(files: Files, dice: random.Random) -> Files:
    """All of them in an archive."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=dice.choice(("w", "w:gz", "w:xz"))) as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(f"collected/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return {"collected.tar": made.getvalue()}


def other_line_ends(files: Files, dice: random.Random) -> Files:
    """Through a Windows machine."""
    return {name: data.replace(b"\n", b"\r\n") for name, data in files.items()}


def among_others(files: Files, dice: random.Random) -> Files:
    """Other files beside them."""
    return files | dict(dice.sample(sorted(UNRELATED.items()), 3))


def with_prompts(files: Files, dice: random.Random) -> Files:
    """Pasted from a terminal, with the command in the line before, and the next prompt behind."""
    prompt = dice.choice((b"$ ", b"admin@jump:~$ ", b"[root@jump ~]# "))
    texts = {name: data for name, data in files.items() if b"\0" not in data}
    return files | {
        name: prompt + b"cat " + name.encode() + b"\n" + data.rstrip(b"\n") + b"\n" + prompt.rstrip() + b"\n"
        for name, data in texts.items()
    }


def in_one_paste(files: Files, dice: random.Random) -> Files:
    """Two of them in one file, one below the other's prompt."""
    if len(files) < 2:
        return files
    one, two = dice.sample(list(files), 2)
    if b"\0" in files[one] + files[two]:
        return files
    pasted = b"".join(b"$ cat " + name.encode() + b"\n" + files[name].rstrip(b"\n") + b"\n" for name in (one, two))
    return {name: data for name, data in files.items() if name not in (one, two)} | {"pasted.txt": pasted}


def marked(files: Files, dice: random.Random) -> Files:
    """All of them in one, as `tail -n +1 *` prints them; not an environment with its NUL bytes, which no terminal shows."""
    texts = {name: data for name, data in files.items() if b"\0" not in data}
    whole = b"".join(b"==> " + name.encode() + b" <==\n" + data.rstrip(b"\n") + b"\n\n" for name, data in texts.items())
    return {name: data for name, data in files.items() if name not in texts} | {"all.txt": whole}


def cut_log(files: Files, dice: random.Random) -> Files:
    """A log that was rotated: its first and its last part are files of their own.

    Not a kernel log that says which GPU is at which address: it does so once, before the first Xid.
    """
    long = {name: data for name, data in files.items() if data.count(b"\n") > 3 and b"GPU at PCI" not in data}
    logs = [name for name, data in long.items() if set(recognised(data)) & LOGS and len(recognised(data)) == 1]
    if not logs:
        return files
    name = dice.choice(logs)
    rows = files[name].splitlines(keepends=True)
    at = dice.randrange(1, len(rows))
    return files | {name: b"".join(rows[:at]), f"{name}.next.txt": b"".join(rows[at:])}


def twice(files: Files, dice: random.Random) -> Files:
    """One of them saved twice."""
    name = dice.choice(list(files))
    return files | {f"copy-of-{name}": files[name]}


CHANGES: tuple[Change, ...] = (
    shuffled,
    packed,
    archived,
    other_line_ends,
    among_others,
    with_prompts,
    in_one_paste,
    marked,
    cut_log,
    twice,
)
