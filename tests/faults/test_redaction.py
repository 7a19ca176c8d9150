"""Programs, clusters and files that say secrets: no bundle and no report that is handed on has one of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from tests.faults.case import Fault, Place, Said, tried
from tests.kube import objects as build
from tests.test_secret_kinds import KINDS, Kind, made

LOST = "[   12.300000] NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, name=python3, GPU has fallen off the bus."
ALL = [(kind, made(kind)) for kind in KINDS]


def output(kinds: list[tuple[Kind, str]]) -> str:
    """What a kernel log says with these secrets in it."""
    return "\n".join([LOST, *(f"{kind.form.format(secret)}" for kind, secret in kinds), ""])


def hidden(*secrets: str) -> Callable[[Place, Said], None]:
    """No file that the run has written, and nothing that it printed, has one of the secrets; what it found is there."""

    def check(place: Place, said: Said) -> None:
        written = [
            path for path in place.here.rglob("*") if path.is_file() and path.relative_to(place.here).parts[0] in ("bundle", "report")
        ]
        assert written
        texts = {str(path.relative_to(place.here)): path.read_text(errors="replace") for path in written} | {"what it printed": said.all}
        assert [(name, secret) for name, text in texts.items() for secret in secrets if secret in text] == []
        assert any("fallen off the bus" in text for text in texts.values())

    return check


def recorded(broken: str, text: str, *secrets: str, format: str = "html") -> Fault:
    """A run on this machine, whose kernel log has the secrets, with its bundle and its report."""
    return Fault(
        broken,
        f"diagnose node --local --record bundle --format {format} -o report",
        1,
        programs={"dmesg": f"cat {shlex.quote('{here}')}/kernel.txt"},
        files={"kernel.txt": text},
        after=hidden(*secrets),
    )


def analysed(broken: str, format: str, line: str, secret: str) -> Fault:
    """A report about a file whose evidence has the secret."""
    return Fault(broken, f"analyze dmesg.txt --format {format} -o report", 1, files={"dmesg.txt": f"{LOST} {line}\n"}, after=hidden(secret))


ONE = "Zq7Xw2Lm9T"
POD = build.pod("train-0", ns="ml", phase="Pending", containers=[build.container("main", gpus=8, image="nvcr.io/nvidia/pytorch:24.05-py3")])
POD["metadata"]["annotations"] = {"example.com/alerts": f"https://discord.com/api/webhooks/123456789012345678/{ONE}{ONE}"}
POD["spec"]["containers"][0] |= {
    "command": ["mysql", "-u", "app", f"-p{ONE}a", "ml"],
    "args": ["sh", "-c", f"snmpget -v2c -c {ONE}b switch-01"],
    "env": [{"name": "NCCL_SITE_ENTRANCE", "value": f"{ONE}c"}, {"name": "NCCL_DEBUG", "value": "INFO"}],
}
POD["spec"]["volumes"] = [{"name": "nas", "csi": {"driver": "smb", "volumeAttributes": {"mountOptions": f"vers=3.0,password={ONE}d"}}}]
CLUSTER = build.cluster([build.namespace("ml"), build.node("gpu-01", gpus=4), POD])


def withheld(place: Place, said: Said) -> None:
    """The pod was read, and is in the bundle without its secrets."""
    texts = [path.read_text(errors="replace") for path in [*(place.here / "bundle").iterdir(), place.here / "report"]]
    assert any('"NCCL_DEBUG"' in text for text in texts)
    assert [text for text in (*texts, said.all) if ONE in text] == []


FAULTS = [
    *(
        recorded(f"the kernel log says every kind of secret ({format})", output(ALL), *(secret for _, secret in ALL), format=format)
        for format in ("html", "markdown", "junit")
    ),
    recorded("a daemon logs its password on the command line", f"{LOST}\nexec: mysql -u app -p{ONE} ml\n", ONE),
    recorded("a login of a registry is logged", f"{LOST}\naudit: docker login -u deploy -p {ONE} registry.example.com\n", ONE),
    recorded("a script that turns nodes off is logged", f"{LOST}\nexec: ipmitool -H bmc -U ADMIN -P {ONE} power off\n", ONE),
    recorded("a cookie is logged", f"{LOST}\nGET / Cookie: session={ONE}; theme=dark\n", ONE),
    recorded(
        "a hash of a password is logged",
        f"{LOST}\nroot:$6$abcdefgh$Zq7Xw2Lm9TZq7Xw2Lm9TZq7Xw2Lm9T:19000:0:99999:7:::\n",
        "Zq7Xw2Lm9TZq7Xw2Lm9T",
    ),
    recorded("a log in JSON has lines of an environment", f'{LOST}\n{{"msg": "start\\nLICENSE={ONE}\\nend"}}\n', ONE),
    recorded("the end of a private key is logged", f"{LOST}\n{ONE * 6}\n{ONE * 6}\n-----END RSA PRIVATE KEY-----\n", ONE),
    *(
        Fault(
            f"a pod has secrets in every field ({format})",
            f"diagnose pod train-0 -n ml --record bundle --format {format} -o report",
            1,
            cluster=CLUSTER,
            after=withheld,
        )
        for format in ("html", "markdown", "junit")
    ),
    analysed("a webhook stands in the evidence of HTML", "html", f"notify https://hooks.slack.com/services/T0AAA/B0AAA/{ONE}", ONE),
    analysed("a signature stands in the evidence of Markdown", "markdown", f"put https://s.example.com/x?sv=1&sig={ONE}{ONE}%3D", ONE),
    analysed("a token stands in the evidence of JUnit", "junit", f"curl https://api.example.com/?bearer={ONE}", ONE),
    analysed("a password stands in the evidence of HTML", "html", f"sshpass -p {ONE} ssh gpu-01", ONE),
    analysed("a community stands in the evidence of Markdown", "markdown", f"snmpget -v2c -c {ONE} switch-01", ONE),
    analysed("a login of a tracker stands in the evidence of JUnit", "junit", f"wandb login {ONE}{ONE}{ONE}", ONE),
    analysed("a database stands in the evidence of HTML", "html", f"jdbc:oracle:thin:app/{ONE}@//db:1521/ml", ONE),
]
test_fault = tried(FAULTS)
