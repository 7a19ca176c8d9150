"""The compiled forms of the YAML in this folder. `gpudoctor.library` makes them and gives them to this module when it is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from gpudoctor.knowledge.nccl_settings import Known
    from gpudoctor.knowledge.xids import Book


class Harmless(msgspec.Struct, frozen=True, kw_only=True):
    """Why a line of an error is none: said at most so often in one text, and, where `not_last`, not as its last word."""

    why: str
    at_most: int = 0  # 0: as often as it likes
    not_last: bool = False


class Wording(msgspec.Struct, frozen=True):
    """How one program says it: a pattern (RE2), whose one optional group is the detail, and a line that it matches."""

    pattern: str
    line: str


class KnownMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A line whose meaning is known, in one wording or several."""

    name: str
    wordings: list[Wording]
    unless: str = ""  # RE2; a line that fits this too doesn't say it
    source: str = ""
    benign: bool = False  # no alarm by itself
    sampled: bool = False  # of very many lines a sample is read: nobody asks how often or when it is said
    harmless: Harmless | None = None
    survivor: bool = False  # says only that another process of the job is gone or late: never who began

    @property
    def pattern(self) -> str:
        """One pattern (RE2) for all wordings; of its groups only that of the wording which matches captures."""
        return "|".join(wording.pattern for wording in self.wordings)


class Source(Protocol):
    """Whoever has the compiled forms. Each method raises `library.index.BrokenLibrary` when the files don't pass."""

    def messages(self) -> list[KnownMessage]:
        """The lines whose meaning is known."""

    def harmless(self) -> list[KnownMessage]:
        """The lines that say trouble where there is none."""

    def literals(self) -> dict[str, list[str]]:
        """Name of a known message → texts of which every line of it has one."""

    def texts(self) -> dict[str, list[str]]:
        """Name of a known message → its literals as plain texts in lower case."""

    def programs(self, shape: str) -> dict[str, bytes]:
        """The compiled conditions of an environment, by their texts."""

    def settings(self) -> list[Known]:
        """The variables by which a distributed job communicates."""

    def xids(self) -> Book:
        """The numbered errors of the driver."""


_given: list[Source] = []


def give(source: Source) -> None:
    """Name who has the compiled forms."""
    _given[:] = [source]


def source() -> Source:
    """Who has them. Raises RuntimeError where `gpudoctor.library` was not imported."""
    if not _given:
        raise RuntimeError("nothing is compiled yet: import gpudoctor.library before its knowledge is used")
    return _given[0]
