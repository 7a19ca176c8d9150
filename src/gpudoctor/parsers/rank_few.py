"""How many lines of one kind are worth reading, where a rank logs thousands of them that say the same."""

from __future__ import annotations

from collections.abc import Mapping


class Few(dict[str, int]):
    """How many lines of a kind are looked at in a part of a log: all at first, then few, hardly any once they tell nothing new."""

    left = 1_000
    enough = 2  # lines that told nothing new, after which only a sample is looked at
    sample = 64  # one part in so many

    def __init__(self, kinds: Mapping[str, int]) -> None:
        super().__init__(kinds)
        self.stale = dict.fromkeys(kinds, 0)
        self.passed = 0

    def get(self, name: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """The number for a kind of line, None for all."""
        if self.left > 0 or name not in self:
            return None
        if self.stale[name] < self.enough:
            return self[name]
        self.passed += 1
        return 1 if self.passed % self.sample == 0 else 0

    def count(self, name: str, news: bool) -> None:
        """One more line was looked at."""
        self.left -= 1
        self.stale[name] = 0 if news else self.stale[name] + 1

    def renew(self) -> None:
        """Another source: all of it is new."""
        self.stale = dict.fromkeys(self, 0)
