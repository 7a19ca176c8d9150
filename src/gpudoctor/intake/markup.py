"""What a chat, a forum or a web page puts around an output is taken off, line by line, so that the numbers of lines stay."""

from __future__ import annotations

import re

from gpudoctor.patterns import regex
from gpudoctor.tools.parser import LINE

# Tags of web pages; `<unknown>` and `<nvidia_smi_log>` are not.
TAG = regex(
    r"</?(?:pre|code|span|div|p|br|b|i|em|strong|a|details|summary|samp|kbd|table|tbody|tr|td|li|ul|ol|blockquote)"
    r"(?: [^<>]{0,300})?/?>",
    re.IGNORECASE,
)
ENTITY = regex(r"&(?:lt|gt|quot|amp|nbsp|apos|#\d{1,6}|#x[0-9a-fA-F]{1,5});")
XML = ("<?xml", "<!DOCTYPE nvidia", "<nvidia_smi_log")
FENCE = regex(r"^(?P<indent>[ \t]{0,32})(?P<marks>```+|~~~+)(?P<rest>.*)$")
QUOTE = regex(r"^(?:> ?){1,4}")
# ```console: the name of a language, and not the first line of the output
LANGUAGE = regex(r"^\{?\.?[A-Za-z][\w+-]{0,20}\}?$")
INDENT = 4  # spaces or more, after a blank line, are code in Markdown
# How an output begins, of which every line was indented. Parts of `nvidia-smi -q` and of YAML are indented by themselves.
BEGINS = regex(
    r"(?:NAME|NAMESPACE|LAST SEEN|Name:|apiVersion:|kind: [A-Z]|\+---|\| NVIDIA-SMI|==+NVSMI LOG|GPU \d+: |\[ *\d{1,9}\.\d{6}\]"
    r"|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d |\[?\d{4}-\d\d-\d\d[T ]\d\d:|[IWEF]\d{4} \d\d:|time=\"|NVRM: |\S{1,64}:\d+:\d+ \[\d+\] NCCL )"
)
# A prompt and a command, inside such a block.
COMMAND = regex(r"(?:[$#] |\S{1,64}@\S{1,255}[$#] )\S|(?:sudo )?(?:kubectl|oc|nvidia-smi|dmesg|journalctl)(?: |$)")
KEY = regex(r"^\s*(?:- )?[\w./-]+: *[|>]?[+-]?$")  # args: |


def strip_markup(text: str) -> str:
    """The text without the marks of HTML, of quotations and of indented code; what isn't marked comes back as it is."""
    if ("<" in text or "&" in text) and not text.lstrip()[:20].startswith(XML):
        text = strip_tags(text)
    if "\n>" in text or text.startswith(">"):
        text = "\n".join(strip_quotes(text.split("\n")))
    if "```" in text or "~~~" in text:
        text = "\n".join(strip_fences(text.split("\n")))
    return "\n".join(outdent_blocks(text.split("\n"))) if "\n" + " " * INDENT in text or text.startswith(" " * INDENT) else text


def strip_tags(text: str) -> str:
    """The text without the tags and the entities of HTML."""
    from html import unescape

    if TAG.search(text):
        return unescape(TAG.sub("", text))
    return ENTITY.sub(lambda match: unescape(match.group()), text)


def strip_quotes(lines: list[str]) -> list[str]:
    """Two or more lines that begin with `>` are a quotation; one alone may be a prompt."""
    quoted = [line.startswith(">") for line in lines]
    beside = [before or after for before, after in zip([False, *quoted], [*quoted[1:], False], strict=False)]
    return [QUOTE.sub("", line) if mine and near else line for line, mine, near in zip(lines, quoted, beside, strict=True)]


def strip_fences(lines: list[str]) -> list[str]:
    """Fences at the margin, with what they fence: in a list both are indented. What stands beside a closing fence stays."""
    made: list[str] = []
    indent: int | None = None  # of the open fence
    for line in lines:
        match = FENCE.match(line[:LINE])
        if match:
            indent = None if indent is not None else len(match["indent"])
            rest = match["rest"].strip()
            made.append(match["marks"] if LANGUAGE.match(rest) else match["marks"] + rest)
            if rest.endswith(match["marks"]):  # ```kubectl get pods```
                made[-1], indent = rest.removesuffix(match["marks"]), None
            continue
        if indent is not None:
            space = len(line) - len(line.lstrip(" "))
            line = line[min(indent, space) :]
            if line.endswith("```"):  # ``` at the end of the last line, as chats put it
                line, indent = line.rstrip("`"), None
        made.append(line)
    return made


def outdent_blocks(lines: list[str]) -> list[str]:
    """Blocks of indented lines after a blank one that begin as an output does, at the margin."""
    made = list(lines)
    index, before = 0, ""
    while index < len(lines):
        if not lines[index].startswith(" " * INDENT) or (index and lines[index - 1].strip()):
            before = lines[index] if lines[index].strip() else before
            index += 1
            continue
        end = index
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * INDENT)):
            end += 1
        space = min((len(line) - len(line.lstrip(" ")) for line in lines[index:end] if line.strip()), default=0)
        first = lines[index][space : space + 400]
        if not KEY.match(before[:400]) and (BEGINS.match(first) or COMMAND.match(first)):
            made[index:end] = [line[space:] for line in lines[index:end]]
        before, index = lines[end - 1], end
    return made
