"""A recorded run as one text file that a person reads and edits: each command, and below it what it printed.

    runbook: dcgm-diag
    recorded: 2026-03-01T12:00:00Z
    inputs: {"nodes": "gpu-02"}
    === gpu-02: dcgmi diag -r 1 -j
    {"DCGM GPU Diagnostic": …}
    === gpu-02: nvidia-smi -q -x
    --- see nvidia-smi-q-x-59151950.txt
    === gpu-02: systemctl show dcgm
    --- exit 127
    --- not-found: systemctl: command not found

A line `=== ` begins an answer; without a host before the colon the command ran here. Lines `--- ` below it say what is not usual: `exit`,
a failure and its reason, `sample`, `at` (when, if not at the recorded time), `took` (seconds), `via`. `page` begins another page, and
`stderr` what was said there. `see` stands for a page that several files share: a file in a folder `answers` beside this file or its folder.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from gpudoctor.patterns import regex
from gpudoctor.probes.base import Failure
from gpudoctor.probes.bundle import FILE_NAME, LATEST, Answer, Bundle, BundleError, read_file

ANSWERS = "answers"
ENDING = ".txt"
LARGEST_CODE = 1 << 31  # of an exit code and of a sample
FAILURES: frozenset[str] = frozenset(get_args(Failure)) - {""}
USUAL = 0.1  # seconds that an answer took, where nothing is said of it
UNCLEAR = regex(r"^(?:===|---) |[\x00-\x08\x0b-\x1f\x7f]", re.MULTILINE)
BEGINS = b"runbook: "
HEADS = ("runbook", "recorded", "inputs")

N = TypeVar("N", int, float)
Pages = dict[str, bytes]  # name of a page → what it holds


def transcript_path(path: Path) -> Path | None:
    """The file of a recorded run, whose ending may be left out; None where there is none. Raises OSError."""
    for one in (path, path.with_name(path.name + ENDING)):
        if one.suffix == ENDING and one.is_file():
            with one.open("rb") as file:
                if file.read(len(BEGINS)) == BEGINS:
                    return one
    return None


def load(path: Path) -> tuple[Bundle, Pages]:
    """Read a file: what was recorded, and its pages by the names in it. Raises BundleError with the number of the line."""
    try:
        text = read_file(path.parent, path.name).decode()
    except OSError as error:
        raise BundleError(f"{path} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BundleError(f"{path} is no recorded run: it is not UTF-8 at byte {error.start}") from None
    first, *sections = f"\n{text}".removesuffix("\n").split("\n=== ")
    number, pages = 1, Pages()
    try:
        head, outputs = _head(first), []
        number = first.count("\n") + 1
        for section in sections:
            outputs.append(_answer(section, head, pages, path.parent))
            number += section.count("\n") + 1
    except (ValueError, msgspec.MsgspecError) as error:
        raise BundleError(f"{path}:{number}: {error}") from None
    return msgspec.structs.replace(head, outputs=outputs), pages


def _head(text: str) -> Bundle:
    """The lines before the first answer. Raises ValueError."""
    said = dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
    if unknown := said.keys() - set(HEADS):
        raise ValueError(f"there is no '{sorted(unknown)[0][:80]}' before the answers, but {', '.join(HEADS)}")
    if "runbook" not in said:
        raise ValueError("this is no recorded run: it does not begin with `runbook: NAME`")
    inputs = msgspec.json.decode(said.get("inputs", "{}"), type=dict[str, Any])
    return Bundle(runbook=said["runbook"], recorded=said.get("recorded", ""), inputs=inputs)


def _answer(section: str, head: Bundle, pages: Pages, folder: Path) -> Answer:
    """One answer; its pages are added to `pages`. Raises ValueError."""
    command, *lines = section.split("\n")
    words = shlex.split(command)
    host = words.pop(0)[:-1] if words and words[0].endswith(":") else ""
    if not words:
        raise ValueError("'=== ' names no command")
    said: dict[str, Any] = {"time": seconds(head.recorded), "seconds": USUAL, "host": host, "argv": tuple(words)}
    names: list[str] = []
    texts: dict[str, list[str]] = {}
    into = ""
    for line in lines:
        word, _, rest = line[4:].partition(" ") if line.startswith("--- ") else ("", "", "")
        if word == "see":
            names.append(_shared_page(rest, pages, folder))
        elif word and word not in ("page", "stderr"):
            said |= _answer_fields(word, rest)
        elif word or not into:
            into = f"{word or 'page'}-{len(pages) + len(texts)}"
            texts[into] = [] if word else [line]
            if word == "stderr":
                said["stderr"] = into
            else:
                names.append(into)
        else:
            texts[into].append(line)
    pages.update({name: "".join(f"{line}\n" for line in part).encode() for name, part in texts.items()})
    return Answer(stdout=tuple(names), **said)


def _answer_fields(word: str, rest: str) -> dict[str, Any]:
    """What a line `--- word rest` says of an answer. Raises ValueError."""
    if word.removesuffix(":") in FAILURES:
        return {"failure": word.removesuffix(":"), "reason": rest}
    match word:
        case "exit" | "sample":
            return {word: number(rest, int, LARGEST_CODE)}
        case "took":
            return {"seconds": number(rest.removesuffix(" s"), float, LATEST)}
        case "at":
            return {"time": seconds(rest)}
        case "via":
            return {"via": rest}
    raise ValueError(f"'--- {word}' says nothing of an answer")


def shared_files(path: Path) -> list[Path]:
    """The files of shared answers that a file names."""
    return [_on_shelf(name, path.parent) for name in sorted(load(path)[1]) if "." in name]


def _shared_page(name: str, pages: Pages, folder: Path) -> str:
    """The name of a page in the folder of shared answers, which is read. Raises ValueError."""
    if name not in pages:
        place = _on_shelf(name, folder)
        pages[name] = read_file(place.parent, place.name)
    return name


def _on_shelf(name: str, folder: Path) -> Path:
    """The file of a shared answer. Raises ValueError."""
    if not FILE_NAME.fullmatch(name):
        raise ValueError(f"'--- see {name[:80]}' could lie outside the folder '{ANSWERS}'")
    for shelf in (folder / ANSWERS, folder.parent / ANSWERS):
        if (shelf / name).is_file():
            return shelf / name
    raise ValueError(f"there is no {name} in a folder '{ANSWERS}' beside it")


def number(text: str, kind: Callable[[str], N], most: float) -> N:
    """A number from 0 to `most`. Raises ValueError."""
    value = kind(text)
    if not 0 <= value <= most:
        raise ValueError(f"{text[:40]} is not between 0 and {most:g}")
    return value


def seconds(moment: str) -> float:
    """Seconds since the epoch of an RFC 3339 time; 0 for none. Raises ValueError.

    >>> seconds("2026-03-01T12:00:00Z"), seconds("")
    (1772366400.0, 0.0)
    """
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0


def transcript_text(bundle: Bundle, pages: Mapping[str, bytes], shared: Mapping[bytes, str]) -> str:
    """A recorded run as the text of such a file. `shared` names the pages that lie in the folder of answers.

    What can't stand in a line of the text (no UTF-8, a carriage return, a line that begins like ours) must be shared. Raises BundleError.
    """
    given = msgspec.json.encode(bundle.inputs).decode()
    return "".join(
        [
            f"runbook: {bundle.runbook}\nrecorded: {bundle.recorded}\n",
            *([f"inputs: {given}\n"] if bundle.inputs else []),
            *(line for answer in bundle.outputs for line in _lines(answer, bundle, pages, shared)),
        ]
    )


def _lines(answer: Answer, bundle: Bundle, pages: Mapping[str, bytes], shared: Mapping[bytes, str]) -> Iterator[str]:
    """The lines of one answer."""
    command = f"{answer.host}: {shlex.join(answer.argv)}" if answer.host else shlex.join(answer.argv)
    if "\n" in command + answer.reason:
        raise BundleError(f"`{command[:80]!r}` takes several lines: a text can't hold it")
    yield f"=== {command}\n"
    if answer.exit:
        yield f"--- exit {answer.exit}\n"
    if answer.failure:
        yield f"--- {answer.failure}: {answer.reason}\n"
    if answer.sample:
        yield f"--- sample {answer.sample}\n"
    if answer.time not in (0.0, seconds(bundle.recorded)):
        yield f"--- at {datetime.fromtimestamp(answer.time, UTC).isoformat().replace('+00:00', 'Z')}\n"
    if answer.seconds >= 10 * USUAL:
        yield f"--- took {answer.seconds:g} s\n"
    if answer.via:
        yield f"--- via {answer.via}\n"
    for number, name in enumerate(answer.stdout):
        content = with_final_newline(pages[name])
        if content in shared:
            yield f"--- see {shared[content]}\n"
        else:
            yield ("--- page\n" if number or not content else "") + _page_text(content, name)
    if answer.stderr is not None:
        yield "--- stderr\n" + _page_text(with_final_newline(pages[answer.stderr]), answer.stderr)


def with_final_newline(content: bytes) -> bytes:
    """Add the missing newline at the end of a content."""
    return content + b"\n" if content and not content.endswith(b"\n") else content


def fits_between_lines(content: bytes) -> bool:
    """Whether a page can stand between our lines."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return False
    return not UNCLEAR.search(text)


def _page_text(content: bytes, name: str) -> str:
    if not fits_between_lines(content):
        raise BundleError(f"{name} holds what can't stand in a line: keep it in the folder '{ANSWERS}'")
    return content.decode()
