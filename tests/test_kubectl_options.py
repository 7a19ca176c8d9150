"""The options of kubectl that choose whom to ask, and as whom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpudoctor.cli.app import app
from gpudoctor.cli.errors import Refused
from gpudoctor.cli.kubectl_options import seconds
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.kube_config import Given, ProbeSetupError, find_context
from gpudoctor.probes.kube_credentials import impersonation
from gpudoctor.probes.live import Live


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Two clusters and two users, and one context."""
    path = tmp_path / "config"
    made: dict[str, Any] = {
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example:6443"}} for name in ("old", "new")],
        "users": [{"name": name, "user": {"client-certificate": f"{name}.crt", "client-key": f"{name}.key"}} for name in ("anna", "ben")],
        "contexts": [{"name": "here", "context": {"cluster": "old", "user": "anna"}}],
        "current-context": "here",
    }
    path.write_text(json.dumps(made), encoding="utf-8")
    return str(path)


def test_what_is_given_takes_the_place_of_the_kubeconfigs(config: str) -> None:
    plain = find_context(config)
    assert (plain.cluster.text("server"), plain.user.text("client-key")) == ("https://old.example:6443", "anna.key")
    other = find_context(config, given=Given(cluster="new", user="ben"))
    assert (other.cluster.text("server"), other.user.text("client-key")) == ("https://new.example:6443", "ben.key")
    assert find_context(config, given=Given(server="https://10.0.0.1:6443")).cluster.text("server") == "https://10.0.0.1:6443"


def test_a_token_takes_the_place_of_all_other_credentials(config: str) -> None:
    found = find_context(config, given=Given(token="t0ken", acts_as="carla", groups=("oncall", "ml")))
    assert (found.user.text("token"), found.user.text("client-key")) == ("t0ken", "")
    assert impersonation(found.user) == [("Impersonate-User", "carla"), ("Impersonate-Group", "oncall"), ("Impersonate-Group", "ml")]


def test_names_that_are_not_there_are_said_at_once(config: str) -> None:
    with pytest.raises(ProbeSetupError, match=r"there is no cluster 'newer' in .*; did you mean new\? the clusters are new, old"):
        find_context(config, given=Given(cluster="newer"))
    with pytest.raises(ProbeSetupError, match="there is no user 'bert'"):
        find_context(config, given=Given(user="bert"))


def test_a_server_and_a_token_need_no_kubeconfig(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    found = find_context(given=Given(server="https://10.0.0.1:6443", token="t0ken"))
    assert (found.trouble, found.cluster.text("server"), found.user.text("token")) == ("", "https://10.0.0.1:6443", "t0ken")


def test_no_answer_may_take_longer_than_is_given(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def answer(command: Command) -> Output:
        asked.append(command.timeout)
        return Output(command)

    for given in (Given(), Given(longest=5.0), Given(longest=90.0)):
        live = Live(kubeconfig=config, given=given)
        monkeypatch.setattr(live, "_kube", lambda: answer)
        live(Command(argv=("kubectl", "get", "pods"), timeout=30.0))
    assert asked == [30.0, 5.0, 30.0]


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1d", "5 s", "1s1m", "9" * 40])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="--request-timeout takes a time"):
        seconds(text)


BOOK = """\
schema: 1
id: whose
title: T
inputs: {user: {type: string, default: "", help: h}}
steps:
  - {id: pods, run: [kubectl, get, pods, --namespace, "${input.user}", -o, json], parse: kubernetes.pods}
"""


def asked_as(monkeypatch: pytest.MonkeyPatch, *words: str) -> Given:
    """What `run` gives the probe."""
    seen: list[Given] = []

    def live(*_: Any, given: Given, **__: Any) -> None:
        seen.append(given)
        raise ProbeSetupError("enough")

    monkeypatch.setattr("gpudoctor.probes.live.Live", live)
    assert "enough" in str(CliRunner().invoke(app, ["run", *words]).exception)
    return seen[0]


def test_run_takes_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    words = "node-health --cluster --kube-cluster new --user ben --as carla --as-group oncall --request-timeout 5s"
    words += " --server https://10.0.0.1 --token t"
    wanted = Given(cluster="new", user="ben", acts_as="carla", groups=("oncall",), longest=5.0, server="https://10.0.0.1", token="t")
    assert asked_as(monkeypatch, *words.split()) == wanted
    assert asked_as(monkeypatch, "diagnose-pod", "--name", "train-0") == Given()


def test_an_input_of_the_same_name_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    book = tmp_path / "whose.yaml"
    book.write_text(BOOK, encoding="utf-8")
    assert asked_as(monkeypatch, str(book), "--user", "ben", "--as", "carla") == Given(acts_as="carla")
