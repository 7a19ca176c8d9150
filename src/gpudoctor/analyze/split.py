"""One pasted text may hold several outputs: it is cut at shell prompts, YAML document marks, markdown fences and `==> file <==`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpudoctor.parsers import LINE

SECTIONS = 10_000  # of one source

ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]{0,32}[@-~]|\][^\x07\x1b]{0,256}\x07?|[()][A-Z0-9])")
# The programs whose outputs are read. A `#` or `>` or nothing at all before one of them is a prompt; before any other word it is text.
PROGRAMS = (
    r"(?:sudo +)?(?:kubectl|oc|k|kubecolor|nvidia-smi|dmesg|journalctl|crictl|docker|helm|dcgmi|lspci|lsmod|systemctl"
    r"|ibstat|ibstatus|ibv_devinfo|perfquery|ibqueryerrors|iblinkinfo|show_gids|mlxlink"
    r"|cat|grep|zcat|tail|head)"
)
# admin@gpu-02:~$ kubectl get pods  |  [root@gpu-02 ~]# dmesg -T  |  root@pod:/# nvidia-smi  |  (base) me@host:~$ …
HOST_PROMPT = re.compile(r"^(?:\([\w.-]{1,40}\) )?\[?[\w.-]{1,64}@[\w.-]{1,255}(?:[: ][^$#%\n]{0,200})?\]?[$#%] ?(?P<command>\S.*)?$")
# $ kubectl get pods  |  # dmesg | grep -i xid  |  + nvidia-smi -L  |  PS C:\> kubectl get pods
PROMPT = re.compile(rf"^(?:\$ (?P<any>\S.*)|(?:[#%+❯➜>]|PS [A-Z]:\\[^>]{{0,200}}>) ?(?P<known>{PROGRAMS}(?: .*)?))$")
# kubectl exec train-0 -- nvidia-smi          (a command with no prompt before it)
BARE = re.compile(
    r"^(?:sudo +)?(?:(?:kubectl|oc) (?:-n|--namespace|get|describe|logs|exec|events|top)\b.*|nvidia-smi(?: -.*)?|dmesg(?: -.*| *\|.*)?)$"
)
# ==> /var/log/pods/train-0.log <==           (head and tail of several files)
FILE_MARK = re.compile(r"^==> (\S.{0,300}) <==$")
DOCUMENT = re.compile(r"^---(?: +#.*)?$")
FENCE = re.compile(r"^ {0,3}(?:```|~~~)")


class Section(msgspec.Struct, frozen=True):
    """One output: where it begins (line 1 = the first of the file), its text, and what is said to have printed it."""

    path: str
    line: int
    text: str
    command: str = ""

    @property
    def lines(self) -> list[str]:
        """The lines as they are looked at: cut to `LINE`, without a carriage return."""
        return [line[:LINE].rstrip("\r") for line in self.text.split("\n")]


def clean(data: bytes) -> str:
    """Text without terminal escapes, with plain spaces for the hard ones of web pages; bytes that are not UTF-8 become U+FFFD."""
    text = data.decode("utf-8", "replace").replace("\u00a0", " ")
    return ESCAPES.sub("", text) if "\x1b" in text else text


def split(path: str, text: str) -> list[Section]:
    """The sections of one text, those that hold more than white space, in order."""
    if is_one_json(text):
        return [Section(path, 1, text)]
    sections = (section for section in _cut(path, text.split("\n")) if section.text.strip())
    return [section for section, _ in zip(sections, range(SECTIONS), strict=False)]


def is_one_json(text: str) -> bool:
    """Whether the whole text is a JSON value by its first and last character; `[  12.3] NVRM …` is a kernel log."""
    bare = text.strip()
    ends = bare[:1] + bare[-1:]
    return ends == "{}" or (ends == "[]" and bare[1:].lstrip()[:1] in ("{", "["))


def _cut(path: str, lines: list[str]) -> Iterator[Section]:
    start, command = 0, ""
    for index, raw in enumerate(lines):
        line = raw[:LINE].rstrip("\r ")
        shown = shown_command(line) if line else None
        if shown is None and not (line and (DOCUMENT.match(line) or FENCE.match(line))):
            continue
        yield Section(path, start + 1, "\n".join(lines[start:index]), command)
        # What follows `---` or a fence belongs to the same command: `$ kubectl get pod x -o yaml` before the fence of its output.
        start, command = index + 1, command if shown is None else shown
    yield Section(path, start + 1, "\n".join(lines[start:]), command)


def shown_command(line: str) -> str | None:
    """The command that a line shows; None where the line is no prompt.

    >>> shown_command("$ kubectl get pods"), shown_command("# dmesg | grep -i xid"), shown_command("# a heading")
    ('kubectl get pods', 'dmesg | grep -i xid', None)
    """
    if match := FILE_MARK.match(line):
        return f"cat {match.group(1)}"
    if match := HOST_PROMPT.match(line):
        return match.group("command") or ""
    if match := PROMPT.match(line):
        return match.group("any") or match.group("known")
    return line if BARE.match(line) else None
