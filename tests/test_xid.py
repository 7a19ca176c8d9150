"""`gpudoctor xid`: the book of codes, what a message says, and the screens."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.printing import Shown
from gpudoctor.cli.xid import asked_codes, explain_codes, explain_xids
from gpudoctor.knowledge.xid_decode import decode
from gpudoctor.knowledge.xids import book
from gpudoctor.library import index
from gpudoctor.library.xids import load
from gpudoctor.tools.common.xid_line import retold_xid_of, xid_of

BOOK = book()
IMPORTANT = (13, 31, 43, 45, 48, 62, 63, 64, 74, 79, 92, 94, 95, 109, 119, 120, 140, 149, 154)


def show(capsys: pytest.CaptureFixture[str], *words: str, format: str = "terminal") -> tuple[int, str]:
    asked = asked_codes(list(words))
    assert asked
    code = explain_codes(asked, Shown(format))
    return code, capsys.readouterr().out


# The book


def test_the_file_passes_its_own_check() -> None:
    made, problems = load(index.xids_file())
    assert made is not None
    assert [str(problem) for problem in problems] == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("code: 79", "code: 78", "codes are in order, each once"),
        ("whose: pcie", "whose: nobody", "whose: unknown word 'nobody'"),
        ("GPU has fallen off the bus.'", "GPU is well.'", "doesn't match its own line"),
        ("(?P<refused>Guest", "(?P<refused>(Guest", "pattern: missing )"),
        ("    title: GPU fell off the bus", "    titel: GPU fell off the bus", "unknown field `titel`"),
        ("scope: node", "scope: [node]", "Expected `str`, got `array`"),
        ("  - code: 79", "  - &anchor\n    code: 79", "anchors"),
    ],
)
def test_mistakes_in_the_file_are_named_with_their_line(tmp_path: Path, old: str, new: str, says: str) -> None:
    text = index.xids_file().read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "xids.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    _, problems = load(tmp_path / "xids.yaml")
    assert says in str(problems[0])
    assert problems[0].line > 100


def test_every_number_that_a_driver_has_is_there() -> None:
    codes = {entry.code for entry in BOOK.xids}
    gaps = {code for row in BOOK.unused for code in range(row.first, row.last + 1)}
    assert codes | gaps == set(range(1, max(codes) + 1))
    assert not codes & gaps


@pytest.mark.parametrize("code", IMPORTANT)
def test_what_is_often_confused_is_told_apart(code: int) -> None:
    entry = BOOK.xid(code)
    assert entry is not None
    assert entry.confused or entry.severity == "decode"
    assert entry.actions


def test_no_single_memory_error_asks_for_another_card() -> None:
    """Only a failed remap does; the others have a path back into service."""
    for code in (48, 63, 92, 94):
        entry = BOOK.xid(code)
        assert entry is not None
        assert "rma" not in entry.actions, code
    failed = BOOK.xid(64)
    assert failed is not None
    assert "rma" in failed.actions


def test_the_device_plugin_ignores_what_its_source_lists() -> None:
    # k8s-device-plugin internal/rm/health.go
    assert [entry.code for entry in BOOK.xids if entry.device_plugin_ignores] == [13, 31, 43, 45, 68, 109]


def test_dcgm_watches_what_its_source_lists() -> None:
    failures = [entry.code for entry in BOOK.xids if entry.dcgm == "failure"]
    assert failures == [48, 64, 74, 79, 95, 119, 120, 140]
    right = [entry.code for entry in BOOK.xids if entry.dcgm == "warning" and not entry.dcgm_text_wrong]
    assert right == [31, 32, 43, 63, 94]


# What a message says


@pytest.mark.parametrize(
    ("code", "text", "fields"),
    [
        (13, "pid=7, name=a, Graphics SM Warp Exception on (GPC 4, TPC 0, SM 1): Illegal Address", {"place": "GPC 4, TPC 0, SM 1"}),
        (
            31,
            "Ch 00000008, intr 00000000. MMU Fault: ENGINE CE3 HUBCLIENT_CE1 faulted @ 0x7f00_10000000. "
            "Fault is of type FAULT_PTE ACCESS_TYPE_VIRT_WRITE",
            {"unit": "CE3", "place": "HUBCLIENT_CE1"},
        ),
        (48, "An uncorrectable double bit error (DBE) has been detected on GPU (LTC)", {"unit": "LTC"}),
        (63, "Row Remapper: New row marked for remapping, reset gpu to activate.", {"place": ""}),
        (64, "Row Remapper Error: (0x00000001) - Row Remapping table is full", {"place": "0x00000001"}),
        (74, "NVLink: fatal error detected on link 12(0x80000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)", {"link": 12, "fatal": True}),
        (94, "Contained: SM (0x4). RST: No, D-RST: No", {"unit": "SM"}),
        (95, "Uncontained: FB DED (0x3,0x1). physAddr: 0x1f00 RST: Yes, D-RST: No", {"unit": "FB DED", "place": "0x1f00"}),
        (
            119,
            "Timeout after 6s of waiting for RPC response from GPU1 GSP! Expected function 76 (X) (0x1 0x2).",
            {"function": 76},
        ),
        (119, "Timeout waiting for RPC from GSP!", {"function": None}),
        (145, "RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x000000e2 0x00000008 0x0 0x0 0x0 0x0)", {"unit": "RLW_SRC_TRACK", "fatal": False}),
        (144, "SAW_MVB Fatal XC0 i0 Link -1 (0x00000021 0x00000002 0x0 0x0 0x0 0x0)", {"link": None, "fatal": True}),
        (171, "HBM, Uncorrectable DRAM error in FBPA 3 subpartition 0 physAddr 0x1f00", {"unit": "DRAM", "place": "FBPA 3 subpartition 0"}),
        (154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", {"action": "none"}),
        (154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)", {"action": "drain_and_reset"}),
        (154, "GPU recovery action changed from 0x0 (None) to 0x2 (Some New Name)", {"action": "reboot"}),
        (154, "GPU recovery action changed from 0x0 (None) to 0x63 (Some New Name)", {"action": ""}),
        (79, "GPU has fallen off the bus.", {"unit": "", "place": "", "link": None, "fatal": None}),
        (9999, "anything", {"unit": "", "lines": []}),
    ],
)
def test_the_fields_of_a_message(code: int, text: str, fields: dict[str, object]) -> None:
    made = decode(code, text)
    assert {name: getattr(made, name) for name in fields} == fields


def test_sub_codes_of_nvlink_5_follow_the_table() -> None:
    # 0xe2: RLW_SRC_TRACK before R575; 0x107: bit 8 means nothing to the seven low bits that count since
    for first in ("0x000000e2", "0x04082907"):
        lines = decode(145, f"RLW_SRC_TRACK Nonfatal XC1 i0 Link 10 ({first} 0x00000004 0x0 0x0 0x0 0x0)").lines
        assert any("Xid 154" in line for line in lines), first
    unplugged = decode(149, "NETIR_LINK_DOWN Link Fatal XC0 i0 Link 01 (0x017001c6 0x00000000 0x0 0x0 0x0 0x0)").lines
    assert "link-down reason 23: cable unplugged" in unplugged


def test_the_registers_of_74_are_read_bit_by_bit() -> None:
    lines = decode(74, "NVLink: fatal error detected on link 2(0x00000030, 0x0, 0x0, 0x00040000, 0x0, 0x0, 0x0)").lines
    assert [line.split(":")[0] for line in lines if line.startswith("word")] == ["word 1, bit 4", "word 1, bit 5", "word 4, bit 18"]
    assert "the fabric must be reset" in lines[-1]


@settings(max_examples=60, derandomize=True)
@given(st.sampled_from([entry.code for entry in BOOK.xids if entry.forms]), st.text(max_size=200))
def test_no_text_stops_the_decoder(code: int, text: str) -> None:
    decode(code, text)
    entry = BOOK.xid(code)
    assert entry
    for form in entry.forms:
        for cut in range(0, len(form.line), 5):
            decode(code, form.line[:cut] + text)


@pytest.mark.parametrize("piece", ["Ch 00000001 ", "(0x1, ", "Contained: a (0x1) ", "Expected function ", "0x0, ", "aaaaaaaa ", "- "])
def test_a_megabyte_of_a_message_is_read_at_once(piece: str) -> None:
    text = piece * (1 << 20)
    started = time.perf_counter()
    for code in (31, 43, 45, 62, 64, 74, 94, 119, 145, 154):
        decode(code, text)
    assert time.perf_counter() - started < 10


# What was asked


def test_codes_lines_and_files_are_told_apart() -> None:
    assert [one.code for one in asked_codes(["79", "Xid 63", "xid154", "79"]) or []] == [79, 63, 154]
    assert asked_codes(["dmesg.txt", "-"]) is None
    assert asked_codes(["./79"]) is None
    assert asked_codes([]) is None
    with pytest.raises(Refused, match=r"'dmesg\.txt' is no code"):
        asked_codes(["79", "dmesg.txt"])


def test_pasted_lines_may_be_several() -> None:
    lines = (
        "[  88.1] NVRM: Xid (PCI:0000:52:00): 63, pid=1896, Row Remapper: New row marked for remapping, reset gpu to activate.\r\n"
        "[  88.2] NVRM: Xid (0000:52:00 GPU-I:02): 94, Contained: SM (0x1). RST: No, D-RST: No\n"
        "[  88.3] nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 44 egress non-posted PRIV error (First)\n"
    )
    assert [one.code for one in asked_codes([lines]) or []] == [63, 94, 12028]


@pytest.mark.parametrize(
    ("codes", "pairs"),
    [
        ([48, 63], [[48, 63]]),
        ([94, 63, 48], [[48, 63, 94]]),
        ([48], [[48]]),
        ([79, 119, 74], [[79, 119], [79, 74]]),
        ([74, 20034], [[74]]),
        ([74], []),
        ([154], []),
        ([79, 154], [[154]]),
        ([13], []),
        ([13, 43], [[13, 43]]),
    ],
)
def test_codes_together_mean_what_the_rules_say(codes: list[int], pairs: list[list[int]]) -> None:
    asked = asked_codes([str(code) for code in codes])
    assert asked
    assert [row.codes for row in explain_xids(asked, BOOK).together] == pairs


# The screens


@pytest.mark.parametrize("code", [entry.code for entry in BOOK.xids])
def test_every_code_has_a_screen(code: int, capsys: pytest.CaptureFixture[str]) -> None:
    left, text = show(capsys, str(code))
    assert left == 0
    assert text.startswith(f"Xid {code}: ")
    assert "What to do, in this order" in text
    assert max(map(len, text.splitlines())) <= 110  # a URL is not broken


def test_the_screen_of_79(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = show(capsys, "79")
    order = [text.index(part) for part in ("drain", "nvidia-bug-report", "Reboot the node", "replaced if it comes back")]
    assert order == sorted(order)
    for part in ("Often taken for", "Kubernetes  the device plugin marks the GPU unhealthy", "DCGM", "RESTART_BM", "R565"):
        assert part in text


def test_who_says_otherwise_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = show(capsys, "63")
    assert "Who says otherwise" in text
    assert "gpud's older table: fatal" in " ".join(text.split())


def test_several_codes_name_the_one_to_act_on(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = show(capsys, "63", "79", "154")
    assert text.startswith("Together\n  154: ")
    assert "Act first on 79" in text
    assert text.index("Who decides") < text.index("Xid 63:") < text.index("Xid 79:") < text.index("Xid 154:")


@pytest.mark.parametrize(("code", "near"), [("180", "177: "), ("999", "185: "), ("0", "1: "), ("12029", "12028: ")])
def test_an_unknown_number_shows_what_is_near_and_where_to_look(code: str, near: str, capsys: pytest.CaptureFixture[str]) -> None:
    left, text = show(capsys, code)
    assert left == 2
    assert f"Xid {code} is not known here." in text
    assert near in text
    assert "nverror.h" in text


def test_a_known_code_beside_an_unknown_one_is_shown_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    left, text = show(capsys, "79", "180")
    assert left == 2
    assert "GPU fell off the bus" in text


def test_a_hostile_line_prints_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = show(capsys, "NVRM: Xid (PCI:0000:52:00): 110, SEC_FAULT: \x1b[2J\x07 bad")
    assert "\x1b" not in text
    assert "\\x1b[2J" in text


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    line = "NVRM: Xid (PCI:0000:52:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"
    left, text = show(capsys, "48", "63", line, "180", format="json")
    made = json.loads(text)
    assert left == 2
    assert made["schema"] == "gpudoctor.xid/1"
    assert [entry["code"] for entry in made["xids"]] == [48, 63, 154]
    assert made["unknown"] == [180]
    assert made["first"] == 48
    assert made["lines"][0]["decoded"]["action"] == "reset"
    with pytest.raises(Refused, match="no format 'yaml'"):
        show(capsys, "48", format="yaml")


def test_rules_that_name_an_xid() -> None:
    """A monitor that prints its rules, and one that tries an alarm."""
    rules = "Finish parsing log monitor config file /config/k.json: {Rules:[{Type:permanent Reason:Xid79 Pattern:NVRM: Xid 79,.*}]}"
    assert retold_xid_of(rules) is None
    assert xid_of(rules) is None
    assert xid_of("NVRM: Xid (PCI:0000:41:00): 79, a synthetic event") is None
    assert retold_xid_of("reason=Xid79") is not None
