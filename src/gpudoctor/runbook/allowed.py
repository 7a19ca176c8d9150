"""The programs that a step may run: read-only verbs of known tools. Everything else would need `effect: disruptive`, which is not there yet."""

from __future__ import annotations

# kubectl verbs that only read. `exec` is allowed with a command that is itself on this list.
KUBECTL = frozenset({"get", "logs", "exec", "version"})

# program → the options and words that make it change something; any of them refuses the command.
READ_ONLY: dict[str, frozenset[str]] = {
    "nvidia-smi": frozenset(
        {"-r", "--gpu-reset", "-pm", "--persistence-mode", "-pl", "--power-limit", "-lgc", "--lock-gpu-clocks", "-rgc", "--reset-gpu-clocks"}
        | {"-lmc", "--lock-memory-clocks", "-rmc", "-ac", "--applications-clocks", "-rac", "-e", "--ecc-config", "-p", "--reset-ecc-errors"}
        | {"-c", "--compute-mode", "-dm", "-fdm", "-am", "-caa", "-mig", "--multi-instance-gpu", "mig", "drain", "clocks", "boost-slider", "vgpu"}
        | {"conf-compute", "power-hint", "compute-policy", "gom", "--gom", "-acp", "--auto-boost-default", "-gtt", "-cc"}
    ),
    "dmesg": frozenset({"-C", "--clear", "-c", "--read-clear", "-D", "--console-off", "-E", "--console-on", "-n", "--console-level"}),
    "uname": frozenset(),
    "cat": frozenset(),
    "ls": frozenset(),
    "env": frozenset(),
}
# Where `cat` and `ls` may look: never a secret, never a home.
PATHS = ("/proc/driver/nvidia", "/proc/devices", "/proc/modules", "/sys/module/nvidia", "/dev", "/run/nvidia", "/etc/nvidia-container-runtime")


def refusal(argv: list[str]) -> str:
    """Why a command may not run, "" when it may.

    >>> refusal(["nvidia-smi", "-L"]), refusal(["rm", "-rf", "/"])
    ('', "the program 'rm' is not on the list of read-only commands")
    """
    if not argv:
        return "the command is empty"
    program, rest = argv[0], argv[1:]
    if program == "kubectl":
        return kubectl(rest)
    if program not in READ_ONLY:
        return f"the program '{program}' is not on the list of read-only commands"
    if program == "env" and rest:
        return "'env' may only print"
    for argument in rest:
        word = argument.split("=", 1)[0]
        if word in READ_ONLY[program] or argument[:2] in ("-r", "-C") and program == "nvidia-smi" and len(argument) > 2 and argument[2].isdigit():
            return f"'{program} {argument}' changes something"
        if program in ("cat", "ls") and not argument.startswith("-") and (not argument.startswith(PATHS) or ".." in argument):
            return f"'{program}' may not read {argument}"
    return ""


def kubectl(rest: list[str]) -> str:
    """Why a kubectl command may not run."""
    if not rest or rest[0] not in KUBECTL:
        return f"'kubectl {rest[0] if rest else ''}' is not a verb that only reads"
    verb = rest[0]
    if verb == "exec":
        if "--" not in rest:
            return "'kubectl exec' needs '--' before its command"
        return refusal(rest[rest.index("--") + 1 :])
    if verb == "get" and any(word.split("/")[0].lower() in ("secret", "secrets") for part in rest[1:] for word in part.split(",")):
        return "secrets are never read"
    if any(word in ("-w", "--watch", "-f", "--follow", "--watch-only") or word.startswith(("--watch=", "--follow=")) for word in rest):
        return "a command that never ends is not allowed"
    return ""
