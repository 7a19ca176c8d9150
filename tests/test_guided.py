"""Guided runs: what is asked is what was decided, and decisions with their answers are all that going on, going back and replaying need."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.cli import sessions
from gpudoctor.cli.errors import Refused
from gpudoctor.cli.guide_terminal import BEGIN, END, read_paste
from gpudoctor.cli.where import Where
from gpudoctor.engine.diagnose import diagnose
from gpudoctor.engine.guidance import Decision, News, Place, Reply
from gpudoctor.engine.guided import Guided, walk
from gpudoctor.library.index import library
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.bundle import load
from gpudoctor.probes.record import Recorder
from gpudoctor.probes.replay import Replay
from gpudoctor.probes.session import Busy, Folder, sessions_folder
from gpudoctor.report import Report
from gpudoctor.runbook.model import Library
from tests.engine_fakes import CAUSES, READ_PODS, READ_THEIR_NODES, Answer, Fake, book, facts, fake_parsers, outcomes, problems_of  # noqa: F401 - a fixture

pytestmark = pytest.mark.usefixtures("fake_parsers")

LIBRARY = Library(causes=CAUSES)
STEPS = (
    READ_PODS
    + """\
- {id: again, title: Read the pods again, run: [kubectl, get, pods], parse: test.pods}
- {id: never, title: Never needed, when: '!found.failed', run: [kubectl, get, events], parse: test.events}
"""
    + READ_THEIR_NODES
)
ANSWERS: dict[str, Answer] = {
    "kubectl get pods": facts(pods=[{"namespace": "ml", "pod": "x", "node": "n1", "phase": "Failed"}]),
    "kubectl get nodes": facts(nodes=[{"node": "n1", "ready": True}, {"node": "n2", "ready": True}]),
    "n1: dmesg": facts(xids=[{"code": 79, "gpu": "0000:1b:00", "pci": "0000:1b:00"}]),
    "n2: dmesg": facts(xids=[]),
}
QUESTION = """\
- {id: pods, title: Read the pods, run: [kubectl, get, pods], parse: test.pods}
- id: lamp
  title: Look at the node
  each: pod in pods
  ask: Is the lamp of ${pod.node} lit?
  choices: {lit: 'Yes, it is', dark: 'No'}
  checks:
    - {id: lit, each: a in answers, when: a.question == "lamp" && a.choice == "lit", finds: sick-pod, title: 'The lamp is lit'}
"""
DISTURBS = """\
- id: nodes
  title: See who works there
  run: [kubectl, get, nodes]
  parse: test.nodes
  show: {title: Who works there, each: node in nodes, columns: {Node: '${node.node}'}}
- id: diag
  title: Run the diagnostic
  effect: disruptive
  each: node in nodes
  host: ${node.node}
  run: [dcgmi, diag, -r, "1", -j]
  parse: test.xids
  checks:
    - {id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: Xid 79}
"""


class Diary:
    """A journal in memory."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.saves = 0

    def save(self) -> None:
        self.saves += 1


class Script:
    """A person who says what a script says: for a step's id a reply or a word, `run` by default; after a finding `next`."""

    def __init__(self, replies: Mapping[str, Any] | None = None, after: Mapping[str, Any] | None = None) -> None:
        self.replies, self.after = dict(replies or {}), dict(after or {})
        self.places: list[Place] = []
        self.told: list[News] = []
        self.arrivals: list[int] = []

    def show_position(self, steps: int, since: float, report: Report) -> None:
        self.arrivals.append(steps)

    def choose(self, place: Place) -> Reply:
        self.places.append(place)
        reply = said(self.replies, place.step.planned.step.id, "run")
        return reply if isinstance(reply, Reply) else Reply(word=reply)

    def news(self, news: News) -> Any:
        self.told.append(news)
        return said(self.after, news.step.planned.step.id, "next") if news.found else "next"

    @property
    def asked(self) -> list[str]:
        """The steps that were decided about, in order."""
        return [place.step.planned.step.id for place in self.places]


def said(script: dict[str, Any], name: str, usual: Any) -> Any:
    """What a script says now: a list is said one after the other, then the usual."""
    found = script.get(name, usual)
    if isinstance(found, list):
        return found.pop(0) if found else usual
    return found


class Session:
    """A recorder and a diary that outlive a run."""

    def __init__(
        self,
        folder: Path,
        steps: str = STEPS,
        answers: Mapping[str, Answer] | None = None,
        expects: str = "[]",
        library: Library = LIBRARY,
    ) -> None:
        self.folder, self.answers, self.library = folder, dict(answers or ANSWERS), library
        self.book = book(steps, folder, library=library, expects=expects)
        self.diary = Diary()
        self.now = 1000.0

    def run(self, person: Script, probe: Fake | None = None, **more: Any) -> tuple[Report, Fake]:
        """Go through it with a person, as a process of its own would."""
        probe = probe or Fake(self.answers)
        kept = Recorder(probe, self.folder / "bundle", self.book.id, {}, 0.0, go_on=(self.folder / "bundle").exists())
        guide = Guided(self.library, self.diary, kept, person, lambda: self.now)
        report = walk(self.library, self.book, {}, kept, guide, timeout=20.0, **more)
        kept.close()
        return report, probe

    def replayed(self) -> Report:
        """The report of the bundle alone."""
        return diagnose(LIBRARY, self.book, {}, Replay(self.folder / "bundle"), recorded=True)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path)


# --- deciding


def test_each_step_is_decided_about_in_the_order_written_and_equal_commands_once(session: Session) -> None:
    person = Script()
    report, probe = session.run(person)
    assert person.asked == ["pods", "nodes", "logs"]
    assert probe.lines == ["kubectl get nodes", "kubectl get pods", "n1: dmesg", "n2: dmesg"]
    assert [one.did for one in session.diary.decisions] == ["run"] * 3
    assert outcomes(report)["sick-gpu"] == "found"
    assert [(place.number, place.most) for place in person.places] == [(1, 4), (2, 3), (3, 3)]
    assert msgspec.structs.replace(session.replayed(), started="") == msgspec.structs.replace(report, started="")


def test_what_a_step_has_brought_is_told_with_where_it_goes_next(session: Session) -> None:
    person = Script()
    session.run(person)
    first, nodes, logs = person.told
    assert [one.cause for one in first.found] == ["sick-pod"]
    assert [step.planned.step.id for step in first.passed] == ["never"]
    assert first.following is not None
    assert first.following.planned.step.id == "nodes"
    assert person.places[1].led_by == ["failed (Read the pods)"]
    assert nodes.facts == [("nodes", 2)]
    assert nodes.ruled_out == []  # that no check finds it says nothing: it has no refuter
    assert logs.following is None


def test_a_cause_that_a_later_step_may_still_find_is_not_ruled_out_yet(tmp_path: Path) -> None:
    early = "    - {id: early, each: pod in pods, when: pod.phase == 'Gone', finds: sick-gpu, title: Gone}\n"
    session = Session(tmp_path, STEPS.replace("- {id: again,", early + "- {id: again,"), {**ANSWERS, "n1: dmesg": facts(xids=[])})
    person = Script()
    report, _ = session.run(person)
    assert report.ruled_out == []
    assert [news.ruled_out for news in person.told] == [[], [], []]


SOUND = """[{id: up, each: node in nodes, when: node.ready, title: '${node.node} is Ready'},
  {id: quiet, each: node in nodes, with: {xid: {from: xids, on: [node], pick: count}}, when: xid.count == 0,
   title: 'no Xid on ${node.node}'}]"""
REFUTED = Library(
    causes={
        **CAUSES,
        "sick-node": msgspec.structs.replace(CAUSES["sick-node"], refuted_by=["book.up"]),
        "sick-gpu": msgspec.structs.replace(CAUSES["sick-gpu"], refuted_by=["book.quiet"]),
    }
)
SILENT = {**ANSWERS, "n1: dmesg": facts(xids=[])}


def test_what_was_shown_and_rules_a_cause_out_is_told_with_the_step_after_which_nothing_more_may_be_said(tmp_path: Path) -> None:
    person = Script()
    report, _ = Session(tmp_path, STEPS, SILENT, SOUND, REFUTED).run(person)
    assert [(sorted({one.expectation for one in news.shown}), news.ruled_out) for news in person.told] == [
        ([], []),
        (["book.up"], ["sick-node"]),
        (["book.quiet"], ["sick-gpu"]),
    ]
    assert report.ruled_out == ["sick-gpu", "sick-node"]
    assert {one.expectation for one in report.shown} == {"book.up", "book.quiet"}


@pytest.mark.parametrize("word", ["skip", "stop"])
def test_what_was_not_asked_shows_and_rules_out_nothing(word: str, tmp_path: Path) -> None:
    person = Script({"logs": word})
    report, _ = Session(tmp_path, STEPS, SILENT, SOUND, REFUTED).run(person)
    assert (report.ruled_out, {one.expectation for one in report.shown}) == (["sick-node"], {"book.up"})
    assert [cause for news in person.told for cause in news.ruled_out] == ["sick-node"]


def test_a_step_that_was_skipped_rules_nothing_out(session: Session) -> None:
    person = Script({"nodes": "skip"})
    session.run(person)
    assert all(news.ruled_out == [] for news in person.told)


def test_what_a_step_takes_back_is_told(tmp_path: Path) -> None:
    steps = STEPS.replace(
        "when: pod.phase == 'Failed', finds: sick-pod,",
        "with: {up: {from: nodes, on: [node], pick: first}}, when: pod.phase == 'Failed' && !up.present, finds: sick-pod,",
    )
    person = Script()
    Session(tmp_path, steps).run(person)
    first, nodes, _ = person.told
    assert ([one.cause for one in first.found], first.gone) == (["sick-pod"], [])
    assert [one.cause for one in nodes.gone] == ["sick-pod"]


def test_only_what_was_found_is_said_to_have_led_to_a_step(tmp_path: Path) -> None:
    steps = STEPS.replace(
        "    - {id: failed,", "    - {id: gone, each: pod in pods, when: pod.phase == 'Gone'}\n    - {id: failed,"
    ).replace("when: found.failed\n  run: [kubectl, get, nodes]", "when: found.failed || found.gone\n  run: [kubectl, get, nodes]")
    person = Script()
    Session(tmp_path, steps).run(person)
    assert person.places[1].led_by == ["failed (Read the pods)"]


def test_a_skipped_step_leaves_its_checks_unknown_and_what_leans_on_them_undecided(session: Session) -> None:
    report, probe = session.run(Script({"pods": "skip"}))
    assert probe.asked == []
    assert report.verdict == "inconclusive"
    why = {one.check: one.why for one in report.unknown}
    assert "skipped by the person who guides" in why["book.sick"]
    assert "skipped by the person who guides" in why["book.down"]
    assert [missing.why for missing in report.coverage.missing] == ["skipped by the person who guides"]


def test_many_hosts_are_one_decision(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(200)]
    answers = {**ANSWERS, "kubectl get nodes": facts(nodes=[{"node": name, "ready": True} for name in names])}
    answers |= {f"{name}: dmesg": facts(xids=[]) for name in names}
    steps = STEPS.replace("each: node in nodes\n  host", "each: node in nodes\n  limit: 500\n  host")
    person = Script()
    session = Session(tmp_path, steps, answers)
    session.run(person)
    assert person.asked == ["pods", "nodes", "logs"]
    assert len(person.places[2].todo) == 200


def test_stop_asks_nothing_more_and_the_session_goes_on_later(session: Session) -> None:
    report, probe = session.run(Script({"nodes": "stop"}))
    assert probe.lines == ["kubectl get pods"]
    assert report.verdict == "problem"
    assert any("stopped before it" in one.why for one in report.unknown)
    later = Script()
    report, probe = session.run(later)
    assert later.asked == ["nodes", "logs"]
    assert later.arrivals == [1]
    assert "kubectl get pods" not in probe.lines
    assert not report.unknown


# --- going on, going back, asking again


def test_a_session_goes_on_at_the_same_step_with_the_same_answers(session: Session) -> None:
    class Killed(BaseException):
        pass

    def dies(command: Command) -> Output:
        raise Killed

    broken = Fake({**ANSWERS, "kubectl get nodes": dies})
    with pytest.raises(Killed):
        session.run(Script(), broken)
    session.now += 7200
    person = Script()
    report, probe = session.run(person)
    assert person.asked == ["nodes", "logs"]
    assert "kubectl get pods" not in probe.lines
    assert outcomes(report)["sick-gpu"] == "found"


def test_going_on_with_a_finished_session_asks_nobody(session: Session) -> None:
    report, _ = session.run(Script())
    person = Script()
    again, probe = session.run(person)
    assert (person.asked, probe.asked) == ([], [])
    assert again == report


def test_back_asks_about_the_step_before_again_and_keeps_its_answer(session: Session) -> None:
    person = Script({"nodes": ["back", "run"]})
    report, probe = session.run(person)
    assert person.asked == ["pods", "nodes", "pods", "nodes", "logs"]
    assert [place.read for place in person.places] == [None, None, 1000.0, None, None]
    assert probe.lines.count("kubectl get pods") == 1
    assert report.verdict == "problem"


def test_back_and_skip_forgets_the_answer(session: Session) -> None:
    report, _ = session.run(Script({"nodes": ["back"], "pods": ["run", "skip"]}))
    assert report.verdict == "inconclusive"
    assert load(session.folder / "bundle").outputs == []
    assert outcomes(session.replayed()) == outcomes(report)


def test_retest_asks_the_same_again_and_takes_the_new_answer(session: Session) -> None:
    well = facts(pods=[{"namespace": "ml", "pod": "x", "node": "n1", "phase": "Running"}])
    turns = iter([ANSWERS["kubectl get pods"], well])
    probe = Fake({**ANSWERS, "kubectl get pods": lambda command: Output(command, pages=(next(turns),))})  # type: ignore[arg-type]
    person = Script(after={"pods": ["retest"]})
    report, _ = session.run(person, probe)
    assert probe.lines.count("kubectl get pods") == 2
    assert outcomes(report)["sick-pod"] == "clear"
    assert outcomes(session.replayed())["sick-pod"] == "clear"


def test_samples_pause_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    real = Guided.pause
    monkeypatch.setattr(Guided, "pause", lambda guide, seconds: pauses.append(seconds) if guide.current else real(guide, seconds))
    pods = "- {id: pods, run: [kubectl, get, pods], parse: test.pods, sample: {times: 3, every: 5s}}\n"
    session = Session(tmp_path, pods + "- {id: nodes, run: [kubectl, get, nodes], parse: test.nodes}\n")
    session.run(Script({"nodes": "stop"}))
    assert len(pauses) == 2
    _, probe = session.run(Script())
    assert len(pauses) == 2
    assert "kubectl get pods" not in probe.lines


# --- pasting


def test_a_pasted_output_is_an_answer_like_any_other(session: Session) -> None:
    secret = "token: ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    output = facts(nodes=[{"node": "n1", "ready": False, "origin": {"source": "x", "line": 1, "text": secret}}])
    report, probe = session.run(Script({"nodes": Reply(word="paste", pasted={0: output})}))
    assert "kubectl get nodes" not in probe.lines
    assert outcomes(report)["sick-node"] == "found"
    kept = next(one for one in load(session.folder / "bundle").outputs if one.argv == ("kubectl", "get", "nodes"))
    assert kept.via == "pasted"
    assert secret not in (session.folder / "bundle" / kept.stdout[0]).read_text()
    assert session.replayed().findings == report.findings


def test_of_several_commands_one_may_be_pasted_and_the_others_skipped_or_run(session: Session, tmp_path: Path) -> None:
    outputs = {0: facts(xids=[{"code": 79, "node": "n1", "gpu": "0000:1b:00"}])}
    report, probe = session.run(Script({"logs": Reply(word="skip", pasted=outputs)}))
    assert not [line for line in probe.lines if "dmesg" in line]
    assert outcomes(report)["sick-gpu"] == "found"
    assert [(one.what, one.why) for one in report.coverage.missing] == [("n2: dmesg", "skipped by the person who guides")]
    (tmp_path / "other").mkdir()
    other = Session(tmp_path / "other")
    _, probe = other.run(Script({"logs": Reply(word="run", pasted=outputs)}))
    assert [line for line in probe.lines if "dmesg" in line] == ["n2: dmesg"]


def test_what_was_pasted_and_can_not_be_read_says_so(session: Session) -> None:
    report, _ = session.run(Script({"nodes": Reply(word="paste", pasted={0: b"bash: kubectl: command not found"})}))
    assert any("not facts" in one.why for one in report.unknown)


PIECES = [b"a", b".", b"\n", b"\r\n", b"\n.", b".\n", b"line\n", BEGIN, END, b"\xc3", b"\x1b[", b"\0"]


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join), st.lists(st.integers(1, 9), max_size=60))
def test_a_paste_is_the_same_however_it_arrives(text: bytes, cuts: list[int]) -> None:
    whole = text + END + b"\n.\n"

    def arriving(sizes: list[int]) -> bytes:
        rest, turns = whole, iter(sizes)
        chunks = []
        while rest:
            size = next(turns, len(rest))
            chunks.append(rest[:size])
            rest = rest[size:]
        reads = iter([*chunks, b""])
        return b"".join(read_paste(lambda: next(reads)))

    assert arriving(cuts) == arriving([])


@pytest.mark.parametrize(
    ("typed", "taken"),
    [
        (b".\n", b""),
        (b"a\n.\n", b"a\n"),
        (b"a\n.\nb\n.\n", b"a\n"),
        (b"a\n..\n.b\n.\n", b"a\n..\n.b\n"),
        (BEGIN + b"a\n.\nb" + END + b".\n", b"a\n.\nb\n"),
        (BEGIN + b"a\n" + END + BEGIN + b"b\n" + END + b".\n", b"a\nb\n"),
        (b"a\nb\x04", b"a\nb"),
        (BEGIN + b"\x04" + END + b"\x04", b"\x04\n"),
        (b"a line and then the terminal is gone", b"a line and then the terminal is gone"),
    ],
)
def test_what_ends_a_paste(typed: bytes, taken: bytes) -> None:
    reads = iter([bytes([byte]) for byte in typed] + [b""])
    assert b"".join(read_paste(lambda: next(reads))) == taken


# --- questions to the person


def test_an_answer_is_a_fact_like_any_other(tmp_path: Path) -> None:
    session = Session(tmp_path, QUESTION)
    person = Script({"lamp": Reply(word="answer", answers={0: ("lit", "amber")})})
    report, probe = session.run(person)
    assert person.places[1].todo[0].command.shown == "Is the lamp of n1 lit?"
    finding = report.findings[0]
    assert finding.evidence[0].source == "Is the lamp of n1 lit?"
    assert finding.evidence[0].text == "Yes, it is (amber)"
    assert finding.subject.pod == "x"
    assert [command.argv[0] for command in probe.asked] == ["kubectl"]
    assert session.replayed().findings == report.findings


def test_who_cant_tell_leaves_the_check_unknown_and_the_question_is_named(tmp_path: Path) -> None:
    report, _ = Session(tmp_path, QUESTION).run(Script({"lamp": Reply(word="answer")}))
    assert report.verdict == "inconclusive"
    assert "can't tell" in report.unknown[0].why
    assert report.unknown[0].settle_with == ["Is the lamp of n1 lit?"]
    assert report.coverage.missing[0].what == "Is the lamp of n1 lit?"


def test_without_a_guide_the_report_names_the_question(tmp_path: Path) -> None:
    made = book(QUESTION, tmp_path, library=LIBRARY)
    report = diagnose(LIBRARY, made, {}, Fake(ANSWERS), timeout=20.0)
    assert report.verdict == "inconclusive"
    assert report.unknown[0].why == "nobody was asked (--guided asks)"
    assert report.unknown[0].settle_with == ["Is the lamp of n1 lit?"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("ask: Is it?", "go together"),
        ("ask: Is it?\n  choices: {yes_: Yes}", "go together"),
        ("choices: {yes_: Yes, no_: No}", "go together"),
        ("ask: Is it?\n  choices: {Yes: Yes, no_: No}", "Yes"),
        ("ask: Is it?\n  choices: {yes_: Yes, no_: No}\n  host: n1", "a person is asked here"),
        ("ask: Is it?\n  choices: {yes_: Yes, no_: No}\n  run: [dmesg]", "a step does one of"),
        ("ask: 'Is ${pod.pod} it?'\n  choices: {yes_: Yes, no_: No}", "pod.pod"),
    ],
)
def test_a_question_that_is_wrong_is_refused(wrong: str, why: str, tmp_path: Path) -> None:
    checks = "\n  checks: [{id: c}]"
    problems = problems_of(f"schema: 1\nid: book\ntitle: x\nsteps:\n- id: lamp\n  {wrong}{checks}\n", tmp_path)
    assert any(why in problem for problem in problems), problems


# --- consent

DIAGNOSED: dict[str, Answer] = {"kubectl get nodes": facts(nodes=[{"node": "n1"}]), "n1: dcgmi diag -r 1 -j": facts(xids=[])}


def test_what_disturbs_says_whom_and_without_consent_is_withheld(tmp_path: Path) -> None:
    person = Script({"diag": "withhold"})
    report, probe = Session(tmp_path, DISTURBS, DIAGNOSED).run(person)
    assert [table.rows for table in person.places[1].disturbs] == [[["n1"]]]
    assert probe.lines == ["kubectl get nodes"]
    assert report.withheld[0].what == "n1: dcgmi diag -r 1 -j"
    assert report.exit_code == 4


def test_consent_holds_for_one_run(tmp_path: Path) -> None:
    session = Session(tmp_path, DISTURBS, DIAGNOSED)
    report, probe = session.run(Script())
    assert "n1: dcgmi diag -r 1 -j" in probe.lines
    assert report.verdict == "healthy"
    again, probe = session.run(Script())
    assert probe.lines == []
    assert again == report


def test_consent_is_no_leave_to_run_what_never_answered_again(tmp_path: Path) -> None:
    session = Session(tmp_path, DISTURBS, DIAGNOSED)
    session.run(Script())
    kept = Recorder(Fake({}), tmp_path / "bundle", "book", {}, 0.0, go_on=True)
    kept.forget(Command(("dcgmi", "diag", "-r", "1", "-j"), host="n1"))
    kept.close()
    report, probe = session.run(Script())
    assert probe.lines == []
    assert report.verdict == "inconclusive"


# --- the recorder


def test_a_recording_goes_on_and_what_was_half_written_is_removed(tmp_path: Path) -> None:
    command = Command(("dmesg",))
    recorder = Recorder(Fake({"dmesg": b"one\n"}), tmp_path / "b", "x", {})
    recorder(command)
    (tmp_path / "b" / "nvidia-smi-0a1b2c3d.txt").write_text("half of an answ")
    (tmp_path / "b" / "notes.md").write_text("mine")
    later = Recorder(Fake({"nvidia-smi": b"x"}), tmp_path / "b", "x", {}, go_on=True)
    assert later(command).text == "one\n"
    assert {path.suffix for path in (tmp_path / "b").iterdir()} == {".json", ".txt", ".md"}
    assert not (tmp_path / "b" / "nvidia-smi-0a1b2c3d.txt").exists()
    assert later.holds(command)
    later.put(Output(command, pages=(b"two\n",)))
    assert Replay(tmp_path / "b")(command).text == "two\n"
    later.forget(command)
    assert later.recorded_answer(command) is None
    assert Replay(tmp_path / "b")(command).failure == "not-recorded"


# --- the folder of a session


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


HOLD = """
import sys
from gpudoctor.probes.session import Folder
folder = Folder(sys.argv[1]).hold()
print("held", flush=True)
sys.stdin.read()
"""


def test_two_people_cant_hold_one_session_and_a_killed_one_lets_go(state: Path) -> None:
    folder = Folder.new("diagnose-pod", 0.0)
    folder.save(b"{}")
    folder.close()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Busy, match=f"process {holder.pid} on "):
        folder.hold()
    with pytest.raises(Refused, match="is open elsewhere"):
        sessions.reopen(folder.name)
    holder.kill()
    holder.communicate()
    folder.hold()
    folder.close()


def begun(**more: Any) -> sessions.Open:
    """A session over the demo's first incident."""
    where = Where(kubeconfig=Path("kube.config"), replay=Path("bundle"), nodes=["gpu-[01-02]"], guided=True, **more)
    return sessions.begin_session(library().runbooks["diagnose-pod"], "pod ml/x", 1000.0, 60.0, {"name": "x"}, where)


def test_a_session_keeps_what_the_command_line_asked(state: Path) -> None:
    made = begun(context="prod", fanout=7)
    made.decisions.append(Decision(step="diagnose-pod.pod", did="run", at=2000.0))
    made.note("diagnose-pod.pod", "looks odd", 2001.0)
    made.folder.close()
    again = sessions.reopen(made.folder.name[-3:])
    assert again.state == made.state
    assert again.where.kubeconfig == Path.cwd() / "kube.config"
    assert (again.where.context, again.where.fanout, again.where.nodes) == ("prod", 7, ["gpu-[01-02]"])
    assert (made.folder.path.stat().st_mode & 0o777, (made.folder.path / "session.json").stat().st_mode & 0o777) == (0o700, 0o600)


def test_the_last_unfinished_session_is_the_default(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Refused, match="no unfinished session"):
        sessions.reopen("")
    first, second = begun(), begun()
    second.state.ended = "problem"
    for number, one in enumerate((first, second)):
        one.save()
        os.utime(one.folder.path / "session.json", (2000 + number, 2000 + number))
        one.folder.close()
    assert sessions.list_sessions() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:2]] == [second.folder.name, first.folder.name]
    assert "problem" in lines[0]
    assert "stopped after 0 steps" in lines[1]
    found = sessions.reopen("")
    assert found.folder.name == first.folder.name
    sessions.list_sessions()
    assert "open now" in capsys.readouterr().out
    with pytest.raises(Refused, match="may be"):
        sessions.reopen(first.folder.name[:10])
    with pytest.raises(Refused, match="there is no session"):
        sessions.reopen("../../etc")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"session": 1}', b"\xff\xfe", b'{"decisions": [{"did": "rm"}]}'])
def test_a_damaged_session_is_refused_in_words(text: bytes, state: Path) -> None:
    made = begun()
    made.folder.save(text)
    made.folder.close()
    with pytest.raises(Refused, match="no session that can be read"):
        sessions.reopen(made.folder.name)
    assert sessions.list_sessions() == 0


def test_old_evidence_says_its_age(session: Session) -> None:
    report, _ = session.run(Script())
    source = report.findings[0].evidence[0].source
    old = sessions.with_evidence_ages(report, {source: 0.0}, 7200.0)
    assert old.findings[0].evidence[0].source == f"{source} (read 2 h ago)"
    assert sessions.with_evidence_ages(report, {source: 7100.0}, 7200.0) == report


@pytest.mark.parametrize("words", [("demo", "taint", "--guided"), ("resume",), ("diagnose", "pod", "x", "--guided")])
def test_without_a_terminal_nothing_is_asked(words: tuple[str, ...], state: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gpudoctor", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=os.environ, timeout=60
    )
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert not state.exists()


@pytest.mark.parametrize("words", [("nccl",), ("xid",)])
def test_files_are_not_gone_through_step_by_step(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("NVRM: Xid (PCI:0000:ab:00): 79, GPU has fallen off the bus.\n")
    command = [sys.executable, "-m", "gpudoctor", *words, str(tmp_path / "a.log"), "--guided"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "leave out one of them" in done.stderr


def test_a_user_without_a_name_or_a_home_has_sessions_below_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54321)
    assert sessions_folder() == Path("/.local/state/gpudoctor/sessions")
