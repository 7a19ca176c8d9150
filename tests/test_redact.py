"""What a bundle may hold: no secret of any form, and all of the evidence."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.probes.base import Command
from gpudoctor.probes.redact import TOKEN, Redactor

LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
words = st.text(LETTERS + "!#%*+-./:=?@^_~$(", min_size=6, max_size=40).map(lambda text: f"Zq7{text}9x")
keys = st.text(LETTERS, min_size=30, max_size=40).map(lambda text: f"Qz7{text}")

# What somebody might find in a log or a manifest; {} is the secret.
WORD_FORMS = [
    "password={}",
    "db_password: {}",
    "PGPASSWORD={} psql -h db",
    'the client sent {{"user": "a", "password": "{}"}}',
    'nested \\"client_secret\\":\\"{}\\", \\"x\\": 1',
    "{{'apiKey': '{}', 'n': 1}}",
    "token: {}",
    "HF_TOKEN={}",
    "curl https://models.example.com/v1?token={}&page=2",
    "--registry-password {} --verbose",
    "--wandb-api-key={}",
    "AWS_SECRET_ACCESS_KEY={}",
    "DefaultEndpointsProtocol=https;AccountName=ml;AccountKey={}",
    "sh -c 'curl -sS -u deploy:{} https://models.example.com/v1'",
    "_auth={}",
    "export MODEL_LICENSE={}",
    'containers: [{{"name":"LICENSE","value":"{}"}}]',
    "env:\n  - name: LICENSE\n    value: {}\n",
    'declare -x LICENSE="{}"',
]
KEY_FORMS = [
    "Authorization: Bearer {}",
    "authorization: bearer {}, retrying",
    "git clone https://deploy:{}@git.example.com/ml/train.git",
    "pip install --index-url https://{}@pypi.example.com/simple",
    "using eyJhbGciOiJSUzI1NiJ9.{}.c2lnbmF0dXJl now",
    "pushed by ghp_{} today",
    "github_pat_{}",
    "glpat-{}",
    "login with hf_{}",
    "sk-{}",
    "sk-proj-{}",
    "nvapi-{}",
    "slack xoxb-{}",
    "json line \\nhf_{}\\n",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n{}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{}",
]

# Lines that a diagnosis rests on; every one must come out as it went in.
EVIDENCE = [
    "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint {nvidia.com/gpu: present}. "
    "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
    "[ 5123.120433] NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
    "NVRM: GPU at PCI:0000:1b:00: GPU-8a3f1c52-9d1e-4f0a-b2c3-0d1e2f3a4b5c",
    "nvcr.io/nvidia/pytorch@sha256:9b1ce5a5f3a5b1cf2b29d8d9b1e1b0e0f1f6a5a9c3a7d4e2f1b0c9d8e7f6a5b4",
    "docker-pullable://busybox:1.36@sha256:9b1ce5a5f3a5b1cf2b29d8d9b1e1b0e0f1f6a5a9c3a7d4e2f1b0c9d8e7f6a5b4",
    "containerd://4f1d3c5b7a9e8d6c4b2a1f0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c",
    "failed to pull image: failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.example.com/token?scope="
    "repository%3Aml%2Ftrain%3Apull: 401 Unauthorized",
    'MountVolume.SetUp failed for volume "kube-api-access-x7k2p" : failed to fetch token: serviceaccounts "train" not found',
    'secret "registry-password": not found',
    "Error from server (Forbidden): basic authentication failed, bearer authentication is off",
    "gpu-02:812:930 [3] NCCL WARN NET/IB : Got completion from peer 10.0.3.7<41822> with status=12 opcode=0 len=0 vendor err 129",
    "NCCL_SOCKET_IFNAME=eth0",
    "curl is not there: docker run -u 1000:1000 --rm curlimages/curl",
    "MASTER_ADDR=train-0.train.ml.svc.cluster.local",
    "NVIDIA_VISIBLE_DEVICES=GPU-8a3f1c52-9d1e-4f0a-b2c3-0d1e2f3a4b5c",
    "LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/local/cuda/lib64",
    'PRETTY_NAME="Ubuntu 22.04.4 LTS"',
    "consumed tokens: 155652554752 | per_token_loss: 3.1525 | max_tokens=4096 | eos_token: </s>",
    "sk-learn-sweep-worker-0 on gpu-07 (10.2.0.14) restarts every 10m",
    '{"level":"error","ts":"2026-03-01T12:00:00Z","msg":"node gpu-02 unreachable","ip":"10.1.2.3"}',
    "W0301 12:00:01.1 allocate.go:31] device plugin: nvidia.com/gpu: requested 8, available 7",
    # what is near to a secret, and none
    "docker run --gpus all -p 8080:80 --name mysql mysql:8 -p3306:3306",
    "mkdir -p /mnt/data && cp -p a b && ssh -p 22 gpu-01 && nvidia-smi -pm 1 && sinfo -p gpu && scontrol show partition -p gpu",
    "sbatch -p gpu train.sh; squeue -p gpu -u alice; srun -p a100 --pty bash; ps -p 4711; ip link; tar -xpf x.tar; mysql -h db -P 3306 -p",
    "kubectl --certificate-authority /etc/kubernetes/pki/ca.crt --kubeconfig /root/.kube/config get nodes",
    "slurmctld: AuthType=auth/munge CredType=cred/munge AuthAltTypes=auth/jwt, started with --auth munge",
    "python[4711]: killed with sig=SIGTERM core=no; exit?sig=9 &sig=11",
    "the cookie was not set; cookie: none; fscache: duplicate cookie [o=0000000]; cookie=0x7f3a11c0",
    "Docker Engine - Community edition, GitLab community version 17.2; community: kubernetes-sigs; BGP community: 65000:120",
    "GitCommit: 4f1d3c5b7a9e8d6c4b2a1f0e9d8c7b6a5f4e3d2c, build 9d988398e7",
    "CA 'mlx5_0' Node GUID: 0x0c42a10300f0a1b2 System image GUID: 0c42:a103:00f0:a1b2 Port GUID: 0x0c42a1fffef0a1b2 lid 12",
    "eth0: 0c:42:a1:f0:a1:b2 txqueuelen 1000; 3b:00.0 3D controller: NVIDIA Corporation GH100 [10de:2330] (rev a1)",
    "MIG-3f2a9c1e-7b6d-5a4c-9e8f-1a2b3c4d5e6f, MIG-GPU-8a3f1c52-9d1e-4f0a-b2c3-0d1e2f3a4b5c/1/0",
    "cri-containerd-4f1d3c5b7a9e8d6c4b2a1f0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c.scope",
    "undefined symbol: _ZN3c106detail23torchInternalAssertFailEPKcS2_jS2_RKSs, in libtorch_cpu.so.2.4.0",
    "datadog-agent: 4f1d3c5b7a9e8d6c4b2a1f0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c restarted; grafana: container-grafana-main-dashboards",
    "Event train1.17c3a1b2c3d4e5f6 of docker.containerdserver; worker.internalnetwork is up",
    "hf_transfer_enabled_by_default is set, npm_config_registry_mirror is not; as-is; sk-learn; key-value; task-scheduler-runner-0",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJRTES\n-----END CERTIFICATE-----",
    "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURkekNDQWwrZ0F3SUJBZ0lFQWdBQXVUQU4=",
    'failed calling webhook "validate.nvidia.com": Post "https://gpu-operator.svc:443/validate?timeout=10s": context deadline exceeded',
    "Warning: Identity token of service account ml/train expires; auth: anonymous; session key: negotiated; machine gpu-01 login: root",
    "NCCL_SOCKET_IFNAMES=eth0",  # misspelt: the name and its value are the finding
    "SLURM_JOB_NODELIST=gpu-[01-16]",
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility",
    "    Environment:\n      NCCL_DEBUG:  INFO\n      POD:         (v1:metadata.name)\n"
    "      HF:          <set to the key 'token' in secret 'hf'>  Optional: false\n    Mounts:\n",
    "iptables: IN=eth0 OUT= MAC=0c:42:a1:f0:a1:b2 SRC=10.0.0.1 DST=10.0.0.2 LEN=60 TTL=64 ID=4711 PROTO=TCP SPT=22",
    'nvidia_p2p_get_pages(va=7f12a0000000 len=65536 p2p_token=0 va_space=0) failed; time_per_token="27.0ms"; env NV_VERBOSE=1 make',
    "net rx dropped; http -a; zip; sum -p; git set up; unzip -p image.zip; redis-cli -h cache ping; snmpwalk timed out on switch-01 -c",
]

POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "train-0", "namespace": "ml", "uid": "6d4b7d5e-7f0f-4b8d-9c61-0a1b2c3d4e5f"},
    "spec": {"nodeName": "gpu-02", "containers": [{"name": "main", "image": "nvcr.io/nvidia/pytorch:24.05-py3"}]},
}


def with_container(**fields: object) -> bytes:
    """A list with one pod whose container has these fields besides its name and image."""
    spec = {**POD["spec"], "containers": [{**POD["spec"]["containers"][0], **fields}]}
    return json.dumps({"kind": "PodList", "items": [{**POD, "spec": spec}]}).encode()


@pytest.mark.parametrize("form", WORD_FORMS)
@given(secret=words)
def test_a_word_behind_a_name_that_announces_a_secret_is_hidden(form: str, secret: str) -> None:
    redacted = Redactor().text(form.format(secret))
    assert secret not in redacted
    assert TOKEN.search(redacted)


@given(secret=words)
def test_a_header_whose_name_announces_a_secret_is_hidden(secret: str) -> None:
    headers = [{"name": "X-Api-Key", "value": secret}, {"name": "Accept", "value": "text/html"}]
    page = Redactor().page(with_container(livenessProbe={"httpGet": {"path": "/", "httpHeaders": headers}}))
    assert secret.encode() not in page
    assert b"text/html" in page


@pytest.mark.parametrize("form", KEY_FORMS)
@given(secret=keys)
def test_a_key_of_a_known_form_is_hidden_wherever_it_stands(form: str, secret: str) -> None:
    assert secret not in Redactor().text(f"line before\n{form.format(secret)}\nline after")


def test_aws_keys_and_basic_credentials_are_hidden() -> None:
    basic = base64.b64encode(b"deploy:Zq7hunter").decode()
    redacted = Redactor().text(f"AKIAABCDEFGHIJKLMNOP signed; curl -H 'Authorization: Basic {basic}' https://x")
    assert "AKIAABCDEFGHIJKLMNOP" not in redacted
    assert basic not in redacted
    assert redacted.endswith("' https://x")


@pytest.mark.parametrize("line", EVIDENCE)
def test_evidence_survives_in_text_and_in_json(line: str) -> None:
    redactor = Redactor()
    assert redactor.raw(line.encode()) == line.encode()
    event = {"kind": "EventList", "items": [{"reason": "Failed", "message": line}]}
    assert json.loads(redactor.page(json.dumps(event).encode())) == event


@given(value=st.text(min_size=1).map(lambda text: f"Zq7{text}7qZ"), name=st.sampled_from(["HF_TOKEN", "DATABASE", "NCCL_API_KEY", "x"]))
def test_every_value_of_the_environment_is_hidden_by_its_name(value: str, name: str) -> None:
    page = Redactor().page(with_container(env=[{"name": name, "value": value}]))
    assert TOKEN.fullmatch(json.loads(page)["items"][0]["spec"]["containers"][0]["env"][0]["value"])


def test_variables_that_are_evidence_are_kept_unless_they_look_like_a_secret() -> None:
    env = [
        {"name": "NCCL_DEBUG", "value": "INFO"},
        {"name": "NVIDIA_VISIBLE_DEVICES", "value": "GPU-8a3f1c52-9d1e-4f0a-b2c3-0d1e2f3a4b5c"},
        {"name": "NVIDIA_REQUIRE_CUDA", "value": "cuda>=12.4 brand=tesla,driver>=470,driver<471"},
        {"name": "RANK", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['rank']"}}},
        {"name": "NCCL_NET_PLUGIN", "value": "9f86d081884c7d659a2feaa0c55ad015"},
        {"name": "TORCH_HOME", "value": "https://me:Zq7secret@store.example.com/x"},
        {"name": "EMPTY", "value": ""},
    ]
    kept = json.loads(Redactor().page(with_container(env=env)))["items"][0]["spec"]["containers"][0]["env"]
    assert kept[:4] == env[:4]
    assert TOKEN.fullmatch(kept[4]["value"])
    assert kept[5]["value"].startswith("https://me:<redacted:")
    assert kept[6]["value"] == ""


def test_templates_of_workloads_are_redacted_like_pods() -> None:
    container = {
        "name": "pytorch",
        "env": [{"name": "DATABASE", "value": "Zq7dsn"}],
        "args": ["--lr=1", "--token", "Zq7arg", "--api-key=Zq7key"],
    }
    job = {"kind": "PyTorchJob", "spec": {"pytorchReplicaSpecs": {"Worker": {"template": {"spec": {"containers": [container]}}}}}}
    page = Redactor().page(json.dumps(job).encode())
    assert b"Zq7" not in page
    assert b'"args":["--lr=1","--token","<redacted:' in page


def test_secrets_lose_their_data_and_keep_their_keys() -> None:
    secrets = {"kind": "SecretList", "items": [{"metadata": {"name": "s"}, "data": {"password": "WnE3aHVudGVy", "config": "WnE3"}}]}
    kept = json.loads(Redactor().page(json.dumps(secrets).encode()))["items"][0]
    assert kept["metadata"]["name"] == "s"
    assert set(kept["data"]) == {"password", "config"}
    assert all(TOKEN.fullmatch(value) for value in kept["data"].values())


def test_configuration_is_kept_without_its_secrets() -> None:
    sharing = "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n"
    configmap = {"kind": "ConfigMap", "data": {"any": sharing, "db.password": "Zq7one", "app.yaml": "password: Zq7two\nport: 8080\n"}}
    kept = json.loads(Redactor().page(json.dumps(configmap).encode()))["data"]
    assert kept["any"] == sharing
    assert TOKEN.fullmatch(kept["db.password"])
    assert TOKEN.sub("T", kept["app.yaml"]) == "password: T\nport: 8080\n"


def test_annotations_and_repeated_copies() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": '{"spec":"Zq7"}',
        "example.com/db-password": "Zq7a",
        "example.com/note": "call with Bearer Zq7bbbbbbbbbbbbb",
        "example.com/blob": "dGhpcyBpcyBhIGtleSBvZiAyNCBieXRlcw00Zq7",
        "checksum/config": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    }
    pod = {**POD, "metadata": {**POD["metadata"], "annotations": annotations, "managedFields": [{"manager": "kubectl"}]}}
    page = Redactor().page(json.dumps(pod).encode())
    kept = json.loads(page)["metadata"]
    assert b"Zq7" not in page
    assert "managedFields" not in kept
    assert set(kept["annotations"]) == set(annotations) - {"kubectl.kubernetes.io/last-applied-configuration"}
    assert {key: kept["annotations"][key] for key in ("checksum/config", "nvidia.com/gpu.product")} == {
        key: annotations[key] for key in ("checksum/config", "nvidia.com/gpu.product")
    }


def test_names_stay_what_commands_are_made_of() -> None:
    name = "sk-0123456789abcdef0123456789abcdef"
    pod = {**POD, "metadata": {**POD["metadata"], "name": name}}
    assert json.loads(Redactor().page(json.dumps(pod).encode())) == pod


def test_the_same_value_has_the_same_token_in_one_bundle_only() -> None:
    one, other = Redactor(), Redactor()
    assert one.text("HF_TOKEN=hf_Zq7abcdefghijklmnopq") == "HF_TOKEN=" + one.hide("hf_Zq7abcdefghijklmnopq")
    assert one.hide("x") == one.hide("x") != one.hide("y")
    assert one.hide("x") != other.hide("x")


fragments = st.sampled_from(
    [
        "password=",
        "token: ",
        "\n",
        "A=",
        "://a:",
        "@",
        '"',
        "'",
        "\\",
        "Bearer ",
        "sk-",
        "<redacted:ab12cd>",
        ",",
        "eyJ",
        ".",
        "--token ",
        "name: A",
        "value: ",
        "mysql -p",
        "sshpass -p ",
        "docker login -p ",
        "Cookie: a=",
        "?sig=",
        "machine a login b password ",
        "\\n",
        "\n  ",
        "kind: Secret\ndata:\n  ",
        "Environment:\n      A: ",
        "community ",
        "export A=",
        "echo ",
        " | chpasswd",
        "Authorization: Digest a=",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "AKIAABCDEFGHIJKLMNOP ",
        "curl -b ",
        "\x1f",
        "\0",
        "key: |\n",
    ]
)


@given(st.lists(st.one_of(fragments, st.text(LETTERS, max_size=30), st.text(max_size=5)), max_size=12).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = Redactor().text(text)
    assert Redactor().text(once) == once
    page = Redactor().page(with_container(args=[text], env=[{"name": "NCCL_X", "value": text}], annotations={"note": text}))
    assert Redactor().page(page) == page


@given(st.binary(max_size=200))
def test_bytes_that_are_no_text_never_raise(data: bytes) -> None:
    redactor = Redactor()
    assert isinstance(redactor.page(data), bytes)
    assert isinstance(redactor.page(b"{" + data), bytes)


@pytest.mark.parametrize(
    "page",
    [
        b'{"a": "\\ud800"}',
        b"[" * 100_000,
        b'{"n": 123456789012345678901234567890}',
        b'{"kind": 7, "env": [1, {"name": 2, "value": 3}], "data": null}',
    ],
)
def test_hostile_json_gives_a_page(page: bytes) -> None:
    assert Redactor().page(page)


def test_a_truncated_page_is_redacted_as_text() -> None:
    whole = with_container(env=[{"name": "DATABASE", "value": "Zq7dsn"}, {"name": "NCCL_DEBUG", "value": "INFO"}], args=["--token=Zq7arg"])
    page = Redactor().page(whole[:-3])
    assert b"Zq7" not in page
    assert b'"INFO"' in page


# Beginnings of what the rules look for, to be repeated
HOSTILE = re.findall(
    r"\S+",
    r"""
    password= ://a: eyJa. -----BEGIN_PRIVATE_KEY----- --a name:_A_value:_ " \ password=' sk- _ mysql_ mysql_-p docker_login_
    wandb_login;-_ machine_x_login_y_ machine; kind:_Secret;data:;_x; ---; password:_|;__x; Environment:;______A:_b; "Env":["A=b",
    AKIAABCDEFGHIJKLMNOP_ xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_ AAAAAAAAAAAAAAAAAAAA; Authorization:_Digest_a= Cookie:_a=b; datadog_
    community_ com2sec_a_ echo_x_|_ -e_A=b_ env_A=b_ - \n a:b@ hooks/ &sig= key= aws_set_ htpasswd_-nb_a_ --token; sshpass_ snmpget_-c_
    """,
)


@pytest.mark.parametrize("unit", [unit.replace("_", " ").replace(";", "\n") for unit in HOSTILE])
def test_long_hostile_lines_take_linear_time(unit: str) -> None:
    started = time.process_time()
    Redactor().text("x" + unit * (300_000 // len(unit)))
    assert time.process_time() - started < 10  # quadratic time would take minutes


def test_a_password_with_a_slash_in_a_url() -> None:
    for url in ("http://10.0.0.1:8080/a@b", "https://[fd00::1]:6443/api@x", "docker://reg:5000/app:v1@sha256:abc", "http://a:80/x: me@x"):
        assert Redactor().text(url) == url
    broken = "https://me:Zq7Xw2/Lm9T@prom.example:9090"
    assert (
        TOKEN.sub("…", Redactor().text(f"{broken} and https://me:Zq7Xw2Lm9T@h/x@y"))
        == "https://me:…@prom.example:9090 and https://me:…@h/x@y"
    )
    assert Command(("promql", broken, "up")).public == ("promql", "https://***@prom.example:9090", "up")


def test_a_binary_file_without_secrets_stays_as_it_is() -> None:
    every = bytes(range(256)) * 2 + "\ufdd1".encode()
    assert Redactor().raw(every) == every
