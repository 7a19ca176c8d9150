"""Which patterns a short text may fit, by the literals that it has. RE2's Set says the same of a long text much faster, but takes 0.07 s to
make: longer than all else that an event or a log of ten lines needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

END = 8  # characters at the end of a literal by which it is looked for


class ShortTexts:
    """Patterns by their literals in lower case (`knowledge.literals.plain`); those without one may occur anywhere."""

    def __init__(self, patterns: Iterable[Sequence[str]]) -> None:
        self.always: list[int] = []
        self.ends: dict[str, list[tuple[str, int]]] = {}
        for number, texts in enumerate(patterns):
            for text in texts:
                self.ends.setdefault(text[-END:], []).append((text, number))
            if not texts:
                self.always.append(number)
        self.sizes = {len(end) for end in self.ends}

    def fitting(self, given: bytes) -> list[int]:
        """The numbers of the patterns that may occur in a text."""
        text = given.decode("utf-8", "replace").lower()
        found = set(self.always)
        for size in self.sizes:
            for end in self.ends.keys() & {text[at : at + size] for at in range(len(text) - size + 1)}:
                found.update(number for literal, number in self.ends[end] if number not in found and literal in text)
        return sorted(found)
