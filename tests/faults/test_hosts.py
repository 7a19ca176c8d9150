"""Machines of which something hangs, crashes or lies: programs, logins, pods. What doesn't answer is named, and costs the others nothing.

`hangs.yaml` asks what the runbooks of a node ask, with two seconds for each command but one: no row waits for 45, and a
login to a busy machine may take longer than two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.faults.case import Fault, Place, tried
from tests.kube import objects as build
from tests.nodes.bus import NVIDIA_MODULES, Slot, lspci, version
from tests.nodes.dcgmi import health
from tests.nodes.smi import Card, smi_xml

ASKED = {
    "bus": ('[lspci, -D, -nn, -k, -vv, -d, "10de:"]', "linux.lspci", "pci_devices", "!one.answers", "gpu-fallen-off-bus"),
    "smi": ("[nvidia-smi, -q, -x]", "nvidia.smi", "smi", 'one.problem == "timeout"', "gpu-hung"),
    "health": ('[dcgmi, health, -g, "0", -c, -j]', "dcgm.health", "dcgm_health", 'one.problem != ""', "dcgm-hostengine-not-running"),
    "modules": ("[cat, /proc/modules]", "linux.modules", "kernel_modules", 'one.module == "nouveau" && one.loaded', "nouveau-conflict"),
    "version": (
        "[cat, /proc/driver/nvidia/version]",
        "nvidia.version",
        "kernel_modules",
        'one.module == "nvidia" && !one.loaded',
        "driver-not-loaded",
    ),
    "log": ("[dmesg, --time-format=iso]", "kernel.log", "xids", "one.code == 79", "gpu-fallen-off-bus"),
}
STEP = """\
  - id: {name}
    each: host in hosts
    limit: 100
    host: ${{host.node}}
    run: {run}
    timeout: {timeout}
    parse: {parse}
    checks: [{{id: of_{name}, each: one in {facts}, when: '{when}', finds: {finds}, title: '{name} tells it'}}]
"""
BOOK = """\
schema: 1
id: hangs
title: What of a machine answers
inputs:
  nodes: {type: string, default: "", help: 'Names of machines.'}
  selector: {type: string, default: "", help: 'Labels of nodes.'}
  local: {type: bool, default: false, help: 'It is this machine.'}
steps:
  - include: hosts
""" + "".join(
    STEP.format(name=name, run=run, parse=parse, facts=facts, when=when, finds=finds, timeout="20s" if name == "version" else "2s")
    for name, (run, parse, facts, when, finds) in ASKED.items()
)
FILES = {"hangs.yaml": BOOK}
CARDS = [Card(), Card(index=1, pci="0000:5d:00.0")]


def prints(text: str) -> str:
    """A program that prints a text."""
    return f"cat <<'END'\n{text}\nEND"


SLEEPS = "touch {here}/begun; exec sleep 60"
DEAF = "trap '' TERM HUP INT; touch {here}/begun; while :; do sleep 1; done"
FAMILY = "sleep 60 & sleep 60 & wait"
DRIPS = "while :; do echo '<line>'; sleep 0.1; done"
OF_MODULES, OF_DRIVER = prints(NVIDIA_MODULES), prints(version())
DEAD_FILE = f'case "$*" in /proc/modules) {SLEEPS} ;; /proc/driver/nvidia/version) {OF_DRIVER}\n;; *) exec /bin/cat "$@" ;; esac'
SOUND = {
    "lspci": prints(lspci([Slot(), Slot(pci="0000:5d:00.0")])),
    "nvidia-smi": prints(smi_xml(CARDS)),
    "dcgmi": prints(health("Healthy")),
    "cat": f'case "$*" in /proc/modules) {OF_MODULES}\n;; /proc/driver/nvidia/version) {OF_DRIVER}\n;; *) exec /bin/cat "$@" ;; esac',
    "dmesg": "echo '2026-03-01T08:00:02,118204+00:00 Linux version 6.8.0'",
}
LOCAL = "run ./hangs.yaml --local"
SSH = "run ./hangs.yaml --host gpu-[01-02] --via ssh"
PAIR = ("gpu-01", "gpu-02")
HUNG = "nvidia-smi did not answer within 2 s"


def sound_but(**programs: str) -> dict[str, str]:
    """A sound machine with some programs that aren't."""
    return SOUND | programs


def smi(text: str) -> dict[str, str]:
    """A sound machine whose nvidia-smi does something else."""
    return SOUND | {"nvidia-smi": text}


def on_02(text: str, program: str = "nvidia-smi") -> dict[str, str]:
    """Sound machines, of which gpu-02 has a program that does something else."""
    return SOUND | {program: f'if [ "$GPU_HOST" = gpu-02 ]; then {text}\nfi\n{SOUND[program]}'}


def block(text: str) -> Callable[[Place], None]:
    """Put something before the machines' names in the client's configuration."""

    def written(place: Place) -> None:
        assert place.machines
        config = place.machines.config
        config.write_text(f"{place.filled(text)}\n{config.read_text()}")

    return written


def login(name: str, text: str) -> Callable[[Place], None]:
    """What a machine runs instead of a shell."""
    return lambda place: place.machines.executable(f"login-{name}", f"#!/bin/sh\n{text}\n") if place.machines else None


def bad_program(place: Place) -> None:
    """nvidia-smi without the right to run it."""
    (place.programs / "nvidia-smi").chmod(0o644)


def runnable(place: Place) -> None:
    """The programs in the pod may be run."""
    for path in (place.here / "inside").iterdir():
        path.chmod(0o755)


def served(*answers: dict[str, Any], node: str = "gpu-01", faults: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A node with the GPU operator, whose driver container answers an exec so."""
    stack = build.gpu_stack(node)
    pod = next(one["metadata"]["name"] for one in stack if one["kind"] == "Pod" and "driver-daemonset" in one["metadata"]["name"])
    return build.cluster([build.node(node), *stack], exec={f"gpu-operator/{pod}/nvidia-driver-ctr": list(answers)}, faults=faults)


def shell(**programs: str) -> tuple[dict[str, Any], dict[str, str]]:
    """An exec of `sh -s` that is a real shell with these programs, and their files."""
    named = {f"inside/{name}": f"#!/bin/sh\n{text}\n" for name, text in (SOUND | programs).items()}
    return {"argv": ["sh", "-s"], "shell": "{here}/inside"}, named


POD = "run ./hangs.yaml --node gpu-01 --via pod"
MANY = [f"gpu-{number:02}" for number in range(1, 65)]
TEN = "case $GPU_HOST in gpu-0[1-9] | gpu-10) exec sleep 30 ;; esac"

FAULTS = [
    # ---- programs of this machine
    Fault("a sound machine", LOCAL, 0, ["HEALTHY"], programs=SOUND, files=FILES),
    Fault("nvidia-smi hangs", LOCAL, 1, ["gpu-hung", HUNG], programs=smi(SLEEPS), files=FILES, within=8),
    Fault("nvidia-smi ignores SIGTERM", LOCAL, 1, ["gpu-hung", HUNG], programs=smi(DEAF), files=FILES, within=9),
    Fault("what nvidia-smi has started hangs", LOCAL, 1, ["gpu-hung", HUNG], programs=smi(FAMILY), files=FILES, within=8),
    Fault("nvidia-smi prints a line now and then, without end", LOCAL, 1, ["gpu-hung", HUNG], programs=smi(DRIPS), files=FILES, within=8),
    Fault("nvidia-smi prints without end", LOCAL, 3, ["nvidia-smi printed more than 64 MiB"], programs=smi("exec yes"), files=FILES),
    Fault(
        "nvidia-smi is ended by a signal", LOCAL, 3, ["ended by signal 11 (Segmentation fault)"], programs=smi("kill -SEGV $$"), files=FILES
    ),
    Fault("nvidia-smi fails without a word", LOCAL, 3, ["exit code 1"], programs=smi("exit 1"), files=FILES),
    Fault("nvidia-smi says nothing and calls it a success", LOCAL, 3, ["nvidia-smi printed nothing"], programs=smi("exit 0"), files=FILES),
    Fault("nvidia-smi prints rubbish", LOCAL, 3, ["not an answer of nvidia-smi"], programs=smi("head -c 400 /dev/urandom"), files=FILES),
    Fault("nvidia-smi breaks off", LOCAL, 3, ["breaks off"], programs=smi(f"({SOUND['nvidia-smi']}\n) | head -c 9000"), files=FILES),
    Fault("nvidia-smi may not be run", LOCAL, 3, ["nvidia-smi: no permission to run it"], programs=SOUND, files=FILES, before=bad_program),
    Fault("nvidia-smi needs an interpreter that isn't there", LOCAL, 3, [], ["HEALTHY"], programs=smi("#!/nowhere/sh"), files=FILES),
    Fault("nvidia-smi leaves its children behind", LOCAL, 0, [], programs=smi(f"sleep 3 &\n{SOUND['nvidia-smi']}"), files=FILES, within=8),
    Fault("lspci hangs", LOCAL, 3, ["lspci did not answer within 2 s"], programs=sound_but(lspci=SLEEPS), files=FILES, within=8),
    Fault(
        "lspci prints rubbish",
        LOCAL,
        3,
        ["not an answer of lspci"],
        ["gpu-not-on-pci-bus"],
        programs=sound_but(lspci="echo x"),
        files=FILES,
    ),
    Fault("dcgmi hangs", LOCAL, 3, ["dcgmi did not answer within 2 s"], programs=sound_but(dcgmi=SLEEPS), files=FILES, within=8),
    Fault("dmesg hangs", LOCAL, 3, ["dmesg did not answer within 2 s"], programs=sound_but(dmesg=SLEEPS), files=FILES, within=8),
    Fault("a file hangs", LOCAL, 3, ["cat did not answer within 2 s"], programs=sound_but(cat=DEAD_FILE), files=FILES, within=8),
    Fault(
        "all of them hang, at the same time",
        LOCAL,
        1,
        ["gpu-hung", "lspci did not answer", "dcgmi did not answer", "dmesg did not answer"],
        programs=sound_but(**dict.fromkeys(("lspci", "dcgmi", "dmesg"), SLEEPS)) | {"nvidia-smi": SLEEPS},
        files=FILES,
        within=8,
    ),
    # ---- with the runbooks that everybody uses
    Fault(
        "nvidia-smi hangs for as long as a sound one may take",
        "diagnose node --local",
        1,
        ["cause gpu-hung (", "sure likely", "nvidia-smi did not answer within 45 s"],
        programs=smi(SLEEPS),
        within=52,
    ),
    Fault(
        "nvidia-smi hangs, and nobody has time",
        "diagnose node --local --timeout 3",
        3,
        ["possible gpu-hung", "timeout 60 nvidia-smi", "nvidia-smi did not answer within"],
        ["Ruled out"],
        programs=smi(SLEEPS),
        within=9,
    ),
    Fault(
        "nvidia-smi ignores SIGTERM, and nobody has time",
        "diagnose node --local --timeout 3",
        3,
        ["possible gpu-hung"],
        programs=smi(DEAF),
        within=10,
    ),
    # ---- by ssh
    Fault("sound machines behind ssh", SSH, 0, ["HEALTHY"], programs=SOUND, files=FILES, machines=PAIR),
    Fault("nvidia-smi hangs on one", SSH, 1, ["cause gpu-hung (", HUNG], programs=on_02(SLEEPS), files=FILES, machines=PAIR, within=12),
    Fault("nvidia-smi ignores SIGTERM on one", SSH, 1, ["gpu-hung", HUNG], programs=on_02(DEAF), files=FILES, machines=PAIR, within=12),
    Fault("children hang on one", SSH, 1, ["gpu-hung", HUNG], programs=on_02(FAMILY), files=FILES, machines=PAIR, within=12),
    Fault("nvidia-smi crashes on one", SSH, 3, ["Segmentation fault"], programs=on_02("kill -SEGV $$"), files=FILES, machines=PAIR),
    Fault(
        "nvidia-smi prints without end on one",
        SSH,
        3,
        ["more than 64 MiB"],
        programs=on_02("exec yes"),
        files=FILES,
        machines=PAIR,
        within=45,
    ),
    Fault("lspci hangs on one", SSH, 3, ["lspci did not answer within 2 s"], programs=on_02(SLEEPS, "lspci"), files=FILES, machines=PAIR),
    Fault(
        "lspci, nvidia-smi, dcgmi and dmesg hang on one",
        SSH,
        1,
        ["gpu-hung", "lspci did not answer", "dcgmi did not answer", "dmesg did not answer"],
        programs=SOUND | {name: on_02(SLEEPS, name)[name] for name in ("lspci", "nvidia-smi", "dcgmi", "dmesg")},
        files=FILES,
        machines=PAIR,
        within=16,
    ),
    Fault(
        "a login that hangs",
        f"{SSH} --timeout 5",
        3,
        ["gpu-02 did not answer within"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=login("gpu-02", "exec sleep 30"),
        within=13,
    ),
    Fault(
        "a login that prints without end",
        f"{SSH} --timeout 5",
        3,
        ["gpu-02"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=login("gpu-02", "exec yes"),
        within=13,
    ),
    Fault(
        "a connection that drops in the middle",
        SSH,
        3,
        ["gpu-02"],
        ["HEALTHY"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=login("gpu-02", "head -c 3200 | sh -s | head -c 400"),
    ),
    Fault(
        "a machine without sh",
        SSH,
        3,
        ["gpu-02 has no `sh`"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=login("gpu-02", "echo 'bash: line 1: sh: command not found' >&2; exit 127"),
    ),
    Fault(
        "an account that may not log in",
        SSH,
        3,
        ["This account is currently not available."],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=login("gpu-02", "echo 'This account is currently not available.'; exit 1"),
    ),
    Fault(
        "a machine that takes no key",
        SSH,
        3,
        ["gpu-02 takes none of the keys"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=block("Host gpu-02\n  PubkeyAuthentication no"),
    ),
    Fault(
        "a machine whose host key has changed",
        SSH,
        3,
        ["the host key of gpu-02 is not known"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=block("Host gpu-02\n  UserKnownHostsFile /dev/null"),
    ),
    Fault(
        "a jump host that nobody can resolve",
        SSH,
        3,
        ["gpu-02"],
        ["HEALTHY"],
        programs=SOUND,
        files=FILES,
        machines=PAIR,
        before=block("Host gpu-02\n  HostName no-such-host.invalid"),
    ),
    Fault(
        "ten of 64 machines hang",
        "run ./hangs.yaml --host gpu-[01-64] --via ssh --timeout 20",
        1,
        ["gpu-[01-10]", HUNG],
        programs=SOUND | {"nvidia-smi": f"{TEN}\n{SOUND['nvidia-smi']}"},
        files=FILES,
        machines=MANY,
        within=40,
    ),
    Fault(
        "ten of 64 logins hang",
        "run ./hangs.yaml --host gpu-[01-64] --via ssh --timeout 15",
        3,
        ["gpu-[01-10]", "did not answer within"],
        programs=SOUND,
        files=FILES,
        machines=MANY,
        within=25,
        before=lambda place: [login(name, "exec sleep 30")(place) for name in MANY[:10]] and None,
    ),
    # ---- in pods
    Fault("a sound machine through its pod", POD, 0, ["HEALTHY"], cluster=served(shell()[0]), files=FILES | shell()[1], before=runnable),
    Fault(
        "nvidia-smi hangs in the pod",
        POD,
        1,
        ["gpu-hung", HUNG],
        cluster=served(shell()[0]),
        files=FILES | shell(**{"nvidia-smi": "exec sleep 30"})[1],
        before=runnable,
        within=12,
    ),
    Fault(
        "nvidia-smi ignores SIGTERM in the pod",
        POD,
        1,
        ["gpu-hung", HUNG],
        cluster=served(shell()[0]),
        files=FILES | shell(**{"nvidia-smi": DEAF})[1],
        before=runnable,
        within=12,
    ),
    Fault(
        "the pod's exec stalls",
        f"{POD} --timeout 5",
        3,
        ["did not answer"],
        ["HEALTHY"],
        cluster=served(build.exec_answer("sh", "-s", stall=30)),
        files=FILES,
        within=13,
    ),
    Fault("the pod's exec ends at once", POD, 3, [], ["HEALTHY"], cluster=served(build.exec_answer("sh", "-s", exit=1)), files=FILES),
    Fault(
        "the pod has no shell, and nvidia-smi hangs",
        POD,
        1,
        ["gpu-hung", "did not answer within 2 s"],
        cluster=served(build.exec_answer("nvidia-smi", "-q", "-x", stall=30)),
        files=FILES,
        within=20,
    ),
    Fault(
        "the pod may not be entered",
        POD,
        3,
        ["forbidden"],
        ["HEALTHY"],
        cluster=served(faults=[{"match": "/exec", "status": 403}]),
        files=FILES,
    ),
    Fault(
        "a log of a job stalls",
        "nccl --pod train-0 -n ml --timeout 4",
        3,
        ["did not answer"],
        ["HEALTHY"],
        within=11,
        cluster=build.cluster([build.node("gpu-01"), build.pod("train-0", gpus=1, node="gpu-01")], faults=[{"match": "/log", "stall": 30}]),
    ),
    Fault(
        "all lists stall",
        "diagnose pod train-0 -n ml --timeout 4",
        3,
        ["did not answer"],
        ["HEALTHY"],
        within=11,
        cluster=build.cluster(
            [build.node("gpu-01"), build.pod("train-0", gpus=1, node="gpu-01")], faults=[{"match": "GET /api", "stall": 30}]
        ),
    ),
]
test_fault = tried(FAULTS)
