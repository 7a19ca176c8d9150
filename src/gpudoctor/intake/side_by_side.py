"""Tables of `kubectl get` and descriptions of `kubectl describe` that stand one behind the other, without the commands between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpudoctor.patterns import regex

# NAME    READY   STATUS    RESTARTS   AGE  |  NAMESPACE   NAME   DESIRED   CURRENT   READY
TITLES = regex(r"^(?:NAMESPACE +)?NAME {2,}(?:[A-Z][A-Z.-]*(?: (?:NODE|SELECTOR|GATES|CLASS|MODES|POLICY|IN))?(?: +|$)){2,}$")
# Name:               gpu-n1      (the first line of a description)
NAMED = regex(r"^Name: {2,}\S")


def table_runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first line and the one behind the last of each run of tables or descriptions; a single one for anything else."""
    start, kind = 0, ""
    for index, line in enumerate(lines):
        here = ("table" if TITLES.match(line.rstrip()) else "") if line[:4] == "NAME" else "described" if NAMED.match(line) else ""
        if not here:
            kind = kind or ("described" if line[:1].isupper() and ":  " in line else "")
        elif kind and here != kind:
            yield start, index
            start, kind = index, here
        else:
            kind = here
    yield start, len(lines)
