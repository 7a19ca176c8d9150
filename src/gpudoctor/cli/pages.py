"""The pages of `docs/` that are made from the library: all causes, a page for each layer, and all runbooks. `make docs` writes them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.cli.errors import Refused, complain
from gpudoctor.cli.execute import loaded
from gpudoctor.cli.explain import ACTS, BROADER, WHO, typed
from gpudoctor.cli.library import default, step_lines
from gpudoctor.patterns import regex
from gpudoctor.reporters.text import command
from gpudoctor.runbook import index
from gpudoctor.runbook.model import Cause, FixTemplate, Library, Runbook

MADE = "<!-- Made by `make docs` from {}: change that, not this page. -->\n"
# targets <unknown>, DCGM_FI_PROF_*, NCCL_*: special to Markdown but in backticks
SPECIAL, CODE = regex(r"[<>*_]"), regex(r"(`[^`]*`)")


def pages(library: Library) -> dict[str, str]:
    """Name of the file under docs/ → its text."""
    layers: dict[str, list[Cause]] = {}
    for cause in library.causes.values():
        layers.setdefault(cause.layer, []).append(cause)
    return {
        "causes.md": "\n".join(causes_page(dict(sorted(layers.items())))),
        **{f"causes/{layer}.md": "\n".join(layer_page(library, layer, causes)) for layer, causes in sorted(layers.items())},
        "runbooks.md": "\n".join(runbooks_page(library)),
    }


def causes_page(layers: dict[str, list[Cause]]) -> Iterator[str]:
    """All causes in a line each, by layer."""
    yield MADE.format("`runbooks/catalogue/`")
    yield "# Causes\n"
    yield f"The {sum(map(len, layers.values()))} causes that gpudoctor knows. `gpudoctor explain NAME` prints one of them.\n"
    yield ", ".join(f"[{layer}](#{layer})" for layer in layers)
    for layer, causes in layers.items():
        yield f"\n## {layer}\n"
        yield "| Cause | What it is | What to do |\n|---|---|---|"
        for cause in causes:
            yield f"| [{cause.id}](causes/{layer}.md#{cause.id.lower()}) | {cell(cause.title)} | {ACTS[cause.act]} |"
    yield ""


def layer_page(library: Library, layer: str, causes: list[Cause]) -> Iterator[str]:
    """The causes of one layer in full."""
    yield MADE.format("`runbooks/catalogue/`")
    yield f"# Causes: {layer}\n"
    yield "All layers: [causes](../causes.md)."
    for cause in causes:
        yield from entry(library, cause)
    yield ""


def entry(library: Library, cause: Cause) -> Iterator[str]:
    """One cause, as `gpudoctor explain` tells it."""
    yield f"\n## {cause.id}\n"
    yield f"**{plain(cause.title)}** ({cause.severity}, about a {cause.subject.replace('gpu', 'GPU')})\n"
    yield plain(cause.means) + (f" {BROADER}" if cause.broader else "")
    yield f"\n**How to tell:** {plain(cause.tell)}"
    yield f"\n**What to do:** {ACTS[cause.act]} ({WHO[cause.who]}).\n"
    for fix in cause.fixes:
        yield from remedy(fix)
    if apart := library.told_apart(cause.id):
        yield "\n**Not to be confused with**\n"
        for other, how in apart.items():
            yield f"- {link(library, other)}: {plain(how)}"
    around = {
        "Brings about": [link(library, name) for name in cause.explains],
        "Brought about by": [link(library, one.id) for one in library.causes.values() if cause.id in one.explains],
        "Checked in": [f"`{name}`" for name in library.found_by(cause.id)],
        "See": [f"<{address}>" for address in cause.references],
    }
    for label, names in around.items():
        if names:
            yield f"\n{label}: {', '.join(names)}"


def remedy(fix: FixTemplate) -> Iterator[str]:
    """A fix and its commands."""
    told = typed(fix)
    yield f"- *{told.risk}:* {plain(told.title)}"
    for label, argv in (("", told.run), ("undo: ", told.undo), ("verify: ", told.verify)):
        if argv:
            yield f"  - {label}`{command(argv)}`"


def runbooks_page(library: Library) -> Iterator[str]:
    """All runbooks: what they are for, their inputs, their steps."""
    yield MADE.format("`runbooks/`")
    yield "# Runbooks\n"
    yield "`gpudoctor run NAME` runs one, `gpudoctor show NAME` prints its steps with those of what it includes.\n"
    yield "| Runbook | What it looks for | Checks |\n|---|---|---|"
    for book in library.runbooks.values():
        yield f"| [{book.id}](#{book.id}) | {cell(book.title)} | {sum(bool(check.finds) for check in book.checks())} |"
    for book in library.runbooks.values():
        yield from one_runbook(book)
    yield ""


def one_runbook(book: Runbook) -> Iterator[str]:
    """One runbook; what a step includes is a link."""
    yield f"\n## {book.id}\n"
    yield f"**{plain(book.title)}**{'' if book.status == 'stable' else f' ({book.status})'}\n"
    yield plain(book.summary)
    if book.alerts:
        yield f"\nAlerts that lead here: {', '.join(f'`{name}`' for name in book.alerts)}"
    if book.inputs:
        yield "\n| Input | Default | |\n|---|---|---|"
        for name, given in book.inputs.items():
            yield f"| `{name}` | `{default(given.default, given.type)}` | {cell(given.help)} |"
    yield ""
    for number, step in enumerate(book.steps, 1):
        if step.include:
            yield f"{number}. includes [{step.include}](#{step.include})" + (f", when `{step.when}`" if step.when else "")
            continue
        yield f"{number}. {plain(step.title or step.id)}\n"
        yield "   ```text"
        yield from (f"   {line}" for line in step_lines(step))
        yield "   ```"


def link(library: Library, cause: str) -> str:
    """A link from a page of a layer to a cause."""
    return f"[{cause}]({library.causes[cause].layer}.md#{cause.lower()})"


def plain(text: str) -> str:
    r"""A text that Markdown shows as it is: angle brackets are no tags.

    >>> plain("shows <unknown> for `kubectl get node <node>`")
    'shows \\<unknown\\> for `kubectl get node <node>`'
    """
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\g<0>", part) for part in parts)


def cell(text: str) -> str:
    """A text in a table: a bar ends no cell."""
    return plain(text).replace("|", r"\|")


def stale(library: Library, folder: Path) -> dict[str, str]:
    """The pages that aren't what the library says, with their right text; "" for one that should be gone."""
    wanted = pages(library)
    there = {f"causes/{path.name}" for path in (folder / "causes").glob("*.md")}
    return {name: text for name, text in wanted.items() if text_of(folder / name) != text} | dict.fromkeys(there - wanted.keys(), "")


def text_of(path: Path) -> str:
    """The text of a page, "" where there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def write(library: Library, folder: Path) -> list[str]:
    """Write the pages that are stale; returns their names."""
    found = stale(library, folder)
    for name, text in found.items():
        (folder / name).parent.mkdir(exist_ok=True)
        if text:
            (folder / name).write_text(text, encoding="utf-8")
        else:
            (folder / name).unlink()
    return sorted(found)


def main() -> int:
    """Write what is stale into `docs/` of the checkout."""
    try:
        if not index.in_checkout():
            raise Refused("the pages belong to gpudoctor's sources, which are not installed: run `make docs` in a checkout")
        library = loaded()
    except Refused as error:
        complain(str(error))
        return error.code
    for name in write(library, index.root() / "docs"):
        print(f"docs/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
