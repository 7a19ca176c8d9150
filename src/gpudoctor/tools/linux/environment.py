"""Environment variables → settings: `env`, /proc/PID/environ, shell and batch scripts, `-e NAME=value`, manifests, nccl.conf.

What NCCL itself logs of its variables is read with the rest of its log. Only variables by which a job communicates are kept, and of those
no value that looks like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.facts.job import Setting
from gpudoctor.knowledge import nccl_settings
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.setting import HIDDEN, RANKS, printable_value, setting
from gpudoctor.tools.parser import LINE

MOST = 500  # variables of one text
NAME = r"(?P<name>[A-Z][A-Z0-9_]{2,100})"
QUOTED = r"""(?:"(?P<double>[^"\n]{0,1000})"|'(?P<single>[^'\n]{0,1000})'|(?P<bare>[^\s"';#]{0,1000}))"""
# export NCCL_DEBUG=INFO NCCL_NET=IB  |  + NCCL_DEBUG=INFO python …  |  cd /job && export NCCL_DEBUG=INFO  |  declare -x NCCL_DEBUG="INFO"
COMMAND = regex(r"(?:^|&&|;)\s{0,40}(?:[+$>] )?(?:(?:sudo|env|export|declare -x)\s+){0,3}(?=[A-Z][A-Z0-9_]{2,100}=)")
ASSIGNED = regex(rf"{NAME}={QUOTED}[;\s]*")
# docker run -e NCCL_DEBUG=INFO  |  mpirun -x NCCL_DEBUG=INFO  |  --env=NCCL_DEBUG=INFO  |  srun --export=ALL,NCCL_DEBUG=INFO
OPTION = regex(rf"""\s(?:-e|-x|--env|--export)[ =]["']?(?:[\w,.:/-]{{1,200}},)?{NAME}={QUOTED}""")
# NCCL_SOCKET_IFNAME==ens1f0                  (/etc/nccl.conf and env: everything behind the first = is the value)
PLAIN = regex(rf"^{NAME}=(?P<bare>.{{0,1000}})$")
# setenv NCCL_DEBUG INFO  |  ENV NCCL_DEBUG INFO  |  NCCL_DEBUG: "INFO"  |  os.environ["NCCL_DEBUG"] = "INFO"
SPOKEN = regex(
    rf"""^\s{{0,40}}(?:(?:setenv|ENV)\s+{NAME}\s+|(?:os\.environ\[["']){NAME.replace("name", "python")}["']\]\s{{0,4}}=\s{{0,4}}|"""
    rf"""["']?{NAME.replace("name", "key")}["']?:\s{{1,8}}){QUOTED}"""
)
# - name: NCCL_DEBUG            and on the next line            value: "INFO"
MANIFEST_NAME = regex(rf"""^\s{{0,80}}(?:- )?["']?name["']?:\s{{0,8}}["']?{NAME}["']?,?\s*$""")
MANIFEST_VALUE = regex(rf"""^\s{{0,80}}["']?value["']?:\s{{0,8}}{QUOTED}""")
# {"name":"NCCL_DEBUG","value":"INFO"}  |  {name: NCCL_DEBUG, value: INFO}
OBJECT = regex(rf"""["']?name["']?: ?["']?{NAME}["']?, ?["']?value["']?: ?{QUOTED.replace(";#", ";#}")}""")
# NCCL's own file holds all that it sets; of an environment that somebody has searched, his host's name shows that the search found it
FILTERED = regex(r"^HOSTNAME=[\w.-]{1,253}$", re.MULTILINE)
WHOLE = 3  # of the variables that every process has; a text that sets so many is an environment and no script
EVERYWHERE = regex(r"^(?:PATH|HOME|PWD|HOSTNAME|USER|LANG|SHLVL|TERM|SHELL|_|KUBERNETES_SERVICE_HOST|KUBERNETES_PORT)=", re.MULTILINE)
RANK = regex(rf"^(?:{'|'.join(RANKS)})=(\d{{1,7}})$", re.MULTILINE)
PID = regex(r"/proc/(\d{1,10})/environ")
# echo $NCCL_DEBUG  |  echo ${NCCL_DEBUG}  |  printenv NCCL_DEBUG
ASKED = regex(rf"(?:echo \$\{{?|printenv ){NAME}\}}?$")


def settings(output: Output, about: Subject) -> Facts:
    """One Setting for each variable that the text sets; of several assignments the last."""
    text = output.text.replace("\0", "\n").replace("\r\n", "\n")
    rank, pid = RANK.search(text), PID.search(output.origin_name())
    file = any(word.endswith("nccl.conf") for word in (*output.command.argv[-1:], output.source))
    whole = pid is not None or file or FILTERED.search(text) is not None or len(EVERYWHERE.findall(text)) >= WHOLE
    found: dict[str, Setting] = {}
    for number, line, name, value in [*printed_variables(output.command.argv, text), *variables(text)]:
        if name not in found and len(found) >= MOST:
            continue
        found[name] = setting(
            name,
            value,
            node=about.node,
            namespace=about.namespace,
            pod=about.pod,
            container=about.container,
            rank=int(rank[1]) if rank else None,
            pid=int(pid[1]) if pid else None,
            whole=whole,
            origin=Origin(output.origin_name(), number, line if value == printable_value(name, value) else f"{name}={HIDDEN}"),
        )
    return {"settings": list(found.values())}


def printed_variables(argv: Sequence[str], text: str) -> Iterator[tuple[int, str, str, str]]:
    """The same of the answer to a command that prints one variable; of a path often a line for each folder (`| tr : '\\n'`).

    >>> [*printed_variables(["echo", "$LD_LIBRARY_PATH"], "/usr/local/cuda/compat\\n/usr/lib\\n")]
    [(1, '/usr/local/cuda/compat', 'LD_LIBRARY_PATH', '/usr/local/cuda/compat:/usr/lib')]
    """
    match = ASKED.match(" ".join(argv))
    rows = [(number, line.strip()) for number, line in enumerate(text[:LINE].split("\n"), 1) if line.strip()]
    if match and rows and nccl_settings.is_job_setting(match["name"]) and (len(rows) == 1 or all(line.startswith("/") for _, line in rows)):
        yield (*rows[0], match["name"], ":".join(line for _, line in rows))


def variables(text: str) -> Iterator[tuple[int, str, str, str]]:
    """Line number, line, name and value of each assignment to a variable of ours. A value made of other variables isn't known."""
    waiting = ""  # name of a manifest's variable whose value comes with the next line
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw[:LINE].strip("\r \t")
        if not line or line.startswith(("#", "//")):
            continue
        named, waiting = waiting, ""
        if match := MANIFEST_NAME.match(line):
            waiting = match["name"]
            continue
        pairs = [(named, value_of(match))] if named and (match := MANIFEST_VALUE.match(line)) else list(line_assignments(line))
        for name, value in pairs:
            if "$" not in value and "`" not in value and nccl_settings.is_job_setting(name):
                yield number, line, name, value.strip()


def line_assignments(line: str) -> Iterator[tuple[str, str]]:
    """The assignments of one line, in whichever notation. What a sentence advises (`you can set NCCL_IGNORE_DISABLED_P2P=1`) is none."""
    if match := PLAIN.match(line):
        bare = match["bare"]
        # NCCL_DEBUG=INFO NCCL_NET=IB python train.py is a command; a value with quotes is a shell's
        if not re.search(r"""["']|\s\S""", bare):
            yield match["name"], bare
            return
    if match := SPOKEN.match(line):
        yield match["name"] or match["python"] or match["key"], value_of(match)
        return
    for pair in OBJECT.finditer(line):
        yield pair["name"], value_of(pair)
    for command in COMMAND.finditer(line):
        at = command.end()
        while match := ASSIGNED.match(line, at):
            yield match["name"], value_of(match)
            at = match.end()
    for match in OPTION.finditer(line):
        yield match["name"], value_of(match)


def value_of(match: re.Match[str]) -> str:
    """The value, without its quotes."""
    return next((match[kind] for kind in ("double", "single", "bare") if match[kind] is not None), "")
