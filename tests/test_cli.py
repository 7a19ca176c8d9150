"""The command line as a process: exit codes, one clear sentence for each mistake, and an end in time whatever the cluster does."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gpudoctor import leaving
from gpudoctor.cli.scenarios import SCENARIOS
from gpudoctor.probes import bundle
from gpudoctor.report import Report
from gpudoctor.reporters.json_report import LEFT_OUT
from tests.fixture_files import unpacked
from tests.kube import objects as build
from tests.kube.fixtures import Served
from tests.kube.record import FIXTURES, NOW

ROOT = Path(__file__).parents[1]
TAINT = FIXTURES / "diagnose-pod" / "taint"
HEALTHY = FIXTURES / SCENARIOS["healthy"].bundle
DOWN = FIXTURES / "diagnose-pod" / "api-down"
POD = ["diagnose", "pod", "train-0"]
IN_TIME = 3.0  # --timeout of the runs against clusters that don't answer
SLACK = 3.0  # seconds for the start of Python on a busy machine

FORM = """\
schema: 1
id: other
title: Mistakes in the form
status: stabel
inputs:
  grace: {type: span, default: 5m, help: x}
steps:
  - id: First
    title: A name in upper case, an unknown key
    rum: [kubectl, get, pods, -o, json]
  - id: second
    title: Not a list
    run: kubectl get pods
    timeout: soon
  - id: third
    title: A condition that is a list
    when: [true]
"""
MEANING = """\
schema: 1
id: mistakes
title: Mistakes in the meaning
status: experimental
summary: None of this may run.
inputs:
  grace: {type: duration, default: 5m, help: x}
steps:
  - id: first
    title: Deletes everything
    run: [kubectl, delete, pods, --all]
    parse: kubernetes.pods
  - id: second
    title: Unknown parser
    run: [kubectl, get, pods, -o, json]
    parse: kubernetes.podz
  - id: second
    title: A name that is taken, an input that isn't there
    run: [kubectl, get, pods, -n, "${input.grase}", -o, json]
    parse: kubernetes.pods
  - id: third
    title: Bad conditions
    when: found.nothing
    run: [kubectl, get, nodes, -o, json]
    parse: kubernetes.nodes
    checks:
      - id: a
        each: node in nodez
        when: node.gpus > 0
        finds: gpu-capacity-exhausted
      - id: b
        each: node in nodes
        when: node.gpuz > 0
        finds: no-such-cause
        title: ${node.nam}
      - id: c
        each: node in nodes
        when: node.node + 1
        finds: gpu-capacity-exhausted
  - id: fourth
    title: Unknown derivation
    derive: scheduling.tabel
  - include: no-such-runbook
"""


def gpudoctor(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, far from this machine's clusters."""
    return subprocess.run(
        [sys.executable, "-m", "gpudoctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        errors="backslashreplace",  # of another encoding
        env=clean(environment),
        timeout=60,
        check=False,
        cwd=ROOT,
    )


def clean(more: dict[str, str]) -> dict[str, str]:
    """An environment without a cluster, a colour or a width of its own."""
    left_out = ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "NO_COLOR", "COLUMNS", "HOME")
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return kept | {"HOME": "/nonexistent", "SOURCE_DATE_EPOCH": NOW} | more


def sentence(done: subprocess.CompletedProcess[str], *words: str, code: int = 2) -> None:
    """One line on stderr that says these words; stdout is empty; no traceback."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert len(done.stderr.strip().split("\n")) == 1, done.stderr
    assert done.stderr.startswith("gpudoctor: ")
    for word in words:
        assert word in done.stderr


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    taint = {"taints": [("nvidia.com/gpu", "present", "NoSchedule")]}
    waiting = build.pod("train-0", gpus=1, age="10m", unschedulable="0/1 nodes are available: 1 node(s) had untolerated taint {a: b}.")
    return kube_server(build.cluster([waiting, build.pod("train-1", gpus=1, node="gpu-01"), build.node("gpu-01", **taint)]))


@pytest.fixture(scope="module")
def slow(kube_server: Callable[..., Served]) -> Callable[[str], Served]:
    """A cluster for each way of not answering."""
    faults = {"hangs": {"stall": 60}, "drips": {"drip": 30}}
    return lambda how: kube_server(build.cluster([build.pod("train-0", gpus=1)], faults=[{"match": ".", **faults[how]}]))


# ---- exit codes and streams


@pytest.mark.parametrize(("folder", "code"), [(HEALTHY, 0), (TAINT, 1), (DOWN, 3)], ids=["healthy", "problem", "inconclusive"])
def test_the_exit_code_is_the_verdict(folder: Path, code: int) -> None:
    done = gpudoctor("run", "--replay", folder)
    assert (done.returncode, done.stderr) == (code, "")
    as_json = gpudoctor("run", "--replay", folder, "--format", "json")
    assert as_json.returncode == code
    report = msgspec.json.decode(as_json.stdout, type=Report)  # one document, of the contract's types
    assert done.stdout.startswith(report.verdict.upper())
    assert set(msgspec.to_builtins(report)) - set(LEFT_OUT) == set(json.loads(as_json.stdout))


def test_json_has_the_keys_of_the_contract() -> None:
    report = json.loads(gpudoctor("run", "--replay", TAINT, "--format", "json").stdout)
    assert report["schema"] == "gpudoctor.report/1"
    assert report["tool"].startswith("gpudoctor ")
    wanted = "cause role severity confidence subject time check title explains explained_by evidence act who fixes"
    assert set(wanted.split()) <= set(report["findings"][0])
    assert {"source", "line", "text"} <= set(report["findings"][0]["evidence"][0])
    assert {"title", "risk", "run", "undo", "verify", "manifest"} <= set(report["findings"][0]["fixes"][0])
    assert {"title", "run"} == set(report["findings"][0]["look"][0])
    assert {"asked", "answered", "missing"} == set(report["coverage"])
    assert {"id", "outcome", "argv", "host", "seconds"} <= set(report["steps"][0])
    assert {"candidates", "ruled_out", "unknown", "inputs"} <= set(report)


def test_a_live_run(served: Served) -> None:
    done = gpudoctor(*POD, "--kubeconfig", served.kubeconfig)
    assert (done.returncode, done.stderr) == (1, "")
    assert "untolerated-taint" in done.stdout


# ---- mistakes


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["diagnose", "pod", "trian-0"], ["trian-0", "not found", "ml/train-0"]),
        (["diagnose", "pod", "train-0", "-n", "nowhere"], ["train-0", "nowhere", "not found"]),
        (["diagnose", "pod", "-n", "nowhere"], ["nowhere", "not found"]),
        (["diagnose", "pod", "job/train"], ["job", "train", "not found"]),
        (["diagnose", "pod", "zebra/train"], ["zebra", "resource type", "job"]),
        (["diagnose", "pod", "job/"], ["TYPE/NAME"]),
        (["diagnose", "pod", "Train_0"], ["Train_0", "lower-case"]),
        (["diagnose", "pod", "train-0", "-A"], ["not both"]),
        (["diagnose", "pod", "train-0", "-l", "app=x"], ["not both"]),
        (["diagnose", "pod", "-l", "-o"], ["-o", "selector"]),
        (["diagnose", "pod", "train-0", "-n", "Nope_"], ["Nope_", "namespace"]),
        (["diagnose", "pod", "train-0", "--context", "prod"], ["prod", "contexts are test"]),
        (["diagnose", "pod", "train-0", "--format", "yaml"], ["yaml", "there are terminal, "]),
        (["diagnose", "pod", "train-0", "--timeout", "0"], ["--timeout", "1 to"]),
        (["diagnose", "pod", "train-0", "--timeout", "nan"], ["--timeout", "nan"]),
        (["diagnose", "pod", "train-0", "--record", "/etc/hostname"], ["/etc/hostname", "folder"]),
        (["diagnose", "pod", "train-0", "--record", str(ROOT / "tests")], ["not empty"]),
        (["diagnose", "pod", "train-0", "--record", "x", "--replay", str(TAINT)], ["--record", "--replay"]),
        (["diagnose", "node", "gpu-1"], ["the cluster has no node gpu-1, close to it: gpu-01; gpu-1 can't be resolved"]),
        (["run"], ["which runbook", "gpudoctor list"]),
        (["run", "pods-pendin"], ["pods-pendin", "did you mean pods-pending"]),
        (["run", "zzz"], ["zzz", "gpudoctor list"]),
        (["run", "/nowhere/x.yaml"], ["/nowhere/x.yaml", "No such file"]),
        (["run", "pods-pending", "--set", "grace"], ["name=value"]),
        (["run", "pods-pending", "--set", "grase=5m"], ["grase", "did you mean 'grace'"]),
        (["run", "pods-pending", "--set", "grace=soon"], ["grace=soon", "duration"]),
        (["run", "pods-pending", "--set", "all_namespaces=maybe"], ["all_namespaces=maybe", "maybe"]),
        (["run", "pods-pending", "--set", "name=--help"], ["--help", "name"]),
        (["run", "cluster-services", "-n", "ml"], ["cluster-services", "namespace"]),
        (["run", "--replay", "/nowhere"], ["/nowhere", "what --record wrote"]),
        (["demo", "tainted"], ["tainted", "did you mean taint"]),
        (["explain", "untolerated-tain"], ["did you mean untolerated-taint"]),
        (["show", "gpu-stak"], ["did you mean gpu-stack"]),
        (["analyze", "/nowhere"], ["/nowhere"]),
        (["test", "/nowhere.yaml"], ["/nowhere.test.yaml"]),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_a_mistake_is_one_clear_sentence(arguments: list[str], words: list[str], served: Served) -> None:
    sentence(gpudoctor(*arguments, KUBECONFIG=str(served.kubeconfig)), *words)


@pytest.mark.parametrize("arguments", [["diagnos"], ["--nope"], ["diagnose", "pod", "--nope"], ["diagnose", "pod", "a", "b"]], ids=" ".join)
def test_a_wrong_word_is_a_usage_error(arguments: list[str]) -> None:
    done = gpudoctor(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: gpudoctor" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_kubeconfig_that_is_none(tmp_path: Path) -> None:
    sentence(gpudoctor(*POD, "--kubeconfig", tmp_path / "no"), "no", "No such file")
    (tmp_path / "text").write_text("just words")
    sentence(gpudoctor(*POD, "--kubeconfig", tmp_path / "text"), "holds no configuration")
    (tmp_path / "broken").write_text("{a: [")
    sentence(gpudoctor(*POD, "--kubeconfig", tmp_path / "broken"), "not YAML")


def test_no_kubeconfig_at_all_is_inconclusive() -> None:
    done = gpudoctor(*POD)
    assert (done.returncode, done.stderr) == (3, "")
    assert "no kubeconfig was found" in done.stdout.split("\n\n")[0]


@pytest.mark.parametrize(("text", "least"), [(FORM, 6), (MEANING, 10)], ids=["form", "meaning"])
def test_all_mistakes_of_a_runbook_are_located(text: str, least: int, tmp_path: Path) -> None:
    path = tmp_path / "mistakes.yaml"
    path.write_text(text)
    done = gpudoctor("run", path)
    assert (done.returncode, done.stdout) == (2, "")
    lines = done.stderr.strip().split("\n")
    assert len(set(lines)) >= least
    assert all(re.match(rf"gpudoctor: {re.escape(str(path))}:\d+: ", line) for line in lines), done.stderr


@pytest.mark.parametrize("where", ["version", "cut", "types", "file-missing", "outside", "runbook", "inputs"])
def test_a_bundle_that_can_not_be_used(where: str, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    unpacked(TAINT.with_suffix(".txt"), folder)
    index = folder / bundle.INDEX
    told: dict[str, Any] = json.loads(index.read_text())
    words = {
        "version": "upgrade gpudoctor",
        "cut": "cut or damaged",
        "types": "record it again",
        "file-missing": "is missing",
        "outside": "outside the bundle",
        "runbook": "not one of ours",
        "inputs": "record it again",
    }
    match where:
        case "version":
            told["bundle"] = 99
        case "types":
            told["outputs"][0]["seconds"] = "soon"
        case "file-missing":
            (folder / told["outputs"][0]["stdout"][0]).unlink()
        case "outside":
            told["outputs"][0]["stdout"][0] = "../../../etc/passwd"
        case "runbook":
            told["runbook"] = "/etc/passwd.yaml"
        case "inputs":
            told["inputs"]["name"] = ["train-0"]
    text = json.dumps(told)
    index.write_text(text[: len(text) // 2] if where == "cut" else text)
    sentence(gpudoctor("run", "--replay", folder), words[where])


def test_a_page_cut_in_the_middle_leaves_its_checks_unknown(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    unpacked(TAINT.with_suffix(".txt"), folder)
    page = next(folder.glob("*get-pod*"))
    page.write_bytes(page.read_bytes()[:300])
    done = gpudoctor("run", "--replay", folder)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout.startswith("INCONCLUSIVE")


def test_an_error_of_ours_names_the_file_to_attach(tmp_path: Path) -> None:
    program = "from gpudoctor.cli import app, main; app.with_only = lambda _: 1 / 0; main.main()"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=clean({"TMPDIR": str(tmp_path)}), timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (70, "")
    (file,) = tmp_path.glob("gpudoctor-error-*.txt")
    assert str(file) in done.stderr
    assert "ZeroDivisionError" in file.read_text()
    assert "Traceback" not in done.stderr


def test_the_file_of_an_error_of_ours_carries_no_credential_in_use(tmp_path: Path) -> None:
    program = (
        "from gpudoctor.cli import app, main; from gpudoctor.probes.foreign_text import keep_out; keep_out('a plain word')\n"
        "def fails(**_): raise RuntimeError('said: a plain word')\n"
        "app.with_only = lambda _: fails; main.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=clean({"TMPDIR": str(tmp_path)}), timeout=30, check=False
    )
    (file,) = tmp_path.glob("gpudoctor-error-*.txt")
    assert done.returncode == 70
    assert "RuntimeError: said: <redacted:" in file.read_text()
    assert "a plain word" not in file.read_text()


# ---- clusters that don't answer


@pytest.mark.parametrize("how", ["hangs", "drips"])
def test_a_server_that_does_not_answer_is_inconclusive_in_time(how: str, slow: Callable[[str], Served]) -> None:
    started = time.monotonic()
    done = gpudoctor(*POD, "--kubeconfig", slow(how).kubeconfig, "--timeout", str(IN_TIME))
    assert (done.returncode, done.stderr) == (3, "")
    assert time.monotonic() - started < IN_TIME + SLACK
    assert "did not answer within" in " ".join(done.stdout.split("\n\n")[0].split())
    assert len(done.stdout.splitlines()) < 15  # hundreds of checks have no answer, for one reason


def test_no_warning_of_a_library_is_on_the_screen(tmp_path: Path, served: Served) -> None:
    config = json.loads(served.kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    for name in [one for one in cluster if one.startswith("certificate-authority")]:
        del cluster[name]
    cluster["insecure-skip-tls-verify"] = True
    (tmp_path / "config").write_text(json.dumps(config))
    done = gpudoctor(*POD, "--kubeconfig", tmp_path / "config")
    assert (done.returncode, done.stderr) == (1, "")


def test_hosts_that_can_not_be_resolved_are_named() -> None:
    done = gpudoctor("diagnose", "node", "no-such-host-[1-3]")
    assert (done.returncode, done.stderr) == (3, "")
    assert "no-such-host-[1-3] can't be resolved: check the name" in " ".join(done.stdout.split())
    assert "<host>" not in done.stdout


def test_a_server_that_is_not_there(tmp_path: Path, served: Served) -> None:
    config = json.loads(served.kubeconfig.read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:9"
    (tmp_path / "config").write_text(json.dumps(config))
    done = gpudoctor(*POD, "--kubeconfig", tmp_path / "config", "--timeout", str(IN_TIME))
    assert done.returncode == 3
    assert "connection refused" in done.stdout.split("\n\n")[0].replace("\n", " ")


def test_a_credential_plugin_that_hangs(served: Served) -> None:
    started = time.monotonic()
    done = gpudoctor(*POD, "--kubeconfig", served.hanging_kubeconfig, "--timeout", str(IN_TIME))
    assert (done.returncode, done.stderr) == (3, "")
    assert time.monotonic() - started < IN_TIME + SLACK
    assert "credential" in done.stdout.split("\n\n")[0].replace("\n", " ")


def test_wrong_credentials_are_inconclusive(served: Served) -> None:
    done = gpudoctor(*POD, "--kubeconfig", served.kubeconfig_with({"token": "stale"}))
    assert done.returncode == 3
    assert "credential" in done.stdout or "Unauthorized" in done.stdout


@pytest.mark.parametrize("record", [False, True], ids=["", "recording"])
def test_ctrl_c_ends_a_stalled_run_at_once(record: bool, slow: Callable[[str], Served], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    options = ["--record", str(folder)] if record else []
    command = [sys.executable, "-m", "gpudoctor", *POD, "--kubeconfig", str(slow("hangs").kubeconfig), *options]
    with subprocess.Popen(command, env=clean({}), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(2.5)
        assert process.poll() is None
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert time.monotonic() - asked < 5  # of the 60 and 120 that it would take
    assert (process.returncode, out, err) == (130, "", "")
    if record:  # what was read so far can be read again
        assert gpudoctor("run", "--replay", folder).returncode == 3


def test_a_second_ctrl_c_is_immediate() -> None:
    program = (
        "import time; from gpudoctor.cli import app, main\n"
        "def stuck(**_):\n"
        "    try:\n        print('ready', flush=True); time.sleep(60)\n"
        "    finally:\n        print('ending', flush=True); time.sleep(60)\n"
        "app.with_only = lambda _: stuck; main.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], env=clean({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "ending\n"
        time.sleep(2 * leaving.AT_ONCE)
        asked = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
    assert process.returncode == 130
    assert time.monotonic() - asked < 5  # of the 60 and 120 that it would take


# ---- where the output goes


@pytest.mark.parametrize("arguments", [["run", "--replay", str(TAINT), "-v"], ["list"], ["schema"], ["--help"]], ids=lambda a: a[0])
def test_a_closed_pipe_is_quiet(arguments: list[str]) -> None:
    for lines in (0, 1):
        with subprocess.Popen(
            [sys.executable, "-m", "gpudoctor", *arguments],
            env=clean({}),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            if lines:
                process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == ""


def test_color_only_on_a_terminal_and_when_wanted() -> None:
    assert "\x1b" not in gpudoctor("run", "--replay", TAINT).stdout
    assert "\x1b" not in gpudoctor("run", "--replay", TAINT, NO_COLOR="1", TERM="xterm-256color").stdout


def test_no_exec_never_enters_a_container(kube_server: Callable[..., Served]) -> None:
    running = build.pod("train-0", gpus=1, node="gpu-01", age="2h")
    one = kube_server(build.cluster([running, build.node("gpu-01"), *build.gpu_stack("gpu-01")]))
    done = gpudoctor(*POD, "--kubeconfig", one.kubeconfig, "--no-exec")
    assert done.returncode == 3  # the checks inside can't be answered, and that is said
    assert "--no-exec" in done.stdout
    assert not [request for request in one.clear() if "/exec" in request]
    gpudoctor(*POD, "--kubeconfig", one.kubeconfig)
    assert [request for request in one.clear() if "/exec" in request]


# ---- where it is started from


def test_as_a_plugin_of_kubectl(served: Served, tmp_path: Path) -> None:
    plugin = tmp_path / "kubectl-gpudoctor"
    plugin.write_text(f"#!{sys.executable}\nfrom gpudoctor.cli.main import main\nmain()\n")
    plugin.chmod(0o755)
    done = subprocess.run([str(plugin), "diagnose", "-h"], capture_output=True, text=True, env=clean({}), timeout=30, check=False)
    assert done.stdout.startswith("Usage: kubectl gpudoctor diagnose")
    if kubectl := shutil.which("kubectl"):
        environment = clean({"PATH": f"{tmp_path}:{os.environ['PATH']}", "KUBECONFIG": str(served.kubeconfig), "HOME": str(tmp_path)})
        done = subprocess.run([kubectl, "gpudoctor", *POD], capture_output=True, text=True, env=environment, timeout=30, check=False)
        assert (done.returncode, done.stderr) == (1, "")
        assert done.stdout.startswith("PROBLEM  pod ml/train-0")


def test_in_a_pod_of_the_cluster(served: Served, tmp_path: Path) -> None:
    """The service account's folder is mounted where we look for it; here we are told another place."""
    account = tmp_path / "serviceaccount"
    account.mkdir()
    user = json.loads(served.kubeconfig.read_text())["users"][0]["user"]
    (account / "token").write_text(user["token"] + "\n")
    (account / "namespace").write_text("ml")
    shutil.copy(served.folder / "server.pem", account / "ca.crt")
    host, _, port = served.url.removeprefix("https://").partition(":")
    program = (
        "from pathlib import Path; from gpudoctor.probes import kube_config\n"
        f"kube_config._SERVICE_ACCOUNT = Path({str(account)!r})\n"
        "from gpudoctor.cli.main import main; main()"
    )
    environment = clean({"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "HOME": str(tmp_path)})
    done = subprocess.run([sys.executable, "-c", program, *POD], capture_output=True, text=True, env=environment, timeout=30, check=False)
    assert done.stdout.startswith("PROBLEM  pod ml/train-0"), done.stdout + done.stderr
    assert done.returncode == 1


def completed(words: str, **environment: str) -> tuple[list[str], str, float]:
    """What the Tab key offers after these words, what was complained of, and the seconds that it took."""
    asked = time.monotonic()
    done = gpudoctor(
        **{"_GPUDOCTOR_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}, **environment
    )
    return done.stdout.split(), done.stderr, time.monotonic() - asked


def test_names_are_completed_within_a_second(served: Served) -> None:
    names, complaint, seconds = completed("gpudoctor diagnose pod tr", KUBECONFIG=str(served.kubeconfig))
    assert (names, complaint) == (["train-0", "train-1"], "")
    assert seconds < 1 + SLACK
    assert completed("gpudoctor diagnose pod --kubeconfig " + str(served.kubeconfig) + " tr")[0] == ["train-0", "train-1"]
    assert completed("gpudoctor diagnose pod -n nowhere tr", KUBECONFIG=str(served.kubeconfig))[:2] == ([], "")
    assert completed("gpudoctor run pods", KUBECONFIG=str(served.kubeconfig))[0] == ["pods-pending"]
    assert completed("gpudoctor demo ta")[0] == ["taint"]


def test_completion_is_silent_on_trouble(served: Served, slow: Callable[[str], Served]) -> None:
    for config in ("/nowhere", str(served.hanging_kubeconfig), str(slow("hangs").kubeconfig)):
        names, complaint, seconds = completed("gpudoctor diagnose pod tr", KUBECONFIG=config)
        assert (names, complaint) == ([], "")
        assert seconds < 1 + SLACK


@pytest.mark.parametrize(("encoding", "format"), [("latin-1", "terminal"), ("ascii", "terminal"), ("ascii", "json")])
def test_a_locale_that_lacks_our_characters_costs_them_and_not_the_report(encoding: str, format: str) -> None:
    done = gpudoctor("demo", "taint", "--format", format, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (1, "")
    assert "untolerated-taint" in done.stdout
    if format == "json":
        assert json.loads(done.stdout)["verdict"] == "problem"


@pytest.mark.parametrize("epoch", ["yesterday", "-1", "nan", "9" * 12])
def test_a_clock_that_is_none(epoch: str) -> None:
    done = gpudoctor("run", "diagnose-pod", "--set", "name=x", SOURCE_DATE_EPOCH=epoch)
    assert (done.returncode, done.stderr) == (2, f"gpudoctor: SOURCE_DATE_EPOCH is a number of seconds since 1970, not '{epoch}'\n")
