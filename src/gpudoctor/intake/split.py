"""One pasted text may hold several outputs: it is cut at shell prompts, YAML document marks, Markdown fences, `==> file <==`, the rules of
nvidia-bug-report.sh, the marks of `kubectl cluster-info dump`, and where one JSON object ends. Logs are taken out of what exported them.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from gpudoctor.facts import Subject
from gpudoctor.intake import embedded_objects, hosts, log_envelopes, markup, nvidia_bug_report, recognise, side_by_side
from gpudoctor.intake.hints import Hint
from gpudoctor.patterns import regex
from gpudoctor.tools.job import forms as rank_forms
from gpudoctor.tools.parser import LINE

SECTIONS = 10_000  # of one source
NOBODY = Subject(kind="cluster")
# echo $NCCL_SOCKET_IFNAME  |  echo "${NCCL_IB_HCA}"  |  printenv NCCL_IB_HCA
ECHO = regex(r"""^(?:echo "?\$\{?|printenv )([A-Z][A-Z0-9_]{2,60})\}?"?$""")
# What has no output of its own; and a question to Prometheus, whose empty answer is one.
ANSWERS_WITH_NOTHING = regex(r"^(?:export|unset) |\bpromtool query instant\b")

ESCAPES = regex(r"\x1b(?:\[[0-9;?]{0,32}[@-~]|\][^\x07\x1b]{0,256}\x07?|[()][A-Z0-9])")
# The programs whose outputs are read. A `#` or `>` or nothing at all before one of them is a prompt; before any other word it is text.
PROGRAMS = (
    r"(?:sudo +)?(?:kubectl|oc|k|kubecolor|nvidia-smi|dmesg|journalctl|crictl|docker|helm|dcgmi|lspci|lsmod|systemctl"
    r"|scontrol|sinfo|squeue|sacct|sdiag|unmunge"
    r"|ibstat|ibstatus|ibv_devinfo|perfquery|ibqueryerrors|iblinkinfo|show_gids|mlxlink"
    r"|df|ps|uname|mokutil|numactl|modinfo|modprobe|ethtool|stern|nvidia-ctk|py-spy|ulimit"
    r"|cat|grep|zcat|tail|head"
    # while sleep 60; do nvidia-smi -q -d ECC; done
    r"|(?:while|until|for) [^;]{1,200}; ?do .{1,1000}; ?done)"
)
# admin@gpu-02:~$ kubectl get pods  |  [root@gpu-02 ~]# dmesg -T  |  root@pod:/# nvidia-smi  |  (base) me@host:~$ …
HOST_PROMPT = regex(
    r"^(?:\([\w.-]{1,40}\) )?\[?[\w.-]{1,64}@(?P<host>[\w.-]{1,255})(?:[: ][^$#%\n]{0,200})?\]?(?:[$#]|(?<!\d)%) ?(?P<command>\S.*)?$"
)
# gpu-02:~$ nvidia-smi  |  gpu-02:/data# nvidia-smi  |  gpu-02$ nvidia-smi  |  gpu-02 $ nvidia-smi      (a prompt without a user)
BARE_PROMPT = regex(
    rf"^(?P<host>[A-Za-z][\w.-]{{0,63}})(?::[~/][^\s$#:]{{0,100}}[$#] (?P<command>\S.*)| ?\$ (?P<known>{PROGRAMS}(?: .*)?))$"
)
# $ kubectl get pods  |  $  |  # dmesg | grep -i xid  |  + nvidia-smi -L  |  PS C:\> kubectl get pods
PROMPT = regex(rf"^(?:\$(?: (?P<any>\S.*))?|(?:[#%+❯➜>]|PS [A-Z]:\\[^>]{{0,200}}>) ?(?P<known>{PROGRAMS}(?: .*)?))$")
# kubectl exec train-0 -- nvidia-smi  |  /usr/bin/nvidia-smi --query      (a command with no prompt before it)
BARE = regex(
    r"^(?:sudo +)?(?:(?:kubectl|oc) (?:-n|--namespace|get|describe|logs|exec|events|top)\b.*"
    r"|(?:/\S{1,60}/)?nvidia-smi(?: (?:-|nvlink|topo|mig|dmon|pmon).*)?|dmesg(?: -.*| *\|.*)?)$"
)
# kubectl get ds -n kube-system nvidia-device-plugin -> DESIRED 0      (a command and its answer in one line of notes)
ANSWERED = regex(r" (?:->|=>|→) +\S")
# Output of `kubectl get pods -A`:  |  - [x] daemonsets: `kubectl get ds -A`
INLINE = regex(r"^[^`]{0,200}`(?P<command>[^`]{2,300})`[^`]{0,40}$")
# ==> /var/log/pods/train-0.log <==           (head and tail of several files)
FILE_MARK = regex(r"^==> (\S.{0,300}) <==$")
# ==== START logs for container main of pod ml/train-0 ====        (kubectl cluster-info dump)
DUMPED = regex(
    r"^==== (?:START logs for container (?P<container>[a-z0-9-]{1,63}) of pod (?P<namespace>[a-z0-9-]{1,63})/(?P<pod>[a-z0-9.-]{1,253})"
    r"|END logs for container .{1,400}) ====$"
)
DOCUMENT = regex(r"^---(?: +#.*)?$")
FENCE = regex(r"^ {0,3}(?:```+|~~~+)(?P<rest>.*)$")


class Section(msgspec.Struct, frozen=True):
    """One output: where it begins (line 1 = the first of the file), its text, and what is said to have printed it.

    `about` is what the text around it says of its origin; `numbers` are those of its lines in the file, where they aren't consecutive.
    """

    path: str
    line: int
    text: str
    command: str = ""
    about: Subject = NOBODY
    numbers: list[int] = []
    host: str = ""  # of the prompt before the command

    @property
    def lines(self) -> list[str]:
        """The lines as they are looked at: cut to `LINE`, without a carriage return."""
        return [line[:LINE].rstrip("\r") for line in self.text.split("\n")]


def clean(data: bytes) -> str:
    """Text without terminal escapes and carriage returns before line ends, with plain spaces; bytes that are not UTF-8 become U+FFFD."""
    text = data.decode("utf-8", "replace").replace("\u00a0", " ").replace("\r\n", "\n")
    return ESCAPES.sub("", text) if "\x1b" in text else text


def split(path: str, text: str) -> list[Section]:
    """The sections of one text, those that hold more than white space, in order; of what a shell is told to export, the command alone."""
    if is_one_json(text):
        return logs(Section(path, 1, text))
    whole = by_hosts([*_cut(path, markup.strip_markup(text).split("\n"))])
    cut = (
        section for one in whole for section in split_objects(one) if section.text.strip() or ANSWERS_WITH_NOTHING.search(section.command)
    )
    found = [section for section, _ in zip(cut, range(SECTIONS), strict=False)]
    if nvidia_bug_report.BEGINNING in text:
        found = bug_report_sections(found, nvidia_bug_report.host(text))
    return [log for section in found for log in logs(with_variable_name(section))]


def with_variable_name(section: Section) -> Section:
    """The value of one variable, which `echo $NAME` prints alone, with its name."""
    match = ECHO.match(section.command)
    if match and len(section.text) < LINE and len(section.text.split()) == 1:
        return msgspec.structs.replace(section, text=f"{match[1]}={section.text.strip()}")
    return section


def by_hosts(sections: list[Section]) -> Iterator[Section]:
    """The sections, those of several hosts cut by host; where prompts of several hosts stand in one text, each says whose its answer is."""
    several = hosts.names((one.host, one.command) for one in sections)
    for section in sections:
        parts = hosts.by_hosts(section.text, section.command)
        command = hosts.inner_command(section.command) if parts else section.command
        for at, lines, host in parts:
            about = Subject(kind="node", node=host) if host else section.about
            yield msgspec.structs.replace(section, line=section.line + at, text="\n".join(lines), command=command, about=about)
        if not parts and section.host in several and hosts.local(section.command):
            yield msgspec.structs.replace(section, about=Subject(kind="node", node=section.host))
        elif not parts:
            yield section


def split_objects(section: Section) -> Iterator[Section]:
    """The objects of the API in a section, and what stands before, between and behind them."""
    if len(section.text) > embedded_objects.LONGEST:
        yield section
        return
    if not ("kind:" in section.text or '"kind"' in section.text):
        yield from answers_apart(section)
        return
    lines = section.text.split("\n")
    for start, end, is_object in embedded_objects.split_at_objects(lines):
        command = section.command if is_object or not start or " logs " in section.command else ""
        yield msgspec.structs.replace(section, line=section.line + start, text="\n".join(lines[start:end]), command=command)


def answers_apart(section: Section) -> Iterator[Section]:
    """The tables and descriptions of a section; the command before the first says nothing of the others."""
    lines = section.text.split("\n")
    for start, end in side_by_side.table_runs(lines) if "\nNAME" in section.text or "\nName:" in section.text else [(0, len(lines))]:
        text = section.text if end - start == len(lines) else "\n".join(lines[start:end])
        yield msgspec.structs.replace(section, line=section.line + start, text=text, command="" if start else section.command)


def bug_report_sections(sections: list[Section], host: str) -> list[Section]:
    """The sections of a bug report: all are of one machine, and what is said twice is read once."""
    about = Subject(kind="node", node=host) if host else NOBODY
    again = nvidia_bug_report.repeated_sections([(section.command, section.text) for section in sections])
    return [msgspec.structs.replace(one, about=about) for index, one in enumerate(sections) if index not in again]


def logs(section: Section) -> list[Section]:
    """The streams of an exported log; any other section as it is, and what distributed jobs log, whose parser reads all ranks together."""
    made: list[Section] = []
    if section.text.lstrip()[:5] == "[pod/" and rank_forms.score((), section.text):
        return [section]
    for about, bare, stamped, numbers in log_envelopes.streams(section.text):
        # The times matter in a log. In an answer that a program printed into its log they would hide it.
        text = "\n".join(bare)
        if any(recognise.scans(one) for one in recognise.recognise(text, Hint())):
            text = "\n".join(stamped)
        about = section.about if about == NOBODY else about
        lines = [section.line + number - 1 for number in numbers]
        made.append(Section(section.path, section.line, text, section.command, about, lines))
    return made or [section]


def is_one_json(text: str) -> bool:
    """Whether the whole text is a JSON value by its first and last character; `[  12.3] NVRM …` is a kernel log."""
    bare = text.strip()
    if "\n}\n{\n" in text:  # one after the other
        return False
    ends = bare[:1] + bare[-1:]
    return ends == "{}" or (ends == "[]" and bare[1:].lstrip()[:1] in ("{", "["))


def _cut(path: str, lines: list[str]) -> Iterator[Section]:
    start, command, json, fenced, host = 0, "", False, False, ""
    wanted = True
    for index, raw in enumerate(lines):
        line = raw[:LINE].rstrip("\r ")
        if not line:
            continue
        if line == "{" and not any(lines[start:index]):
            json = True
        shown = shown_command(line)
        begins, closes = index + 1, json and line == "}"
        if shown is not None:
            after = shown, True
        elif line == nvidia_bug_report.RULE:
            head = nvidia_bug_report.head(lines, index)
            begins, after = head.start, (head.command, head.wanted)
        elif closes or DOCUMENT.match(line):
            # What follows `---` or a fence belongs to the same command: `$ kubectl get pod x -o yaml` before the fence of its output.
            after = command, wanted
        elif fence := FENCE.match(line):
            fenced = not fenced
            after = command if fenced else "", wanted
            if (rest := fence["rest"].strip()) and not markup.LANGUAGE.match(rest):
                lines[index], begins = rest, index  # the first line of the output stands beside the fence
                if (first := shown_command(rest)) is not None:
                    begins, after = index + 1, (first, True)
        else:
            continue
        if wanted:
            yield Section(path, start + 1, "\n".join(lines[start : index + 1 if closes else index]), command, host=host)
        start, (command, wanted), json = begins, after, False
        host = prompt_host(line) if shown is not None else host
    if wanted:
        yield Section(path, start + 1, "\n".join(lines[start:]), command, host=host)


def prompt_host(line: str) -> str:
    """The host that a prompt names, "" for none.

    >>> prompt_host("[root@gpu-02 ~]# dmesg"), prompt_host("gpu-02:~$ dmesg"), prompt_host("$ dmesg")
    ('gpu-02', 'gpu-02', '')
    """
    match = HOST_PROMPT.match(line) or BARE_PROMPT.match(line)
    return match["host"] if match else ""


def shown_command(line: str) -> str | None:
    """The command that a line shows; None where the line is no prompt.

    >>> shown_command("$ kubectl get pods"), shown_command("# dmesg | grep -i xid"), shown_command("# a heading")
    ('kubectl get pods', 'dmesg | grep -i xid', None)
    """
    if match := FILE_MARK.match(line):
        return f"cat {match.group(1)}"
    if match := DUMPED.match(line):
        return f"kubectl logs {match['pod']} -n {match['namespace']} -c {match['container']}" if match["pod"] else ""
    if match := HOST_PROMPT.match(line):
        return match.group("command") or ""
    if match := BARE_PROMPT.match(line):
        return match.group("command") or match.group("known") or ""
    if match := PROMPT.match(line):
        return match.group("any") or match.group("known") or ""
    if "`" in line and (match := INLINE.match(line)):
        return match["command"] if BARE.match(match["command"]) else None
    return line if BARE.match(line) and not ANSWERED.search(line) else nvidia_bug_report.log_command(line)
