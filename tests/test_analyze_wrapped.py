"""What stands around an output: the envelopes of log collectors and viewers, Markdown, HTML, quotations."""

from __future__ import annotations

import csv
import io
import json
import textwrap
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze.gather import gather
from gpudoctor.intake import log_envelopes, markup, recognise
from gpudoctor.intake.hints import Hint
from gpudoctor.intake.split import clean, split
from tests.pasted import diagnosed, judge

MPS = 'E0301 11:59:00.100000 1 main.go:173] error waiting for MPS daemon: "not ready"'
LINES = ["I0301 11:58:00.100000 1 main.go:235] Starting NVIDIA-device-plugin", MPS]
ISO = ["2026-03-01T11:58:00.100000000Z", "2026-03-01T11:59:00.100000000Z"]
NS, POD, CONTAINER = "gpu-operator", "nvidia-device-plugin-daemonset-x2x7k", "nvidia-device-plugin"


def jsonl(*objects: dict[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def table(titles: list[str], rows: Iterable[list[str]]) -> str:
    file = io.StringIO()
    csv.writer(file).writerows([titles, *rows])
    return file.getvalue()


BOTH = list(zip(LINES, ISO, strict=True))
LABELS = {"namespace": NS, "pod": POD, "container": CONTAINER}
ANONYMOUS = {
    "docker json-file": jsonl(*({"log": f"{line}\n", "stream": "stderr", "time": at} for line, at in BOTH)),
    "cri": "".join(f"{at} stderr F {line}\n" for line, at in BOTH),
    "cloudwatch": json.dumps({"events": [{"timestamp": 1772366280100, "message": line, "eventId": "3"} for line in LINES]}, indent=1),
    "cloudwatch csv": table(["timestamp", "message"], [["1772366280100", line] for line in LINES]),
    "docker compose": "".join(f"plugin-1  | {line}\n" for line in LINES),
}
NAMED = {
    "kubectl --prefix": "".join(f"[pod/{POD}/{CONTAINER}] {line}\n" for line in LINES),
    "kubectl --prefix --timestamps": "".join(f"[pod/{POD}/{CONTAINER}] {at} {line}\n" for line, at in BOTH),
    "stern": f"+ {POD} \u203a {CONTAINER}\n" + "".join(f"{POD} {CONTAINER} {line}\n" for line in LINES * 2),
    "stern of all": "".join(f"{NS} {POD} {CONTAINER} {line}\n" for line in LINES * 2),
    "kail": "".join(f"{NS}/{POD}[{CONTAINER}]: {line}\n" for line in LINES),
    "logcli jsonl": jsonl(*({"labels": LABELS, "line": line, "timestamp": at} for line, at in BOTH)),
    "grafana json": json.dumps(
        [{"line": line, "timestamp": "1772366280100000000", "date": at, "fields": LABELS} for line, at in BOTH], indent=2
    ),
    "grafana csv": table(["labels", "Time", "Line", "tsNs", "id"], [[json.dumps(LABELS), at, line, "1", "a"] for line, at in BOTH]),
    "loki": json.dumps({"data": {"resultType": "streams", "result": [{"stream": LABELS, "values": [["1", line] for line in LINES]}]}}),
    "fluent-bit": jsonl(
        *(
            {"log": line, "@timestamp": at, "kubernetes": {"namespace_name": NS, "pod_name": POD, "host": "gpu-07"}}
            for line, at in BOTH
        )
    ),
    "elasticsearch": json.dumps(
        {"hits": {"hits": [{"_source": {"message": line, "@timestamp": at, "kubernetes": {"pod_name": POD}}} for line, at in BOTH]}}
    ),
    "google": json.dumps(
        [
            {"textPayload": line, "timestamp": at, "resource": {"labels": {"pod_name": POD, "namespace_name": NS}}}
            for line, at in BOTH
        ]
    ),
    "datadog": jsonl(*({"content": {"timestamp": at, "message": line, "attributes": {"pod_name": POD}}} for line, at in BOTH)),
}  # fmt: skip


def messages(text: str, tmp_path: Path) -> list[Any]:
    (tmp_path / "a.txt").write_text(text)
    return list(gather([str(tmp_path)]).facts.get("messages", []))


@pytest.mark.parametrize("form", [*ANONYMOUS, *NAMED])
def test_every_envelope_is_opened(form: str, tmp_path: Path) -> None:
    (waits,) = [one for one in messages((ANONYMOUS | NAMED)[form], tmp_path) if one.name == "waits_for_mps_daemon"]
    assert waits.origin.text.endswith(MPS)
    assert (waits.pod == POD) == (form in NAMED)
    if form in NAMED:
        assert waits.component == "device-plugin"


def test_lines_keep_their_numbers_and_times(tmp_path: Path) -> None:
    (waits,) = [one for one in messages(ANONYMOUS["cri"], tmp_path) if one.name == "waits_for_mps_daemon"]
    assert waits.origin.line == 2
    assert waits.time == 1772366340.1
    (waits,) = [one for one in messages(NAMED["grafana json"], tmp_path) if one.name == "waits_for_mps_daemon"]
    assert waits.origin.line == 13


def test_lines_of_several_pods_are_told_apart() -> None:
    text = "[pod/a-1/main] one\n[pod/b-1/main] two\n[pod/a-1/main] three\n"
    streams = log_envelopes.streams(text)
    assert [(stream.about.pod, stream.bare, stream.numbers) for stream in streams] == [
        ("a-1", ["one", "three"], [1, 3]),
        ("b-1", ["two"], [2]),
    ]


def test_ranks_of_one_job_are_left_together() -> None:
    text = "".join(f"[pod/train-{rank}/main] train-{rank}:1:1 [0] NCCL INFO Bootstrap : Using eth0\n" for rank in range(3))
    (section,) = split("a", text)
    assert section.text == text


def test_long_lines_that_docker_and_cri_cut_are_one_again() -> None:
    docker = jsonl({"log": "half ", "stream": "stdout", "time": ISO[0]}, {"log": "whole\n", "stream": "stdout", "time": ISO[1]})
    cri = f"{ISO[0]} stdout P half \n{ISO[1]} stdout F whole\n"
    for text in (docker, cri):
        (stream,) = log_envelopes.streams(text)
        assert stream.bare == ["half whole"]
        assert stream.numbers == [1]


def test_an_answer_in_a_containers_log_has_no_times_in_front() -> None:
    answer = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-5a0c1f2e-0000-4000-8000-000000000000)"
    (section,) = split("a", "".join(f"{at} stdout F {answer}\n" for at in ISO))
    assert section.text.startswith(answer)
    assert recognise.recognise(section.text, Hint())[0].name == "nvidia.smi"


def test_the_journal_in_json() -> None:
    where = {"_HOSTNAME": "gpu-07", "__REALTIME_TIMESTAMP": "1772366340100000"}
    text = jsonl(
        {**where, "SYSLOG_IDENTIFIER": "containerd", "_PID": "812", "MESSAGE": 'no runtime for "nvidia" is configured'},
        {**where, "_TRANSPORT": "kernel", "SYSLOG_IDENTIFIER": "kernel", "_BOOT_ID": "0a", "MESSAGE": list(b"NVRM: Xid \x1b[1m")},
    )
    (section,) = split("a", text)
    first, second = section.text.split("\n")
    assert first == '2026-03-01T11:59:00.100000+00:00 gpu-07 containerd[812]: no runtime for "nvidia" is configured'
    assert json.loads(second)["MESSAGE"] == "NVRM: Xid \x1b[1m"
    assert json.loads(second)["_BOOT_ID"] == "0a"


@pytest.mark.parametrize(
    "text",
    [
        "NAME    READY   STATUS    RESTARTS   AGE\nllm-0   1/1     Running   0          5m\n",
        '{"level":"info","ts":"2026-03-01T12:00:00Z","logger":"controllers","msg":"x"}\n{"level":"error","ts":"2026-03-01T12:00:01Z","msg":"y"}\n',
        "default llm-0\nml train-0\nml train-1\n",
        "a,b\n1,2\n",
        "2026-03-01T12:00:00Z gpu-07 kernel: NVRM: Xid\n2026-03-01T12:00:01Z gpu-07 kernel: x\n",
        '{"kind": "Pod", "message": "x", "timestamp": "2026-03-01T12:00:00Z"}',
        "",
    ],
)
def test_what_is_no_envelope_stays(text: str) -> None:
    assert log_envelopes.streams(text) == []


PODS = "NAME    READY   STATUS                 RESTARTS   AGE\nllm-0   0/1     CreateContainerError   0          65m\n"
ISSUES = {
    "fence with a language": f"$ kubectl get pods -n ml\n```console\n{PODS}```\n",
    "fence in a list": "1. pods: `kubectl get pods -n ml`\n\n" + textwrap.indent(f"```\n{PODS}```\n", "   "),
    "text beside the fences": f"```kubectl get pods -n ml\n{PODS.rstrip()}```\n",
    "header beside the fence": f"Output of `kubectl get pods -n ml`:\n```{PODS}```",
    "quoted": textwrap.indent(f"$ kubectl get pods -n ml\n{PODS}", "> ", lambda line: True),
    "quoted twice": textwrap.indent(f"$ kubectl get pods -n ml\n{PODS}", "> > ", lambda line: True),
    "indented": "We see this:\n\n" + textwrap.indent(f"$ kubectl get pods -n ml\n{PODS}", "    ") + "\nAny idea?\n",
    "details": f"<details><summary>kubectl get pods -n ml</summary>\n\n```\n{PODS}```\n</details>\n",
    "html": f'<p>this:</p>\n<pre><code class="x">$ kubectl get pods -n ml\n{PODS}</code></pre>\n',
    "windows": f"C:\\> cd x\r\nPS C:\\Users\\me> kubectl get pods -n ml\r\n{PODS}".replace("\n", "\r\n"),
}


@pytest.mark.parametrize("form", ISSUES)
def test_an_output_in_an_issue_is_found_with_its_command(form: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(ISSUES[form].encode())
    (pod,) = gather([str(tmp_path)]).facts["pods"]
    assert (pod.namespace, pod.pod, pod.status) == ("ml", "llm-0", "CreateContainerError")  # type: ignore[attr-defined]


def test_entities_of_web_pages() -> None:
    assert markup.strip_markup("<pre>Xid: 79, pid=&#39;&lt;unknown&gt;&#39;</pre>") == "Xid: 79, pid='<unknown>'"
    assert markup.strip_markup("Xid: 79, name=<unknown>") == "Xid: 79, name=<unknown>"
    smi = '<?xml version="1.0" ?>\n<nvidia_smi_log>\n<a>&lt;b&gt;</a>'
    assert markup.strip_markup(smi) == smi


def test_indented_parts_of_an_output_stay() -> None:
    query = "    Clocks Event Reasons\n        Idle                              : Active\n"
    assert markup.strip_markup(query) == query
    manifest = "spec:\n  args: |\n\n    apiVersion: v1\n    kind: Pod\n"
    assert markup.strip_markup(manifest) == manifest


@settings(max_examples=40)
@given(
    st.lists(
        st.sampled_from([*ANONYMOUS.values(), *NAMED.values(), *ISSUES.values(), "```", "> x\n", "\x00", "<pre>", "{", "}"]), max_size=4
    ),
    st.integers(0, 4000),
)
def test_pieces_in_any_order_never_raise_and_keep_their_lines(pieces: list[str], end: int) -> None:
    text = clean("".join(pieces)[:end].encode()[: end or None])
    count = text.count("\n") + 1
    assert markup.strip_markup(text).count("\n") + 1 == count
    for section in split("a", text):
        assert 1 <= section.line <= count
        assert all(1 <= number <= count for number in section.numbers)
        assert not section.numbers or len(section.numbers) == section.text.count("\n") + 1


@pytest.mark.parametrize(
    "line",
    [
        '{"log":"x\\n","stream":"stderr","time":"2026-03-01T12:00:00Z"}',
        "> " * 8 + "x",
        "    $ kubectl get pods",
        "a-1 b " * 8,
        '{"' * 40,
        "```",
        "<pre " * 30,
    ],
)
def test_a_megabyte_of_it_takes_seconds(line: str) -> None:
    text = (line + "\n") * (1_000_000 // (len(line) + 1))
    started = time.monotonic()
    split("a", text)
    assert time.monotonic() - started < 10


NCCL = "gpu-02:4411:4502 [2] {} NCCL WARN "


CUT = [
    NCCL.format("misc/ibvwrap.cc:200")
    + "Call to ibv_modify_qp failed with 110 Connection timed out, on dev mlx5_0:1, curr state INIT, next state RTR",
    NCCL.format("init.cc:800") + "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 1b000",
]


@pytest.mark.parametrize("width", [64, 80, 120])
def test_a_line_that_a_terminal_has_cut_in_the_middle_of_a_word(width: int, tmp_path: Path) -> None:
    for line, cause in zip(CUT, ["rdma-peer-unreachable", "duplicate-gpu-assignment"], strict=True):
        judge(diagnosed(tmp_path, "\n".join(line[at : at + width] for at in range(0, len(line), width)) + "\n"), cause)
