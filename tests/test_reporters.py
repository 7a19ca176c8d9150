"""Reports as text and JSON: golden files, the first screen, hostile text.

`GPUDOCTOR_UPDATE=1 pytest tests/test_reporters.py` renews the golden files.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from gpudoctor.report import (
    EXIT_CODES,
    Candidate,
    Coverage,
    Evidence,
    Finding,
    Fix,
    InputFile,
    Missing,
    NotShown,
    Refutation,
    Report,
    ReportSubject,
    Shown,
    StepResult,
    Table,
    Unknown,
)
from gpudoctor.reporters import REPORTERS, render
from gpudoctor.reporters.progress import printer
from gpudoctor.reporters.symptoms import by_root
from gpudoctor.reporters.text import command, safe

GOLDEN = Path(__file__).parent / "golden"
ROWS, COLUMNS = 25, 80


def subject(kind: str, name: str, **keys: str) -> ReportSubject:
    return ReportSubject(kind=kind, name=name, **keys)


POD = subject("pod", "ml/train-0", namespace="ml", pod="train-0")
NODE = subject("node", "gpu-02", node="gpu-02")
CARD = subject("gpu", "gpu-02/0000:1b:00", node="gpu-02", gpu="0000:1b:00")
DRAIN = Fix(
    "Keep new work off the node, then move what runs there",
    "disruptive",
    run=["kubectl", "drain", "gpu-02", "--ignore-daemonsets", "--delete-emptydir-data"],
    undo=["kubectl", "uncordon", "gpu-02"],
    verify=["nvidia-smi", "-L"],
)


def finding(cause: str, on: ReportSubject, **more: Any) -> Finding:
    fields: dict[str, Any] = {
        "severity": "critical",
        "confidence": "confirmed",
        "check": f"book.{cause.replace('-', '_')}",
        "title": f"{on.name} has {cause}",
    }
    return Finding(cause=cause, subject=on, **(fields | more))


def report(verdict: str, *findings: Finding, **more: Any) -> Report:
    fields: dict[str, Any] = {
        "tool": "gpudoctor 0.1.0",
        "started": "2026-03-01T12:00:00Z",
        "runbook": "diagnose-pod",
        "asked": "pod ml/train-0",
        "coverage": Coverage(8, 8),
    }
    return Report(verdict=verdict, findings=list(findings), **(fields | more))  # type: ignore[arg-type]


TAINTED = finding(
    "untolerated-taint",
    POD,
    severity="warning",
    title="The 16 nodes that fit have the taint nvidia.com/gpu=present:NoSchedule, which ml/train-0 does not tolerate",
    means="The scheduler keeps the pod off these nodes until its manifest tolerates the taint. Nothing is wrong with the nodes.",
    evidence=[
        Evidence(
            "kubectl get events --namespace ml --field-selector=involvedObject.name=train-0 -o json",
            0,
            "0/18 nodes are available: 16 node(s) had untolerated taint {nvidia.com/gpu: present}, 2 Insufficient nvidia.com/gpu. "
            "preemption: 0/18 nodes are available: 18 Preemption is not helpful for scheduling.",
        )
    ],
    act="fix-config",
    who="job-owner",
    fixes=[
        Fix("Read which taint it is", "safe", run=["kubectl", "describe", "node", "gpu-01"]),
        Fix("Let the job tolerate it, then create it again", "disruptive", run=["kubectl", "edit", "job", "train", "--namespace", "ml"]),
    ],
    references=["https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"],
)
LOST = finding(
    "gpu-fallen-off-bus",
    CARD,
    title="GPU 0000:1b:00 of gpu-02 has fallen off the PCIe bus",
    means="The driver can no longer reach the GPU over PCIe. Programs that use it fail, and it stays away until the node restarts.",
    explains=["device-unhealthy", "gpu-capacity-exhausted"],
    evidence=[Evidence("gpu-02: dmesg", 12, "[93211.1] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', GPU has fallen off the bus.")],
    act="reboot",
    who="operator",
    fixes=[DRAIN],
    time="2026-03-01T11:52:03Z",
)
UNHEALTHY = finding(
    "device-unhealthy",
    NODE,
    role="symptom",
    title="gpu-02 offers 7 of 8 GPUs",
    explained_by=["gpu-fallen-off-bus"],
    evidence=[Evidence("kubectl get nodes -o json", 0, "nvidia.com/gpu: capacity 8, allocatable 7")],
)
WAITS = finding(
    "gpu-capacity-exhausted",
    POD,
    role="symptom",
    title="ml/train-0 waits for 8 GPUs",
    explained_by=["device-unhealthy"],
    also=["ml/b", "ml/c"],
)
GROUPS = Table(
    "Nodes by the first reason",
    ["Nodes", "Which", "Reason", "Detail"],
    [
        [str(count), f"gpu-[{count}1-{count}9]", "insufficient", f"nvidia.com/gpu: asks 8, at most {count} free"]
        for count in range(7, 0, -1)
    ],
)
STEPS = [
    StepResult(
        id="diagnose-pod.pods", title="Read the pod", outcome="clear", argv=["kubectl", "get", "pods", "train-0", "-o", "json"], seconds=0.2
    ),
    StepResult(
        id="diagnose-pod.kernel_log", title="Read the driver's errors", outcome="found", argv=["dmesg"], host="gpu-02", seconds=1.25
    ),
    StepResult(id="diagnose-pod.logs", title="Read its log", outcome="skipped", note="nothing is crash-looping"),
]


def ruled_out(*causes: str) -> dict[str, Any]:
    """What a report has where an expectation that was shown rules causes out."""
    on, by = ReportSubject("pod", "ml/train-0"), "pods-pending.scheduled"
    return {
        "ruled_out": [*causes],
        "shown": [Shown(expectation=by, subject=on, says="ml/train-0 is on a node, gpu-01")],
        "refutations": [Refutation(cause=cause, subject=on, by=by) for cause in causes],
    }


CASES: dict[str, tuple[Report, dict[str, Any]]] = {
    "taint": (report("problem", TAINTED, tables=[GROUPS], steps=STEPS, **ruled_out("node-cordoned")), {}),
    "lost-gpu": (report("problem", LOST, UNHEALTHY, WAITS, coverage=Coverage(8, 6, [Missing("gpu-07", "ssh timed out")]), steps=STEPS), {}),
    "lost-gpu-verbose": (report("problem", LOST, UNHEALTHY, WAITS, steps=STEPS, **ruled_out("node-cordoned")), {"verbose": True}),
    "two-roots": (report("problem", LOST, TAINTED, UNHEALTHY), {}),
    "healthy": (
        report("healthy", steps=STEPS, **ruled_out("node-cordoned", "untolerated-taint", "pvc-unbound", "quota-exceeded")),
        {},
    ),
    "inconclusive": (
        report(
            "inconclusive",
            candidates=[
                Candidate(
                    cause="quota-exceeded",
                    why="the Job made no pod, and the quota of ml could not be read",
                    subject=subject("workload", "ml/Job/train", namespace="ml", workload="Job/train"),
                    settle_with=["kubectl get resourcequotas --namespace ml"],
                )
            ],
            unknown=[
                Unknown(
                    check="gpu-stack.driver_answers",
                    why="gpu-02: nvidia-smi: command not found",
                    settle_with=["nvidia-smi -L"],
                    decides=True,
                ),
                Unknown(check="diagnose-pod.quota", why="resourcequotas is forbidden: needs list on resourcequotas in ml", decides=True),
            ],
            coverage=Coverage(8, 6, [Missing("quotas of ml", "forbidden"), Missing("gpu-02", "nvidia-smi: command not found")]),
        ),
        {},
    ),
    "files": (
        report(
            "inconclusive",
            asked="2 files",
            coverage=Coverage(),
            inputs=[InputFile("dmesg.txt", ["kernel.log"]), InputFile("photo.png", note="not text")],
        ),
        {},
    ),
    "files-read": (
        report("inconclusive", asked="1 file", coverage=Coverage(1, 1), inputs=[InputFile("rank-0.log", ["nccl.log"])]),
        {},
    ),
    "file-refused": (
        report(
            "inconclusive",
            asked="2 files",
            coverage=Coverage(2, 1, [Missing("nccl_trace_rank_0", "nccl_trace_rank_0: not a flight recorder's dump: cut off near byte 7")]),
            inputs=[InputFile("nccl_trace_rank_0", ["torch.flight"]), InputFile("rank-1.log", ["nccl.log"])],
        ),
        {},
    ),
}


def golden(name: str, text: str) -> None:
    """Compares with the file, or writes it."""
    path = GOLDEN / name
    if os.environ.get("GPUDOCTOR_UPDATE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_golden_text(case: str) -> None:
    given_report, options = CASES[case]
    golden(f"{case}.{EXIT_CODES[given_report.verdict]}.txt", render(given_report, "terminal", width=COLUMNS, **options))


@pytest.mark.parametrize("case", ["taint", "inconclusive"])
def test_golden_json(case: str) -> None:
    given_report, _ = CASES[case]
    text = render(given_report, "json")
    golden(f"{case}.{EXIT_CODES[given_report.verdict]}.json", text)
    assert msgspec.json.decode(text, type=Report) == given_report
    assert list(json.loads(text))[:3] == ["schema", "tool", "started"]
    assert text.endswith("}\n")


def test_every_reporter_of_the_table_renders() -> None:
    for name in REPORTERS:
        assert render(CASES["taint"][0], name).endswith("\n")
    with pytest.raises(KeyError):
        render(CASES["taint"][0], "pdf")


def screen_rows(text: str) -> list[str]:
    """The text as a terminal of 80 columns shows it: longer lines take several rows."""
    return [line[start : start + COLUMNS] for line in text.splitlines() for start in range(0, max(1, cell_len(line)), COLUMNS)]


def first_screen(text: str) -> str:
    return "\n".join(screen_rows(text)[:ROWS])


def test_the_first_screen_has_verdict_cause_evidence_and_fix() -> None:
    many = [
        finding("device-unhealthy", subject("node", f"gpu-{i:03}"), role="symptom", explained_by=["gpu-fallen-off-bus"]) for i in range(300)
    ]
    long = msgspec.structs.replace(
        LOST,
        means="Something long. " * 100,
        also=[f"gpu-{i}/" + "x" * 50 for i in range(50)],
        evidence=[Evidence("kubectl " + "a" * 500, 12, "NVRM: Xid (PCI:0000:1b:00): 79 " + "y" * 5000), *LOST.evidence * 50],
        fixes=[msgspec.structs.replace(DRAIN, title="Move the work " * 9), *[DRAIN] * 20],
    )
    for root in (LOST, long):
        text = render(report("problem", root, *many, tables=[GROUPS] * 5), "terminal", width=COLUMNS)
        screen = first_screen(text)
        assert screen.startswith("PROBLEM  pod ml/train-0\n  GPU 0000:1b:00 of gpu-02 has fallen off")
        for expected in (
            "cause    gpu-fallen-off-bus (critical)",
            "NVRM: Xid (PCI:0000:1b:00): 79",
            "action   cluster operator: reboot the node",
            "sure     confirmed",
            "(disruptive)",
        ):
            assert expected in screen
        assert "kubectl drain gpu-02 --ignore-daemonsets --delete-emptydir-data\n" in screen
        assert "after    kubectl uncordon gpu-02" in screen
        assert "(and 299 more findings)" in text
        assert "checked 8 of 8" in text


@pytest.mark.parametrize("case", CASES)
def test_no_line_is_wider_than_the_screen_but_commands(case: str) -> None:
    given_report, options = CASES[case]
    commands = {command(argv) for one in given_report.findings for fix in one.fixes for argv in (fix.run, fix.undo, fix.verify)}
    commands |= {command(step.argv) for step in given_report.steps}
    for width in (40, 60, 80, 120):
        for line in render(given_report, "terminal", width=width, **options).splitlines():
            assert cell_len(line) <= width or any(text and text in line for text in commands)


def test_verbose_leaves_nothing_out() -> None:
    text = render(report("problem", TAINTED, LOST, UNHEALTHY, tables=[GROUPS], steps=STEPS), "terminal", width=200, verbose=True)
    for expected in (
        "kubectl edit job train --namespace ml",
        "allocatable 7",
        "at most 1 free",
        "verify: nvidia-smi -L",
        "1.2 s  diagnose-pod.kernel_log  gpu-02",
        "nothing is crash-looping",
        "see      https://kubernetes.io",
    ):
        assert expected in text
    assert "with -v" not in text
    assert "…" not in text


def test_colour_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    plain, coloured = (render(CASES["lost-gpu"][0], "terminal", color=color) for color in (False, True))
    assert "\x1b" not in plain
    assert "\x1b[1;31mPROBLEM" in coloured
    assert [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()] == plain.splitlines()


def test_symptoms_go_under_the_root_that_shares_their_subject() -> None:
    other = finding("gpu-fallen-off-bus", subject("gpu", "gpu-09/x", node="gpu-09", gpu="x"))
    far = finding("device-unhealthy", subject("node", "gpu-09", node="gpu-09"), role="symptom", explained_by=["gpu-fallen-off-bus"])
    circle = finding("a", POD, role="symptom", explained_by=["b"])
    stray = finding("b", POD, role="symptom", explained_by=["a"])
    roots, unexplained = by_root([LOST, other, UNHEALTHY, far, WAITS, circle, stray])
    assert [(root.subject.name, [one.title for one in own]) for root, own in roots] == [
        ("gpu-02/0000:1b:00", [UNHEALTHY.title, WAITS.title]),
        ("gpu-09/x", [far.title]),
    ]
    assert unexplained == [circle, stray]
    assert "Also found" in render(report("problem", LOST, circle), "terminal")


HOSTILE = "\x1b[2J\x1b]0;owned\x07\n\r\x00\x7f\x9b31m\u202eevil\u2066\u200b\u2028\ud800 [bold red]markup[/] :boom: {x} \t~"


def hostile_report() -> Report:
    on = subject("pod", HOSTILE, namespace=HOSTILE, pod=HOSTILE)
    bad = Fix(HOSTILE, "destructive", run=["echo", HOSTILE.replace("\0", "")], undo=[HOSTILE], verify=["x", HOSTILE])
    root = finding(
        HOSTILE, on, title=HOSTILE, means=HOSTILE, also=[HOSTILE], evidence=[Evidence(HOSTILE, 1, HOSTILE)], act=HOSTILE, who=HOSTILE,
        fixes=[bad], references=[HOSTILE], time=HOSTILE,
    )  # fmt: skip
    return report(
        "problem",
        root,
        finding(HOSTILE + "2", on, role="symptom", explained_by=[HOSTILE]),
        asked=HOSTILE,
        candidates=[Candidate(cause=HOSTILE, why=HOSTILE, subject=on, evidence=[Evidence(HOSTILE, 0, HOSTILE)], settle_with=[HOSTILE])],
        unknown=[Unknown(check=HOSTILE, why=HOSTILE, settle_with=[HOSTILE])],
        ruled_out=[HOSTILE],
        shown=[Shown(expectation=HOSTILE, subject=on, says=HOSTILE)],
        not_shown=[NotShown(expectation=HOSTILE, subject=on, why=HOSTILE, settle_with=[HOSTILE])],
        refutations=[Refutation(cause=HOSTILE, subject=on, by=HOSTILE)],
        coverage=Coverage(1, 0, [Missing(HOSTILE, HOSTILE)]),
        tables=[Table(HOSTILE, [HOSTILE, HOSTILE], [[HOSTILE], [HOSTILE] * 3, []]), Table("", [], [[HOSTILE]])],
        steps=[StepResult(id=HOSTILE, title=HOSTILE, outcome="unknown", argv=[HOSTILE], host=HOSTILE, note=HOSTILE)],
    )


@pytest.mark.parametrize("name", REPORTERS)
@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_text_never_reaches_the_terminal(name: str, verbose: bool) -> None:
    text = render(hostile_report(), name, verbose=verbose)
    assert not [char for char in text if not (char.isprintable() or char == "\n")]
    assert "[bold red]markup[/]" in text.replace("\n", "").replace(" ", "").replace("[boldred]", "[bold red]")
    text.encode("utf-8")


def test_hostile_text_with_colour_brings_no_sequence_of_its_own() -> None:
    text = render(hostile_report(), "terminal", color=True, verbose=True)
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert "[2J" not in re.sub(r"\\x1b\[2J", "", text)


@given(st.text(max_size=60))
def test_safe_text_is_printable_and_plain_text_is_kept(text: str) -> None:
    assert safe(text).isprintable()
    if text.isprintable():
        assert safe(text) == text


def test_safe_text_is_bounded() -> None:
    assert len(safe("x" * 10_000_000)) < 5000
    assert len(safe("\x00" * 10_000_000)) < 50_000


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", "$(id)", "`id`", "a;b", "!!", "'", "\\", "~", "=ls", "A=1", "%1", "-n", "#", "a\nb", "\x1b[31m", "<node>", "*", "{a,b}"]
)


@settings(max_examples=60)
@given(st.lists(words, max_size=5))
def test_a_pasted_command_is_exactly_its_argv(arguments: list[str]) -> None:
    line = command(["printf", r"%s\0", *arguments, "end"])
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
    assert done.stdout.split(b"\0")[:-1] == [one.encode() for one in [*arguments, "end"]]
    if all(one.isprintable() for one in arguments):
        assert shlex.split(line)[2:-1] == arguments


def test_commands_that_would_not_run_as_written() -> None:
    assert command([]) == ""
    assert command(["echo", "a\0b"]) == ""
    assert command(["A=1", "x"]) == "'A=1' x"
    assert command(["%1"]) == "'%1'"
    assert command(["echo", "=ls", "--a=b"]) == "echo '=ls' --a=b"
    assert "a shell can't express this command" in render(hostile_report(), "terminal")
    unknown_node = msgspec.structs.replace(LOST, fixes=[Fix("Look", "safe", run=["kubectl", "describe", "node", "<node>"])])
    assert "kubectl describe node '<node>'" in render(report("problem", unknown_node), "terminal")


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_prints_one_line_a_step_and_only_on_a_terminal() -> None:
    terminal = Terminal()
    assert printer(StringIO()) is None
    on_step = printer(terminal, width=60)
    assert on_step is not None
    for step in [*STEPS, StepResult(id="x", title=HOSTILE * 9, outcome="unknown")]:
        on_step(step)
    lines = terminal.getvalue().splitlines()
    assert lines[1] == "found       1.2 s  Read the driver's errors  gpu-02"
    assert len(lines) == 4
    assert all(len(line) <= 60 and line.isprintable() for line in lines)
    terminal.close()
    on_step(STEPS[0])  # somebody closed it: no exception


def test_notes_beside_a_problem_are_not_counted_as_root_causes() -> None:
    note = msgspec.structs.replace(LOST, severity="info", title="A note")
    alone = render(report("problem", LOST, note), "terminal", width=100)
    assert "more root cause" not in alone
    assert "  note     A note\n" in alone
    assert "2. A note" not in alone
    for name in ("markdown", "html"):
        assert "2. A note" not in (text := render(report("problem", LOST, note), name))
        assert "Note" in text
    assert render(report("healthy", note), "terminal").startswith("HEALTHY  pod ml/train-0\n  gpu-02: A note\n")  # nothing is beside it
    assert "(and 1 more root cause)" in render(report("problem", LOST, note, TAINTED), "terminal", width=140)


def test_the_title_of_a_single_root_cause_is_not_cut() -> None:
    long = msgspec.structs.replace(
        TAINTED, title="A port has another name than the next link of the way asks for, and " * 2 + "that is its end"
    )
    assert "that is its end" in " ".join(render(report("problem", long), "terminal", width=80).split())


def test_checks_that_would_change_nothing_are_only_listed_with_v() -> None:
    why = "the kernel log could not be read (needs CAP_SYSLOG)"
    unknown = [Unknown(check="book.one", why=why, decides=True), Unknown(check="book.other", why=why, decides=False)]
    given_report = report("inconclusive", unknown=unknown)
    assert f"1 check not run: {why}." in " ".join(render(given_report, "terminal").split())
    assert "1 check could not be run" in render(given_report, "terminal")
    assert f"2 checks not run: {why}." in " ".join(render(given_report, "terminal", verbose=True).split())
    assert "2 checks not run" in render(given_report, "html")


def test_a_note_is_no_cause_beside_a_possible_one() -> None:
    note = msgspec.structs.replace(LOST, severity="info", title="A note")
    candidate = Candidate(cause="quota-exceeded", why="it may be full", subject=POD)
    text = render(report("inconclusive", note, candidates=[candidate]), "terminal")
    assert "  possible quota-exceeded on ml/train-0: it may be full\n" in text
    assert "  note     A note\n" in text


def test_sentences_stand_whole_or_not_at_all() -> None:
    means = "The first sentence says what it is. " + "The second one is long " + "and long " * 40 + "and ends here."
    long = msgspec.structs.replace(TAINTED, means=means, evidence=[])
    for verbose in (False, True):
        flat = " ".join(render(report("problem", long), "terminal", verbose=verbose).split())
        assert ("and ends here." in flat) is verbose
        assert "…" not in flat
    ticket = render(report("problem", msgspec.structs.replace(long, means=means * 3)), "markdown")
    assert "…" not in ticket
