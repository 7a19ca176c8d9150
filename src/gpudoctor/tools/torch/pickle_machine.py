"""The stack machine that plain_pickle runs: its input, its stack, its memo, and the limits of each."""

from __future__ import annotations

from typing import Any

MOST_CONTAINERS = 500_000  # lists, dicts, tuples and sets: about 12 for one operation of a flight recorder
MOST_OPEN = 64  # containers begun inside one another
LONGEST_LINE = 4096  # bytes of the argument of a protocol 0 instruction

KEYS = (str, int, float, bool, bytes, type(None))  # a key of nested tuples may take for ever to hash


class Refused(ValueError):
    """The pickle asks for something that isn't plain data; the message names it."""


class Broken(ValueError):
    """These bytes are not a whole pickle, or one beyond the limits."""


class Machine:
    """The input and where it stands, the stack, the marks on it, and the memo."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.stack: list[Any] = []
        self.push = self.stack.append
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.containers = 0

    # What arguments are

    def take(self, size: int) -> bytes:
        """The next bytes; the length was written by whoever wrote the pickle, so it is checked before anything is made."""
        end = self.at + size
        if size < 0 or end > len(self.data):
            raise Broken(f"{size} bytes are announced near byte {self.at}, and {len(self.data) - self.at} are left")
        taken = self.data[self.at : end]
        self.at = end
        return taken

    def skip(self, size: int) -> None:
        """Pass over an argument."""
        self.at += size

    def number(self, size: int) -> int:
        """The next bytes as an unsigned number, little-endian."""
        return int.from_bytes(self.take(size), "little")

    def line(self) -> bytes:
        """The rest of the line, for the instructions of protocol 0."""
        end = self.data.find(b"\n", self.at, self.at + LONGEST_LINE)
        if end < 0:
            raise Broken(f"no end of line near byte {self.at}")
        text = self.data[self.at : end]
        self.at = end + 1
        return text

    # What lies on the stack

    def hold(self, value: Any) -> None:
        """Put a new container on the stack."""
        self.containers += 1
        if self.containers > MOST_CONTAINERS:
            raise Broken(f"more than {MOST_CONTAINERS} containers")
        self.stack.append(value)

    def pop(self) -> Any:
        """The top of the stack, not beyond the last mark."""
        if self.marks and len(self.stack) <= self.marks[-1]:
            raise Broken(f"nothing on the stack near byte {self.at}")
        return self.stack.pop()

    def mark(self) -> None:
        """Begin a container."""
        self.marks.append(len(self.stack))
        if len(self.marks) > MOST_OPEN:
            raise Broken(f"more than {MOST_OPEN} containers begun near byte {self.at}")

    def items_since_mark(self) -> list[Any]:
        """What was put on the stack since the last mark."""
        begin = self.marks.pop()
        items = self.stack[begin:]
        del self.stack[begin:]
        return items

    def tuple_of(self, size: int) -> None:
        """The top values as one tuple."""
        items = [self.pop() for _ in range(size)]
        self.hold(tuple(items[::-1]))

    def keep(self, place: int) -> None:
        """Remember the top of the stack."""
        self.memo[place] = self.stack[-1]

    def fill(self, items: list[Any]) -> None:
        """Put keys and values, in turn, into the dict on top."""
        target = self.stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise Broken(f"no dict to fill near byte {self.at}")
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[plain_key(key)] = value

    def extend(self, items: list[Any]) -> None:
        """Put items into the list on top."""
        target = self.stack[-1]
        if type(target) is not list:
            raise Broken(f"no list to fill near byte {self.at}")
        target.extend(items)

    def add(self, items: list[Any]) -> None:
        """Put items into the set on top."""
        target = self.stack[-1]
        if type(target) is not set:
            raise Broken(f"no set to fill near byte {self.at}")
        target.update([plain_key(item) for item in items])


def plain_key(key: Any) -> Any:
    """A key of a dict or an item of a set: plain, or a tuple of what is plain."""
    if type(key) in KEYS or (type(key) is tuple and all(type(one) in KEYS for one in key)):
        return key
    raise Broken(f"a {type(key).__name__} as a key")
