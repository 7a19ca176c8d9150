"""`gpudoctor explain`: a cause of the catalogue, or an environment variable, for somebody who has just met its name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

import msgspec

from gpudoctor.cli.errors import Refused, no_such
from gpudoctor.cli.execute import load_library
from gpudoctor.cli.printing import Shown, colored, columns
from gpudoctor.knowledge.nccl_settings import Known, known_setting
from gpudoctor.patterns import regex
from gpudoctor.report import Fix, Look
from gpudoctor.reporters.answer import remedy
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.words import ACTIONS, ACTORS, labelled
from gpudoctor.runbook.model import Cause, FixTemplate, Library, LookTemplate

SCHEMA, VARIABLE_SCHEMA = "gpudoctor.cause/1", "gpudoctor.variable/1"
FORMATS = ("terminal", "json")
WIDTH = 100  # columns of a paragraph
NEAR = 5  # causes that may be meant
CODE = regex(r"(?:s?xid[ =]?)?(\d{1,5})\Z", re.IGNORECASE)  # Xid 79
PLACEHOLDER = regex(r"\$\{(?:seen\.)?(\w+)\}")  # kubectl drain ${node}

BROADER = "This is a broad name: the evidence shows the kind of cause, and not which of its kind."


class Explained(msgspec.Struct):
    """The answer, as `--format json` prints it: the catalogue's entry, and what the library knows around it.

    `confused_with` also has what other entries say of the pair; `found_by` are names of checks, `runbook.check`.
    """

    schema: str
    id: str
    title: str
    subject: str
    severity: str
    layer: str
    broader: bool
    means: str
    tell: str
    act: str
    who: str
    fixes: list[FixTemplate]
    look: list[LookTemplate]
    no_fix: str
    confused_with: dict[str, str]
    explains: list[str]
    explained_by: list[str]
    yields_to: list[str]
    found_by: list[str]
    references: list[str]


class Variable(msgspec.Struct):
    """What is known of an environment variable."""

    schema: str
    variable: Known


def explain_name(name: str, form: str, no_color: bool) -> int:
    """Print what is known of a cause, of the cause that a check finds, or of a variable. Raises `Refused` for any other name."""
    if form not in FORMATS:
        raise Refused(f"explain has no format '{form[:40]}'; there are {', '.join(FORMATS)}")
    library = load_library()
    name = next((cause for cause in library.causes if name in library.found_by(cause)), name)
    variable = None if name in library.causes else known_setting(name)
    if name not in library.causes and variable is None:
        raise unknown_name(name, library)
    if form == "json":
        answer = Variable(VARIABLE_SCHEMA, variable) if variable else explain_cause(library, library.causes[name])
        print(msgspec.json.format(msgspec.json.encode(answer)).decode())
    elif variable:
        print_variable(name, variable)
    else:
        color = colored(Shown(no_color=no_color))
        print(screen(library, explain_cause(library, library.causes[name]), color), end="")
    return 0


def unknown_name(name: str, library: Library) -> Refused:
    """The refusal of a name, with what may be meant: a code, or causes that have its words in their names or titles."""
    if code := CODE.match(name):
        return Refused(f"'{name[:80]}' is a code of the driver: gpudoctor xid {code[1]}")
    words = [word for word in re.split(r"[\s_-]+", name[:80].lower()) if word]
    texts = {one.id: f"{one.id} {one.title}".lower() for one in library.causes.values()}
    near = [cause for cause, text in texts.items() if words and all(word in text for word in words)][:NEAR]
    otherwise = "completion lists the names, and so does docs/causes.md of the sources"
    return no_such("cause", name, library.causes, f"did you mean {' or '.join(near)}?" if near else otherwise)


def explain_cause(library: Library, cause: Cause) -> Explained:
    """A cause of the catalogue with what explains it, what finds it, and what it is confused with."""
    return Explained(
        schema=SCHEMA,
        explained_by=[one.id for one in library.causes.values() if cause.id in one.explains],
        found_by=library.found_by(cause.id),
        confused_with=library.told_apart(cause.id),
        **{name: getattr(cause, name) for name in Explained.__struct_fields__ if hasattr(cause, name) and name != "confused_with"},
    )


def screen(library: Library, told: Explained, color: bool) -> str:
    """The whole text: what it means, how to tell, what to do, what it is taken for, and what is around it."""
    page = Page(min(columns(), WIDTH), color)
    page.lines((f"{told.id}: {told.title}", "bold"))
    page.lines((f"{told.severity} · about a {told.subject.replace('gpu', 'GPU')} · layer {told.layer}", "dim"))
    page.gap()
    page.lines((told.means, ""))
    if told.broader:
        page.lines((BROADER, ""))
    if told.tell:
        print_heading(page, "How to tell")
        page.lines(*styled_parts(told.tell), indent=2)
    print_heading(page, f"What to do: {ACTIONS.get(told.act, told.act)}", f"   ({ACTORS.get(told.who, told.who)})")
    looks = [Look(look.title, with_placeholders(look.run)) for look in told.look]
    for label, fix in labelled(map(fix_with_placeholders, told.fixes), told.no_fix, looks):
        remedy(page, label, fix, True)
    if told.confused_with:
        print_heading(page, "Not to be confused with")
    for name, how in told.confused_with.items():
        page.lines((name, "bold"), (f"  {library.causes[name].title}", ""), indent=2)
        page.lines(*styled_parts(how), indent=4)
    page.gap()
    add_names(page, "brings about", told.explains)
    add_names(page, "brought about by", told.explained_by)
    add_names(page, "gives way to", told.yields_to)
    add_names(page, "checked in", told.found_by)
    for link in told.references:
        page.lines((f"see {link}", "dim"))
    return page.text()


def fix_with_placeholders(fix: FixTemplate) -> Fix:
    """A fix as somebody types it."""
    run, undo, verify = map(with_placeholders, (fix.run, fix.undo, fix.verify))
    title, manifest = with_placeholders([fix.title, fix.manifest])
    return Fix(title, fix.risk, run, undo, verify, manifest)


def with_placeholders(texts: list[str]) -> list[str]:
    """Texts as somebody types them: `NODE` for the `${node}` that a report fills in."""
    return [PLACEHOLDER.sub(lambda match: match[1].upper(), text) for text in texts]


def print_heading(page: Page, title: str, beside: str = "") -> None:
    """Print the heading of a part."""
    page.gap()
    page.lines((title, "bold"), (beside, "dim"))


def add_names(page: Page, label: str, names: Iterable[str]) -> None:
    """A list of names behind its label, nothing where it is empty."""
    if text := ", ".join(names):
        page.lines((f"{label}: ", "dim"), (text, ""))


def styled_parts(text: str) -> list[tuple[str, str]]:
    """The parts of a sentence with their styles: what stands in backticks is to be typed.

    >>> styled_parts("ask `nvidia-smi -L` twice")
    [('ask ', ''), ('`nvidia-smi -L`', 'cyan'), (' twice', '')]
    """
    parts = text.split("`")
    return [(f"`{part}`" if number % 2 else part, "cyan" if number % 2 else "") for number, part in enumerate(parts) if part]


def print_variable(name: str, known: Known) -> None:
    """An environment variable of a distributed job."""
    print(f"{name}: {known.does}\n")
    said = {
        "read by": known.library,
        "default": known.defaults.strip("; "),
        "values": ", ".join(known.words) or ("a number" if known.takes == "number" else ""),
        "since": known.since,
        "until": known.until,
        "state": {"diagnostic": "to find faults, not to be left in"}.get(known.state, known.state),
        "instead": known.instead,
        "ranks": "the same on every rank of a job" if known.same else "",
    }
    for label, value in said.items():
        if value:
            print(textwrap.fill(f"{label}: {value}", WIDTH, subsequent_indent="  "))
