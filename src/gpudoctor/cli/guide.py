"""The guided dialogue: before each step what, why and where, then a word; after it what it has shown, and where the run goes on.

Every key is the first letter of a word that may also be typed in full. Return does what stands first.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from gpudoctor.cli import guide_text as words
from gpudoctor.cli.guide_terminal import MOST, Terminal
from gpudoctor.engine.ask import Question
from gpudoctor.engine.guidance import News, Place, Reply
from gpudoctor.probes.base import Output
from gpudoctor.report import Finding, Report
from gpudoctor.reporters.text import safe
from gpudoctor.runbook.model import Library

if TYPE_CHECKING:
    from gpudoctor.cli.sessions import Open

# What can be typed: the key, and the word in full.
BEFORE = ("run", "skip", "explain", "paste", "back", "note", "output", "quit")
QUESTION = ("explain", "back", "note", "output", "quit")
AFTER = ("go on", "fix", "retest", "explain", "back", "note", "output", "quit")
OTHER = {"stop": "quit", "q!": "quit", "exit": "quit", "notes": "note", "?": "help", "h": "help", "a": "again", "next": "go on"}
ENDS: dict[str, Literal["next", "retest", "back", "stop"]] = {"go on": "next", "retest": "retest", "back": "back", "quit": "stop"}
NO_PASTE = ("nvml",)  # what a person can't run elsewhere
CUT = 4000  # bytes of a typed line from which on the terminal may have cut it (N_TTY: 4095)
CANT_TELL = ("?", "can't tell", "cant tell", "unknown")


class Dialogue:
    """The person at a terminal. `reach` says where recorded answers come from, "" for a live run."""

    def __init__(self, terminal: Terminal, library: Library, session: Open, color: bool, reach: str, clock: Callable[[], float]) -> None:
        self.terminal, self.library, self.session = terminal, library, session
        self.color, self.reach, self.clock = color, reach, clock
        self.shown: list[Question] = []  # the questions of the step before, whose outputs can be looked at
        self.was: Place | None = None

    def style(self) -> tuple[int, bool]:
        """Width and colour of what is printed now."""
        return self.terminal.width, self.color

    def show_position(self, steps: int, since: float, report: Report) -> None:
        """Told where an execution stands."""
        age = words.ago(self.clock() - since)
        taken = "1 step is" if steps == 1 else f"{steps} steps are"
        self.terminal.say("\n")
        self.terminal.tell(f"{taken} as you decided before; the oldest answer was read {age}.")

    def choose(self, place: Place) -> Reply:
        """Asked what to do about a step."""
        self.was = place
        self.terminal.pages(words.before_step(place, *self.style(), self.reach, self.clock()))
        spec = place.step.planned.step
        reply = self.ask_questions(place) if spec.choices else self.choose_commands(place)
        if reply.word not in ("back", "stop"):
            self.shown = place.todo
        if reply.word in ("run", "again") and not self.reach:
            self.terminal.tell("Asking. Ctrl-C ends; the session stays.")
        return reply

    def choose_commands(self, place: Place) -> Reply:
        """What to do about the commands of a step."""
        pasted: dict[int, bytes] = {}
        disturbs = bool(place.step.planned.step.effect) and not place.consented
        again = ", again" if place.read is not None else ""
        known = (*BEFORE, "again", "yes") if disturbs else (*BEFORE, "again")
        first = "yes runs it" if disturbs else f"Return run{again}"
        while True:
            word = self.word(f"{first}, s skip, e explain, p paste, b back, n note, o output, q quit > ", known, "" if disturbs else "run")
            if word == "paste":
                self.take(place.todo, pasted)
                if len(pasted) == len(place.todo):
                    return Reply(word="paste", pasted=pasted)
            elif word == "run" and disturbs:
                self.terminal.tell("It disturbs running work: type the word yes to run it.")
            elif word in ("run", "yes"):
                return Reply(word="run", pasted=pasted)
            elif word == "again":
                return Reply(word="again")
            elif word == "skip":
                return Reply(word="withhold" if place.step.planned.step.effect else "skip", pasted=pasted)
            elif word in ("back", "quit"):
                return Reply(word="back" if word == "back" else "stop")
            else:
                self.give_help(word, place, known)

    def ask_questions(self, place: Place) -> Reply:
        """The answers of the person to the questions of a step."""
        choices = place.step.planned.step.choices
        numbers = {str(number): name for number, name in enumerate(choices, 1)}
        answers: dict[int, tuple[str, str]] = {}
        number = 0
        while number < len(place.todo):
            self.terminal.say(words.question(place.todo[number].command.shown, choices, *self.style()))
            last = len(choices) + 1
            keys = f"1 to {last}, Return can't tell, e explain, b back, n note, o output, q quit > "
            typed = self.word(keys, (*QUESTION, *numbers, str(last), *choices), str(last))
            if typed in numbers or typed in choices:
                note = self.terminal.line("A note to it, or Return for none > ") or ""
                answers[number] = (numbers.get(typed, typed), note[:1000])
                number += 1
            elif typed in (str(last), *CANT_TELL):
                number += 1
            elif typed in ("back", "quit"):
                return Reply(word="back" if typed == "back" else "stop")
            else:
                self.give_help(typed, place, QUESTION)
        return Reply(word="answer", answers=answers)

    def news(self, news: News) -> Literal["next", "retest", "back", "stop"]:
        """Told what a step has brought."""
        self.terminal.pages(words.after_step(news, *self.style()))
        alarms = [one for one in news.found if one.severity != "info"]
        if not alarms:
            return "next"
        keys = "Return go on, f fix, r retest, e explain, b back, n note, o output, q quit > "
        while True:
            word = self.word(keys, AFTER, "go on")
            if word in ENDS:
                return ENDS[word]
            self.give_help(word, self.was, AFTER, alarms)

    def word(self, prompt: str, known: tuple[str, ...], usual: str) -> str:
        """A word of those that are known, by its first letter or in full; `usual` for Return. The end of input is `quit`."""
        self.terminal.say("\n")
        while True:
            typed = self.terminal.line(prompt)
            if typed is None:
                return "quit"
            low = OTHER.get(typed.lower(), typed.lower()) or usual
            if low in known or low in ("help", *CANT_TELL):
                return low
            letters = {word[0]: word for word in reversed(known) if word not in ("yes", "again")}
            if len(low) == 1 and low in letters:
                return letters[low]
            if self.terminal.drop():
                self.terminal.tell("That looks like pasted text, and was not read: press p first.")
            elif low:
                self.terminal.tell(f"There is no key '{safe(typed[:40])}' here; ? says what each key does.")

    def give_help(self, word: str, place: Place | None, known: tuple[str, ...], found: list[Finding] | None = None) -> None:
        """What only shows or notes something."""
        if word == "explain" and place:
            self.terminal.pages(words.step_explanation(place, self.library, *self.style()))
        elif word == "fix":
            self.terminal.pages(words.fixes(found or [], *self.style()))
        elif word == "note":
            self.note(place)
        elif word == "output":
            self.output()
        elif word == "help":
            self.terminal.pages(words.keys(known, *self.style()))

    def note(self, place: Place | None) -> None:
        """Show the notes, and take one more."""
        for one in self.session.state.notes:
            self.terminal.tell(f"  {safe(one.step)}: {safe(one.text)}")
        text = self.terminal.line("Note, or Return for none > ")
        if text:
            self.session.note(place.step.planned.name if place else "", text[:4000], self.clock())

    def output(self) -> None:
        """What the last step was answered, as it is kept: redacted."""
        pieces = []
        for question in self.shown:
            output = self.session.recorded_answer(question.command)
            if output is not None:
                title = f"{question.command.host}: {question.command.shown}" if question.command.host else question.command.shown
                pieces += [f"$ {safe(title)}", *(safe(line) for line in text_of(output).splitlines()), ""]
        self.terminal.pages("\n".join(pieces) if pieces else "Nothing was read yet.\n")

    def take(self, todo: list[Question], pasted: dict[int, bytes]) -> None:
        """An output that somebody got elsewhere: pasted, or in a file."""
        number = 0
        if todo[0].command.argv[0] in NO_PASTE:
            self.terminal.tell("This is no program: it can't be run elsewhere.")
            return
        if len(todo) > 1:
            for index, question in enumerate(todo, 1):
                done = " (pasted)" if index - 1 in pasted else ""
                self.terminal.tell(f"  {index}  {safe(question.command.host)} {safe(question.command.shown[:200])}{done}")
            typed = self.terminal.line(f"Which one, 1 to {len(todo)} > ") or ""
            if not typed.isdigit() or not 1 <= int(typed) <= len(todo):
                self.terminal.tell("None of these.")
                return
            number = int(typed) - 1
        named = self.terminal.line("Return to paste, or @FILE > ")
        if named is None:
            return
        if len(named) > CUT:
            self.terminal.drop()
            self.terminal.tell("That line is too long for this prompt: press Return here first, then paste.")
            return
        if named.startswith("@"):
            data = self.file(Path(os.path.expanduser(named[1:].strip())))  # noqa: PTH111  a name that nobody has stays as it is
        else:  # what was pasted at once begins with this line
            data = (f"{named}\n".encode() if named else b"") + self.terminal.paste()
        if data.strip():
            pasted[number] = data
        else:
            self.terminal.tell("Nothing was taken.")

    def file(self, path: Path) -> bytes:
        """The bytes of a file, b"" with a sentence where there are none."""
        try:
            with path.open("rb") as file:
                data = file.read(MOST)
        except (OSError, ValueError) as error:
            self.terminal.tell(f"{safe(str(path))} can't be read: {getattr(error, 'strerror', None) or error}")
            return b""
        self.terminal.tell(f"{len(data)} bytes.")
        return data


def text_of(output: Output) -> str:
    """An answer as a person reads it: JSON, which is kept in one line, with a line for each value."""
    body = output.text
    if body[:1] in ("{", "["):
        with suppress(msgspec.DecodeError):
            body = msgspec.json.format(body, indent=1)
    error = output.stderr.decode("utf-8", "replace")
    return "\n".join(part for part in (body, error, output.reason) if part)
