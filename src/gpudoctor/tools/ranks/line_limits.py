"""How many lines of one kind are worth reading, where a rank logs thousands of them that say the same."""

from __future__ import annotations

from collections.abc import Mapping

MOST = 100_000  # different things that are remembered


class Few(dict[str, int]):
    """How many lines of a kind are looked at in a part of a log: all at first, then few, hardly any once they tell nothing new."""

    enough = 1  # lines that told nothing new, after which only a sample is looked at
    sample = 64  # one part in so many

    def __init__(self, kinds: Mapping[str, int], left: int) -> None:
        super().__init__(kinds)
        self.left = left
        self.stale = dict.fromkeys(kinds, 0)
        self.told: set[tuple[str, str, str]] = set()
        self.passed = 0

    def get(self, name: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """The number for a kind of line, None for all."""
        if self.left > 0 or name not in self:
            return None
        if self.stale[name] < self.enough:
            return self[name]
        self.passed += 1
        return 1 if self.passed % self.sample == 0 else 0

    def count(self, name: str, line: str) -> None:
        """One more line was looked at. It tells something new if nobody who begins a line so has said `via` the same."""
        if name not in self:
            return
        self.left -= 1
        told = (name, line.partition("]")[0], "/".join(line.partition(" via ")[2].split("/", 2)[:2]))
        self.stale[name] = self.stale[name] + 1 if told in self.told or len(self.told) >= MOST else 0
        self.told.add(told)
