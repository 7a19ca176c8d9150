"""What a form is: how one kind of output is recognised among all texts. Each package of tools declares its own in `forms.FORMS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.facts import Facts, Subject
from gpudoctor.probes.base import Output

Parse = Callable[[Output, Subject], Facts]


class Text(NamedTuple):
    """A text that is looked at: its beginning as lines, the whole, and the command that printed it where one is shown.

    `verb` is the command's own: logs, describe, get, else the program. A command adds names; it seldom decides what a text is.
    """

    lines: list[str]
    whole: str
    argv: tuple[str, ...] = ()
    verb: str = ""


class Form(NamedTuple):
    """`score` is 0 for "not this"; of all forms the highest wins, the earlier one where two are equal.

    `parse` is the name of the parser that reads it, or a function; without it the parser has the form's name. What else a text may be that
    has this form is said by the rest:
    """

    name: str
    score: Callable[[Text], int]
    parse: str | Parse = ""
    embedded: bool = False  # it is read also out of a log that another form has won
    beside: bool = False  # it stands beside other answers in what somebody pasted, and is read beside them
    among_lines: bool = False  # it is seldom alone: what was printed beside it is read line by line
    mixed: bool = False  # people paste it below other answers, with lines of logs between: each is read, and the lines too
    in_logs: bool = False  # it may stand in a log, the rest of which is read too
    reasoned: bool = False  # nobody asks for it without a reason, and that stands beside the answer
    log: bool = False  # its parser looks at every line for known messages
