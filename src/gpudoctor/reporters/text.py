"""Text from a cluster made safe to print, and argv lists made safe to paste. Every reporter passes everything through here."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

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
