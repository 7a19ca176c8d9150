"""The files of `tests/fixtures`: a text for each case, and what several cases were answered once, in `answers/`."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import msgspec

from gpudoctor.probes import bundle, transcript
from gpudoctor.probes.bundle import Bundle

FIXTURES = Path(__file__).parent / "fixtures"
SHORT = 12  # lines that are written again in each case

Run = tuple[Bundle, dict[str, bytes]]  # what was recorded, and its pages by name


def cases() -> list[Path]:
    """The files of all cases."""
    return [path for path in sorted(FIXTURES.glob("*/*.txt")) if transcript.transcript_path(path) is not None]


def unpacked(case: Path, folder: Path) -> Path:
    """Write a case as `--record` would have written it into a new folder."""
    run, pages = transcript.load(case)
    folder.mkdir(parents=True)
    outputs = []
    for number, answer in enumerate(run.outputs):
        names = {name: f"{number:03}-{bundle.slug(answer.argv)}.{page}.txt" for page, name in enumerate(answer.files)}
        for name, file in names.items():
            bundle.write_file(folder, file, pages[name])
        stderr = answer.stderr and names[answer.stderr]
        outputs.append(msgspec.structs.replace(answer, stdout=tuple(names[name] for name in answer.stdout), stderr=stderr))
    bundle.save(folder, msgspec.structs.replace(run, outputs=outputs))
    return folder


def recorded(folder: Path) -> Run:
    """The run in a folder that `--record` wrote."""
    run = bundle.load(folder)
    return run, {name: bundle.read_file(folder, name) for answer in run.outputs for name in answer.files}


def keep(new: Mapping[Path, Run]) -> None:
    """Write cases, and all others anew where they share an answer with them."""
    runs = {path: transcript.load(path) for path in cases()} | dict(new)
    used: Counter[bytes] = Counter()
    names: dict[bytes, str] = {}
    for run, pages in runs.values():
        for answer in run.outputs:
            for name in answer.stdout:
                content = transcript.with_final_newline(pages[name])
                used[content] += 1
                names.setdefault(content, f"{bundle.slug(answer.argv)}-{hashlib.sha256(content).hexdigest()[:8]}.txt")
    shared = {
        content: names[content]
        for content, times in used.items()
        if not transcript.fits_between_lines(content) or (times > 1 and (content.count(b"\n") > SHORT or len(content) > 140 * SHORT))
    }
    shelf = FIXTURES / transcript.ANSWERS
    shelf.mkdir(exist_ok=True)
    for content, name in shared.items():
        changed(shelf / name, content)
    for path in set(shelf.iterdir()) - {shelf / name for name in shared.values()}:
        path.unlink()
    for path, (run, pages) in runs.items():
        path.parent.mkdir(exist_ok=True)
        changed(path, transcript.transcript_text(run, pages, shared).encode())


def changed(path: Path, content: bytes) -> None:
    """Write a file that isn't so already."""
    if not path.is_file() or path.read_bytes() != content:
        path.write_bytes(content)
