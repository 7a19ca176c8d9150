"""What `gpudoctor xid` prints for codes and lines: one code in full, several in short with what they mean together."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpudoctor.knowledge.xids import Book, Sxid, Xid
from gpudoctor.reporters.text import safe

if TYPE_CHECKING:
    from gpudoctor.cli.xid_answer import Asked, Explained

WIDEST, NARROWEST = 100, 40  # columns
LABEL = 12
NEAR = 3  # entries shown around an unknown code
PLUGIN_RESTARTS = "and it stays unhealthy until the plugin restarts"
CATALOGUE = "https://docs.nvidia.com/deploy/xid-errors/"
HEADER = "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/common/sdk/nvidia/inc/nverror.h"


def screen(answer: Explained, known: Book, *, verbose: bool = False) -> str:
    """The whole text; `verbose` adds where it is from."""
    entries: list[Xid | Sxid] = [*answer.xids, *answer.sxids]
    alone = len(entries) == 1 and not answer.unknown
    blocks = [block(entry, known, answer.lines, full=alone, verbose=verbose) for entry in entries]
    if together := list(combined_meaning(answer, known)):
        blocks.insert(0 if len(entries) > 2 else len(blocks), together)
    blocks += [unknown_code(code, known) for code in answer.unknown]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def block(entry: Xid | Sxid, known: Book, lines: list[Asked], *, full: bool, verbose: bool) -> list[str]:
    """One code."""
    said = [line for asked in lines if asked.code == entry.code for line in the_line(asked)]
    if isinstance(entry, Sxid):
        return [*switch_code(entry, known), *said]
    return [*in_full(entry, known, said, verbose)] if full else [*in_short(entry, known, said)]


def in_full(entry: Xid, known: Book, said: list[str], verbose: bool) -> Iterator[str]:
    """Everything that is known of one code."""
    yield f"Xid {entry.code}: {entry.title}"
    yield from paragraph(entry.meaning)
    yield from said
    yield ""
    yield from labelled_lines("severity", f"{entry.severity}: {known.severities[entry.severity]}")
    yield from labelled_lines("whose", known.whose[entry.whose])
    if entry.causes:
        yield from labelled_lines("comes from", ", ".join(known.causes[cause] for cause in entry.causes))
    yield ""
    yield "What to do, in this order"
    yield from numbered_list(known.actions[action] for action in entry.actions)
    if since := entry.bucket.driver_says_since:
        yield from paragraph(f"Since {since} the driver names the action itself, in Xid 154 beside this one: then that counts.", 2)
    if entry.notes:
        yield from paragraph(entry.notes, 2)
    yield from titled_list("Often taken for", entry.confused)
    yield from titled_list("Reading the line", [f"{word}: {means}" for word, means in entry.reading.items()])
    yield from titled_list("Who says otherwise", entry.otherwise)
    yield ""
    yield from other_programs(entry, known)
    yield ""
    if verbose:
        yield from labelled_lines("sources", "; ".join(known.sources[key] for key in entry.sources))
    else:
        yield from labelled_lines("sources", f"{len(entry.sources)}, with -v")


def other_programs(entry: Xid, known: Book) -> Iterator[str]:
    """What the programs around the driver do about a code, and where it can be logged."""
    plugin = f"the device plugin marks the GPU unhealthy, {PLUGIN_RESTARTS}"
    yield from labelled_lines(
        "Kubernetes", "the device plugin ignores it, the GPU stays allocatable" if entry.device_plugin_ignores else plugin
    )
    watched = f"the health check reports a {entry.dcgm}" if entry.dcgm else "the health check doesn't watch it"
    wrong = "; what it writes beside it contradicts NVIDIA's catalogue" if entry.dcgm_text_wrong else ""
    yield from labelled_lines("DCGM", watched + wrong)
    steps = [
        f"{label} {known.buckets[word]} ({word})" for label, word in (("at once:", entry.bucket.now), ("then:", entry.bucket.then)) if word
    ]
    yield from labelled_lines("NVIDIA", "; ".join(steps) or "publishes no action for it")
    yield from labelled_lines("logged by", ", ".join(entry.applies_to) or "no data-centre GPU since A100")
    yield from labelled_lines("header", ", ".join(entry.symbols))


def in_short(entry: Xid, known: Book, said: list[str]) -> Iterator[str]:
    """One code among several."""
    yield f"Xid {entry.code}: {entry.title} ({entry.severity})"
    yield from paragraph(entry.meaning, 2)
    yield from said
    yield from labelled_lines("whose", known.whose[entry.whose], 2)
    yield from labelled_lines("do", " ".join(known.actions[action] for action in entry.actions[:3]), 2)


def switch_code(entry: Sxid, known: Book) -> Iterator[str]:
    """A code of an NVSwitch."""
    how = {True: " (fatal)", False: " (not fatal)", None: ""}[entry.fatal]
    yield f"SXid {entry.code}: {entry.title}{how}"
    yield from paragraph(f"An error of an NVSwitch. {entry.meaning}", 2)
    yield from numbered_list(known.actions[action] for action in entry.actions)


def the_line(asked: Asked) -> Iterator[str]:
    """What a pasted line says."""
    if asked.decoded and asked.decoded.lines:
        yield ""
        yield "This line says"
        for text in asked.decoded.lines:
            yield from paragraph(f"- {safe(text)}", 2)


def combined_meaning(answer: Explained, known: Book) -> Iterator[str]:
    """What several codes mean together, which one to act on, and who decides."""
    if answer.together or answer.first is not None:
        yield "Together"
    for row in answer.together:
        yield from paragraph(f"{' + '.join(map(str, row.codes))}: {row.verdict}", 2)
        yield from labelled_lines("do", " ".join(known.actions[action] for action in row.actions), 4)
    if answer.first is not None:
        yield from paragraph(f"Act first on {answer.first}, the gravest. The first one in time on the same GPU is mostly the cause.", 2)
        yield ""
        yield "Who decides"
        yield from numbered_list(known.precedence)


def unknown_code(code: int, known: Book) -> list[str]:
    """What can be said of a code that isn't in the book."""
    gap = next((row for row in known.unused if row.first <= code <= row.last), None)
    entries: list[Xid | Sxid] = [*(known.xids if code < known.sxids[0].code else known.sxids)]
    titles = {entry.code: entry.title for entry in entries}
    near = sorted(sorted(titles, key=lambda one: abs(one - code))[:NEAR])
    newest = known.xids[-1].code
    why = f"It is {gap.why}." if gap else f"The highest that we know is {newest}." if newest < code < known.sxids[0].code else ""
    return [
        f"Xid {code} is not known here.",
        *paragraph(f"{why} Its text still says what happened, and Xid 154 beside it what to do.".strip(), 2),
        "  nearest:",
        *(line for one in near for line in paragraph(f"- {one}: {titles[one]}", 4)),
        "  how to look:",
        *paragraph(f"- NVIDIA's catalogue: {CATALOGUE}", 4),
        *paragraph(f"- the names of all codes of a driver: {HEADER} at the tag of your version", 4),
    ]


def width() -> int:
    """Columns to write in."""
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDEST, 25)).columns))


def paragraph(text: str, indent: int = 0) -> list[str]:
    """Text in lines; what follows a bullet hangs under it."""
    hang = " " * (indent + 2 * text.startswith("- "))
    return textwrap.wrap(text, width(), initial_indent=" " * indent, subsequent_indent=hang, break_on_hyphens=False, break_long_words=False)


def labelled_lines(label: str, text: str, indent: int = 0) -> list[str]:
    """A label with its text beside it, as lines."""
    first = f"{' ' * indent}{label:<{LABEL if not indent else 6}}"
    return textwrap.wrap(
        text, width(), initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False, break_long_words=False
    )


def numbered_list(texts: Iterable[str]) -> Iterator[str]:
    """The lines of a numbered list."""
    for number, text in enumerate(texts, 1):
        first = f"{number:>3}. "
        yield from textwrap.wrap(
            text, width(), initial_indent=first, subsequent_indent=" " * len(first), break_on_hyphens=False, break_long_words=False
        )


def titled_list(title: str, texts: list[str]) -> Iterator[str]:
    """The lines of a list under its title; none for an empty list."""
    if texts:
        yield ""
        yield title
        for text in texts:
            yield from paragraph(f"- {text}", 2)
