"""How a program gives up: the exception, the panic or the crash that its log ends with.

It says what to look for where no known message stands, and it keeps a log in which only strangers complain from being called healthy.
"""

from __future__ import annotations

from gpudoctor.facts import Origin, Subject
from gpudoctor.facts.program import Ending
from gpudoctor.patterns import regex
from gpudoctor.probes.base import Output

END = 64 << 10  # characters of a log's end that are looked at
LONGEST = 300  # characters of the line that are kept
# 2026-03-01T12:00:00.1Z …  |  2026-03-01 12:00:00,123 …  |  [pod/train-0/main] …  |  [rank3]: …  |  (Worker pid=81) …
BEFORE = regex(
    r"(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d\S{0,12}\]? ?|\[[\w./-]{1,300}\]:? ?|\(\w{1,40} pid=\d{1,9}[^)]{0,80}\) ?){0,3}"
)
GIVES_UP = (
    regex(r"(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)(?:: .|$)"),  # ValueError: host not found
    regex(r"Exception in thread "),  # Exception in thread "main" java.lang.IllegalStateException
    regex(r"panic: |fatal error: [a-z]|thread '[^']{1,60}' panicked at "),  # panic: runtime error: index out of range [3]
    regex(r"Fatal Python error: |terminate called (?:after|without) |.{0,80}\bSegmentation fault\b|.{0,80}\(core dumped\)"),
    regex(r"F\d{4} \d\d:\d\d:\d\d\.\d{6} "),  # F0301 12:00:00.000000  1 main.go:70] … (klog)
    regex(r'.{0,120}(?:\blevel=fatal\b|"level": ?"fatal")'),  # time="…" level=fatal msg="…"
)
# Without its stack, an exception in the middle of a log was caught, or is told for information.
TRACE = "Traceback (most recent call last)"


def last_ending(output: Output, about: Subject) -> list[Ending]:
    """The last line that gives up, if one does. An exception counts where its stack is printed too, or the log ends with it."""
    text = output.text
    lines = text[-END:].split("\n")
    first = text.count("\n") + 1 - len(lines)
    traced = TRACE in text[-END:]
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number].strip()
        said = line[BEFORE.match(line).end() :]  # type: ignore[union-attr]
        kind = next((kind for kind, form in enumerate(GIVES_UP) if form.match(said)), None)
        if kind is None or (kind == 0 and not traced and any(map(str.strip, lines[number + 1 :]))):
            continue
        return [
            Ending(
                said=said[:LONGEST],
                namespace=about.namespace,
                pod=about.pod,
                container=about.container,
                node=about.node,
                component=about.component,
                origin=Origin(output.origin_name(), first + number + 1, line[:LONGEST]),
            )
        ]
    return []
