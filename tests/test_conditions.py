"""Conditions: what CEL gives for our types, what is not known, and the words for a mistake. A CEL upgrade that differs fails here."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.facts import FACTS
from gpudoctor.facts.gpu import Gpu
from gpudoctor.facts.kernel import Xid
from gpudoctor.facts.kubernetes import Node, Pod
from gpudoctor.library import index
from gpudoctor.runbook import conditions
from gpudoctor.runbook.conditions import (
    SLOTS,
    ConditionError,
    Unsure,
    Values,
    as_text,
    compile_expression,
    fields,
    join_types,
    record_types,
)
from gpudoctor.runbook.templates import fill, fill_for_person, split_template

TYPES = {
    **record_types("pod", "pods"),
    **record_types("xid", "xids"),
    **join_types("gpu", "gpus"),
    **record_types("node", "nodes"),
    "input.grace": float,
}
POD = Pod(
    namespace="ml",
    pod="train-0",
    phase="Pending",
    age=90.0,
    gpus=2,
    labels={"app": "train", "a.b/c": "1"},
    images=["cuda:12", "side"],
    node_selector={},
)
XID = Xid(node="n1", gpu="0000:1b:00", pci="0000:1b:00", code=79, time=1000.0)
GPU = Gpu(node="n1", gpu="GPU-1", index=0, memory_used=5, gaps={"temperature": "N/A"})
NODE = Node(node="n1", ready=None, gpus_capacity=8, gpus_allocatable=7)
VALUES = Values({"input.grace": 60.0, "gpu.present": True, "gpu.count": 1}, {"pod": POD, "xid": XID, "gpu": GPU, "node": NODE})

CONFORMANCE: list[tuple[str, Any]] = [
    # text
    ('pod.phase == "Pending"', True),
    ("pod.phase == 'Pending'", True),
    ('pod.phase != "Pending"', False),
    ('pod.pod.startsWith("train-") && pod.pod.endsWith("-0")', True),
    ('pod.phase.contains("end")', True),
    ('pod.phase.matches("^P.*g$")', True),
    ('pod.phase in ["Pending", "Running"]', True),
    ('pod.namespace + "/" + pod.pod', "ml/train-0"),
    ("size(pod.phase)", 7),
    ('pod.phase < "Running"', True),
    (r'"a\"b" == "a\"b"', True),
    ('"ä😀" == "ä😀"', True),
    # a name in quotes is a text
    ('"pod.phase is " + pod.phase', "pod.phase is Pending"),
    ("'\\'pod.phase\\' is ' + pod.phase", "'pod.phase' is Pending"),
    ('"\\"" + pod.phase + "\\\\" + "pod.phase"', '"Pending\\pod.phase'),
    (r'r"\d" + pod.phase + "pod.phase"', r"\dPendingpod.phase"),
    ('"""pod.phase" is """ + pod.phase', 'pod.phase" is Pending'),
    ('pod.images.exists(pod, pod == "pod.phase") || pod.phase.startsWith("P")', True),
    # numbers
    ("pod.gpus > 1", True),
    ("pod.gpus + 1", 3),
    ("pod.gpus * 2 - 1", 3),
    ("7 / 2", 3),
    ("-7 / 2", -3),
    ("7 % 4", 3),
    ("7.0 / 2.0", 3.5),
    ("1.0 / 0.0 > 1.0", True),
    ("pod.age > input.grace", True),
    ("pod.age > 60.0", True),
    ("double(pod.gpus) > 1.5", True),
    ("int(pod.age)", 90),
    ('int("42") == 42', True),
    ("string(pod.gpus)", "2"),
    ("xid.code in [79, 74]", True),
    ("xid.time - 10.0", 990.0),
    # logic
    ("!(pod.gpus > 1)", False),
    ("pod.gpus > 1 && pod.ready", False),
    ("pod.ready || pod.gpus > 1", True),
    ('pod.gpus > 1 ? "many" : "few"', "many"),
    ("pod.ready == false", True),
    # lists and maps
    ('pod.images.exists(i, i.startsWith("cuda"))', True),
    ('pod.images.all(i, i != "")', True),
    ('pod.images.filter(i, i == "side").size()', 1),
    ("pod.images[1]", "side"),
    ("size(pod.images) == 2", True),
    ('"app" in pod.labels', True),
    ('pod.labels["a.b/c"] == "1"', True),
    ('pod.labels.app == "train"', True),
    ("size(pod.node_selector) == 0", True),
    ('pod.labels.exists(k, k.contains("/"))', True),
    # optional fields
    ("xid.pid_known", False),
    ("pod.age_known", True),
    ("gpu.index_known && gpu.index == 0", True),
    ("gpu.temperature_known", False),
    ("gpu.present && gpu.count == 1", True),
    ("node.ready_known", False),
]


@pytest.mark.parametrize(("text", "wanted"), CONFORMANCE)
def test_conformance(text: str, wanted: Any) -> None:
    got = compile_expression(text, TYPES, "")(VALUES)
    assert got == wanted
    assert type(got) is type(wanted)


UNSURE: list[tuple[str, str]] = [
    ("xid.pid > 1", "xid.pid is not known"),
    ("node.ready", "node.ready is not known"),
    ("gpu.temperature > 80", "gpu.temperature is not known"),
    ("pod.gpus > 1 && xid.pid > 1", "xid.pid is not known"),
    ("pod.ready || node.ready", "node.ready is not known"),
    ("!node.ready", "node.ready is not known"),
    ("node.ready ? true : true", "node.ready is not known"),
    ("xid.pid == xid.pid", "xid.pid is not known"),
    ('pod.labels["none"] == "x"', "none"),
    ("pod.labels.none == 'x'", "none"),
    ("pod.images[9] == 'x'", "9"),
    ("pod.gpus / 0 == 1", "zero"),
    ("pod.gpus + 9223372036854775807 > 0", "overflow"),
    ('int("x") == 1', "int"),
    ('pod.phase.matches("(")', "regular expression"),
]


@pytest.mark.parametrize(("text", "why"), UNSURE)
def test_what_is_not_known_is_unsure_with_the_reason(text: str, why: str) -> None:
    for _ in range(2):  # the second answer is remembered
        with pytest.raises(Unsure, match=why):
            compile_expression(text, TYPES).holds(VALUES)


DECIDED: list[tuple[str, bool]] = [
    ("node.ready || pod.gpus > 1", True),
    ("pod.gpus > 1 || node.ready", True),
    ("node.ready && pod.ready", False),
    ("pod.ready && node.ready", False),
    ("xid.pid > 1 || (gpu.temperature > 80 || pod.gpus == 2)", True),
    ("pod.gpus == 2 ? true : node.ready", True),
    ("!node.ready_known || node.ready", True),
    ("pod.images.exists(i, i == 'side' || node.ready)", True),
]


@pytest.mark.parametrize(("text", "wanted"), DECIDED)
def test_what_the_rest_decides_is_decided(text: str, wanted: bool) -> None:
    assert compile_expression(text, TYPES).holds(VALUES) is wanted


MISTAKES: list[tuple[str, str]] = [
    ('pod.phse == "a"', r"^column 4: undeclared reference to 'pod.phse'; did you mean 'pod.phase'\? in 'pod.phse == \"a\"'$"),
    ("pods.phase == 'a'", "column 5: undeclared reference to 'pods.phase'; did you mean 'pod.phase'"),
    ("input.grce > 1.0", "did you mean 'input.grace'"),
    ('pod.zzzzzz == "a"', "undeclared reference to 'pod.zzzzzz'; there are "),
    ("pod == 1", "undeclared reference to 'pod'"),
    ("pod.age > 60", r"column 9: found no matching overload for '_>_' applied to '\(double, int\)'"),
    ("pod.phase > 1", "no matching overload"),
    ("pod.gpus && true", r"expected type 'bool' but found 'int'|no matching overload"),
    ("pod.phase", "'pod.phase' is a STRING, not a BOOL"),
    ("pod.phase == ", "Syntax error"),
    ("", "Syntax error"),
    ('pod.phase == "a', "Syntax error"),
    ("pod.tolerations == 1", "undeclared reference to 'pod.tolerations'"),
    ("pod.origin == 1", "undeclared reference to 'pod.origin'"),
    ("pod.gaps == 1", "undeclared reference to 'pod.gaps'"),
    ("unknown(pod.phase)", "undeclared reference to 'unknown'"),
    ("pod.phase.upper()", "undeclared reference to 'upper'"),
    ("(" * 300 + "true" + ")" * 300, "recursion limit"),
    ("x" * 100_000, "undeclared reference"),
]


@pytest.mark.parametrize(("text", "wanted"), MISTAKES)
def test_a_mistake_is_told_with_its_column(text: str, wanted: str) -> None:
    with pytest.raises(ConditionError, match=wanted) as caught:
        compile_expression(text, TYPES)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("fact", sorted(FACTS))
def test_every_field_of_every_fact_that_conditions_may_use_compiles(fact: str) -> None:
    types = record_types("x", fact)
    assert types
    for name in types:
        compile_expression(f"{name} == {name}", types)
    assert not {"origin", "gaps"} & set(fields(FACTS[fact]))


@pytest.mark.parametrize(("field", "value"), [("phase", "Pending"), ("target", True), ("phase", None), ("phase", "a\0b"), ("phase", "")])
def test_a_field_alone_says_what_cel_says_of_it(field: str, value: Any) -> None:
    def answer(text: str) -> Any:
        try:
            return compile_expression(text, record_types("pod", "pods"), want="")({f"pod.{field}": value})
        except Unsure as why:
            return str(why)

    assert answer(f"pod.{field}") == answer(f"(pod.{field})")
    assert compile_expression(f"pod.{field}", record_types("pod", "pods"), want="").result == ("BOOL" if field == "target" else "STRING")


HOSTILE: list[Any] = [
    10**30,
    -(2**63) - 1,
    1.5,
    float("nan"),
    "text",
    b"bytes",
    [1, 2],
    {"a": 1},
    ("a",),
    object(),
    "\ud800",
    [None],
    {1: 2},
    True,
]


@pytest.mark.parametrize("value", HOSTILE, ids=[str(type(value).__name__) + str(n) for n, value in enumerate(HOSTILE)])
@pytest.mark.parametrize(
    "text", ["pod.gpus > 1", "pod.age > 1.0", 'pod.phase == "x"', "pod.images.exists(i, i == 'x')", "pod.labels.x == 'y'", "pod.ready"]
)
def test_a_value_of_another_type_is_an_answer_or_unsure(text: str, value: Any) -> None:
    name = compile_expression(text, TYPES).names[0]
    try:
        answer = compile_expression(text, TYPES).holds({name: value})
    except Unsure:
        return
    assert answer in (True, False)


def test_a_hostile_text_costs_no_more_than_its_length() -> None:
    started = time.monotonic()
    assert compile_expression('pod.phase.matches("(a+)+$")', TYPES).holds({"pod.phase": "a" * 100_000 + "b"}) is False
    many = {"pod.images": [str(n) for n in range(300)]}
    nested = compile_expression("pod.images.all(a, pod.images.all(b, pod.images.all(c, a + b + c != '')))", TYPES)
    with pytest.raises(Unsure):
        nested.holds(many)
    assert time.monotonic() - started < 20


# --- templates


@pytest.mark.parametrize("many", [SLOTS, SLOTS + 1])
def test_an_expression_may_have_any_number_of_variables(many: int) -> None:
    names = [f"one.b{number}" for number in range(many)]
    condition = compile_expression(" && ".join(names), dict.fromkeys(names, bool))
    assert condition.holds(dict.fromkeys(names, True))
    assert not condition.holds(dict.fromkeys(names, True) | {names[-1]: False})
    with pytest.raises(Unsure, match=rf"^{names[-1]} is not known$"):
        condition.holds(dict.fromkeys(names[:-1], True))


@pytest.mark.parametrize(
    ("template", "known", "text"),
    [
        ("memory of GPU ${gpu.gpu} is full", {"gpu.gpu": "0000:1b:00"}, "memory of GPU 0000:1b:00 is full"),
        ("memory of GPU ${gpu.gpu} is full", {"gpu.gpu": "GPU-7f3c2a10"}, "memory of GPU-7f3c2a10 is full"),
        ("memory of GPU ${gpu.gpu} is full", {"gpu.gpu": "GPU 3"}, "memory of GPU 3 is full"),
        ("memory of GPU ${gpu.gpu} is full", {"gpu.gpu": "", "gpu.index": 2}, "memory of GPU 2 is full"),
        ("memory of GPU ${gpu.gpu} is full", {"gpu.gpu": ""}, "memory of a GPU is full"),
        ("GPU ${gpu.gpu} is full", {"gpu.gpu": ""}, "A GPU is full"),
        ("Xid 79: ${xid.named} is lost", {"xid.named": "GPU GPU-7f3c2a10"}, "Xid 79: GPU-7f3c2a10 is lost"),
        ("Xid 79: ${xid.named}", {"xid.named": "GPU 0000:1b:00"}, "Xid 79: GPU 0000:1b:00"),
        ("no errors instead of ${gpu.unreadable}", {"gpu.unreadable": ["sm_clock", "fan"]}, "no errors instead of SM clock, fan speed"),
        ("a second network ${xid.named}, or no device", {"xid.named": ""}, "a second network, or no device"),
        ("NCCL asks for ${xid.named}", {"xid.named": ""}, "NCCL asks for"),
        ("the driver on ${gpu.node} waits", {"gpu.node": ""}, "the driver on the host waits"),
        ("${pod.namespace}/${pod.pod} waits", {"pod.namespace": "", "pod.pod": "a"}, "a waits"),
        ("${pod.namespace}/${pod.pod} waits", {"pod.namespace": "ml", "pod.pod": "a"}, "ml/a waits"),
        ("${pod.namespace}/${pod.pod} waits", {"pod.pod": "a"}, "?/a waits"),
    ],
)
def test_a_text_for_people_has_no_gap_where_a_name_is_not_known_and_none_twice(template: str, known: dict[str, Any], text: str) -> None:
    types = dict.fromkeys(("gpu.gpu", "gpu.node", "pod.namespace", "pod.pod", "xid.named"), str) | {
        "gpu.index": int,
        "gpu.unreadable": list[str],
    }
    assert fill_for_person(template, types, known) == text


def test_a_template_is_cut_into_text_and_expressions() -> None:
    assert split_template("a ${pod.pod} b ${'}'}${pod.labels[\"}\"]}") == [
        ("text", "a "),
        ("cel", "pod.pod"),
        ("text", " b "),
        ("cel", "'}'"),
        ("cel", 'pod.labels["}"]'),
    ]
    assert split_template("") == []
    assert split_template("$ {x} $x") == [("text", "$ {x} $x")]
    for text in ("${", "${pod.pod", "a ${pod ${pod.pod}", "${pod.pod'}"):
        with pytest.raises(ConditionError, match="not closed"):
            split_template(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("${pod.pod}", "train-0"),
        ("${pod.gpus} of ${pod.gpus * 4}", "2 of 8"),
        ("${pod.age}", "90"),
        ("${pod.age / 4.0}", "22.50"),
        ("${pod.ready}", "false"),
        ("${pod.images}", "cuda:12, side"),
        ("${pod.images.map(i, size(i))}", "7, 4"),
        ("${pod.images.filter(i, false)}", ""),
        ("${1.0 / 0.0}", "inf"),
        ("${0.0 / 0.0}", "nan"),
        ('${pod.gpus > 1 ? "}" : "{"}', "}"),
        ("no expression", "no expression"),
    ],
)
def test_a_template_is_filled(text: str, wanted: str) -> None:
    assert fill(text, TYPES, VALUES) == wanted


def test_a_template_without_a_value_is_unsure_or_shows_only_that_part_as_unknown() -> None:
    with pytest.raises(Unsure, match=r"xid\.pid is not known"):
        fill("${pod.pod}: ${xid.pid}", TYPES, VALUES)
    assert fill("${pod.pod}: ${xid.pid}", TYPES, VALUES, unknown="?") == "train-0: ?"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    )
)
def test_any_value_has_a_text(value: Any) -> None:
    assert isinstance(as_text(value), str)


@given(st.text(alphabet="${}'\"ab.", max_size=30))
def test_any_text_is_a_template_or_a_mistake(text: str) -> None:
    try:
        cut = split_template(text)
    except ConditionError:
        return
    assert "".join(part if kind == "text" else "${" + part + "}" for kind, part in cut) == text


def test_the_librarys_conditions_are_read_as_they_were_compiled() -> None:
    index.library()
    known = index.programs(conditions.SHAPE)
    assert len(known) > 2000
    for text, program in sorted(known.items())[::100]:
        read, made = conditions.shared_environment().deserialize(program), conditions.shared_environment().compile(text)
        assert read.return_type().name() == made.return_type().name(), text


def test_compiled_conditions_over_other_slots_are_not_read() -> None:
    assert index.programs("1 each of str") == {}


def test_what_cel_cannot_read_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'pod.pod == "x" && pod.gpus > 40'
    monkeypatch.setattr(index, "programs", lambda shape: dict.fromkeys(['slot_0_0 == "x" && slot_1_0 > 40'], b"no program"))
    condition = compile_expression(text, {"pod.pod": str, "pod.gpus": int})
    assert [condition.holds({"pod.pod": "x", "pod.gpus": gpus}) for gpus in (40, 41)] == [False, True]
