"""What every form of a report says in words: the headline, why something has no answer, what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gpudoctor.nodesets import fold
from gpudoctor.patterns import regex
from gpudoctor.report import Evidence, Finding, Fix, Look, Missing, NotShown, Report, Shown, Unknown
from gpudoctor.reporters.symptoms import by_root
from gpudoctor.reporters.text import LONGEST, command, count, excerpt, shorten

SHORT = 5  # rows of a table, symptoms, checks and names that are shown without -v
WHY = 120  # characters of a sign of trouble that the headline has room for
LONG_PATH = 40  # characters of a file's path that the headline has room for
# "needs pods, which could not be read", "found.waiting is not known": the engine's words for a check that lacks what another step lacks
# Nor is a question that only --guided asks a trouble.
FOLLOWS = regex(r"needs \w+, which could not be read|found\.\w+ is not known|nobody was asked \(--guided asks\)")


# What `act` and `who` of a finding say.
ACTIONS = {
    "watch": "watch it",
    "fix-config": "correct the configuration",
    "restart-job": "restart the job",
    "restart-service": "restart the service",
    "reset-gpu": "reset the GPU",
    "reboot": "reboot the node",
    "power-cycle": "power-cycle the node",
    "replace": "repair or replace the part",
}
ACTORS = {"job-owner": "owner of the job", "operator": "cluster operator", "datacenter": "datacenter staff", "vendor": "vendor"}


class Parts(NamedTuple):
    """The findings of a report: the causes, each with what it brings about, what is only worth to know, and what no cause explains."""

    report: Report
    causes: list[tuple[Finding, list[Finding]]]
    notes: list[Finding]
    others: list[Finding]


def parts_of(report: Report) -> Parts:
    """Sort the findings. What is only information is no cause beside a problem or a possible one, unless it brings something about."""
    roots, others = by_root(report.findings)
    more = bool(report.candidates) or any(one.severity != "info" for one in report.findings)
    noted = [root for root, symptoms in roots if more and root.severity == "info" and not symptoms]
    return Parts(report, [pair for pair in roots if pair[0] not in noted], noted, others)


def unread(missing: Missing, report: Report) -> str:
    """What could not be read and why: the reason alone where it is one for everything, such as a cluster that isn't reached."""
    alone = report.inputs or missing.what in missing.why or len(report.coverage.missing) > 1
    return missing.why if alone else f"{missing.what}: {missing.why}"


def who_acts(one: Finding) -> str:
    """`Who: cluster operator. Action: reboot the node.`"""
    said = {"Who": ACTORS.get(one.who, one.who), "Action": ACTIONS.get(one.act, one.act)}
    return " ".join(f"{label}: {word}." for label, word in said.items() if word)


def to_do(one: Finding) -> list[tuple[str, Fix]]:
    """What to do about a finding, each with its label."""
    return labelled(one.fixes, one.no_fix, one.look)


def action(one: Finding) -> str:
    """Who acts and what is to be done: `cluster operator: reboot the node`. To watch is no action where there is a fix."""
    act = "" if one.act == "watch" and one.fixes else ACTIONS.get(one.act, one.act)
    return ": ".join(word for word in (ACTORS.get(one.who, one.who), act) if word)


def chosen(one: Finding) -> list[tuple[str, Fix]]:
    """What to show of what there is to do: the first fix, and where that mends nothing by itself or has no command, the next one that does.
    Without fixes why there is none, and the first look.
    """
    steps = to_do(one)
    look = [step for step in steps if step[0] == "look"][:1]
    if not one.fixes:
        return [step for step in steps if step[0] != "look"][:1] + look
    first, *others = one.fixes
    if takes_out(first):
        same = [fix for fix in others[:1] if takes_out(fix)]  # for the other scheduler, where nobody knows which one there is
        rest = [fix for fix in others if not takes_out(fix)]
        return [("fix", first), *(("or", fix) for fix in same), *(("then", fix) for fix in rest[:1])]
    if first.run or first.manifest:
        return [("fix", first)]
    ready = [fix for fix in others if fix.run or fix.manifest][:1]
    return [("fix", first), *((("then" if brings_back(fix) else "or", fix) for fix in ready) if ready else look)]


def takes_out(fix: Fix) -> bool:
    """Whether it only keeps work off a node."""
    return fix.run[:2] in (["kubectl", "drain"], ["kubectl", "cordon"]) or "State=DRAIN" in fix.run


def brings_back(fix: Fix) -> bool:
    """Whether it returns a node to service."""
    return fix.run[:2] == ["kubectl", "uncordon"] or "State=RESUME" in fix.run


def labelled(fixes: Iterable[Fix], no_fix: str, looks: Iterable[Look]) -> list[tuple[str, Fix]]:
    """What to do, each with its label: the fixes, why there is none, then what shows more."""
    none = [("no fix", Fix(no_fix, "safe"))] if no_fix else []
    return [*(("fix", fix) for fix in fixes), *none, *(("look", Fix(look.title, "safe", look.run)) for look in looks)]


def with_risk(fix: Fix) -> str:
    """What a fix is for, with its risk unless it is safe."""
    return fix.title + ("" if fix.risk == "safe" else f" ({fix.risk})")


def beside(fix: Fix, verbose: bool) -> list[str]:
    """What else is to be known before it is done: the work that it ends, and where names are found that it leaves open."""
    return [*([f"stops: {names(fix.stops, verbose)}"] if fix.stops else []), *(f"find {name}" for name in fix.find)]


def commands_of(fix: Fix) -> list[tuple[str, list[str]]]:
    """The commands of a fix, each with what stands before it."""
    return [("", fix.run), ("undo: ", fix.undo), ("verify: ", fix.verify)]


def one_line(one: Finding) -> str:
    """A finding in a line: where, unless the title says it, and what."""
    name = one.subject.name or one.subject.kind
    return ("" if name in one.title else f"{name}: ") + one.title + (f" (and {len(one.also)} more)" if one.also else "")


def finding_lines(one: Finding) -> Iterator[str]:
    """A finding in full, in plain lines: what and where, its evidence, who acts, and how."""
    yield f"{one.title} ({one.cause}, {one.confidence}, {one.severity})"
    yield f"on {', '.join([one.subject.name or one.subject.kind, *one.also])}"
    yield from [f"explained by {', '.join(one.explained_by)}"] if one.explained_by else ()
    yield from filter(None, (one.means, who_acts(one)))
    yield from evidence_lines(one.evidence)
    for label, fix in to_do(one):
        yield from (f"{label}: {with_risk(fix)}", *beside(fix, True))
        yield from (f"  {line}" for line in fix.manifest.splitlines())
        yield from (f"  {before}{shown}" for before, argv in commands_of(fix) if (shown := command(argv)))
    yield from (f"see {link}" for link in one.references)


def evidence_lines(pieces: Iterable[Evidence]) -> Iterator[str]:
    """Lines that show it, each under its place."""
    for piece in pieces:
        yield from (f"seen in {place(piece)}", *([f"  {said}"] if (said := excerpt(piece, LONGEST)) else []))


def sentences(text: str, longest: int) -> str:
    """The text, or as many whole sentences of it as there is room for; of one that is too long by itself both ends."""
    whole = text[: longest + 1].rpartition(". ")[0]
    return text if len(text) <= longest else f"{whole}." if whole else shorten(text, longest)


def place(piece: Evidence) -> str:
    """Where a line stands: `dmesg.txt:40`."""
    return piece.source + (f":{piece.line}" if piece.line else "")


def question(report: Report) -> str:
    """What was asked, else the runbook; of a file with a long path its name."""
    asked = report.asked or report.runbook
    return asked.rpartition("/")[2] if len(asked) > LONG_PATH and report.inputs else asked


def headline(parts: Parts) -> str:
    """The verdict in one sentence: the first cause, or why there is none."""
    report, roots = parts.report, [root for root, _ in parts.causes]
    if roots:
        node = roots[0].subject.node if roots[0].subject.kind in ("gpu", "node") else ""
        where = f"{node}: " if node and node not in f"{report.asked} {roots[0].title}" else ""  # of many that were asked
        more = f" (and {count(len(roots) - 1, 'more root cause')})" if len(roots) > 1 else ""
        return where + (roots[0].title or "untitled") + more
    if report.verdict == "healthy":
        return "all that is expected was shown" if report.shown else "nothing wrong was found"
    if report.candidates:
        return f"{count(len(report.candidates), 'possible cause')}, {'none of them' if report.candidates[1:] else 'not'} certain"
    if report.unexplained:
        further = len(report.unexplained) - 1
        return f"no finding explains “{shorten(report.unexplained[0].text, WHY)}”" + (f" and {further} more" if further else "")
    if report.withheld:
        return "what would tell was not run: it disturbs running work, and needs --allow-disruptive"
    if report.coverage.missing and not report.coverage.answered:
        return f"nothing could be read: {unread(report.coverage.missing[0], report)}"
    if checks := open_checks(report):
        return f"no problem found, but {count(len(checks), 'check')} could not be run"
    if unknown := [part for one in report.inputs for part in one.unknown]:
        rest = f" and {count(len(unknown) - 1, 'other part')}" if len(unknown) > 1 else ""
        return f"no problem found, but “{shorten(unknown[0], 60)}”{rest} is not understood"
    if lines := not_shown_lines(report):
        rest = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        return f"no problem found, but not shown to be healthy: {lines[0][0]}{rest}"
    complete = report.inputs and 0 < report.coverage.asked == report.coverage.answered
    return "no problem found, but too little was shown to call it healthy" if complete else "too little could be read"


def shown_lines(shown: Sequence[Shown], every: bool = False) -> list[str]:
    """What was shown, a line for each expectation: of many subjects the first stands for all, unless `every` one is wanted."""
    return [line for said in by_expectation(shown).values() for line in (said if every else [first_of(said)])]


def by_expectation(shown: Sequence[Shown]) -> dict[str, list[str]]:
    """What was shown of each expectation."""
    lines: dict[str, list[str]] = {}
    for one in shown:
        lines.setdefault(one.expectation, []).append(one.says)
    return lines


def first_of(said: Sequence[str]) -> str:
    """The first line, which stands for all."""
    return said[0] + (f" (and {len(said) - 1} more)" if len(said) > 1 else "")


def refuted_lines(report: Report) -> list[str]:
    """What is ruled out, by what was seen, a line for each expectation: `CAUSE, CAUSE: what was seen`."""
    causes: dict[str, dict[str, None]] = {}
    for one in report.refutations:
        if one.cause in report.ruled_out:
            causes.setdefault(one.by, {})[one.cause] = None
    said = by_expectation(report.shown)
    return [f"{', '.join(own)}: {first_of(said[by])}" for by, own in causes.items() if by in said]


def not_shown_lines(report: Report, every: bool = False) -> list[tuple[str, NotShown]]:
    """What was not shown, a line for each expectation and reason, with one of its entries: of many subjects the first stands for all."""
    groups: dict[tuple[str, str], list[NotShown]] = {}
    for one in report.not_shown:
        groups.setdefault((one.expectation, one.why if not every else f"{one.why} {one.subject.name}"), []).append(one)
    made = []
    for same in groups.values():
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        made.append((f"{same[0].subject.name or same[0].subject.kind}{more}: {same[0].why}", same[0]))
    return made


def open_checks(report: Report) -> list[Unknown]:
    """The checks without an answer that would change the verdict."""
    return [one for one in report.unknown if one.decides]


def not_run(why: str, own: Sequence[Unknown]) -> str:
    """`41 checks not run: the kernel log could not be read (needs CAP_SYSLOG).`"""
    return f"{count(len(own), 'check')} not run: {why.removesuffix('.')}."


def troubles(report: Report) -> list[str]:
    """What no finding explains, each with its place: `dmesg.txt:40: nvme nvme0: controller is down (2 times)`."""
    return [
        f"{one.source}{f':{one.line}' if one.line else ''}: {one.text}".removeprefix(": ")
        + (f" ({one.count} times)" if one.count > 1 else "")
        for one in report.unexplained
    ]


def next_step_text(report: Report) -> str:
    """The next step where nothing could be read."""
    if report.verdict != "inconclusive" or not report.coverage.missing or report.coverage.answered or report.withheld:
        return ""
    if report.inputs:
        return "give whole outputs, with their first lines: of kubectl, nvidia-smi, dmesg, lspci, dcgmi, or the logs of a job; archives too"
    if report.coverage.missing[0].why.startswith(("no kubeconfig", "the kubeconfig")):
        return "give --kubeconfig FILE; without a cluster at hand `gpudoctor analyze FILE` reads outputs that you have"
    return "run the commands where you have access; `gpudoctor analyze FILE` reads their outputs, and --guided takes them pasted"


def further_subjects(root: Finding, verbose: bool) -> str:
    """The further subjects of a finding: nodes as a node set, many GPUs by their nodes, the rest by name."""
    if root.subject.kind == "node":
        return f"{fold(root.also)} ({len(root.also) + 1} in all)"
    if root.subject.kind == "gpu" and len(root.also) > SHORT and not verbose:
        return f"{count(len(root.also), 'more GPU')} on {fold(name.partition('/')[0] for name in root.also)}"
    return names(root.also, verbose)


def distinct_evidence(pieces: Sequence[Evidence]) -> list[Evidence]:
    """The first piece of each source that says something new."""
    kept: list[Evidence] = []
    for piece in pieces:
        if all(piece.source != other.source and piece.text != other.text for other in kept):
            kept.append(piece)
    return kept


def by_reason(checks: Sequence[Unknown]) -> list[tuple[str, list[Unknown]]]:
    """The checks that share a reason, in the order of their first; what merely follows from another trouble comes last."""
    reasons: dict[str, list[Unknown]] = {}
    for one in checks:
        direct = [part for part in one.why.split("; ") if not FOLLOWS.fullmatch(part)]
        reasons.setdefault("; ".join(direct) or one.why, []).append(one)
    return sorted(reasons.items(), key=lambda reason: follows(reason[0]))


def follows(why: str) -> bool:
    """Whether this reason only follows from others that are said too."""
    return all(FOLLOWS.fullmatch(part) for part in why.split("; "))


def coverage(report: Report, verbose: bool, room: int = 0) -> str:
    """`checked 6 of 8; gpu-07: ssh timed out`; where nothing was asked, the files that were read. What has no room is counted."""
    said = report.coverage
    known = said.missing[0].why if next_step_text(report) and not report.inputs and not verbose else None  # the headline says it
    if not said.asked and report.inputs:
        parts = [f"read {count(len(report.inputs), 'file')}"]
        parts += [f"{file.path}: {file.note or 'not recognised'}" for file in report.inputs if file.note or not file.recognised_as]
    else:
        parts = [f"checked {said.answered} of {said.asked}"]
    parts += [
        f"{missing.what}: {missing.why.removeprefix(f'{missing.what}: ')}"
        for missing in said.missing
        if verbose or not (missing.why == known or follows(missing.why))
    ]
    if verbose:
        return "; ".join(parts)
    kept = max((n for n in range(1, len(parts) + 1) if n == 1 or (n <= SHORT and len("; ".join(parts[:n])) <= room)), default=1)
    return "; ".join([*parts[:kept], *([f"{len(parts) - kept} more with -v"] if kept < len(parts) else [])])


def names(words: Sequence[str], verbose: bool, first: int = SHORT) -> str:
    """Words joined by commas, the first few unless verbose."""
    shown = words if verbose else words[:first]
    return ", ".join(shown) + (f" and {len(words) - len(shown)} more" if len(shown) < len(words) else "")
