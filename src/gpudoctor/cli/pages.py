"""The two pages of `docs/` that are made from the library: the index of causes and the index of runbooks. `make docs` writes them, and the
numbers in the README.

The whole of a cause or a runbook is printed by `gpudoctor explain` and `gpudoctor show`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from gpudoctor.cli.errors import Refused, complain
from gpudoctor.cli.execute import load_library
from gpudoctor.library import index
from gpudoctor.patterns import regex
from gpudoctor.reporters.words import ACTIONS
from gpudoctor.runbook.model import Cause, Library

MADE = "<!-- Made by `make docs` from {}: change that, not this page. -->\n"
# targets <unknown>, DCGM_FI_PROF_*, NCCL_*: special to Markdown but in backticks
SPECIAL, CODE = regex(r"[<>*_]"), regex(r"(`[^`]*`)")
# 27 runbooks with 1256 checks, 417 causes and 919 known log lines
NUMBERS = regex(r"\d+ runbooks with \d+ checks, \d+ causes and \d+ known log lines")


def pages(library: Library) -> dict[str, str]:
    """Name of the file under docs/ → its text."""
    return {"causes.md": "\n".join(causes_page(library)), "runbooks.md": "\n".join(runbooks_page(library))}


def causes_page(library: Library) -> Iterator[str]:
    """All causes in a line each, by layer."""
    layers: dict[str, list[Cause]] = {}
    for cause in library.causes.values():
        layers.setdefault(cause.layer, []).append(cause)
    yield MADE.format("`runbooks/catalogue/`")
    yield "# Causes\n"
    yield f"The {len(library.causes)} causes that gpudoctor knows. `gpudoctor explain NAME` prints what one means and how to fix it.\n"
    yield ", ".join(f"[{layer}](#{layer})" for layer in sorted(layers))
    for layer, causes in sorted(layers.items()):
        yield f"\n## {layer}\n"
        yield "| Cause | What it is | What to do |\n|---|---|---|"
        for cause in causes:
            yield f"| `{cause.id}` | {cell(cause.title)} | {ACTIONS[cause.act]} |"
    yield ""


def runbooks_page(library: Library) -> Iterator[str]:
    """All runbooks in a line each, and the alerts that lead to them."""
    yield MADE.format("`runbooks/`")
    yield "# Runbooks\n"
    yield "`gpudoctor run NAME` runs one, `gpudoctor show NAME` prints its steps with those of what it includes.\n"
    yield "| Runbook | What it looks for | Checks | Alerts that lead here |\n|---|---|---|---|"
    for book in library.runbooks.values():
        checks = sum(bool(check.finds) for check in book.checks())
        alerts = ", ".join(f"`{name}`" for name in book.alerts)
        yield f"| [{book.id}](../runbooks/{book.id}.yaml) | {cell(book.title)} | {checks} | {alerts} |"
    yield ""


def numbered(text: str, library: Library) -> str:
    """A text whose sentence about how many runbooks, checks, causes and messages there are is right."""
    checks = sum(bool(check.finds) for book in library.runbooks.values() for check in book.checks())
    known = f"{len(library.causes)} causes and {len(library.messages)} known log lines"
    return NUMBERS.sub(f"{len(library.runbooks)} runbooks with {checks} checks, {known}", text)


def escape_markdown(text: str) -> str:
    r"""A text that Markdown shows as it is: angle brackets are no tags.

    >>> escape_markdown("shows <unknown> for `kubectl get node <node>`")
    'shows \\<unknown\\> for `kubectl get node <node>`'
    """
    parts = CODE.split(" ".join(text.split()))
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\g<0>", part) for part in parts)


def cell(text: str) -> str:
    """A text in a table: a bar ends no cell."""
    return escape_markdown(text).replace("|", r"\|")


def stale_pages(library: Library, folder: Path) -> dict[str, str]:
    """The pages that aren't what the library says, with their right text."""
    return {name: text for name, text in pages(library).items() if text_of(folder / name) != text}


def text_of(path: Path) -> str:
    """The text of a page, "" where there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def main() -> int:
    """Write what is stale into `docs/` of the checkout."""
    try:
        if not index.in_checkout():
            raise Refused("the pages belong to gpudoctor's sources, which are not installed: run `make docs` in a checkout")
        library = load_library()
    except Refused as error:
        complain(str(error))
        return error.code
    folder = index.root() / "docs"
    for name, text in stale_pages(library, folder).items():
        (folder / name).write_text(text, encoding="utf-8")
        print(f"docs/{name}")
    readme = index.root() / "README.md"
    if (text := numbered(said := text_of(readme), library)) != said:
        readme.write_text(text, encoding="utf-8")
        print("README.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
