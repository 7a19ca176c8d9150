"""What the answers of dcgmi have in common: boxes drawn in text, the sentences it prints instead of an answer, the objects of `-j`.

Source: dcgmi/DcgmiOutput.cpp, dcgmi/Command.cpp and errorString() in dcgmlib/src/dcgm_errors.c, DCGM 2.1.4 to 4.6.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpudoctor.facts import Origin
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.plain_text import lines, plain_text
from gpudoctor.tools.parser import ParseError

# What dcgmi says instead of an answer → a neutral word. The order decides: a line may hold two of them.
PROBLEMS: tuple[tuple[str, str], ...] = (
    ("Unable to connect to host engine", "unreachable"),
    ("unable to establish a connection to the specified host", "unreachable"),
    ("Host engine connection invalid", "unreachable"),
    ("Unable to start an embedded host engine", "unreachable"),
    ("Health watches not enabled", "not_armed"),
    ("Watches have not been enabled", "not_armed"),
    ("Field is not being watched", "not_armed"),
    ("A diag instance is already running", "busy"),
    ("could not be run while DCGM is paused", "paused"),
    ("hostengine and all modules are paused", "paused"),
    ("homogeneous group of GPUs", "mixed_gpus"),
    ("Tesla recommended driver is not being used", "driver_unsuitable"),
    ("installed driver version is insufficient", "driver_too_old"),
    ("NVVS binary was not found", "not_installed"),
    ("Error while launching the GPU Diagnostic", "not_installed"),
    ("API version mismatch", "version_mismatch"),
    ("Host engine is running as non-root", "not_root"),
    ("module of DCGM that is not currently loaded", "module_not_loaded"),
    ("NVML driver timeout", "driver_hangs"),
    ("NVML doesn't exist", "no_nvml"),
    ("GPUs are detached", "detached"),
    ("GPU is lost", "gpu_lost"),
    ("GPU requires reset", "reset_required"),
    ("group is empty", "no_gpus"),
    ("The Group is not found", "no_group"),
    ("Diagnostic was stopped", "stopped"),
    ("diagnostic was killed", "stopped"),
)
MOST = 1000  # tests
OBJECT = regex(r"^[ \t]*\{", re.MULTILINE)
# What an object of dcgmi has: `diag` tests or a reason why there are none, the others a body.
OURS = regex(r'"(?:tests|runtime_error|body)"\s*:')
FAILED = regex(r"\s*Error: |\s*Error \w+ing |\s*error: dcgmi")
# |-----  Deployment  --------+------|   +-----  Stress  ------------+------+
SECTION = regex(r"\s*[|+]-{2,}\s+(\S.{0,40}?)\s+-{2,}[+|]")


class Row(NamedTuple):
    """One row of a box: its cells as they are printed but for the one space that borders each. `section` where the row is a heading."""

    number: int
    left: str
    right: str
    section: str = ""

    def origin(self, output: Output, text: str = "") -> Origin:
        """Where the row stands; `text` in its stead where the row's sentence goes over several."""
        return Origin(output.origin_name(), self.number, text or f"{self.left.strip()} {self.right.strip()}".strip())


def box_rows(output: Output) -> Iterator[Row]:
    """The rows of all boxes of a text. A row that was cut at its end is a row."""
    for number, line in lines(output):
        yield from cells([line], number)


def cells(given: list[str], number: int = 1) -> Iterator[Row]:
    """The rows among lines, the first of which has a number."""
    for at, line in enumerate(given, number):
        if heading := SECTION.match(line):
            yield Row(at, "", "", heading.group(1))
        elif (start := line.lstrip()).startswith("|"):
            parts = start[1:].split("|")
            left, right = parts[0], parts[1] if len(parts) > 1 else ""
            yield Row(at, left.removeprefix(" ").rstrip(), right.removeprefix(" "))


def problem(output: Output) -> tuple[str, Origin]:
    """What dcgmi says instead of an answer, as a word, and where; "" where it says nothing of that kind."""
    failed = ("", Origin())
    for number, line in lines(output):
        for phrase, word in PROBLEMS:
            if phrase in line:
                return word, Origin(output.origin_name(), number, line.strip())
        if not failed[0] and FAILED.match(line):
            failed = ("other", Origin(output.origin_name(), number, line.strip()))
    return failed


def decode_json(output: Output) -> Any:
    """The JSON object of dcgmi in an answer, None where there is none. Text and other objects around it don't matter.

    Raises `ParseError` for one that is broken: what is left of it may lack just the test that failed.
    """
    text = plain_text(output)
    decoder, at = json.JSONDecoder(), 0
    while (start := OBJECT.search(text, at)) and OURS.search(text, start.end()):
        try:
            value, at = decoder.raw_decode(text, start.end() - 1)
        except (ValueError, RecursionError) as error:
            quoted = text[start.end() - 1 : start.end() + 79].strip()
            raise ParseError(f"{output.origin_name()} has broken JSON ({str(error)[:80]}): {quoted}") from None
        if OURS.search(text, start.end(), at):
            return value
    return {"tests": alone} if (alone := tests_alone(text)) else None


def tests_alone(text: str) -> list[Any]:
    """The tests that a filter (`jq -c`) has left of an answer, an object a line or in several."""
    decoder, at = json.JSONDecoder(), 0
    found: list[Any] = []
    while '"results"' in text and len(found) < MOST and (start := OBJECT.search(text, at)):
        try:
            value, at = decoder.raw_decode(text, start.end() - 1)
        except (ValueError, RecursionError):
            return []
        if isinstance(value.get("results"), list) and isinstance(value.get("name"), str):
            found.append(value)
    return found


def objects(value: Any, key: str) -> Iterator[dict[str, Any]]:
    """The objects that have a key, wherever they are in a JSON value, in their order; those inside of one that has it are left out."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            if key in one:
                yield one
            else:
                todo.extend(reversed(one.values()))
        elif isinstance(one, list):
            todo.extend(reversed(one))


def as_list(value: Any) -> list[Any]:
    """A list as it is, None as an empty list, anything else as a list of one."""
    return value if isinstance(value, list) else [] if value is None else [value]


def number(value: Any) -> int | None:
    """A small number that is not below 0, from a number or from text; None for anything else."""
    text = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


def amount(text: str) -> float | None:
    """A finite number as dcgmi prints it, None for N/A and the like.

    >>> amount("51.2"), amount("N/A"), amount("inf")
    (51.2, None, None)
    """
    cleaned = text.strip().replace(",", ".") if text.count(",") == 1 and "." not in text else text.strip()
    return float(cleaned) if re.fullmatch(r"-?\d{1,20}(?:\.\d{1,12})?", cleaned, re.ASCII) else None


def gpu_name(entity: str, index: int | None) -> str:
    """How a GPU is named before a discovery has said which one it is: see `facts.identity`.

    >>> gpu_name("GPU", 3), gpu_name("NvSwitch", 3)
    ('GPU 3', '')
    """
    return f"GPU {index}" if entity == "GPU" and index is not None else ""


def not_read(output: Output, what: str) -> ParseError:
    """The error for a text that isn't what a parser reads."""
    first = next((line.strip() for _, line in lines(output) if line.strip()), "nothing")
    return ParseError(f"{output.origin_name()} is not {what}: {first[:120]}")
