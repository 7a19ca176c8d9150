"""What can be said about known messages without a log: patterns and their lines, names, and that somebody reads each of them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpudoctor.knowledge.compiled import KnownMessage
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Library

PACKAGE = Path(__file__).parent.parent
LONGEST = 250  # characters of one pattern; a longer one is several wordings, or one that nobody can check by reading
# Read without their names: the history of a GPU (`derive.timeline`) has every kernel line with its address, and a rank that ends with
# a warning of NCCL in known words is not taken for a program that ends with an error of its own (`tools.job.log`).
UNNAMED = {
    "iommu_fault",
    "nccl_system_call_failed",
    "pcie_error_corrected",
    "pcie_error_not_corrected",
    "pcie_port_contained",
    "pcie_recovery_failed",
    "pcie_slot_empty",
}
QUOTED = regex(r'"(\w+)"')  # message.name == "nccl_refused"


def problems(given: Library) -> Iterator[str]:
    """What makes a run wrong: a name twice or of a cause, a pattern that RE2 doesn't know or that doesn't match its own line."""
    names: set[str] = set()
    for entry in (*given.messages, *given.harmless):
        if entry.name in names:
            yield f"{entry.name}: the name is there twice"
        names.add(entry.name)
        if entry in given.harmless and entry.harmless is None:
            yield f"{entry.name}: benign: say why with `why`"
        if entry.name.replace("_", "-") in given.causes:
            yield f"{entry.name}: a message says what a line states; this is the name of a cause"
        yield from (f"{entry.name}: {text}" for text in pattern_problems(entry))


def pattern_problems(entry: KnownMessage) -> Iterator[str]:
    """Every pattern compiles as RE2, has one group at most and matches its own line, which isn't excepted."""
    excepted = compiled(entry.unless)
    if isinstance(excepted, str):
        yield f"unless: {excepted}"
    for wording in entry.wordings:
        pattern = compiled(wording.pattern)
        if isinstance(pattern, str):
            yield f"pattern: {pattern}"
            continue
        if pattern.groups > 1:
            yield "pattern: has more than one group"
        if len(entry.wordings) > 1 and "(?i)" in wording.pattern:
            yield "pattern: write (?i:…): without a colon it holds for the patterns after it too"
        if not pattern.search(wording.line):
            yield f"pattern doesn't match its own line: {wording.line}"
        if entry.unless and not isinstance(excepted, str) and excepted.search(wording.line):
            yield f"unless: its own line is excepted: {wording.line}"


def style(given: Library) -> Iterator[str]:
    """What stops a merge: a pattern that is too long, one that its neighbour makes needless, a message that nobody reads."""
    read = UNNAMED | names_in_conditions(given) | names_in_sources()
    for entry in given.messages:
        if entry.name not in read and not entry.survivor and entry.harmless is None:
            yield f"{entry.name}: no check and no measurement reads it: delete it, or write the check"
    for entry in (*given.messages, *given.harmless):
        for wording in entry.wordings:
            if len(wording.pattern) > LONGEST:
                yield f"{entry.name}: a pattern has {len(wording.pattern)} characters, at most {LONGEST}: write each wording under `any`"
            if any(other is not wording and compiled(other.pattern).search(wording.line) for other in entry.wordings):
                yield f"{entry.name}: two patterns match this line, so one is needless or the line is not its own: {wording.line}"


def names_in_conditions(given: Library) -> set[str]:
    """The names that checks and expectations quote in their conditions and joins."""
    checks = [check for book in (*given.runbooks.values(), given.signs) for check in (*book.checks(), *book.expects)]
    joins = [text for check in checks for join in check.joins for text in (join.where, *join.on.values())]
    return {name for text in (*joins, *(check.when for check in checks)) for name in QUOTED.findall(text)}


def names_in_sources() -> set[str]:
    """The names that the program's own modules quote, those of derivations for example."""
    files = (path for path in PACKAGE.rglob("*.py") if path.parent.name != "knowledge")
    return {name for path in files for name in QUOTED.findall(path.read_text(encoding="utf-8"))}


@functools.cache
def compiled(pattern: str) -> Any:
    """The compiled pattern, or a text: what RE2 says is wrong with it."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        return str(error)
