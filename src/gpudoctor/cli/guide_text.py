"""The words of the guided dialogue: plain lines in which nothing is said by a colour or a place alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpudoctor.engine.guidance import News, Place
from gpudoctor.engine.steps import StepRun, host_set_text
from gpudoctor.nodesets import fold
from gpudoctor.probes.base import Command
from gpudoctor.report import Finding, Report
from gpudoctor.reporters import answer
from gpudoctor.reporters.layout import Page
from gpudoctor.reporters.text import count
from gpudoctor.reporters.words import shown_lines, to_do, who_acts
from gpudoctor.runbook.model import Library

COMMANDS = 3  # of one step, and names of one kind, that are shown without being asked for
FEW = 5
API = ("kubectl",)
# What each key does, for `?`.
KEYS = {
    "run": "runs the command above, or takes the answer that is there already",
    "yes": "runs it, although it disturbs running work",
    "again": "runs it anew, although there is an answer",
    "skip": "leaves the step out: what needs it stays unknown",
    "go on": "goes on to the next step, or to the report",
    "fix": "shows what to do about it, with the risk and how to undo it",
    "retest": "asks the same again, after somebody has repaired something",
    "explain": "says what the step can show, and when it is asked",
    "paste": "takes the output that somebody has got elsewhere, or a file of it",
    "back": "takes the last decision back",
    "note": "keeps a note with the session",
    "output": "shows what the last step was answered",
    "quit": "ends with the report; the session stays, `gpudoctor resume` goes on",
}


def known_so_far(report: Report) -> str:
    """What is known so far, in one line."""
    roots = [one for one in report.findings if one.role == "root" and one.severity != "info"]
    words = [f"{count(len(roots), 'cause')} found ({first_few([one.cause for one in roots])})" if roots else "no cause found yet"]
    words += [f"{count(len(report.candidates), 'possible cause')}"] if report.candidates else []
    words += [f"{len(report.ruled_out)} ruled out"] if report.ruled_out else []
    return ", ".join(words)


def first_few(words: Sequence[str], most: int = COMMANDS) -> str:
    """`a, b, c and 4 more`."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def duration_text(seconds: float) -> str:
    """A time in the unit that a person would use.

    >>> duration_text(30), duration_text(200), duration_text(7200), duration_text(200_000)
    ('30 s', '3 min', '2 h', '2 days')
    """
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def ago(seconds: float) -> str:
    """How long ago something was."""
    return "just now" if seconds < 20 else f"{duration_text(seconds)} ago"


def before_step(place: Place, width: int, color: bool, reach: str, now: float) -> str:
    """Where the run is before a step, why it comes, and what it would do."""
    page = Page(width, color)
    step = place.step.planned.step
    page.gap()
    page.lines((f"Step {place.number} of at most {place.most}: ", ""), (step.title or step.id, "bold"))
    entry(page, "so far", known_so_far(place.known))
    entry(page, "why", step.why)
    if place.led_by:
        entry(page, "since", first_few(place.led_by))
    if step.choices:
        return page.text()
    commands(page, [question.command for question in place.todo])
    entry(page, "where", reach if reach else command_places([question.command for question in place.todo]))
    changes(page, place)
    entry(page, "takes", f"{duration_text(place.seconds)} at most")
    if place.read is not None:
        entry(page, "read", f"{ago(now - place.read)}: run takes that answer, again asks anew")
    return page.text()


def keys(known: Sequence[str], width: int, color: bool) -> str:
    """What each of some keys does."""
    page = Page(width, color)
    for word, does in KEYS.items():
        if word in known:
            page.lines((f"{word}: ", "bold"), (does, ""), indent=2)
    page.lines(("The first letter or the whole word, then Return; Return alone does what stands first. gpudoctor repairs nothing.", "dim"))
    return page.text()


def entry(page: Page, label: str, text: str) -> None:
    """One labelled line."""
    if text:
        page.lines((f"{label}: ", "dim"), (text, ""), indent=2)


def commands(page: Page, asked: Sequence[Command], most: int = COMMANDS) -> None:
    """The commands of a step, each once with its hosts."""
    hosts: dict[tuple[str, ...], list[str]] = {}
    for command in asked:
        hosts.setdefault(command.public, []).append(command.host)
    for argv, names in list(hosts.items())[:most]:
        there = [name for name in names if name]
        page.command(argv, "command:", f"on {host_set_text(there)}: " if there else "")
    if len(hosts) > most:
        entry(page, "and", f"{count(len(hosts) - most, 'more command')} (e shows them)")


def command_places(asked: Sequence[Command]) -> str:
    """The places where commands run."""
    hosts = [command.host for command in asked if command.host]
    if hosts:
        return f"on {fold(hosts)}"
    program = asked[0].argv[0]
    return "the API server of the cluster" if program in API else "a Prometheus" if program == "promql" else "this machine"


def changes(page: Page, place: Place) -> None:
    """What a step can change, and who would suffer."""
    if not place.step.planned.step.effect:
        entry(page, "changes", "nothing, it only reads")
        return
    entry(page, "changes", "IT DISTURBS RUNNING WORK on these GPUs")
    for table in place.disturbs:
        page.lines((f"{table.title}:", ""), indent=2)
        page.table(table.columns, table.rows[:FEW], indent=4)


def question(text: str, choices: dict[str, str], width: int, color: bool) -> str:
    """A question to the person, with its answers numbered."""
    page = Page(width, color)
    page.lines((text, "bold"), indent=2)
    for number, label in enumerate([*choices.values(), "I can't tell"], 1):
        page.lines((f"{number}  ", ""), (label, ""), indent=2)
    return page.text()


def after_step(news: News, width: int, color: bool) -> str:
    """What a step has brought: what was read, what its checks say, what that rules out, what was found, and where it goes on."""
    page = Page(width, color)
    kinds = ((number, kind.replace("_", " ")) for kind, number in news.facts)
    read = ", ".join(f"{number} {kind if number > 1 else kind.removesuffix('s')}" for number, kind in kinds)
    troubles = list(dict.fromkeys(trouble.why for trouble in (*news.step.failures, *news.step.absent)))
    if read or not troubles:
        page.lines(("Read: ", "dim"), (f"{read or 'nothing of note'}, {news.step.seconds:.1f} s", ""))
    if troubles:
        page.lines(("No answer: ", "yellow"), (first_few(troubles), ""))
    said = {word: [one for one in news.checked if one.outcome == word and one.check.finds] for word in ("found", "clear", "unknown")}
    ends = {"found": "found something", "clear": "found nothing", "unknown": "without an answer"}
    words = [f"{len(said[word])} {end}" for word, end in ends.items() if said[word]]
    if words:
        page.lines(("Checks: ", "dim"), (", ".join(words), ""))
    for line in shown_lines(news.shown)[:FEW]:
        page.lines(("Shown: ", "dim"), (line, ""))
    if news.ruled_out:
        page.lines(("Rules out: ", "dim"), (first_few(news.ruled_out, FEW), ""))
    for finding in news.gone:
        page.lines(("NO LONGER: ", "bold"), (f"{finding.title} ({finding.cause})", ""))
    for finding in news.found:
        print_finding(page, finding)
    print_next_steps(page, news)
    return page.text()


def print_finding(page: Page, finding: Finding) -> None:
    """Print a finding in a few lines."""
    word = "FOUND" if finding.severity != "info" else "NOTED"
    page.lines((f"{word}: ", "bold red" if finding.severity == "critical" else "bold"), (finding.title, "bold"))
    name = finding.subject.name or finding.subject.kind
    role = f", explained by {first_few(finding.explained_by)}" if finding.explained_by else ""
    page.lines((f"{name}: {finding.cause}, {finding.confidence}, {finding.severity}{role}", ""), indent=2)
    if finding.role == "root":
        page.lines((finding.means, ""), indent=2)
    answer.seen(page, finding.evidence, False)


def print_next_steps(page: Page, news: News) -> None:
    """Print where the runbook goes next, and what it leaves out."""
    not_needed = list(dict.fromkeys(title(step) for step in news.passed if not step.undecided))
    undecided = list(dict.fromkeys(title(step) for step in news.passed if step.undecided))
    if not_needed:
        page.lines(("Not needed: ", "dim"), (first_few(not_needed), ""))
    if undecided:
        why = next((step.undecided for step in news.passed if step.undecided), "")
        page.lines(("Can't be decided: ", "dim"), (f"{first_few(undecided)} ({why})", ""))
    if news.following is None:
        page.lines(("Next: ", "dim"), ("the report; all steps are done", ""))
    else:
        why = news.following.planned.step.why if news.found else ""  # without a finding the next step itself follows at once
        page.lines(("Next: ", "dim"), (title(news.following) + (f". {why}" if why else ""), ""))


def title(step: StepRun) -> str:
    """A step's title."""
    return step.planned.step.title or step.planned.step.id


def fixes(findings: Iterable[Finding], width: int, color: bool) -> str:
    """What to do about findings: each fix with its risk, how to undo it, and how to see that it helped."""
    page = Page(width, color)
    for finding in findings:
        page.gap()
        page.lines((finding.title, "bold"))
        page.lines((who_acts(finding), ""), indent=2)
        for label, fix in to_do(finding):
            answer.remedy(page, label, fix, True)
    page.gap()
    page.lines(("gpudoctor runs none of these.", "dim"))
    return page.text()


def step_explanation(place: Place, library: Library, width: int, color: bool) -> str:
    """All about a step: the commands, when the runbook comes here, and what its answer can show."""
    page = Page(width, color)
    planned = place.step.planned
    page.lines((f"{planned.name}: {planned.step.title}", "bold"))
    entry(page, "why", planned.step.why)
    entry(page, "runbook", f"{planned.book.title}. {planned.book.summary}")
    for gate in planned.gates:
        entry(page, "only when", gate.when)
    if not planned.step.choices:
        commands(page, [question.command for question in place.todo], most=len(place.todo))
    causes = list(dict.fromkeys(check.finds for check in planned.step.checks if check.finds))
    for name in causes:
        page.lines((f"can show {name}: ", ""), (library.causes[name].title, ""), indent=2)
    if not causes:
        entry(page, "reads", "what later checks compare")
    for link in planned.book.references:
        entry(page, "see", link)
    return page.text()
