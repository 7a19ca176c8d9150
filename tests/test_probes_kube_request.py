"""From a kubectl command to an API request: what is understood, what is refused, and that nothing hostile gets into a path."""

from __future__ import annotations

import shlex
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.probes.kube_request import NotAllowed, Request, parse, seconds
from gpudoctor.probes.kube_resources import RESOURCES


def ask(line: str) -> Request:
    return parse(tuple(shlex.split(line)), "ml")


TARGETS = {
    "kubectl version -o json": "/version",
    "kubectl get pods -o json": "/api/v1/namespaces/ml/pods",
    "kubectl get po -A -ojson": "/api/v1/pods",
    "kubectl -n kube-system get pod --output=json": "/api/v1/namespaces/kube-system/pods",
    "kubectl get pods train-0 -nprod -o=json": "/api/v1/namespaces/prod/pods/train-0",
    "kubectl get pod/train-0 --namespace=prod --output json": "/api/v1/namespaces/prod/pods/train-0",
    "kubectl get -o json -- pods train-0": "/api/v1/namespaces/ml/pods/train-0",
    "kubectl get no -o json": "/api/v1/nodes",
    "kubectl get node gpu-01.example.com -n ml -o json": "/api/v1/nodes/gpu-01.example.com",
    "kubectl get ns -o json": "/api/v1/namespaces",
    "kubectl get ns ml -o json": "/api/v1/namespaces/ml",
    "kubectl get ev -o json": "/api/v1/namespaces/ml/events",
    "kubectl get ds -A -o json": "/apis/apps/v1/daemonsets",
    "kubectl get daemonsets.apps -o json": "/apis/apps/v1/namespaces/ml/daemonsets",
    "kubectl get jobs train -o json": "/apis/batch/v1/namespaces/ml/jobs/train",
    "kubectl get runtimeclasses nvidia -o json": "/apis/node.k8s.io/v1/runtimeclasses/nvidia",
    "kubectl get pv -o json": "/api/v1/persistentvolumes",
    "kubectl get pods -l app=x,tier!=y -o json": "/api/v1/namespaces/ml/pods?labelSelector=app%3Dx%2Ctier%21%3Dy",
    "kubectl get pods -A --field-selector spec.nodeName=gpu-01 -o json": "/api/v1/pods?fieldSelector=spec.nodeName%3Dgpu-01",
    "kubectl get pods -A --all-namespaces=false -o json": "/api/v1/namespaces/ml/pods",
    "kubectl logs train-0": "/api/v1/namespaces/ml/pods/train-0/log",
    "kubectl logs pod/train-0 -c main --tail=50 -p": "/api/v1/namespaces/ml/pods/train-0/log?container=main&previous=true&tailLines=50",
    "kubectl logs train-0 --tail -1 --since 1h30m --timestamps": "/api/v1/namespaces/ml/pods/train-0/log?timestamps=true&sinceSeconds=5400",
    "kubectl logs train-0 --limit-bytes=1000": "/api/v1/namespaces/ml/pods/train-0/log?limitBytes=1000",
    "kubectl exec train-0 -n ml -c main -- nvidia-smi -L": (
        "/api/v1/namespaces/ml/pods/train-0/exec?container=main&stdout=true&stderr=true&command=nvidia-smi&command=-L"
    ),
}


@pytest.mark.parametrize("line", TARGETS)
def test_targets(line: str) -> None:
    assert ask(line).target() == TARGETS[line]


REFUSED = {
    "kubectl": "is not a command",
    "kubectl delete pod x": "'delete' is not a command",
    "kubectl get pods": "needs -o json",
    "kubectl get pods -o yaml": "needs -o json",
    "kubectl get -o json": "one resource type",
    "kubectl get pods a b -o json": "one resource type",
    "kubectl get pods,nodes -o json": "not a resource type",
    "kubectl get secrets -o json": "secrets are never read",
    "kubectl get Secret x -o json": "secrets are never read",
    "kubectl get secret/x -o json": "secrets are never read",
    "kubectl get secrets.v1. -A -o json": "not a resource type",
    "kubectl get secrets.example.com -A -o json": "secrets are never read",
    "kubectl get pods/x/log -o json": "one resource type",
    "kubectl get pods x -A -o json": "not both",
    "kubectl get pods x -l a=b -o json": "not both",
    "kubectl get pods '' -o json": "not the name of an object",
    "kubectl get pods -w -o json": "not one that gpudoctor uses",
    "kubectl get --raw /api/v1/secrets": "not one of the paths that are read raw",
    "kubectl get pods --as=admin -o json": "not one that gpudoctor uses",
    "kubectl get pods -o": "lacks its value",
    "kubectl get pods --tail=5 -o json": "has no option --tail",
    "kubectl get pods -A=maybe -o json": "true or false",
    "kubectl get pods -n -- -o json": "not the name of a namespace",
    "kubectl get pods -n ../kube-system -o json": "not the name of a namespace",
    "kubectl logs": "the name of one pod",
    "kubectl logs job/train": "takes a pod here",
    "kubectl logs x --tail=many": "is a number",
    "kubectl logs x --tail=-2": "is a number",
    "kubectl logs x --since=soon": "a duration",
    "kubectl logs x -c ../y": "not the name of a container",
    "kubectl logs -f x": "not one that gpudoctor uses",
    "kubectl exec x": "needs `--`",
    "kubectl exec x nvidia-smi": "needs `--`",
    "kubectl exec -it x -- sh": "not one that gpudoctor uses",
    "kubectl exec job/x -- sh": "takes a pod here",
    "kubectl version": "nothing but -o json",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line: str) -> None:
    with pytest.raises(NotAllowed) as refused:
        ask(line)
    assert REFUSED[line] in str(refused.value)
    assert "\n" not in str(refused.value)


HOSTILE = [
    "--",
    "-",
    "..",
    "../x",
    "a/../b",
    "$(touch x)",
    "a\nb",
    "a\n",
    "x" * 300,
    "a b",
    "A",
    "a_b",
    "%2e%2e",
    "a?b=c",
    "a#b",
    "\udc80",
    "é",
    ".",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str) -> None:
    for argv in (
        ("kubectl", "get", "pods", name, "-o", "json"),
        ("kubectl", "get", "-o", "json", "--", "pods", name),
        ("kubectl", "get", f"pods/{name}", "-o", "json"),
        ("kubectl", "get", "pods", "-o", "json", "-n", name),
        ("kubectl", "logs", "--", name),
        ("kubectl", "logs", "x", "-c", name),
        ("kubectl", "exec", name, "--", "true"),
        ("kubectl", "get", name, "-o", "json") if name != "A" else ("kubectl", name),
    ):
        with pytest.raises(NotAllowed):
            parse(argv)


@given(
    st.lists(
        st.sampled_from(["get", "logs", "exec", "pods", "x", "-o", "json", "-n", "-A", "-l", "--", "--tail=3"]) | st.text(max_size=20),
        max_size=8,
    )
)
def test_any_arguments_give_a_sound_request_or_a_sentence(arguments: list[str]) -> None:
    try:
        request = parse(("kubectl", *arguments))
    except NotAllowed as refused:
        sentence = str(refused)
    else:
        sentence = ""
    assert sentence.isprintable()
    if sentence:
        return
    if request.resource is None and request.verb != "version":
        return  # the server is asked
    target = request.target()
    assert target.isascii()
    assert target.isprintable()
    path = unquote(urlsplit(target).path)
    assert ".." not in path
    assert "//" not in path
    assert path == urlsplit(target).path  # names need no quoting, so nothing can hide in it
    assert "secrets" not in path.split("/")[:7] or request.name == "secrets" or request.namespace == "secrets"


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_exec_arguments_arrive_as_they_are(argv: list[str]) -> None:
    request = parse(("kubectl", "exec", "x", "--", *argv))
    sent = parse_qsl(urlsplit(request.target()).query, keep_blank_values=True)
    printable = [argument.encode("utf-8", "replace").decode() for argument in argv]
    assert [value for key, value in sent if key == "command"] == printable


def test_too_long() -> None:
    with pytest.raises(NotAllowed, match="too long"):
        parse(("kubectl", "get", "pods", "-l", "x" * 100_000, "-o", "json"))


def test_rules_are_said_in_words() -> None:
    assert ask("kubectl get pods -A -o json").rule() == "list pods at the cluster scope"
    assert ask("kubectl get ds x -o json").rule() == 'get daemonsets.apps in namespace "ml"'
    assert ask("kubectl logs x").rule() == 'get pods/log in namespace "ml"'
    assert ask("kubectl exec x -- true").rule() == 'get and create pods/exec in namespace "ml"'


def test_durations() -> None:
    assert [seconds(text) for text in ("90s", "10m", "1h", "1h1m1s")] == [90, 600, 3600, 3661]


def test_every_word_means_one_resource() -> None:
    assert RESOURCES["pods"] is RESOURCES["po"] is RESOURCES["pod"]
    assert RESOURCES["workloads.kueue.x-k8s.io"].group == "kueue.x-k8s.io"
    assert not any("secret" in word for word in RESOURCES)
