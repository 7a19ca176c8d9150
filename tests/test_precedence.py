"""Which of two causes speaks: one line has one root, a cause yields where that is declared, independent faults stand side by side."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from gpudoctor.engine.diagnose import report as conclude
from gpudoctor.engine.evaluate import Hit
from gpudoctor.engine.outcomes import Checked
from gpudoctor.engine.precedence import message_order
from gpudoctor.engine.store import Store
from gpudoctor.facts import Fact, Origin
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.kubernetes import Message
from gpudoctor.knowledge.compiled import KnownMessage, Wording
from gpudoctor.report import Report
from gpudoctor.reporters import render
from gpudoctor.runbook import lint
from gpudoctor.runbook.model import Check, Library, Runbook
from tests.engine_fakes import cause

BOOK = Runbook(id="book", title="T")
CAUSES = [
    cause("import-failed", "node"),
    cause("path-not-writable", "node"),
    cause("start-failed", "node", broader=True),
    cause("no-driver", "node"),
    cause("no-driver-at-all", "node", explains=("no-driver",)),
    cause("lost-work", "pod"),
    cause("noted", "node", severity="info"),
    cause("follower", "node", yields_to=["leader"]),
    cause("leader", "node"),
    cause("gpu-hot", "gpu", severity="critical"),
    cause("gpu-ecc", "gpu", severity="critical"),
    cause("gpu-follower", "gpu", yields_to=["leader", "gpu-ecc"]),
]
# name → pattern, line
KNOWN = {
    "import_failed": ("failed to import image", "failed to import image: mkdir: cannot create directory '/run/x': Permission denied"),
    "denied": (r"cannot create directory '[^']*': Permission denied", "mkdir: cannot create directory '/run/x': Permission denied"),
    "taint": ("had untolerated taint", "2 had untolerated taint, 1 is full"),
    "full": (r"\d is full", "1 is full"),
}
LIBRARY = Library(
    causes={one.id: one for one in CAUSES},
    messages=[KnownMessage(name=name, wordings=[Wording(pattern, line)]) for name, (pattern, line) in KNOWN.items()],
)
WRAPPED = KNOWN["import_failed"][1]


def message(name: str, text: str, line: int = 1, **more: Any) -> Message:
    """A known line of a log."""
    return Message(name=name, origin=Origin("log", line, text), **{"node": "n1", **more})


def found(name: str, *records: Fact, confidence: str = "confirmed", check: str = "") -> Checked:
    """A check that has found a cause on records."""
    hits = [Hit(title=f"{name}!", subject=one.subject(), time=None, origins=[one.origin], settle_with=[], record=one) for one in records]
    made = msgspec.convert({"id": check or name.replace("-", "_"), "finds": name, "confidence": confidence}, Check)
    return Checked(book=BOOK, check=made, outcome="found", hits=hits)


def report(*checked: Checked) -> Report:
    store = Store()
    store.put(0, {})
    return conclude(LIBRARY, store, list(checked), started=0.0)


def said(made: Report) -> tuple[list[str], dict[str, list[str]]]:
    """The findings, and what is overridden by what."""
    return [one.cause for one in made.findings], {one.cause: one.overridden_by for one in made.overridden}


def either_way(*checked: Checked) -> Report:
    """The report, which must not depend on the order of the checks."""
    reports = [report(*some) for some in itertools.permutations(checked)]
    assert len({msgspec.json.encode((sorted(said(one)[0]), sorted(said(one)[1]))) for one in reports}) == 1
    return reports[0]


# --- one line


def test_in_one_line_the_more_certain_cause_speaks() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = either_way(found("import-failed", line, confidence="likely"), found("no-driver", line))
    assert said(made) == (["no-driver"], {"import-failed": ["no-driver"]})
    (one,) = made.overridden
    assert (one.confidence, one.check, one.title, one.subject.name) == ("likely", "book.import_failed", "import-failed!", "n1")
    assert [piece.text for piece in one.evidence] == [line.origin.text]


def test_in_one_line_the_precise_cause_speaks_and_not_its_class() -> None:
    line = Xid(code=13, node="n1", origin=Origin("log", 4, "Xid 13"))
    assert said(either_way(found("start-failed", line), found("no-driver", line))) == (["no-driver"], {"start-failed": ["no-driver"]})


def test_two_that_are_as_sure_and_as_precise_stand_side_by_side() -> None:
    line = message("denied", KNOWN["denied"][1])
    assert said(either_way(found("import-failed", line), found("no-driver", line)))[1] == {}


def test_a_reason_in_the_line_overrides_the_error_around_it() -> None:
    outer, inner = message("import_failed", WRAPPED), message("denied", WRAPPED)
    made = either_way(found("import-failed", outer), found("path-not-writable", inner, confidence="likely"))
    assert said(made) == (["path-not-writable"], {"import-failed": ["path-not-writable"]})


def test_an_error_does_not_override_the_reason_in_it_that_is_only_possible() -> None:
    outer, inner = message("import_failed", WRAPPED), message("denied", WRAPPED)
    made = either_way(found("import-failed", outer), found("path-not-writable", inner, confidence="possible"))
    assert said(made) == (["import-failed"], {})
    assert [one.cause for one in made.candidates] == ["path-not-writable"]


def test_a_reason_that_names_only_a_class_does_not_override_a_precise_error() -> None:
    outer, inner = message("import_failed", WRAPPED), message("denied", WRAPPED)
    made = either_way(found("import-failed", outer), found("start-failed", inner))
    assert said(made) == (["import-failed"], {"start-failed": ["import-failed"]})


def test_a_line_that_lists_two_things_has_two_roots() -> None:
    text = KNOWN["taint"][1]
    made = either_way(found("import-failed", message("taint", text)), found("no-driver", message("full", text), confidence="likely"))
    assert said(made)[1] == {}


@pytest.mark.parametrize(
    ("line", "first", "second", "how"),
    [
        ("start failed: hook: driver not loaded", "start failed", "driver not loaded", 1),
        ("start failed: hook: driver not loaded", "driver not loaded", "start failed", -1),
        ("caused: container init caused: no driver: unknown", "container init caused: ", "no driver", 1),
        ('{"msg":"start failed","error":"driver not loaded"}', "start failed", "driver not loaded", 1),
        ("shim.go:380 start failed because the driver is gone", "start failed", "driver is gone", 1),
        ("start failed at shim.go:380 driver not loaded", "start failed", "driver not loaded", None),
        ("start failed: no image. Note: driver not loaded", "start failed", "driver not loaded", None),
        ("start failed: no driver", "start failed: no driver", "no driver", 0),
        ("start failed", "start failed", "not there", None),
        ("start failed", "start failed", "", None),
    ],
)
def test_how_two_known_messages_lie_in_a_line(line: str, first: str, second: str, how: int | None) -> None:
    assert message_order(line, first, second) == how


def test_what_rests_on_more_than_the_line_stays() -> None:
    line, another = message("denied", KNOWN["denied"][1]), message("denied", KNOWN["denied"][1], line=9)
    made = either_way(found("import-failed", line, another, confidence="likely"), found("no-driver", line))
    assert said(made)[1] == {}


def test_what_explains_the_other_is_its_root_and_overrides_nothing() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = report(found("no-driver", line), found("no-driver-at-all", line, confidence="likely"))
    assert [(one.cause, one.role) for one in made.findings] == [("no-driver-at-all", "root"), ("no-driver", "symptom")]
    assert made.overridden == []


def test_properties_of_one_thing_are_faults_of_their_own() -> None:
    gpu = Gpu(node="n1", gpu="GPU-1", uuid="GPU-1", origin=Origin("smi", 7, "GPU 0"))
    made = either_way(found("gpu-hot", gpu, confidence="likely"), found("gpu-ecc", gpu))
    assert (sorted(said(made)[0]), said(made)[1]) == (["gpu-ecc", "gpu-hot"], {})


def test_information_silences_no_alarm() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = either_way(found("noted", line), found("no-driver", line, confidence="likely"))
    assert (made.verdict, said(made)[1]) == ("problem", {})


def test_what_is_only_possible_overrides_nothing() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = either_way(found("no-driver", line, confidence="possible"), found("start-failed", line, confidence="possible"))
    assert sorted(one.cause for one in made.candidates) == ["no-driver", "start-failed"]
    assert made.overridden == []


def test_a_candidate_gives_way_to_a_confirmed_cause_of_its_line_and_to_no_likely_one() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = either_way(found("no-driver", line), found("import-failed", line, confidence="possible"))
    assert (made.candidates, said(made)[1]) == ([], {"import-failed": ["no-driver"]})
    made = either_way(found("no-driver", line, confidence="likely"), found("import-failed", line, confidence="possible"))
    assert ([one.cause for one in made.candidates], said(made)[1]) == (["import-failed"], {})


def test_what_an_overridden_cause_would_bring_about_the_other_has() -> None:
    line = message("denied", KNOWN["denied"][1])
    library = Library(causes={**LIBRARY.causes, "start-failed": cause("start-failed", "node", ("lost-work",), broader=True)})
    pod = message("denied", "gone", line=5, pod="train-0", namespace="ml")
    store = Store()
    made = conclude(library, store, [found("start-failed", line), found("no-driver", line), found("lost-work", pod)], started=0.0)
    assert [(one.cause, one.role, one.explained_by) for one in made.findings] == [
        ("no-driver", "root", []),
        ("lost-work", "symptom", ["no-driver"]),
    ]


# --- declared


def test_a_cause_yields_to_another_on_the_same_or_a_linked_subject() -> None:
    one, other = message("denied", "a", line=1), message("denied", "b", line=2)
    assert said(either_way(found("follower", one), found("leader", other))) == (["leader"], {"follower": ["leader"]})
    gpu = Gpu(node="n1", gpu="GPU-1", uuid="GPU-1", origin=Origin("smi", 7, "GPU 0"))
    assert said(either_way(found("gpu-follower", gpu), found("leader", other))) == (["leader"], {"gpu-follower": ["leader"]})


def test_it_does_not_yield_elsewhere() -> None:
    made = either_way(found("follower", message("denied", "a")), found("leader", message("denied", "b", line=2, node="n2")))
    assert said(made)[1] == {}
    gpus = [Gpu(node="n1", gpu=name, uuid=name, origin=Origin("smi", 7, name)) for name in ("GPU-1", "GPU-2")]
    assert said(either_way(found("gpu-follower", gpus[0]), found("gpu-ecc", gpus[1])))[1] == {}


def test_the_more_certain_of_two_declared_ones_stays() -> None:
    one, other = message("denied", "a"), message("denied", "b", line=2)
    made = either_way(found("follower", one), found("leader", other, confidence="likely"))
    assert said(made) == (["follower"], {"leader": ["follower"]})
    made = either_way(found("follower", one), found("leader", other, confidence="possible"))
    assert said(made)[0] == ["follower"]


# --- what becomes of it


def test_an_overridden_cause_is_neither_ruled_out_nor_hidden_from_a_reader() -> None:
    line = message("denied", KNOWN["denied"][1])
    made = report(found("import-failed", line, confidence="likely"), found("no-driver", line))
    assert "import-failed" not in made.ruled_out
    shown = {verbose: render(made, width=100, verbose=verbose) for verbose in (False, True)}
    assert "overridden by no-driver" in shown[True]
    assert "overridden" not in shown[False]


def test_yields_to_names_causes_that_are_there_and_leads_nowhere_back() -> None:
    causes = [cause("a", yields_to=["b"]), cause("b", yields_to=["c"]), cause("c", yields_to=["a"]), cause("d", yields_to=["e", "f"])]
    problems = list(lint.catalogue_references(Library(causes={one.id: one for one in [*causes, cause("f")]})))
    assert "a: yields_to: leads back to itself: a → b → c → a" in problems
    assert [one for one in problems if one.startswith("d:")] == ["d: yields_to: unknown cause 'e'"]
    assert list(lint.catalogue_references(Library(causes={"f": cause("f"), "g": cause("g", yields_to=["f"])}))) == []
