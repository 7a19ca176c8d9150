"""Credentials: nothing says them, nothing of them stays on a disk, and a plugin ends with the run."""

from __future__ import annotations

import base64
import json
import os
import shutil
import ssl
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpudoctor.probes import bounded_files, kube, kube_config, process
from gpudoctor.probes.base import Command, Output
from gpudoctor.probes.foreign_text import clean_foreign_text, keep_out
from gpudoctor.probes.kube_config import ProbeSetupError, find_context
from gpudoctor.probes.live import Live
from tests.kube import objects as build
from tests.kube.access import certificate
from tests.kube.fixtures import Served

KUBECTL = shutil.which("kubectl") or ""
LINES = ["get pods -n ml -o json", "exec train-0 -n ml -- nvidia-smi -L"]
V1 = "client.authentication.k8s.io/v1"


@pytest.fixture(scope="module")
def served(kube_server: Callable[..., Served]) -> Served:
    answer = build.exec_answer("nvidia-smi", "-L", stdout="GPU 0\n")
    pod = build.pod("train-0", ns="ml", node="gpu-01", phase="Running")
    return kube_server(build.cluster([pod, build.node("gpu-01")], exec={"ml/train-0/main": [answer]}))


def token(served: Served) -> str:
    found: str = json.loads(served.kubeconfig.read_text())["users"][0]["user"]["token"]
    return found


def ask(path: Path | str, line: str = LINES[0], timeout: float = 10) -> Output:
    live = Live(str(path))
    try:
        return live(Command(("kubectl", *line.split()), timeout=timeout))
    finally:
        live.close()


# ---- tokens


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("form", ["{}", "{}\n", "\n  {}\r\n", "\ufeff{}"])
def test_the_ends_of_a_token_are_trimmed(served: Served, tmp_path: Path, line: str, form: str) -> None:
    text = form.format(token(served))
    (tmp_path / "token").write_text(text, newline="")
    accepted = not text.startswith("\ufeff")
    for user in ({"tokenFile": str(tmp_path / "token")}, {"token": text}):
        output = ask(served.kubeconfig_with(user), line)
        assert output.ok is accepted, output.reason
        assert token(served) not in output.reason


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("middle", ["\n", "\r\n", "\r\nX-Evil: 1\r\n", "\0", "\x1b[31m", "é", "\u2028"])
def test_a_token_that_is_none_is_not_told(served: Served, tmp_path: Path, line: str, middle: str) -> None:
    halves = ("first-half-of-it", "second-half-of-it")
    (tmp_path / "token").write_text(middle.join(halves), newline="")
    for user in ({"tokenFile": str(tmp_path / "token")}, {"token": middle.join(halves)}):
        output = ask(served.kubeconfig_with(user), line)
        where = next(iter(user))
        words = f"context 'test' can't be used: {where} has a line break or other characters inside that no token has"
        assert (output.failure, output.reason) == ("unreachable", words)


@pytest.mark.parametrize(
    ("user", "words"),
    [
        ({"token": 12345678}, "token in the kubeconfig is no text"),
        ({"token": " \n"}, "token is empty"),
        ({"tokenFile": "/nowhere/token"}, "tokenFile /nowhere/token can't be read: No such file or directory"),
        ({"tokenFile": "/dev/zero"}, "tokenFile /dev/zero can't be read: it is neither a file nor a pipe"),
        ({"tokenFile": "/dev/null"}, "tokenFile /dev/null can't be read: it is neither a file nor a pipe"),
        ({"client-certificate-data": "eHg=", "client-key": "/dev/zero"}, "client-key /dev/zero can't be read"),
        ({"client-certificate-data": "eHg=", "client-key-data": "%%%"}, "client-key-data in the kubeconfig is not base64"),
        ({"client-certificate-data": "eHg=", "client-key-data": "eHg="}, "its client certificate and key can't be used"),
        ({"auth-provider": {"name": "nobody", "config": {"access-token": "abcdefgh"}}}, "the auth-provider nobody gave no credentials"),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "abc=defgh"}}}, "the auth-provider oidc gave no credentials"),
        (
            {"auth-provider": {"name": "gcp", "config": {"cmd-path": "false", "access-token": "x", "expiry": "2001-01-01T00:00:00Z"}}},
            "Cmd: false",
        ),
        ({"exec": {"command": 5, "apiVersion": V1}}, "exec in the kubeconfig: Expected `str`, got `int` - at `$.command`"),
        ({"exec": {"command": "sh"}}, "exec in the kubeconfig: Object missing required field `apiVersion`"),
    ],
)
def test_users_that_are_wrong(served: Served, user: dict[str, Any], words: str) -> None:
    output = ask(served.kubeconfig_with(user))
    assert output.failure == "unreachable"
    assert words in output.reason
    assert "abcdefgh" not in output.reason


def test_a_users_path_starts_at_its_kubeconfig(served: Served) -> None:
    (served.folder / "beside").write_text(token(served) + "\n")
    assert ask(served.kubeconfig_with({"tokenFile": "beside"})).ok


def test_a_token_file_is_read_again(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudoctor.probes.kube_credentials.REREAD", 0.0)
    (tmp_path / "token").write_text("stale")
    live = Live(str(served.kubeconfig_with({"tokenFile": str(tmp_path / "token")})))
    command = Command(("kubectl", *LINES[0].split()))
    assert live(command).failure == "refused"
    (tmp_path / "token").write_text(token(served))
    assert live(command).ok
    (tmp_path / "token").unlink()
    assert live(command).reason.startswith("the credentials of context 'test' could not be renewed: tokenFile ")
    live.close()


def test_an_oidc_token_is_the_packages_business(served: Served) -> None:
    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    jwt = f"{part({'alg': 'none'})}.{part({'exp': 4102444800, 'sub': 'oncall'})}.c2ln"
    output = ask(served.kubeconfig_with({"auth-provider": {"name": "oidc", "config": {"id-token": jwt}}}))
    assert output.failure == "refused"  # it was sent, and is none of the served cluster's
    assert "did not accept the credentials" in output.reason


def test_user_and_password(served: Served) -> None:
    assert ask(served.kubeconfig_with({"username": "oncall", "password": "x"})).failure == "refused"


# ---- what is said


def test_credentials_in_use_are_in_no_words_of_others() -> None:
    keep_out("t0psecret/+word", "two\nlines-of-it", "pw")
    for text in ("Bearer t0psecret/+word", "GET /?t=t0psecret%2F%2Bword", "b'two\\r\\nlines-of-it'", "user:pw@host", "'pw'"):
        assert not {"t0psecret", "lines-of-it", ":pw@", "'pw'"} & {
            word for word in ("t0psecret", "lines-of-it", ":pw@", "'pw'") if word in clean_foreign_text(text)
        }
    assert clean_foreign_text("pwd powpw") == "pwd powpw"
    assert "x" * 300 not in clean_foreign_text(f"{'a ' * 900}refresh_token={'x' * 300}")
    assert clean_foreign_text(KeyError()) == "KeyError"
    assert clean_foreign_text("") == ""


# ---- plugins


def plugin(script: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": V1, "command": "sh", "args": ["-c", script], "interactiveMode": "Never", **more}}


def gives(version: str = V1, **status: Any) -> str:
    return f"printf '%s' '{json.dumps({'apiVersion': version, 'kind': 'ExecCredential', 'status': status})}'"


def test_what_a_plugin_is_told_is_what_kubectl_tells_it(served: Served, tmp_path: Path) -> None:
    cluster = json.loads(served.kubeconfig.read_text())["clusters"][0]["cluster"]
    cluster |= {
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}],
        "proxy-url": "http://127.0.0.1:1",
    }
    for version in (V1, f"{V1}beta1"):
        for more in ({}, {"provideClusterInfo": True}, {"env": [{"name": "FOO", "value": "bar"}]}):
            script = f"echo $KUBERNETES_EXEC_INFO > {tmp_path}/told; echo $FOO > {tmp_path}/foo; {gives(version, token='x')}"
            path = served.kubeconfig_with(plugin(script, **more | {"apiVersion": version}))
            text = json.loads(path.read_text())
            text["clusters"][0]["cluster"] = cluster
            path.write_text(json.dumps(text))
            ask(path)
            told, foo = json.loads((tmp_path / "told").read_text()), (tmp_path / "foo").read_text()
            assert told["spec"]["interactive"] is False
            assert foo.strip() == ("bar" if "env" in more else "")
            if KUBECTL:
                environment = os.environ | {"KUBECONFIG": str(path), "HOME": str(tmp_path)}
                subprocess.run([KUBECTL, "get", "pods"], env=environment, capture_output=True, timeout=20, check=False)
                assert json.loads((tmp_path / "told").read_text()) == told


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo refresh_token=abcdefgh123 >&2; exit 3", "it ended with exit code 3, saying: refresh_token=<redacted:"),
        ("echo '{}'", "it gave something else, not ExecCredential of client.authentication.k8s.io/v1"),
        ("echo token: abcdefgh123", "it gave something else, not ExecCredential"),
        ("true", "what it printed is no ExecCredential ("),
        (gives(f"{V1}beta1", token="abcdefgh123"), "it gave ExecCredential of client.authentication.k8s.io/v1beta1, not"),
        (gives(), "it gave neither a token nor a certificate"),
        (gives(clientCertificateData="abcdefgh123"), "it gave a certificate without its key, or a key alone"),
        (gives(token="abcdefgh123\n\nx"), "the plugin's token has a line break"),
        (gives(clientCertificateData="abcdefgh123", clientKeyData="abcdefgh123"), "its client certificate and key can't be used"),
        (gives(token="abcdefgh123", expirationTimestamp="soon"), "what it printed is no ExecCredential ("),
        ("yes abcdefgh123", "it printed more than 1 MiB"),
        ("yes abcdefgh123 >&2", "it printed more than 1 MiB"),
    ],
)
def test_plugins_that_fail(served: Served, script: str, words: str) -> None:
    output = ask(served.kubeconfig_with(plugin(script)))
    assert output.failure == "unreachable"
    assert words in output.reason
    assert "abcdefgh123" not in output.reason
    assert not process._RUNNING


def test_plugins_that_do_not_start(served: Served, tmp_path: Path) -> None:
    def said(**more: Any) -> str:
        return ask(served.kubeconfig_with(plugin("true", **more))).reason

    assert said(command="no-such-plugin", installHint="pip install it").endswith("no-such-plugin failed: command not found; pip install it")
    assert said(command="./plugin.sh").endswith("./plugin.sh failed: command not found")
    assert said(command=str(tmp_path)).endswith("it cannot be started: Permission denied")
    assert "wants a terminal" in said(interactiveMode="Always")
    script = served.folder / "plugin.sh"
    script.write_text(f"#!/bin/sh\n{gives(token=token(served))}\n")
    script.chmod(0o755)
    assert ask(served.kubeconfig_with(plugin("", command="./plugin.sh"))).ok


def test_what_a_plugin_is_given_is_not_told(served: Served) -> None:
    env = [{"name": "IDP_PASSWORD", "value": "abcdefgh123"}, {"name": "AWS_PROFILE", "value": "prod"}]
    script = 'echo "login of $AWS_PROFILE with $IDP_PASSWORD and $2 failed" >&2; exit 1'
    output = ask(served.kubeconfig_with(plugin(script, env=env, args=["-c", script, "sh", "--client-secret", "zyxwvuts987"])))
    assert "login of prod with <redacted:" in output.reason
    assert not any(secret in output.reason for secret in ("abcdefgh123", "zyxwvuts987"))


@pytest.mark.parametrize("how", ["late", "closed"])
def test_a_plugin_that_hangs_is_ended(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """With everything that it has started: at its own deadline, and when the program leaves."""
    script = f"echo to sign in, enter the code ABC >&2; sleep 600 & echo $! > {tmp_path}/pid; wait"
    monkeypatch.setattr(kube, "PATIENCE", 0.7 if how == "late" else 30.0)
    live = Live(str(served.kubeconfig_with(plugin(script))))
    output = live(Command(("kubectl", *LINES[0].split()), timeout=0.4))
    assert output.failure == "timeout"
    assert output.reason == "the credential plugin sh of context 'test' did not answer, saying: to sign in, enter the code ABC"
    if how == "closed":
        live.close()
    limit = time.monotonic() + 10
    while Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline").exists()
    live.close()


def test_a_plugins_token_is_renewed_before_its_end(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudoctor.probes.kube_credentials.AT_MOST", 0.0)
    soon, late = ((datetime.now(UTC) + timedelta(seconds=seconds)).isoformat() for seconds in (30, 3600))
    for end, runs in ((soon, 3), (late, 1)):
        (tmp_path / "runs").write_text("")
        script = f"echo x >> {tmp_path}/runs; {gives(token=token(served), expirationTimestamp=end)}"
        live = Live(str(served.kubeconfig_with(plugin(script))))
        assert all(live(Command(("kubectl", *LINES[0].split()))).ok for _ in range(2))
        live.close()
        assert (tmp_path / "runs").read_text().count("x") == runs


def test_a_plugin_is_asked_again_when_its_token_is_refused(served: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("stale")
    script = (
        f"echo x >> {tmp_path}/runs; token=$(cat {tmp_path}/token); {gives(token='TOKEN').replace('TOKEN', chr(39) + '$token' + chr(39))}"
    )
    live = Live(str(served.kubeconfig_with(plugin(script))))
    command = Command(("kubectl", *LINES[0].split()))
    assert live(command).failure == "refused"
    (tmp_path / "token").write_text(token(served))
    assert live(command).failure == "refused"  # it was asked a moment ago
    monkeypatch.setattr("gpudoctor.probes.kube_credentials.AT_MOST", 0.0)
    assert live(command).ok
    live.close()
    assert (tmp_path / "runs").read_text().count("x") == 2


# ---- certificates and keys


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, bytes, bytes, bytes]]:
    """A server that wants a client certificate; → its URL, its CA, a certificate and a key."""
    folder = tmp_path_factory.mktemp("strict")
    pem, ca = certificate(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "36")
            self.end_headers()
            self.wfile.write(b'{"metadata":{"continue":""},"a":"b"}')

        def log_message(self, format: str, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    context.load_verify_locations(cadata=ca.decode())
    context.verify_mode = ssl.CERT_REQUIRED
    server = Quiet(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    key = pem.read_bytes()[: pem.read_bytes().index(b"-----BEGIN CERTIFICATE")]
    yield f"https://127.0.0.1:{server.server_port}", ca, ca, key
    server.shutdown()
    server.server_close()


def write(folder: Path, url: str, ca: bytes, user: dict[str, Any]) -> Path:
    data = base64.b64encode(b"# Stra\xc3\x9fe\n" + ca).decode()
    path = folder / "kubeconfig"
    cluster = {"server": url, "certificate-authority-data": "\n".join(data[at : at + 64] for at in range(0, len(data), 64))}
    context = {"cluster": "c", "user": "u"}
    text = {
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "strict", "context": context}],
    }
    path.write_text(json.dumps(text | {"current-context": "strict"}))
    return path


@pytest.mark.parametrize("memory", ["memfd", "no memfd"])
@pytest.mark.parametrize("how", ["data", "file", "plugin"])
def test_a_key_touches_no_disk(
    strict: tuple[str, bytes, bytes, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, memory: str
) -> None:
    url, ca, own, key = strict
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    if memory == "memfd":
        monkeypatch.setattr(tempfile, "tempdir", "/nonexistent")
    else:
        monkeypatch.delattr(os, "memfd_create")
    (tmp_path / "cert").write_bytes(own)
    (tmp_path / "key").write_bytes(key)
    users: dict[str, dict[str, Any]] = {
        "data": {"client-certificate-data": base64.b64encode(own).decode(), "client-key-data": base64.b64encode(key).decode()},
        "file": {"client-certificate": "cert", "client-key": "key"},
        "plugin": plugin(gives(clientCertificateData=own.decode(), clientKeyData=key.decode())),
    }
    output = ask(write(tmp_path, url, ca, users[how]))
    assert output.ok, output.reason
    assert list(temporary.iterdir()) == []
    nobody = ask(write(tmp_path, url, ca, {}))
    assert nobody.failure in ("unreachable", "broken")


def test_a_locked_key_is_not_asked_for(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    _, own = certificate(tmp_path)
    locked = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"x")
    )
    user = {"client-certificate-data": base64.b64encode(own).decode(), "client-key-data": base64.b64encode(locked).decode()}
    assert "its client key is encrypted" in ask(write(tmp_path, "https://127.0.0.1:1", own, user)).reason


def test_an_authority_that_is_none(tmp_path: Path) -> None:
    assert "its certificate-authority holds no certificate in PEM" in ask(write(tmp_path, "https://127.0.0.1:1", b"x", {})).reason


# ---- kubeconfigs


def nested(levels: int) -> str:
    return "a: " + "[" * levels + "]" * levels


def merged(levels: int) -> str:
    """A YAML bomb: each level merges the one before ten times."""
    lines = ["a0: &a0 {k: v}", *(f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, levels))]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (nested(500), "100 levels"),
        (merged(30), "100 aliases"),
        ("a:\n" + "- 1\n" * 300_000, "more than 200000 values"),
        ("a: *b", "is not YAML"),
        ("x" * 17 * (1 << 20), "it is larger than 16 MiB"),
        ("- a", "holds no configuration"),
        ("users: [{user: {password: !s3cr3t }}]", "is not YAML: line 1: could not determine a constructor for the tag '…'"),
        ("users: [{user: {password: *s3cr3t }}]", "is not YAML: "),
    ],
)
def test_kubeconfigs_that_were_made_to_hurt(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "kubeconfig").write_text(text)
    started = time.monotonic()
    with pytest.raises(ProbeSetupError, match=words) as raised:
        find_context(str(tmp_path / "kubeconfig"))
    assert "s3cr3t" not in str(raised.value)
    assert time.monotonic() - started < 10


def test_what_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_files, "PIPE", 0.3)
    os.mkfifo(tmp_path / "fifo")
    for path in ("/dev/zero", str(tmp_path)):
        with pytest.raises(ProbeSetupError, match=f"the kubeconfig {path} can't be read: it is neither a file nor a pipe"):
            find_context(path)
    with pytest.raises(ProbeSetupError, match=r"the pipe was not written and closed within 0\.3 s"):
        find_context(str(tmp_path / "fifo"))
    monkeypatch.setenv("KUBECONFIG", "/dev/zero")
    assert find_context().trouble == "the kubeconfig /dev/zero can't be read: it is neither a file nor a pipe"
    monkeypatch.setenv("KUBECONFIG", os.devnull)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    assert find_context().trouble.startswith("no kubeconfig was found")


def test_a_home_that_there_is_not_and_one_that_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 987654321)
    assert find_context().trouble.startswith("no kubeconfig was found")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setenv("KUBECONFIG", "/root/config")
    monkeypatch.setattr(os, "stat", forbidden)
    monkeypatch.setattr(os, "open", forbidden)
    assert find_context().trouble == "the kubeconfig /root/config can't be read: Permission denied"


def test_a_pipe_is_read_once_and_whole(served: Served, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    text = served.kubeconfig.read_text() + " " * 100_000  # more than a pipe holds

    def slowly() -> None:
        with (tmp_path / "fifo").open("w") as fifo:
            fifo.write(text[:50])
            fifo.flush()
            time.sleep(0.3)
            fifo.write(text[50:])

    threading.Thread(target=slowly, daemon=True).start()
    assert find_context(str(tmp_path / "fifo")).name == "test"
    assert ask(tmp_path / "fifo").ok


def test_a_token_out_of_a_pipe_that_never_ends(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = os.pipe()
    monkeypatch.setattr(bounded_files, "PIPE", 0.3)
    output = ask(served.kubeconfig_with({"tokenFile": f"/dev/fd/{near}"}))
    assert "the pipe was not written and closed within 0.3 s" in output.reason
    os.close(near)
    os.close(far)


def test_no_repr_shows_a_credential(served: Served) -> None:
    context = find_context(str(served.kubeconfig))
    assert token(served) not in repr(context)
    assert kube_config.Entry({"token": "x"}).text("token") == "x"
