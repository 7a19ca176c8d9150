"""Objects in YAML or JSON that stand among other words: in notes, between the outputs of commands, in a here-document."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex

LONGEST = 1 << 20  # characters of a text that is looked at; what people write by hand is shorter
# apiVersion: v1  |  kind: ConfigMap          (how an object begins)
BEGINS = regex(r"^(?P<indent> {0,12})(?P<key>apiVersion|kind): \S+\s*$")
# metadata:  |  immutable: true               (a key of the API is in camel case; `Note:` is a sentence)
KEY = regex(r"^(?P<key>[a-z][A-Za-z]{1,40}):(?: |$)")
#     "apiVersion": "v1",
JSON_KEY = regex(r'^\s*"(?:apiVersion|kind|items|metadata)":')


def split_at_objects(lines: Sequence[str]) -> Iterator[tuple[int, int, bool]]:
    """(start, end, whether it is an object) of the pieces of a text, in order; one piece where nothing stands beside its objects."""
    spans = [*objects(lines)]
    covered = [index for start, end in spans for index in range(start, end)]
    if not spans or (len(spans) == 1 and has_nothing_beside(lines, covered)):
        yield 0, len(lines), bool(spans)
        return
    last = 0
    for start, end in spans:
        if start > last:
            yield last, start, False
        yield start, end, True
        last = end
    if last < len(lines):
        yield last, len(lines), False


def has_nothing_beside(lines: Sequence[str], covered: Sequence[int]) -> bool:
    """Whether beside these lines are only blank ones and comments."""
    inside = set(covered)
    return all(index in inside or not line.strip() or line.lstrip().startswith("#") for index, line in enumerate(lines))


def objects(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each object begins and ends."""
    closing = [index for index, line in enumerate(lines) if line.rstrip() == "}"]
    index = 0
    while index < len(lines):
        end = end_of_yaml(lines, index) or end_of_json(lines, index, closing)
        if end:
            yield index, end
        index = end or index + 1


def end_of_yaml(lines: Sequence[str], start: int) -> int:
    """The line behind the object that begins here, 0 where none does: at another key of the API no sentence begins."""
    begins = BEGINS.match(lines[start])
    if not begins:
        return 0
    indent = len(begins["indent"])
    seen = {begins["key"]}
    end = start + 1
    for index in range(start + 1, len(lines)):
        line = lines[index].rstrip("\r ")
        space = len(line) - len(line.lstrip(" "))
        if not line or space > indent or (space == indent and line.lstrip().startswith("#")):
            continue
        key = KEY.match(line[indent : indent + 60])
        if space < indent or (not key and not line[indent:].startswith("- ")):
            break
        if key and key["key"] in seen & {"apiVersion", "kind"}:
            break  # the next object, without a mark between them
        seen |= {key["key"]} if key else set()
        end = index + 1
    return with_body(lines, end, indent) if len(seen) > 1 else 0


def with_body(lines: Sequence[str], end: int, indent: int) -> int:
    """The end moved behind what is indented under the last key, blank lines in it included."""
    index = end
    while index < len(lines) and (not lines[index].strip() or lines[index].startswith(" " * (indent + 1))):
        end = index + 1 if lines[index].strip() else end
        index += 1
    return end


def end_of_json(lines: Sequence[str], start: int, closing: Sequence[int]) -> int:
    """The line behind an object in JSON, of which the braces stand alone in their lines; `closing` are the lines of all that close."""
    if lines[start].rstrip() != "{" or start + 1 >= len(lines) or not JSON_KEY.match(lines[start + 1]):
        return 0
    next_one = bisect.bisect(closing, start)
    return closing[next_one] + 1 if next_one < len(closing) else 0
