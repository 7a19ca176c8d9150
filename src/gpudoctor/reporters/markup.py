"""HTML by construction: what isn't markup already is escaped, so that nothing that was read can become a tag, an attribute or a script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from gpudoctor.reporters.text import safe

VOID = ("meta", "br", "hr")  # elements without content


class Raw(str):
    """Text that is markup, and safe: only `tag` and `join_markup` make it."""

    __slots__ = ()


NOTHING = Raw("")
LINE = Raw("\n")  # between elements, for whoever reads the source


def tag(name: str, /, *children: str | Iterable[str], **attributes: str | float | bool | None) -> Raw:
    """An element. Children and attributes are escaped; an attribute that is None or False is left out, `class_` is `class`.

    >>> tag("p", "a < b ", tag("code", "x & y"), class_='q"')
    '<p class="q&quot;">a &lt; b <code>x &amp; y</code></p>'
    """
    said = "".join(attribute(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items())
    return Raw(f"<{name}{said}>" if name in VOID else f"<{name}{said}>{join_markup(*children)}</{name}>")


def attribute(name: str, value: str | float | bool | None) -> str:
    """` name="value"`; nothing for None and False."""
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(safe(str(value)))}"'


def join_markup(*children: str | Iterable[str]) -> Raw:
    """Join children; those that aren't markup are escaped."""
    made = (child if isinstance(child, str) else join_markup(*child) for child in children)
    return Raw("".join(child if isinstance(child, Raw) else escape(safe(child)) for child in made))


def block(text: str) -> Raw:
    """Several lines as they are, each escaped; for `pre`."""
    return Raw("\n".join(escape(safe(line)) for line in text.split("\n")))
