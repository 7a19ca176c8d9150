"""What is handed on: what a vendor asks for, what the commands have answered, without secrets, into a file."""

from __future__ import annotations

import json
import resource
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from gpudoctor.cli.complete import complete_format
from gpudoctor.cli.errors import Refused
from gpudoctor.cli.execute import execute
from gpudoctor.cli.printing import Shown, check_shown, deliver, keeper, print_report
from gpudoctor.cli.scenarios import demonstrate
from gpudoctor.cli.sharing import redact_report
from gpudoctor.cli.where import Where
from gpudoctor.engine import outputs
from gpudoctor.facts import Subject
from gpudoctor.library.index import fixtures_folder
from gpudoctor.probes.answer_keeper import EACH, LARGEST, Keeper
from gpudoctor.probes.base import Command, Output, one_by_one
from gpudoctor.report import Evidence, Fix, Hardware, Report, StepOutput
from gpudoctor.reporters import REPORTERS, render
from gpudoctor.reporters.hardware import hardware_rows
from gpudoctor.tools.linux.lspci import lspci
from tests.engine_fakes import Fake, facts, fake_parsers, run  # noqa: F401 - a fixture
from tests.test_reports import LOST, NOTHING, PACKET, WHOLE, XID, Page

# --- what a vendor asks for -------------------------------------------------------------------------------------------------------------


def test_every_form_holds_what_a_vendor_asks_for() -> None:
    wanted = [value for _, value in hardware_rows(PACKET)]
    assert ["Remapped rows", "0 correctable, 2 uncorrectable, pending, none failed"] in hardware_rows(PACKET)
    assert ["Retired pages", "3, none pending"] in hardware_rows(PACKET)
    assert ["Xid", f"2026-03-01T11:52:03Z  79 ×3 until 2026-03-01T11:53:00Z  {XID}"] in hardware_rows(PACKET)
    for name in REPORTERS.keys() - {"short"}:
        text = render(WHOLE, name, width=300, verbose=True)
        for value in (PACKET.serial, PACKET.part_number, PACKET.vbios, PACKET.inforom, PACKET.gsp_firmware):
            assert value in text
        assert name == "json" or "and 7 more in the kernel" in text
    assert len(wanted) > 15


def test_what_was_not_read_is_said() -> None:
    assert hardware_rows(Hardware(name="gpu-02/x", causes=["c"], pci="0000:1b:00"))[-1] == [
        "Not read",
        "Serial number, Part number, VBIOS, InfoROM image, Driver",
    ]


def test_the_packet_is_made_of_what_the_run_has_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert demonstrate("hot-card", Shown("json")) == 1
    report = msgspec.json.decode(capsys.readouterr().out, type=Report)
    one = report.hardware[0]
    assert one.name == report.findings[0].subject.name
    assert one.causes == [report.findings[0].cause]
    assert all((one.serial, one.part_number, one.vbios, one.inforom, one.driver, one.pci, one.uuid))
    assert one.remap_pending is False
    demonstrate("healthy", Shown("json"))
    assert msgspec.json.decode(capsys.readouterr().out, type=Report).hardware == []


def test_the_packet_has_what_dcgm_and_the_kernel_say(capsys: pytest.CaptureFixture[str]) -> None:
    def packets(bundle: str) -> list[Hardware]:
        where = Where(replay=fixtures_folder() / bundle)
        execute("", {}, where, timeout=60.0, shown=Shown("json"))
        return msgspec.json.decode(capsys.readouterr().out, type=Report).hardware

    memory = packets("dcgm-diag/diag-memory")[0].diagnostics
    assert [line.partition(":")[0] for line in memory] == ["memory", "passed"]
    assert "(FAULTY_MEMORY)" in memory[0]
    first = packets("xid-triage/xid-card-or-program")[0]
    assert [(xid.code, xid.count) for xid in first.xids] == [(62, 1), (13, 6), (43, 1), (43, 1)]
    assert [xid.time for xid in first.xids] == sorted(str(xid.time) for xid in first.xids)
    assert all(str(xid.time).endswith("Z") for xid in first.xids)


def test_lspci_names_the_slot() -> None:
    text = "0000:1b:00.0 3D controller [0302]: NVIDIA Corporation GH100 [10de:2330] (rev a1)\n\tPhysical Slot: 17\n"
    found = lspci(Output(Command(("lspci",)), pages=(text.encode(),)), Subject(kind="node", node="gpu-02"))
    assert [device.slot for device in found["pci_devices"]] == ["17"]  # type: ignore[attr-defined]


# --- what is handed on is redacted ------------------------------------------------------------------------------------------------------

SECRET = "ghp_" + "Zq7Xw2Lm9Tr4Vb6Ny8Kd3Fs5Hg1JcPaRuEoB"


class Says:
    """A probe that answers everything with the same pages."""

    def __init__(self, *pages: bytes, stderr: bytes = b"") -> None:
        self.pages, self.stderr = pages, stderr

    def __call__(self, command: Command) -> Output:
        return Output(command, pages=self.pages, stderr=self.stderr, exit=3)

    def stream(self, command: Command) -> Iterator[Output]:
        for page in self.pages:
            yield Output(command, pages=(page,))

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        return one_by_one(self, commands)


def test_what_is_kept_for_a_report_is_redacted_and_the_run_sees_the_original() -> None:
    pod = json.dumps({"kind": "Pod", "spec": {"containers": [{"env": [{"name": "DB_PASSWORD", "value": "tiger"}]}]}}).encode()
    command = Command(("kubectl", "get", "pods", "-o", "json"))
    keeps = Keeper(Says(pod, stderr=f"token {SECRET}".encode()))
    assert keeps.kept_answer(command) is None
    assert b"tiger" in keeps(command).pages[0]
    output, left_out = keeps.kept_answer(command) or pytest.fail("nothing was kept")
    assert (output.exit, left_out) == (3, 0)
    assert b"DB_PASSWORD" in output.pages[0]
    assert b"tiger" not in output.pages[0]
    assert SECRET.encode() not in output.stderr
    assert [one.pages for one in keeps.many([command])] == [(pod,)]


def test_a_long_answer_is_kept_without_its_middle_and_a_huge_page_not_at_all() -> None:
    command = Command(("dmesg",), host="gpu-02")
    keeps = Keeper(Says(b"first\n" + b"x\n" * EACH + b"last"))
    keeps(command)
    output, left_out = keeps.kept_answer(command) or pytest.fail("nothing was kept")
    assert left_out == EACH + 10
    assert output.text.startswith("first\n")
    assert output.text.endswith("last")
    assert "bytes are left out here" in output.text
    keeps = Keeper(Says(b"x" * (LARGEST + 1), b"y", b"z"))
    assert len([*keeps.stream(command)]) == 3
    output, left_out = keeps.kept_answer(command) or pytest.fail("nothing was kept")
    assert output.text == "(too large to be shown here)\n"
    assert left_out == 2


def test_a_stream_that_is_left_early_is_kept_as_far_as_it_came() -> None:
    command = Command(("kubectl", "logs", "x"))
    keeps = Keeper(Says(b"one", b"two"))
    pieces = keeps.stream(command)
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert (keeps.kept_answer(command) or pytest.fail("nothing was kept"))[0].pages == (b"one",)


def test_a_report_for_others_is_redacted_whatever_it_was_made_of() -> None:
    evidence = [Evidence("env.txt", 1, f"export GITHUB_TOKEN={SECRET}"), Evidence("run.sh", 2, f"curl -H 'Authorization: Bearer {SECRET}'")]
    fixes = [Fix("Ask", "safe", ["curl", f"--token={SECRET}"])]
    leaky = msgspec.structs.replace(WHOLE, findings=[msgspec.structs.replace(LOST, evidence=evidence, fixes=fixes, title=f"uses {SECRET}")])
    made = redact_report(leaky)
    for name in REPORTERS:
        assert SECRET not in render(made, name, verbose=True)
    assert redact_report(WHOLE) == WHOLE  # names, addresses, serial numbers and UUIDs are what a report is about
    assert redact_report(made) == made


@pytest.mark.parametrize("format", ["markdown", "html", "junit", "json", "terminal"])
def test_only_the_forms_for_others_are_redacted(format: str, capsys: pytest.CaptureFixture[str]) -> None:
    leaky = msgspec.structs.replace(NOTHING, asked=f"pod {SECRET}")
    print_report(leaky, Shown(format))
    assert (SECRET in capsys.readouterr().out) is (format in ("json", "terminal"))


def test_outputs_are_only_in_html(capsys: pytest.CaptureFixture[str]) -> None:
    for format in REPORTERS:
        demonstrate("rack", Shown(format))
        shown = "NVIDIA Corporation AD102GL" in capsys.readouterr().out
        assert shown or format in ("json", "junit", "markdown", "terminal", "short")
    demonstrate("rack", Shown("json"))
    assert '"outputs"' not in capsys.readouterr().out
    assert keeper(Says(), Shown("markdown")) is None


def test_evidence_of_a_run_leads_to_what_was_answered(capsys: pytest.CaptureFixture[str]) -> None:
    demonstrate("rack", Shown("html"))
    page = Page(capsys.readouterr().out)
    assert sum(link.startswith("#output-") for link in page.links) >= 2
    assert len(page.ids) > 10


STEPS = """\
- {id: first, run: [kubectl, get, nodes], parse: test.nodes}
- id: hosts
  each: node in nodes
  host: ${node.node}
  limit: 1000
  run: [dmesg]
  parse: test.xids
  checks: [{id: lost, each: xid in xids, when: xid.code == 79, finds: sick-gpu, title: 'Xid 79'}]
- {id: again, run: [kubectl, get, nodes], parse: test.nodes}
"""


def answered(folder: Path, hosts: int) -> Report:
    """The report, with its outputs, of a run over hosts of which the last one has lost a GPU."""
    names = [f"h{number:03}" for number in range(hosts)]
    answers = {f"{name}: dmesg": facts(xids=[{"code": 79 if name == names[-1] else 13, "gpu": "g"}]) for name in names}
    keeps = Keeper(Fake({"kubectl get nodes": facts(nodes=[{"node": name} for name in names]), **answers}))
    return run(STEPS, keeps, folder, kept=keeps.kept_answer)


def shown(report: Report) -> list[list[StepOutput]]:
    """The outputs of each step."""
    return [step.outputs for step in report.steps if isinstance(step.outputs, list)]


@pytest.mark.usefixtures("fake_parsers")
def test_each_answer_stands_with_the_first_step_that_asked_it(tmp_path: Path) -> None:
    first, hosts, again = shown(answered(tmp_path, 2))
    assert [(one.argv, one.host) for one in [*first, *hosts]] == [
        (["kubectl", "get", "nodes"], ""),
        (["dmesg"], "h000"),
        (["dmesg"], "h001"),
    ]
    assert '"code": 79' in hosts[1].text
    assert again == []


@pytest.mark.usefixtures("fake_parsers")
def test_what_a_finding_rests_on_is_shown_before_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, hosts, _ = shown(answered(tmp_path, outputs.SHOWN + 12))
    assert hosts[0].host == f"h{outputs.SHOWN + 11}"
    assert len(hosts) == outputs.SHOWN + 1
    assert hosts[-1].why == "12 more commands of this step are not shown here"
    _, hosts, _ = shown(answered(tmp_path, 3))
    monkeypatch.setattr(outputs, "ROOM", len(hosts[2].text) + 1)
    _, hosts, _ = shown(answered(tmp_path, 3))
    assert [(bool(one.text), one.left_out) for one in hosts] == [(False, len(hosts[2].text)), (False, len(hosts[2].text)), (True, 0)]


# --- files ------------------------------------------------------------------------------------------------------------------------------


def test_a_report_goes_into_its_file_and_the_screen_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "incident.html"
    path.write_text("old", encoding="utf-8")
    shown = Shown("html", path)
    check_shown(shown)
    assert print_report(WHOLE, shown) == 1
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert capsys.readouterr().out == f"report written to {path} (verdict: problem)\n"
    assert [one.name for one in tmp_path.iterdir()] == ["incident.html"]


def test_a_dash_is_the_screen_and_the_shell_completes_the_forms(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(NOTHING, Shown("junit", Path("-")))
    assert capsys.readouterr().out.startswith("<?xml")
    assert complete_format("") == [*REPORTERS]
    assert complete_format("m") == ["markdown"]


def test_a_link_is_followed_and_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "report.md")
    deliver("text", Shown("markdown", tmp_path / "link"))
    assert (tmp_path / "real" / "report.md").read_text(encoding="utf-8") == "text"
    assert (tmp_path / "link").is_symlink()
    deliver("text", Shown("markdown", Path("/dev/null")))
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "words"), [("", "is a folder"), ("no/such/report.html", "there is no folder"), ("file/report.html", "there is no folder")]
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(Refused, match=words):
        check_shown(Shown("html", tmp_path / name))
    with pytest.raises(Refused, match="there is no format 'pdf'; there are terminal, short, json, markdown, html, junit"):
        check_shown(Shown("pdf"))


def test_a_disk_that_is_full_is_said(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        with pytest.raises(Refused, match="File too large"):
            deliver("text" * 100, Shown("html", tmp_path / "report.html"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())
