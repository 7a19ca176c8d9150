"""Text from a cluster made safe to print, and argv lists made safe to paste. Every reporter passes everything through here."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from gpudoctor.report import Evidence, Table

LEFT_OUT = "… "
LEAST = 24  # columns of a line that are worth showing
WORD = 48  # characters that are a word, a UUID too; more without a space are data
LONGEST = 4096  # characters of one text; a reader takes in less, and the layout stays quick


def safe(text: str, longest: int = LONGEST) -> str:
    r"""The text with everything escaped that isn't a plain printable character.

    Control characters, ANSI sequences, newlines, bidirectional overrides, zero-width characters and surrogates become `\x1b`, `\n`,
    `\u202e`; a tab becomes a space. What is longer than `longest` is cut.

    >>> print(safe("a\tb\x1b[2J\u202ec"))
    a b\x1b[2J\u202ec
    """
    cut = text[:longest].replace("\t", " ")
    ending = "…" if len(text) > longest else ""
    if cut.isprintable():
        return cut + ending
    return "".join(char if char.isprintable() else escape_char(char) for char in cut) + ending


def shorten(text: str, longest: int) -> str:
    """The text with its middle left out where it is too long: a chain of errors has its first cause at the end.

    >>> shorten("failed to start: " + "failed to create: " * 9 + "no such file", 40)
    'failed to start: fa … eate: no such file'
    """
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[: longest - 3 - half]} … {text[-half:]}"


def excerpt(piece: Evidence, longest: int) -> str:
    """What an evidence says in a limited space: its line cut around what decided, and the values that the line alone doesn't show.

    >>> row = "2026/03/01 12:00:04.250, 0, GPU-5a0c1f2e, NVIDIA H100, P0, 88, 70, 430.00"
    >>> excerpt(Evidence("smi.csv", 2, row, (59, 61), ["temperature: 88"]), 60)
    '… NVIDIA H100, P0, 88, 70, 430.00 (temperature: 88)'
    """
    values = safe(", ".join(piece.values))
    told = f" ({values})" if values and piece.text else values
    room = longest - len(told)
    if room < LEAST < len(piece.text):
        return values if len(values) <= longest else cut_around(piece.text, *piece.match, longest)
    return cut_around(piece.text, *piece.match, room) + told


def cut_around(text: str, start: int, end: int, longest: int) -> str:
    """A text cut at words around a part, which is whole where there is room for it; without a part it is cut in the middle.

    >>> said = "Warning  FailedScheduling  0/4 nodes are available: 3 Insufficient nvidia.com/gpu, 1 node(s) were unschedulable."
    >>> cut_around(said, said.index("3 Ins"), said.index(", 1 "), 60)
    '… available: 3 Insufficient nvidia.com/gpu, 1 node(s) …'
    """
    if len(whole := safe(text)) <= longest or end <= start:
        return shorten(whole, longest)
    start = text.rfind(" ", max(0, start - WORD), start) + 1 or start  # from the beginning of its word
    before, part, after = safe(text[:start]), safe(text[start:end]), safe(text[end:])
    room = longest - len(part) - 2 * len(LEFT_OUT)
    if room < 0:  # the part alone is too long: its beginning says most
        return LEFT_OUT * bool(before) + last_word_out(part[: longest - 2 * len(LEFT_OUT)]) + LEFT_OUT[::-1]
    left = min(len(before), max(room // 2, room - len(after)))
    right = min(len(after), room - left)
    head = before if left == len(before) else LEFT_OUT + last_word_out(before[len(before) - left :][::-1])[::-1].lstrip()
    tail = after if right == len(after) else last_word_out(after[:right]) + LEFT_OUT[::-1]
    return head + part + tail


def last_word_out(text: str) -> str:
    """A text that was cut, without the word that was cut, unless that is a long one."""
    at = text.rfind(" ")
    return text[:at] if at >= len(text) - WORD and at >= 0 else text


def short_table(table: Table, most: int) -> list[list[str]]:
    """At most so many rows of a table, without the others: the first ones, or those that say most, with the number of those between them.

    >>> short_table(Table("", ["Time", "What"], [[str(number), "an error"] for number in range(9)], telling=[0, 5, 8]), 5)
    [['0', 'an error'], ['', '4 rows left out'], ['5', 'an error'], ['', '2 rows left out'], ['8', 'an error']]
    """
    if len(table.rows) <= most or not table.telling:
        return table.rows[:most]
    widest = max(range(len(table.columns)), key=lambda column: max(len(row[column]) for row in table.rows))
    made: list[list[str]] = []
    last = -1
    for number in [*table.telling[:most], len(table.rows)]:
        if between := number - last - 1:
            made.append(["" if column != widest else f"{count(between, 'row')} left out" for column in range(len(table.columns))])
        made += table.rows[number : number + 1]
        last = number
    return made


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 check`, `2 checks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def escape_char(char: str) -> str:
    """One character as Python would write it: `\\n`, `\\x1b`, `\\u202e`."""
    return char.encode("unicode_escape").decode("ascii")


def command(argv: Sequence[str]) -> str:
    r"""The argv list as one line for a POSIX shell; pasted, it runs this argv and nothing else. "" for one that no shell can express.

    Elements that can't be typed are written in `$'…'`, which bash, zsh and POSIX.1-2024 know, so that the line itself stays printable.

    >>> print(command(["kubectl", "label", "node", "gpu-02", "a b", "x\ny"]))
    kubectl label node gpu-02 'a b' $'x\x0ay'
    """
    if not argv or any("\0" in element for element in argv):
        return ""
    return " ".join([shell_quote(argv[0], first=True), *(shell_quote(element) for element in argv[1:])])


def shell_quote(element: str, *, first: bool = False) -> str:
    """One element for the shell.

    `shlex.quote` alone isn't enough: zsh expands a leading `=`, and a first word with `=` would assign, one with `%` resume a job.
    """
    if not element.isprintable():
        return f"$'{''.join(dollar_quoted(char) for char in element)}'"
    special = element.startswith("=") or (first and ("=" in element or element.startswith("%")))
    return f"'{element}'" if special and shlex.quote(element) == element else shlex.quote(element)


def dollar_quoted(char: str) -> str:
    r"""One character inside `$'…'`: bytes of UTF-8 as `\xHH`, since `\u` depends on the locale of the shell."""
    if char in "\\'":
        return f"\\{char}"
    if char.isprintable() and char.isascii():
        return char
    return "".join(
        f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogateescape" if "\udc80" <= char <= "\udcff" else "surrogatepass")
    )
