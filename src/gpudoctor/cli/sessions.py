"""Guided sessions: begun by `--guided`, listed by `gpudoctor sessions`, gone on with by `gpudoctor resume`.

A session is a folder with a bundle and `session.json`: what the command line asked, what was decided, and the notes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from gpudoctor.cli.errors import NOT_GUIDED, Refused, no_such
from gpudoctor.engine.guidance import Decision
from gpudoctor.probes.session import Busy, Folder, ids, sessions_folder
from gpudoctor.reporters.text import safe

if TYPE_CHECKING:
    from gpudoctor.cli.printing import Shown
    from gpudoctor.cli.where import Where
    from gpudoctor.probes.base import Command, Output, Probe
    from gpudoctor.probes.record import Recorder
    from gpudoctor.report import Report
    from gpudoctor.runbook.model import Library, Runbook

FORMAT = 1
BUNDLE = "bundle"
OLD = 600.0  # seconds after which evidence says its age: ten minutes, the time of one look at a problem


class Note(msgspec.Struct, frozen=True):
    """What a person noted at a step."""

    step: str
    at: float
    text: str


class State(msgspec.Struct, kw_only=True):
    """session.json. `runbook` is an id or a path; times are seconds since the epoch; `ended` is the verdict of a finished session."""

    session: int = FORMAT
    runbook: str
    asked: str
    started: float
    timeout: float
    inputs: dict[str, Any]
    where: dict[str, Any]
    decisions: list[Decision] = []
    notes: list[Note] = []
    ended: str = ""


class Open:
    """A session that this process holds."""

    def __init__(self, folder: Folder, state: State, fresh: bool) -> None:
        self.folder, self.state, self.fresh = folder, state, fresh
        self.recorder: Recorder | None = None

    @property
    def decisions(self) -> list[Decision]:
        """What was decided, in order."""
        return self.state.decisions

    @property
    def where(self) -> Where:
        """What the command line said of where to look."""
        from gpudoctor.cli.where import Where

        return msgspec.convert(self.state.where, Where, strict=False, dec_hook=lambda kind, value: kind(value))

    def save(self) -> None:
        """Keep the state. Raises `Refused` where it can't be written: what isn't kept must not seem so."""
        try:
            self.folder.save(msgspec.json.format(msgspec.json.encode(self.state), indent=1) + b"\n")
        except OSError as error:
            raise Refused(f"the session can't be kept in {self.folder.path}: {error.strerror or error}") from None

    def note(self, step: str, text: str, now: float) -> None:
        """Keep a note."""
        self.state.notes.append(Note(step, now, text))
        self.save()

    def recording(self, probe: Probe) -> Recorder:
        """A probe that answers from the session's bundle, and keeps there what it asks."""
        from gpudoctor.cli.recording import recorder

        folder = self.folder.path / BUNDLE
        book = Path(self.state.runbook).stem if "/" in self.state.runbook else self.state.runbook
        made: Recorder = recorder(probe, folder, book, self.state.inputs, self.state.started, go_on=not self.fresh)
        self.recorder = made
        return made

    def recorded_answer(self, command: Command) -> Output | None:
        """The answer to a command that the session holds."""
        return self.recorder.recorded_answer(command) if self.recorder else None

    def walk(self, library: Library, book: Runbook, inputs: dict[str, Any], probe: Probe, shown: Shown, how: dict[str, Any]) -> Report:
        """Execute the runbook with the person at the terminal. `probe` asks by way of the recorder."""
        from gpudoctor.cli.guide import Dialogue
        from gpudoctor.cli.guide_terminal import Terminal
        from gpudoctor.engine.guided import Guided, walk
        from gpudoctor.engine.steps import NotThere

        assert self.recorder is not None  # noqa: S101  `recording` was called
        terminal = Terminal(need_terminal())
        name, bundle = self.folder.name, self.folder.path / BUNDLE
        reach = "a recorded incident: nothing is asked" if self.state.where.get("replay") else ""
        color = not (terminal.plain or shown.no_color or os.environ.get("NO_COLOR"))
        person = Dialogue(terminal, library, self, color, reach, time.time)
        guide = Guided(library, self, self.recorder, person, time.time)
        terminal.tell(f"Session {name}. Ctrl-C ends it at any time; go on with: gpudoctor resume {name}")
        try:
            report = walk(library, book, inputs, probe, guide, **how)
        except KeyboardInterrupt:
            terminal.say("\n")
            terminal.tell(f"The session is kept: gpudoctor resume {name}")
            raise
        except NotThere:
            self.state.ended = "not found"
            self.save()
            raise
        self.state.ended = "" if guide.stopping else report.verdict
        self.save()
        for note in self.state.notes:
            terminal.tell(f"Note at {safe(note.step)}: {safe(note.text)}")
        goes_on = f"go on with: gpudoctor resume {name}; " if guide.stopping else ""
        terminal.say("\n")
        terminal.tell(f"{'Stopped' if guide.stopping else 'Done'}; {goes_on}the bundle is {bundle}")
        if report.verdict == "problem" and not reach:
            terminal.tell(f"After the repair: gpudoctor verify {name}")
        terminal.say("\n")
        return with_evidence_ages(report, guide.ages, time.time())


def need_terminal() -> Any:
    """Where the dialogue is held. Raises `Refused` without a terminal."""
    from gpudoctor.cli.guide_terminal import stream

    found = stream()
    if found is None:
        raise Refused("--guided asks before each step and needs a terminal to read from; without one leave it out")
    return found


def refuse_unfit(where: Where, files: bool) -> None:
    """Raise `Refused` for what can't be guided, before anything is asked."""
    need_terminal()
    if where.record is not None:
        raise Refused("--guided keeps its own recording: leave out --record, and take the bundle of the session")
    if files:
        raise Refused(NOT_GUIDED)


def begin_session(book: Runbook, asked: str, started: float, timeout: float, inputs: dict[str, Any], where: Where) -> Open:
    """Begin a session and hold its lock. Raises `Refused`."""
    from gpudoctor.library.index import library

    runbook = book.id if library().runbooks.get(book.id) is book else str(Path(book.path).absolute())
    raw = msgspec.to_builtins(where, enc_hook=str)
    state = State(runbook=runbook, asked=asked, started=started, timeout=timeout, inputs=inputs, where=raw)
    for key in ("kubeconfig", "replay"):
        if raw.get(key):
            raw[key] = str(Path(raw[key]).absolute())
    try:
        made = Open(Folder.new(book.id, time.time()), state, fresh=True)
    except OSError as error:
        raise Refused(
            f"a session can't be kept in {sessions_folder()}: {error.strerror or error}; $XDG_STATE_HOME names another place"
        ) from None
    made.save()
    return made


def reopen(name: str) -> Open:
    """A session to go on with: the one that is named, by the beginning of its name or its end, else the last unfinished one."""
    known = ids()
    if not name:
        name = next((one for one in known if (state := read(Folder(one))) and not state.ended and not Folder(one).busy()), "")
        if not name:
            raise Refused("there is no unfinished session; `gpudoctor sessions` lists them")
    folder = Folder(find_session(name, known))
    try:
        folder.hold()
    except Busy as busy:
        raise Refused(
            f"{folder.name} is open elsewhere: {safe(str(busy)) or 'somebody has it'}; two can't go on with one session"
        ) from None
    except OSError as error:
        raise Refused(f"{folder.path} can't be opened: {error.strerror or error}") from None
    state = read(folder)
    if state is None:
        raise Refused(f"{folder.path} is no session that can be read: its session.json is missing or damaged")
    return Open(folder, state, fresh=not (folder.path / BUNDLE / "bundle.json").exists())


def find_session(name: str, known: list[str]) -> str:
    """The one session that a name, its beginning or its end stands for. Raises `Refused`."""
    matches = [one for one in known if one == name] or [one for one in known if one.startswith(name) or one.endswith(f"-{name}")]
    if len(matches) > 1:
        raise Refused(f"'{name[:80]}' may be {' or '.join(matches[:5])}")
    if not matches:
        raise no_such("session", name, known, "`gpudoctor sessions` lists them")
    return matches[0]


def read(folder: Folder) -> State | None:
    """The state of a session, None for one that can't be read."""
    try:
        return msgspec.json.decode(folder.load(), type=State)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


def resume(name: str, shown: Shown) -> int:
    """Go on with a session; returns the exit code."""
    from gpudoctor.cli.execute import execute

    need_terminal()
    session = reopen(name)
    state = session.state
    return execute(state.runbook, state.inputs, session.where, asked=state.asked, timeout=state.timeout, shown=shown, session=session)


def list_sessions() -> int:
    """One line for each session, the newest first, and where they are."""
    from gpudoctor.cli.guide_text import ago

    found = [(name, state) for name in ids() if (state := read(Folder(name)))]
    width = max((len(name) for name, _ in found), default=0)
    for name, state in found:
        decided = len(state.decisions)
        stands = "open now" if Folder(name).busy() else state.ended or f"stopped after {decided} step{'' if decided == 1 else 's'}"
        last = state.decisions[-1].at if decided else state.started
        print(f"{name:<{width}}  {stands}, {ago(time.time() - last)}  {safe(state.asked)}")
    print(f"{len(found)} session{'' if len(found) == 1 else 's'} in {sessions_folder()}; a folder may be removed")
    if found:
        print("go on with one, or see its report again: gpudoctor resume ID; after the repair: gpudoctor verify ID")
    return 0


def with_evidence_ages(report: Report, ages: dict[str, float], now: float) -> Report:
    """The report with the age of evidence that was read long ago, beside its source."""
    from gpudoctor.cli.guide_text import ago

    old = {source: ago(now - at) for source, at in ages.items() if now - at >= OLD}
    if not old:
        return report

    def dated(evidence: Any) -> Any:
        return [
            msgspec.structs.replace(one, source=f"{one.source} (read {old[one.source]})") if one.source in old else one for one in evidence
        ]

    findings = [msgspec.structs.replace(one, evidence=dated(one.evidence)) for one in report.findings]
    candidates = [msgspec.structs.replace(one, evidence=dated(one.evidence)) for one in report.candidates]
    return msgspec.structs.replace(report, findings=findings, candidates=candidates)
