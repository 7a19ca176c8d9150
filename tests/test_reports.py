"""Reports that are handed on: Markdown, HTML, JUnit. What was read is never markup, what is secret never leaves, nothing unknown is green.

`GPUDOCTOR_UPDATE=1 pytest tests/test_reports.py` renews the golden files.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Iterator, Set
from html.parser import HTMLParser
from itertools import cycle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gpudoctor import reporters
from gpudoctor.report import (
    Candidate,
    CheckResult,
    Coverage,
    Evidence,
    Finding,
    Fix,
    Hardware,
    InputFile,
    Lane,
    Missing,
    NotShown,
    Refutation,
    Report,
    ReportSubject,
    Series,
    Shown,
    StepOutput,
    StepResult,
    Table,
    Unknown,
    XidLine,
)
from gpudoctor.reporters import render
from gpudoctor.reporters.text import safe

GOLDEN = Path(__file__).parent / "golden"
FEW = settings(max_examples=25)
UUID = "GPU-5a0c1f2e-0000-4000-8000-000000000007"
XID = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
DMESG = ["dmesg", "--time-format=iso"]
CARD = ReportSubject("gpu", f"gpu-02/{UUID}", node="gpu-02", gpu=UUID)
POD = ReportSubject("pod", "ml/train-0", namespace="ml", pod="train-0")
DRAIN = Fix("Move the work", "disruptive", ["kubectl", "drain", "gpu-02"], ["kubectl", "uncordon", "gpu-02"], ["nvidia-smi", "-L"])
LOST = Finding(
    cause="gpu-fallen-off-bus",
    severity="critical",
    confidence="confirmed",
    subject=CARD,
    time="2026-03-01T11:52:03Z",
    check="xid-triage.off_the_bus",
    title="The GPU at 0000:1b:00 has fallen off the bus",
    means="The driver can no longer reach it.",
    explains=["capacity"],
    evidence=[Evidence("gpu-02: dmesg --time-format=iso", 2, XID), Evidence("dmesg.txt", 0, "")],
    act="reboot",
    who="operator",
    fixes=[Fix("Read the log", "safe", DMESG), DRAIN, Fix("Replace the card", "destructive")],
    references=["https://docs.nvidia.com/deploy/xid-errors/", "javascript:alert(1)"],
    also=["gpu-03/0000:1b:00"],
)
WAITS = Finding(
    cause="capacity",
    role="symptom",
    severity="warning",
    confidence="likely",
    subject=POD,
    check="pods-pending.capacity",
    title="ml/train-0 waits for 8 GPUs",
    explained_by=["gpu-fallen-off-bus"],
)
NOTED = msgspec.structs.replace(WAITS, cause="noted", role="root", severity="info", check="gpu-health.noted", explained_by=[])
PACKET = Hardware(
    name=CARD.name,
    causes=["gpu-fallen-off-bus"],
    node="gpu-02",
    uuid=UUID,
    pci="0000:1b:00",
    slot="17",
    index=3,
    product="NVIDIA H100 80GB HBM3",
    serial="1650023000007",
    part_number="692-2G520-0200-000",
    vbios="96.00.74.00.0D",
    inforom="G520.0200.00.05",
    driver="570.172.08",
    gsp_firmware="570.172.08",
    remapped_correctable=0,
    remapped_uncorrectable=2,
    remap_pending=True,
    remap_failed=False,
    retired_pages=3,
    retired_pending=False,
    ecc_uncorrected=4,
    recovery_action="reset",
    xids=[XidLine(code=79, text=XID, time="2026-03-01T11:52:03Z", last="2026-03-01T11:53:00Z", count=3), XidLine(code=63, text="x")],
    more_xids=7,
    diagnostics=["memory: fail: a row (ROW_REMAP)", "passed: software"],
)
SOUND = ReportSubject("gpu", "gpu-02/GPU 1", node="gpu-02", gpu="GPU 1")
WHOLE = Report(
    tool="gpudoctor 0.1.0",
    started="2026-03-01T12:00:00Z",
    runbook="node-health",
    asked="node gpu-02",
    verdict="problem",
    findings=[LOST, WAITS, NOTED],
    candidates=[
        Candidate(
            cause="quota",
            why="no pod was made",
            check="pods-pending.quota",
            subject=POD,
            evidence=[Evidence("kubectl get quota", 0, "used 8 of 8")],
            settle_with=["kubectl get quota"],
        )
    ],
    ruled_out=["row-remap-pending"],
    shown=[Shown(expectation="gpu-health.memory_is_sound", subject=SOUND, says="GPU 1 counts no uncorrected memory error")],
    not_shown=[NotShown(expectation="dcgm-health.watches_are_quiet", subject=SOUND, why="dcgmi: command not found")],
    refutations=[Refutation(cause="row-remap-pending", subject=SOUND, by="gpu-health.memory_is_sound")],
    unknown=[Unknown(check="dcgm-health.answers", why="gpu-02: dcgmi: command not found", settle_with=["dcgmi health -c"])],
    coverage=Coverage(3, 2, [Missing("gpu-02: dcgmi health -c", "dcgmi: command not found")]),
    withheld=[Missing("dcgmi diag -r 3", "it disturbs running work")],
    inputs=[InputFile("dmesg.txt", ["kernel.log"]), InputFile("photo.png", note="not text")],
    tables=[Table("GPUs", ["Node", "State"], [["gpu-02", "Xid 79"]])],
    series=[
        Series(title="SM clock", unit="MHz", name=f"gpu-02 GPU {i}", points=[(0, 1980), (30, 1200 * i)], marked=i == 0) for i in (0, 1)
    ],
    lanes=[Lane(name="0-6", waits_from=10.0, heard=600.0, ended=610.0), Lane(name="7", heard=10.0, marked=True), Lane(name="8")],
    hardware=[PACKET],
    steps=[
        StepResult(
            id="xid-triage.kernel_log",
            title="Read the kernel log",
            outcome="found",
            argv=DMESG,
            host="gpu-02",
            seconds=0.25,
            outputs=[
                StepOutput(argv=DMESG, host="gpu-02", text=f"booted\n{XID}\n", errors="a word", via="ssh", left_out=9),
                StepOutput(argv=["true"], host="gpu-02", exit=1, sample=2),
                StepOutput(argv=[], why="12 more commands of this step are not shown here"),
            ],
        ),
        StepResult(id="xid-triage.again", title="Read it again", outcome="clear", argv=DMESG, host="gpu-02", outputs=[]),
        StepResult(id="node-health.rest", outcome="skipped", note="not needed"),
        StepResult(id="dcgm-health.health", outcome="unknown", note="dcgmi: command not found"),
    ],
    checks=[
        CheckResult("xid-triage.off_the_bus", "found", "gpu-fallen-off-bus"),
        CheckResult("pods-pending.capacity", "found", "capacity"),
        CheckResult("pods-pending.quota", "found", "quota"),
        CheckResult("pods-pending.perhaps", "found", "perhaps"),
        CheckResult("gpu-health.noted", "found", "noted"),
        CheckResult("gpu-health.row_remap", "clear", "row-remap-pending"),
        CheckResult("dcgm-health.answers", "unknown", "dcgm"),
        CheckResult("dcgm-health.diag", "skipped", "dcgm", "not needed"),
    ],
)
NOTHING = Report(tool="gpudoctor 0.1.0", started="2026-03-01T12:00:00Z", verdict="inconclusive")

# Texts that would be markup, a link, a mention, an end of something, or break the terminal.
HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'onmouseover='alert(1)",
    "<!--",
    "]]>",
    "</style></details></pre>",
    "&lt;b&gt; &amp;",
    "````\n```",
    "``x` `",
    "@everyone #12 !7 GH-7 org/repo#1 ~bug %3 :tada: a@b.example",
    "[x](javascript:alert(1)) ![x](https://evil.example/a.png) https://evil.example www.evil.example <https://evil.example>",
    "**b** _i_ ~~s~~ # h | a | b |\n|---|---|\n> q\n1. one\n- two\n***\n\n    code",
    "1. one",
    "7) seven",
    "+ plus",
    "- two",
    "\x1b[2J\x1b]0;owned\x07\r\x00\x7f\x9b\u202e\u200b\u2028\ud800\ufffe\uffff",
    "$x$ \\( \\\\ \\` | \\|",
    "x" * 5000,
    "",
]
texts = st.sampled_from(HOSTILE) | st.text(max_size=40)
WORDS = {"schema", "verdict", "severity", "confidence", "role", "risk", "outcome"}  # fields that only take certain words


DATA: dict[str, Any] = msgspec.to_builtins(WHOLE)


def replaced(value: Any, words: Iterator[str], key: str = "") -> Any:
    """Plain data with the next of the words in place of every free text."""
    if isinstance(value, str):
        return value if key in WORDS else next(words)
    if isinstance(value, list):
        return [replaced(one, words) for one in value]
    if isinstance(value, dict):
        return {name: replaced(one, words, name) for name, one in value.items()}
    return value


# A report with every field filled, and every free text replaced; a number of texts that is no divisor of another puts each anywhere.
reports = st.lists(texts, min_size=1, max_size=7).map(lambda words: msgspec.convert(replaced(DATA, cycle(words)), Report))


def golden(name: str, text: str) -> None:
    """Compares with the file, or writes it."""
    path = GOLDEN / name
    if os.environ.get("GPUDOCTOR_UPDATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "file"), [("markdown", "handed-on.md"), ("junit", "handed-on.junit.xml")])
def test_golden(name: str, file: str) -> None:
    golden(file, render(WHOLE, name))


# --- Markdown ---------------------------------------------------------------------------------------------------------------------------

OURS = re.compile(r"<details><summary>[\w ,():'-]*</summary>|</details>|<sub>|</sub>")
# What no sentence of ours needs, and what GitHub, GitLab or Slack would make something of.
MARKUP = re.compile(r"[@#<>\[\]$~|_&\\`^={}]|://|www\.|:\w+:|\bGH-\d")


def tokens(text: str) -> Iterator[Any]:
    """All tokens of a Markdown text, as a reader with tables, strike-through and links of bare addresses sees it."""
    for token in MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(text):
        yield token
        yield from token.children or ()


def shown_at_once(text: str) -> list[str]:
    """The lines outside folded parts."""
    return re.sub(r"<details>.*?\n</details>\n\n", "", f"{text}\n", flags=re.DOTALL).strip().splitlines()


@FEW
@given(reports)
def test_markdown_holds_whatever_was_read(report: Report) -> None:
    text = render(report, "markdown")
    for token in tokens(text):
        assert token.type not in (
            "link_open",
            "image",
            "table_open",
            "s_open",
            "em_open",
            "code_block",
            "hr",
            "ordered_list_open",
            "blockquote_open",
        )
        if token.type.startswith("html"):
            assert OURS.fullmatch(token.content.strip()), token.content
        if token.type == "text":
            assert not MARKUP.search(token.content), token.content
    assert sum(token.type == "heading_open" for token in tokens(text)) == 1
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(shown_at_once(text)) < 60
    assert len(text) < 65_536


def crowded() -> Report:
    """A report with far too much of everything."""
    many = {
        name: [one for one in getattr(WHOLE, name) for _ in range(300)]
        for name in ("findings", "candidates", "unknown", "withheld", "tables", "hardware", "steps", "inputs")
    }
    evidence = [Evidence(f"file {number}", 1, "y" * 4000) for number in range(50)]
    long = msgspec.structs.replace(LOST, means="Something long. " * 500, evidence=evidence, fixes=[DRAIN] * 50, also=["gpu-1/x"] * 500)
    many["findings"] = [long, *many["findings"]]
    return msgspec.structs.replace(WHOLE, **many, coverage=Coverage(900, 1, [Missing(f"host {i}", "no answer " * 90) for i in range(900)]))


def test_markdown_is_short_whatever_the_report_holds() -> None:
    for report in (WHOLE, NOTHING, crowded()):
        text = render(report, "markdown")
        assert len(shown_at_once(text)) < 60
        assert len(text) < 65_536
        assert text.count("<details>") == text.count("</details>")
    assert "`--format html` shows everything" in render(crowded(), "markdown")


def test_markdown_says_what_a_ticket_needs() -> None:
    text = "\n".join(shown_at_once(render(WHOLE, "markdown")))
    for expected in (
        "## PROBLEM: node `gpu-02`",
        XID,
        "Who: cluster operator. Action: reboot the node.",
        "kubectl drain gpu-02\n# undo: kubectl uncordon gpu-02\n```",
        "**Done:**",
        "**Open**",
        "**Next**",
    ):
        assert expected in text
    assert "INCONCLUSIVE" in render(NOTHING, "markdown")


# --- HTML -------------------------------------------------------------------------------------------------------------------------------

TEXT_TAGS = {"h1", "h2", "h3", "p", "b", "span", "code", "pre", "div", "a", "ul", "ol", "li", "dl", "dt", "dd", "details", "summary"}
PAGE_TAGS = {"html", "head", "meta", "title", "style", "script", "body", "header", "main", "section", "footer"}
DRAWN_TAGS = {"figure", "svg", "line", "polyline", "rect", "text", "table", "thead", "tbody", "tr", "th", "td"}
TAGS = TEXT_TAGS | PAGE_TAGS | DRAWN_TAGS
VOID = {"meta"}


class Page(HTMLParser):
    """Reads a page strictly: known elements only, closed in order, no attribute that runs or loads anything."""

    def __init__(self, text: str, made: Set[str] = frozenset()) -> None:  # `made` by the script
        super().__init__(convert_charrefs=True)
        self.known = TAGS | made
        self.open: list[str] = []
        self.headings: list[int] = []
        self.texts: dict[str, list[str]] = {}
        self.ids: list[str] = []
        self.links: list[str] = []
        self.policy = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.known, tag
        known = dict(attrs)
        assert len(known) == len(attrs)
        for name, value in attrs:
            assert not name.startswith("on")
            assert name not in ("style", "src", "srcset", "action", "formaction", "data", "xlink:href", "background", "ping")
            if name == "href":
                assert (value or "").startswith(("#", "https://"))
                self.links.append(value or "")
            if name == "id":
                self.ids.append(value or "")
        if known.get("http-equiv"):
            self.policy = known["content"] or ""
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")


@FEW
@given(reports)
def test_html_holds_whatever_was_read(report: Report) -> None:
    text = render(report, "html")
    page = Page(text)
    assert text.count("<style>") == text.count("<!DOCTYPE") == text.count("<script>") == 1
    assert all(line.isprintable() for line in text.split("\n"))
    text.encode("utf-8")
    assert all(one <= before + 1 for before, one in zip(page.headings, page.headings[1:], strict=False))
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)
    said = "".join(page.texts.get("code", []))
    assert safe(report.steps[0].outputs[0].errors.split("\n")[0])[:400] in said  # type: ignore[index]


def test_html_allows_nothing_but_its_own_style_and_script() -> None:
    page = Page(render(WHOLE, "html"))
    own = {name: base64.b64encode(hashlib.sha256("".join(page.texts[name]).encode()).digest()).decode() for name in ("style", "script")}
    assert page.policy == (
        f"default-src 'none'; style-src 'sha256-{own['style']}'; script-src 'sha256-{own['script']}'; base-uri 'none'; form-action 'none'"
    )
    assert page.texts["script"] == [(Path(reporters.__file__).parent / "page.js").read_text(encoding="utf-8")]  # and nothing of the report
    assert page.links.count("https://docs.nvidia.com/deploy/xid-errors/") == 1
    assert "javascript:alert(1)" in page.texts["span"]  # what isn't an address of the web is text
    assert not re.search(r"url\(|@import|https?:", "".join(page.texts["style"]))


def test_html_shows_what_matters_and_links_evidence_to_its_output() -> None:
    page = Page(render(WHOLE, "html"))
    assert page.texts["h1"] == ["The GPU at 0000:1b:00 has fallen off the bus"]
    assert "#output-1" in page.links
    for expected in ("✗ Problem", "Over time", "For the vendor: gpu-02/" + UUID, "What was done", "Ruled out", "1650023000007"):
        assert expected in "".join(text for texts in page.texts.values() for text in texts)
    for report in (NOTHING, msgspec.structs.replace(NOTHING, verdict="healthy"), crowded()):
        Page(render(report, "html"))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (`#rrggbb`), 1 to 21: WCAG 2.2, relative luminance."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_colour_can_be_read_in_light_dark_and_print() -> None:
    from gpudoctor.reporters.picture import BESIDE, MARKED

    style = "".join(Page(render(WHOLE, "html")).texts["style"])
    schemes = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\n\s*\}", style, re.DOTALL)]
    assert len(schemes) == 3
    for scheme in schemes:
        for name in ("ink", "quiet", "link", "bad", "warn", "good"):
            for ground in ("paper", "panel"):
                assert contrast(scheme[name], scheme[ground]) >= 4.5, (name, ground)
        for name in ("bad", "warn", "good"):
            assert contrast(scheme[name], scheme[f"{name}-ground"]) >= 4.5
        for colour in (*MARKED, *BESIDE):
            assert contrast(colour, scheme["paper"]) >= 3.0, colour


# --- JUnit ------------------------------------------------------------------------------------------------------------------------------


def junit(report: Report) -> ElementTree.Element:
    """The document; its numbers of cases are those that it says."""
    text = render(report, "junit")
    text.encode("ascii")
    root = ElementTree.fromstring(text)
    for element in (root, *root.iter("testsuite")):
        for attribute, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[attribute]) == len([*element.iter(tag)])
    return root


@FEW
@given(reports)
def test_junit_holds_whatever_was_read(report: Report) -> None:
    root = junit(report)
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out",
    }  # fmt: skip


def test_junit_has_a_suite_for_each_runbook_and_a_case_for_each_check() -> None:
    cases = {f"{case.get('classname')}.{case.get('name')}": case for case in junit(WHOLE).iter("testcase")}
    became = {name: case[0].tag if len(case) else "passed" for name, case in cases.items()}
    assert became == {
        "gpudoctor.verdict": "failure",
        "xid-triage.off_the_bus": "failure",
        "pods-pending.capacity": "failure",
        "pods-pending.quota": "error",  # only possible: neither wrong nor right
        "pods-pending.perhaps": "skipped",  # possible, and another cause is certain
        "gpu-health.noted": "system-out",  # only information: it passes
        "gpu-health.row_remap": "passed",
        "dcgm-health.answers": "error",  # what could not be read is not green
        "gpu-health.memory_is_sound": "system-out",  # it was shown
        "dcgm-health.watches_are_quiet": "skipped",  # it was not, and there is a problem that counts more
    }
    assert XID in (cases["xid-triage.off_the_bus"][0].text or "")
    assert "Serial number         1650023000007" in (cases["gpudoctor.verdict"][0].text or "")
    said = {one.get("name"): one.get("value") for one in junit(WHOLE).iter("property")}
    assert (said["verdict"], said["exit_code"], said["asked"]) == ("problem", "1", "node gpu-02")
    assert said["not_needed.dcgm-health"] == "1"  # no case: it was not needed


def test_junit_is_green_only_for_a_healthy_report() -> None:
    assert junit(NOTHING).get("errors") == "1"
    assert junit(msgspec.structs.replace(WHOLE, checks=[])).get("failures") == "1"
    healthy = junit(msgspec.structs.replace(NOTHING, verdict="healthy", checks=[CheckResult("a.b", "clear", "c")]))
    assert (healthy.get("tests"), healthy.get("failures"), healthy.get("errors")) == ("2", "0", "0")
