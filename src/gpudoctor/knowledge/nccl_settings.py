"""What is known of the environment variables by which a distributed job communicates. The data is `nccl_settings.yaml`.

A run reads no YAML: `settings()` is the compiled form, see `knowledge.compiled`.
"""

from __future__ import annotations

import functools
import re

import msgspec

from gpudoctor.knowledge.compiled import source
from gpudoctor.patterns import regex

# Who writes variables with these prefixes means one of ours, even where the rest of the name is not known.
PREFIXES = ("NCCL_", "TORCH_NCCL_", "TORCH_FR_", "TORCH_DISTRIBUTED_", "TORCHELASTIC_", "GLOO_", "UCX_", "FI_", "OFI_NCCL_", "SHARP_COLL_")
# Only with these prefixes is a name that is not known worth a word: all of their variables are in the data.
COMPLETE = ("NCCL_", "TORCH_NCCL_", "GLOO_")
LETTERS = 2  # that a misspelt name has more or less than the right one
NEAR = 0.86  # of difflib's ratio: one letter missing, added or swapped in a name of ten letters and more
NUMBER = regex(r"\s*[+-]?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,19})\s*")  # what strtoll(value, 0, 0) reads to its end


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One variable, or a family of them when the name ends in `*`."""

    name: str
    library: str  # a key of the data's sources
    does: str
    default: str = ""  # in the newest release
    before: dict[str, str] = {}  # release → the default before it
    since: str = ""  # release of the library, "" = older than what was looked at
    until: str = ""  # the last release that reads it
    instead: str = ""  # what to set instead
    state: str = "current"  # current, renamed, obsolete (without effect or needless), removed, diagnostic (to find faults)
    takes: str = "text"  # number, text
    words: list[str] = []  # the values that are read; [] = any
    cased: bool = False  # only as they are written
    least: int | None = None
    most: int | None = None
    same: bool = False  # must be the same on every rank of a job

    @property
    def defaults(self) -> str:
        """The default, with those of older releases: `20; before 2.23: 18; before 2.14: 14`."""
        older = sorted(self.before.items(), key=lambda item: release(item[0]), reverse=True)
        return "; ".join([self.default, *(f"before {since}: {value}" for since, value in older)])

    def fits(self, value: str) -> bool | None:
        """Whether the library reads this value as it is meant; None where anything may stand. NCCL reads a word for a number as 0."""
        if not value:
            return None
        if self.words:
            return (value if self.cased else value.upper()) in self.words
        if self.takes != "number":
            return None
        if not NUMBER.fullmatch(value):
            return False
        number = c_integer(value)
        return not ((self.least is not None and -1 != number < self.least) or (self.most is not None and number > self.most))


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of them."""

    sources: dict[str, str]  # library → its documentation
    settings: list[Known]


def c_integer(value: str) -> int:
    """A number as C reads it, octal with a leading zero included.

    >>> c_integer(" 0x10"), c_integer("-1"), c_integer("010")
    (16, -1, 8)
    """
    bare = value.strip().lower()
    digits = bare.lstrip("+-")
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") and digits.strip("01234567") == "" else 10
    return int(bare, base)


def release(version: str) -> tuple[int, ...]:
    """A release as numbers, to compare them."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


@functools.cache
def settings() -> dict[str, Known]:
    """The variables by name. Raises `library.index.BrokenLibrary` when the data doesn't pass."""
    return {one.name: one for one in source().settings()}


@functools.cache
def families() -> list[tuple[str, Known]]:
    """The prefixes of whole families, the longest first."""
    return sorted(((name[:-1], one) for name, one in settings().items() if name.endswith("*")), key=lambda pair: -len(pair[0]))


def known_setting(name: str) -> Known | None:
    """What is known of a variable: its own entry, else that of the longest family."""
    found = settings().get(name)
    return found or next((one for prefix, one in families() if name.startswith(prefix)), None)


@functools.lru_cache(1000)
def nearest_name(name: str) -> str:
    """The name that a wrong one was meant to be, "" when none is near.

    >>> nearest_name("NCCL_SOCKET_IFNAMES"), nearest_name("NCCL_SITE_PROFILE")
    ('NCCL_SOCKET_IFNAME', '')
    """
    if not name.startswith(COMPLETE):
        return ""
    import difflib

    candidates = [one for one in settings() if abs(len(one) - len(name)) <= LETTERS and not one.endswith("*")]
    return next(iter(difflib.get_close_matches(name, candidates, 1, NEAR)), "")


def is_job_setting(name: str) -> bool:
    """Whether a variable is about how a job communicates."""
    return name.startswith(PREFIXES) or known_setting(name) is not None
