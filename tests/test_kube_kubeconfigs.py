"""Kubeconfigs as tools write them: what a server is told of who asks is what the real kubectl tells it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.kube_answer import broken_connection
from gpudoctor.probes.kube_config import ProbeSetupError, find_context, first_of
from gpudoctor.probes.live import Live
from tests.kube.access import certificate

KUBECTL = shutil.which("kubectl") or ""
V1 = "client.authentication.k8s.io/v1"
TOLD = ("authorization", "impersonate-")


class Listener:
    """A server, and who asked it last. `{url}`, `{host}` and `{ca}` in a kubeconfig stand for it."""

    def __init__(self, folder: Path, tls: bool) -> None:
        told = self.told = []  # type: list[tuple[str, str]]

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                found = [(name.lower(), value) for name, value in self.headers.items() if name.lower().startswith(TOLD)]
                told[:] = sorted([("prefix", self.path.partition("/version")[0]), *found])
                body = b'{"gitVersion":"v1.32.0","major":"1","minor":"32"}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.ca = ""
        if tls:
            pem, ca = certificate(folder)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
            self.ca = base64.b64encode(ca).decode()
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.url = f"{'https' if tls else 'http'}://{self.host}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def kubeconfig(self, user: Any, **cluster: Any) -> str:
        """A kubeconfig with one context."""
        authority = {"certificate-authority-data": self.ca} if self.ca else {}
        text = json.dumps(
            {
                "clusters": [{"name": "c", "cluster": {"server": "{url}", **authority, **cluster}}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
                "preferences": {},
            }
        )
        return text.replace("{url}", self.url).replace("{host}", self.host)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def asked_by(self, who: Callable[[Path], object], path: Path) -> list[tuple[str, str]] | None:
        """What it was told; None when it was not asked."""
        self.told.clear()
        who(path)
        return list(self.told) or None


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    made = Listener(tmp_path_factory.mktemp("tls"), tls=True)
    yield made
    made.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listener]:
    made = Listener(tmp_path_factory.mktemp("plain"), tls=False)
    yield made
    made.close()


def ours(path: Path) -> Output:
    live = Live(str(path))
    try:
        return live(Command(("kubectl", "version", "-o", "json"), timeout=20))
    finally:
        live.close()


def theirs(path: Path) -> object:
    home = {"HOME": str(path.parent), "KUBECONFIG": str(path), "KUBECACHEDIR": str(path.parent / "cache")}
    argv = [KUBECTL, "version", "-o", "json"]
    return subprocess.run(argv, env=os.environ | home, capture_output=True, stdin=subprocess.DEVNULL, timeout=30, check=False)


def agree(listener: Listener, text: str | bytes, folder: Path, *told: tuple[str, str], prefix: str = "") -> None:
    path = folder / "kubeconfig"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    expected = sorted([("prefix", prefix), *told])
    assert listener.asked_by(ours, path) == expected
    if KUBECTL:
        assert listener.asked_by(theirs, path) == expected


def basic(login: str) -> tuple[str, str]:
    return "authorization", f"Basic {base64.b64encode(login.encode()).decode()}"


BEARER = ("authorization", "Bearer t")


def plugin(printed: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": V1, "command": "printf", "args": ["%s", printed], "interactiveMode": "Never", **more}}


def credential(**status: Any) -> str:
    return json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": status})


JANE = {"as": "jane", "as-uid": "7", "as-groups": ["dev", "on call"], "as-user-extra": {"Acme.com/Proj%": ["é"], "scopes": ["a", "b"]}}
USERS: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"token": "t", "as": "jane"}, [BEARER, ("impersonate-user", "jane")]),
    (
        {"token": "t", **JANE},
        [
            BEARER,
            ("impersonate-extra-acme.com%2fproj%25", "é".encode().decode("latin-1")),
            ("impersonate-extra-scopes", "a"),
            ("impersonate-extra-scopes", "b"),
            ("impersonate-group", "dev"),
            ("impersonate-group", "on call"),
            ("impersonate-uid", "7"),
            ("impersonate-user", "jane"),
        ],
    ),
    ({"token": "t", "as": "", "as-groups": []}, [BEARER]),
    ({**plugin(credential(token="t")), "as": "jane"}, [BEARER, ("impersonate-user", "jane")]),
    ({"token": "t", "tokenFile": "/nowhere/token"}, [BEARER]),
    ({"username": "jörg", "password": "pä:ss"}, [basic("jörg:pä:ss")]),
    # what isn't there may be written as null
    ({"token": "t", "username": None, "client-key-data": None, "exec": None, "as": None}, [BEARER]),
    (plugin(credential(token="t"), env=None, installHint=None, provideClusterInfo=None), [BEARER]),
    (plugin(credential(token="t"), env=[{"name": "AWS_PROFILE", "value": None}]), [BEARER]),
    (plugin(credential(token="t", clientCertificateData=None, clientKeyData=None, expirationTimestamp=None)), [BEARER]),
    # plugins may print YAML
    (plugin(f"apiVersion: {V1}\nkind: ExecCredential\nstatus:\n  token: t\n  expirationTimestamp: 2099-01-01T00:00:00Z\n"), [BEARER]),
    (plugin("\ufeff" + credential(token="t")), [BEARER]),
]


@pytest.mark.parametrize(("user", "told"), USERS)
def test_who_asks(listener: Listener, tmp_path: Path, user: dict[str, Any], told: list[tuple[str, str]]) -> None:
    agree(listener, listener.kubeconfig(user), tmp_path, *told)


@pytest.mark.parametrize(
    ("before", "after"),
    [("", "\n---\nkind: Config\n"), ("---\n", "\n...\n"), ("\ufeff", "\n---\n- a: [\n")],
)
def test_only_the_first_document_counts(listener: Listener, tmp_path: Path, before: str, after: str) -> None:
    agree(listener, before + listener.kubeconfig({"token": "t"}) + after, tmp_path, BEARER)


def test_an_empty_file_says_nothing(listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kubeconfig").write_text(listener.kubeconfig({"token": "t"}))
    for text in ("", "---\n", "# nothing\n"):
        (tmp_path / "empty").write_text(text)
        monkeypatch.setenv("KUBECONFIG", f"{tmp_path / 'empty'}:{tmp_path / 'kubeconfig'}")
        live = Live()
        assert live(Command(("kubectl", "version", "-o", "json"), timeout=20)).ok
        live.close()


def test_a_server_with_a_path(listener: Listener, tmp_path: Path) -> None:
    agree(listener, listener.kubeconfig({"token": "t"}, server="{url}/k8s/clusters/c-x/"), tmp_path, BEARER, prefix="/k8s/clusters/c-x")


def test_a_login_in_the_servers_url(listener: Listener, plain: Listener, tmp_path: Path) -> None:
    agree(listener, listener.kubeconfig({"token": "t"}, server="https://me:s%40crt@{host}"), tmp_path, basic("me:s@crt"))
    agree(plain, plain.kubeconfig({"token": "t"}, server="http://me:s%40crt@{host}"), tmp_path, basic("me:s@crt"))


def test_a_login_in_the_servers_url_is_not_told(tmp_path: Path, plain: Listener) -> None:
    for server in ("https://me:s3cr3t@127.0.0.1:1", "https://me:s3cr3t@nowhere.invalid", "https://me:s3/cr3t@h", "https://[me:s3cr3t"):
        (tmp_path / "kubeconfig").write_text(plain.kubeconfig({"token": "t"}, server=server))
        output = ours(tmp_path / "kubeconfig")
        assert output.failure == "unreachable"
        assert not any(part in output.reason for part in ("s3", "cr3t", "me:")), output.reason


def test_nothing_is_told_without_tls(plain: Listener, tmp_path: Path) -> None:
    for user in ({"token": "t"}, {"username": "u", "password": "p"}, plugin(credential(token="t"))):
        agree(plain, plain.kubeconfig(user), tmp_path)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"as-groups": ["admin"]}, "the kubeconfig has as-groups, as-uid or as-user-extra without `as`"),
        ({"as-uid": "7"}, "the kubeconfig has as-groups, as-uid or as-user-extra without `as`"),
        ({"as": 7}, "as in the kubeconfig is no text"),
        ({"as": "jane", "as-groups": "admin"}, "as-groups or as-user-extra in the kubeconfig: Expected `array`, got `str`"),
        ({"as": "jane\r\nX-Evil: 1"}, "Invalid header value"),
        ({"exec": {}}, "exec in the kubeconfig: Object missing required field `command`"),
    ],
)
def test_users_that_are_none(listener: Listener, tmp_path: Path, user: dict[str, Any], words: str) -> None:
    (tmp_path / "kubeconfig").write_text(listener.kubeconfig(user))
    assert listener.asked_by(lambda path: words in ours(path).reason or pytest.fail(ours(path).reason), tmp_path / "kubeconfig") is None


def test_a_user_who_is_not_there(listener: Listener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kubeconfig").write_text(listener.kubeconfig({}).replace('"user": "u"', '"user": "v"'))
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    words = f"the context 'x' names the user 'v', who isn't in {tmp_path / 'kubeconfig'}"
    assert Live()(Command(("kubectl", "version", "-o", "json"))).reason == words


def test_the_name_that_the_certificate_must_have(listener: Listener, tmp_path: Path) -> None:
    agree(listener, listener.kubeconfig({"token": "t"}, **{"tls-server-name": "localhost"}), tmp_path, BEARER)
    (tmp_path / "kubeconfig").write_text(listener.kubeconfig({"token": "t"}, **{"tls-server-name": "wrong.example"}))
    assert "its certificate is not accepted (Hostname mismatch" in ours(tmp_path / "kubeconfig").reason


@pytest.mark.parametrize(
    ("number", "said", "step"),
    [
        (10, "certificate has expired", "renew it on the server, or compare the clocks"),
        (18, "self-signed certificate", "name the cluster's certificate-authority in the kubeconfig"),
        (64, "IP address mismatch", "give the server's name or address as its certificate has it"),
    ],
)
def test_a_certificate_that_is_not_accepted_has_a_next_step(number: int, said: str, step: str) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = number, said
    assert broken_connection(error, "https://api").reason == f"https://api: its certificate is not accepted ({said}): {step}"


def test_of_many_contexts_those_that_come_close_are_named(tmp_path: Path) -> None:
    names = [f"team-{number:02}" for number in range(20)]
    (tmp_path / "kubeconfig").write_text(json.dumps({"contexts": [{"name": name, "context": {}} for name in names]}))
    with pytest.raises(ProbeSetupError, match=r"; did you mean team-07 or .*\? the contexts are team-00, .*, team-07 and 12 more$"):
        find_context(str(tmp_path / "kubeconfig"), "taem-07")
    with pytest.raises(ProbeSetupError, match="has no current context: give --context NAME; the contexts are team-00, "):
        find_context(str(tmp_path / "kubeconfig"))


def test_a_file_that_the_environment_names_and_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert find_context().trouble == f"no kubeconfig was found ($KUBECONFIG names {tmp_path / 'none'}) and this is not a pod"


def test_aliases_that_double_are_read_in_no_time() -> None:
    text = "a0: &a0 [{k: ~}]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 49)) + "b: &b {c: *b, d: ~}\n"
    found = first_of(text.encode())
    assert (found["a1"], list(found["b"])) == ([[{}], [{}]], ["c"])
