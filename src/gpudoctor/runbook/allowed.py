"""The commands that a step may run: known programs with options that only read. Everything else is refused.

It is a list of what is allowed, not of what is forbidden: an option that a new version brings is refused until somebody has read what it
does.
"""

from __future__ import annotations

import re

# kubectl verbs that only read. `exec` is allowed with a command that is itself on this list.
KUBECTL = frozenset({"get", "logs", "exec", "version"})
# -w, --watch=true, -f, -Aw: they never end
ENDLESS = re.compile(r"(?:-[AR]*[wf]|--watch|--watch-only|--follow)(?:=|\Z)")
TAKE_A_VALUE = frozenset(
    {"-n", "--namespace", "-l", "--selector", "--field-selector", "-o", "--output", "-L", "--label-columns", "--sort-by"}
)


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# program, or program and subcommand → options; with "=" those that take a value. nvidia-smi(1), dmesg(1).
OPTIONS: dict[str, frozenset[str]] = {
    "nvidia-smi": words(
        "-L --list-gpus -B --list-excluded-gpus -q --query -x --xml-format -u --unit -d= --display= -i= --id= --format= --version"
        " --query-gpu= --query-compute-apps= --query-accounted-apps= --query-retired-pages= --query-remapped-rows="
    ),
    "nvidia-smi topo": words("-m --matrix -mp --matrix_pci -p2p= --p2p_status= -p= --path= -i= --id="),
    "nvidia-smi nvlink": words("-s --status -c --capabilities -e --errorcounters -p --pcibusid -R --remotelinkinfo -i= --id= -l= --link="),
    "nvidia-smi mig": words("-lgip --list-gpu-instance-profiles -lgi --list-gpu-instances -lci --list-compute-instances -i= --id="),
    "dmesg": words(
        "--time-format= -T --ctime -t --notime -k --kernel -u --userspace -x --decode -r --raw -P --nopager"
        " -l= --level= -f= --facility= --since= --until="
    ),
    "uname": words("-a --all -r --kernel-release -v --kernel-version -m --machine -n --nodename -s --kernel-name"),
    "env": frozenset(),
}
# Where `cat` and `ls` may look: never a secret, never a home, and no device is read.
PATHS: dict[str, tuple[str, ...]] = {
    "cat": (
        "/proc/driver/nvidia",
        "/proc/devices",
        "/proc/modules",
        "/sys/module/nvidia",
        "/run/nvidia/",
        "/etc/nvidia-container-runtime/",
    ),
}
PATHS["ls"] = (*PATHS["cat"], "/dev/")


def refusal(argv: list[str]) -> str:
    """Why a command may not run, "" when it may. An element that is still a template (`${…}`) is taken for a value.

    >>> refusal(["nvidia-smi", "-L"]), refusal(["rm", "-rf", "/"])
    ('', "the program 'rm' is not on the list of read-only commands")
    """
    if not argv:
        return "the command is empty"
    program, rest = argv[0], argv[1:]
    if program == "kubectl":
        return kubectl(rest)
    if program in PATHS:
        return paths(program, rest)
    if rest and f"{program} {rest[0]}" in OPTIONS:
        program, rest = f"{program} {rest[0]}", rest[1:]
    if program not in OPTIONS:
        return f"the program '{program}' is not on the list of read-only commands"
    return options(program, rest)


def options(program: str, rest: list[str]) -> str:
    """Why a program may not have these arguments: each must be an option that only reads, or the value of one."""
    value = False
    for argument in rest:
        if value and not argument.startswith("-"):
            value = False
            continue
        name, equals, _ = argument.partition("=")
        value = not equals and f"{name}=" in OPTIONS[program]
        if not (value or (name if not equals else f"{name}=") in OPTIONS[program]):
            return f"'{program} {argument}' is not on the list of options that only read"
    return ""


def paths(program: str, rest: list[str]) -> str:
    """Why `cat` or `ls` may not read its arguments."""
    files = [argument for argument in rest if not argument.startswith("-")]
    for path in files:
        if not f"{path}/".startswith(PATHS[program]) or ".." in path:
            return f"'{program}' may not read {path}"
    return "" if files else f"'{program}' needs a path"


def kubectl(rest: list[str]) -> str:
    """Why a kubectl command may not run."""
    if not rest or rest[0] not in KUBECTL:
        return f"'kubectl {rest[0] if rest else ''}' is not a verb that only reads"
    if rest[0] == "exec":
        if "--" not in rest:
            return "'kubectl exec' needs '--' before its command"
        return refusal(rest[rest.index("--") + 1 :])
    if any(ENDLESS.match(argument) for argument in rest):
        return "a command that never ends is not allowed"
    if any(argument.startswith("--raw") for argument in rest):
        return "'kubectl get --raw' is not allowed: name the resource"
    if rest[0] == "get" and any(resource in ("secret", "secrets") for resource in resources(rest[1:])):
        return "secrets are never read"
    return ""


def resources(rest: list[str]) -> list[str]:
    """The resources that `kubectl get` would read.

    >>> resources(["-n", "secrets", "pods,Secrets.v1.", "secret"]), resources(["pod/a", "secret/b"])
    (['pods', 'secrets'], ['pod', 'secret'])
    """
    words = [
        word.lower() for before, word in zip(["", *rest], rest, strict=False) if not word.startswith("-") and before not in TAKE_A_VALUE
    ]
    kinds = [word for word in words if "/" in word] or words[:1]
    return [re.split(r"[/.]", kind)[0] for word in kinds for kind in word.split(",")]
