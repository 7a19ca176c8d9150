"""The commands that a step may run: known programs with options that only read. Everything else is refused.

It is a list of what is allowed, not of what is forbidden: an option that a new version brings is refused until somebody has read what it
does.
"""

from __future__ import annotations

import re

from gpudoctor.knowledge import proxy_paths
from gpudoctor.patterns import regex

# kubectl verbs that only read. `exec` is allowed with a command that is itself on this list.
KUBECTL = frozenset({"get", "logs", "exec", "version"})
# -w, --watch=true, -f, -Aw: they never end
ENDLESS = regex(r"(?:-[AR]*[wf]|--watch|--watch-only|--follow)(?:=|\Z)")
TAKE_A_VALUE = frozenset(
    {"-n", "--namespace", "-l", "--selector", "--field-selector", "-o", "--output", "-L", "--label-columns", "--sort-by"}
)


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# program, or program and subcommand → options; with "=" those that take a value. nvidia-smi(1), dmesg(1).
OPTIONS: dict[str, frozenset[str]] = {
    "nvidia-smi": word_set(
        "-L --list-gpus -B --list-excluded-gpus -q --query -x --xml-format -u --unit -d= --display= -i= --id= --format= --version"
        " --query-gpu= --query-compute-apps= --query-accounted-apps= --query-retired-pages= --query-remapped-rows="
    ),
    "nvidia-smi topo": word_set("-m --matrix -mp --matrix_pci -p2p= --p2p_status= -p= --path= -i= --id="),
    "nvidia-smi nvlink": word_set(
        "-s --status -c --capabilities -e --errorcounters -p --pcibusid -R --remotelinkinfo -i= --id= -l= --link="
    ),
    "nvidia-smi mig": word_set("-lgip --list-gpu-instance-profiles -lgi --list-gpu-instances -lci --list-compute-instances -i= --id="),
    "dmesg": word_set(
        "--time-format= -T --ctime -t --notime -k --kernel -u --userspace -x --decode -r --raw -P --nopager"
        " -l= --level= -f= --facility= --since= --until="
    ),
    "uname": word_set("-a --all -r --kernel-release -v --kernel-version -m --machine -n --nodename -s --kernel-name"),
    "env": frozenset(),
    "lspci": word_set("-D -k -n -nn -m -mm -v -vv -vvv -d= -s="),
    "journalctl": word_set(
        "-k --dmesg -b= --boot= -o= --output= -S= --since= -U= --until= -n= --lines= -u= --unit= -q --quiet --no-pager --utc"
    ),
    "systemctl show": word_set("-p= --property= --no-pager"),
    "tail": word_set("-c= -n="),
    "chronyc tracking": frozenset(),
    "dcgmi discovery": word_set("-l --list -c --compute-hierarchy -i= --info= -v --verbose --host="),
    "dcgmi health": word_set("-c --check -f --fetch -g= --group= -j --json --host="),  # -s arms watches, --clear forgets
    "dcgmi dmon": word_set("-e= --field-id= -d= --delay= -c= --count= -i= --entity-id= -g= --group-id= -l --list --host="),
    "dcgmi policy": word_set("--get -g= --group= -j --json -v --verbose --host="),
    "dcgmi stats": word_set("-p= --pid= -j= --job= -v --verbose -g= --group= --host="),  # -e, -d, -s, -x, -r, -a change what is watched
    "dcgmi nvlink": word_set("-s --link-status -e --errors -g= --gpuid= -j --json --host="),
    "dcgmi modules": word_set("-l --list -j --json --host="),
    # perfquery -r and -R, ibqueryerrors -k and -K reset counters for everybody
    "ibstat": word_set("-l --list_of_cas -s --short -p --port_list"),
    "ibstatus": frozenset(),
    "perfquery": word_set("-x --extended -C= --Ca= -P= --Port= -a --all_ports -l --loop_ports"),
    "ibqueryerrors": word_set("--details --data --report-port -r --switch --ca -C= --Ca= -P= --Port= -t= --timeout="),
    "iblinkinfo": word_set("-l --line -d --down -C= --Ca= -P= --Port= -t= --timeout="),
    "sminfo": word_set("-C= --Ca= -P= --Port="),
    "ibv_devinfo": word_set("-v --verbose -d= --ib-dev= -i= --ib-port= -l --list"),
    "show_gids": frozenset(),
    "rdma": frozenset(),
    "mlxlink": word_set("-d= --device= -c --show_counters -m --show_module -e --show_eye"),
    "ip": word_set("-j -s -d"),
    "grep": word_set("-R -s -v -z -E -e= --exclude-dir="),
    "df": word_set("-k -h -P -i -Pi"),
    "ps": word_set("-eo"),  # the names of programs; their arguments may hold secrets
    "nvidia-imex-ctl": word_set("-N -H -q -j"),  # the domain's nodes, the hosts' names, one word, JSON
    "ncclras": word_set("-v --verbose -h= --host= -p= --port= -f= --format= -t= --timeout="),  # -m never ends
    "py-spy dump": word_set("-p= --pid= -n --nonblocking"),
    # scontrol update, reboot, reconfigure … change the cluster
    "scontrol show": word_set("-o --oneliner -d --details --json"),
    "scontrol ping": frozenset(),
    "sinfo": word_set(
        "-R --list-reasons -N --Node -l --long -s --summarize -a --all -h --noheader -o= --format= -O= -n= --nodes= -p= -t= --json"
    ),
    "squeue": word_set(
        "-a --all -h --noheader -l --long -r --array --start -o= --format= -O= -j= --jobs= -u= --user= -p= -t= --states= -w= --nodelist="
        " --me --json"
    ),
    "sacct": word_set(
        "-a --allusers -X --allocations -P --parsable2 -p --parsable -n --noheader -l --long -o= --format= -j= --jobs= -S= --starttime="
        " -E= --endtime= -s= --state= -N= --nodelist= -u= --user="
    ),
    "sdiag": frozenset(),
    "slurmd -C": frozenset(),  # what it detects; without either it would start
    "slurmd -G": frozenset(),
    "nvml": frozenset(),  # NVML on this machine, in a child process
    "promql": frozenset(),  # a query of a Prometheus, and what it scrapes
    "ask": frozenset(),  # a question to the person who guides
}
# With `effect: disruptive` and consent only.
DISRUPTIVE: dict[str, frozenset[str]] = {
    "dcgmi diag": word_set("-r= --run= -g= --group= -i= --entity-id= -j --json --iterations= --fail-early --ignoreErrorCodes= --host="),
}
# program, or program and subcommand → what an argument that is no option may be; without an entry there is none.
OPERANDS: dict[str, re.Pattern[str]] = {
    "systemctl show": regex(r"[A-Za-z0-9@._-]{1,128}\Z"),
    "tail": regex(r"/var/log/(?:fabricmanager|(?:slurm/)?slurm(?:d|ctld|dbd)|munge/munged)\.log\Z"),
    "perfquery": regex(r"\d{1,5}\Z|0x[0-9a-f]{1,16}\Z"),
    "rdma": regex(r"link\Z|show\Z"),
    "ip": regex(r"(?:addr|link|show)\Z"),
    "grep": regex(
        r"/sys/class/infiniband/\Z|/proc/(?:\d{1,10}|\$\{[^}]*\})/environ\Z|/var/lib/kubelet/config\.yaml\Z"
        r"|(?:/etc|/var/lib/rancher/(?:k3s|rke2)/agent/etc)/containerd/config\.toml\Z"
    ),
    # scontrol show node gpu-[01-16]  |  scontrol show job 4242_7
    "scontrol show": regex(r"(?:node|nodes|job|jobs|partition|config|step|reservation)\Z|[\w.,\[\]-]{1,4000}\Z|\$\{"),
    "ps": regex(r"(?:(?:state|pid|ppid|etimes|wchan:32|comm),?)+\Z"),
    "df": regex(r"/dev/shm\Z"),  # noqa: S108  looked at, never written
    "nvml": regex(r"gpus\Z|samples\Z|[0-9.]{1,12}\Z|\$\{"),
    "promql": regex(r"(?s).{1,2000}\Z"),
    "ask": regex(r"(?s).{1,2000}\Z"),
}
# Where `cat` and `ls` may look: never a secret, never a home, and no device is read.
PATHS: dict[str, tuple[str, ...]] = {
    "cat": (
        "/proc/driver/nvidia",
        "/proc/devices",
        "/proc/modules",
        "/proc/net/dev",
        "/etc/nccl.conf",
        "/etc/slurm/slurm.conf",  # not the folder: slurmdbd.conf has a password
        "/etc/slurm/gres.conf",
        "/sys/module/nvidia",
        "/run/nvidia/",
        "/etc/nvidia-container-runtime/",
    ),
}
PATHS["ls"] = (*PATHS["cat"], "/dev/")
# The variables of a running job that may leave its machine: those by which it communicates, and the launcher's numbers.
OF_JOB = (
    "^((NCCL|TORCH_NCCL|TORCH_FR|TORCH_DISTRIBUTED|GLOO|UCX|FI|OFI_NCCL|SHARP_COLL|MASTER|CUDA)_"
    "|(TP_SOCKET_IFNAME|RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|SLURM_PROCID|SLURM_JOB_ID|OMPI_COMM_WORLD_RANK)=)"
)
# The lines of containerd's configuration that name runtimes, and those of the kubelet's that concern GPUs: other lines may hold a password.
OF_RUNTIME = r"^ *\[|^ *(version|imports|disabled_plugins|default_runtime_name|SystemdCgroup|BinaryName|enable_cdi) *="
OF_KUBELET = "^(kind|cgroupDriver|cpuManagerPolicy|topologyManagerPolicy): "
OF_PROCESS = regex(r"/proc/(?:\d{1,10}|\$\{[^}]*\})/(?:cgroup|comm|status|limits)\Z")


def refusal(argv: list[str], *, disruptive: bool = False) -> str:
    """Why a command may not run, "" when it may. An element that is still a template (`${…}`) is taken for a value.

    A `disruptive` one is a command that disturbs running work: its step says so, and nothing runs it without consent.

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
    if any(argument.endswith("/environ") for argument in rest) and rest[:-1] != ["-z", "-E", "-e", OF_JOB]:
        return "of a process' environment only the variables of a distributed job may be read: grep -z -E -e allowed.OF_JOB"
    for name, pattern in (("/containerd/config.toml", OF_RUNTIME), ("/kubelet/config.yaml", OF_KUBELET)):
        if any(argument.endswith(name) for argument in rest) and rest[:-1] != ["-E", "-e", pattern]:
            return f"of {rest[-1]} only some lines may be read: grep -E -e and a pattern of allowed.py"
    if rest and f"{program} {rest[0]}" in {**OPTIONS, **DISRUPTIVE}:
        program, rest = f"{program} {rest[0]}", rest[1:]
    if disruptive and program in DISRUPTIVE:
        return options(program, rest, DISRUPTIVE[program])
    if program not in OPTIONS:
        return f"the program '{program}' is not on the list of read-only commands"
    return options(program, rest, OPTIONS[program])


def options(program: str, rest: list[str], known: frozenset[str]) -> str:
    """Why a program may not have these arguments: each must be an option that only reads, the value of one, or a known operand."""
    value = False
    operand = OPERANDS.get(program)
    for argument in rest:
        if value and not argument.startswith("-"):
            value = False
            continue
        if operand and not argument.startswith("-") and operand.match(argument):
            continue
        name, equals, _ = argument.partition("=")
        value = not equals and f"{name}=" in known
        if not (value or (name if not equals else f"{name}=") in known):
            return f"'{program} {argument}' is not on the list of options that only read"
    return ""


def paths(program: str, rest: list[str]) -> str:
    """Why `cat` or `ls` may not read its arguments."""
    files = [argument for argument in rest if not argument.startswith("-")]
    for path in files:
        if ".." in path or not (f"{path}/".startswith(PATHS[program]) or OF_PROCESS.match(path)):
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
        path = rest[-1].removeprefix("--raw=")
        fits = (
            rest[0] == "get" and len(rest) == (2 if "=" in rest[1] else 3) and rest[1].startswith("--raw") and proxy_paths.is_allowed(path)
        )
        return "" if fits else "'kubectl get --raw' takes only paths of knowledge/proxy_paths.py: name the resource"
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
