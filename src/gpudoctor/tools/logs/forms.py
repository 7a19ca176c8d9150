"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from gpudoctor.patterns import regex
from gpudoctor.tools.common.xid_line import retold_xid_of, sxid_of, xid_of
from gpudoctor.tools.form import Form

# time="2026-…" level=…  |  I0624 22:58:05.4 1 main.go:1] …  |  2026/05/11 12:46:28 …  |  2026-11-17T12:08:33.9Z … |  {"level":"…
# [Dec 19 2024 19:17:49] [ERROR] [tid 1579] … (fabric manager)
LOG = regex(
    r'^(?:\[pod/\S{1,300}\] ?)?(?:time="|[IWEF]\d{4} \d\d:\d\d:\d\d|\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\{"(?:level|ts|time|msg)"|'
    r"[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,6})? |(?:INFO|WARN|ERROR|DEBUG|FATAL)\b|\[[A-Z][a-z]{2} +\d{1,2} \d{4} \d\d:\d\d)"
)


def of_log(lines: list[str], verb: str) -> int:
    """A log: a third of its lines begin like one, or it was printed by `kubectl logs`."""
    if verb in ("logs", "journalctl"):
        return 30
    matching = sum(LOG.match(line) is not None for line in lines)
    return 30 if matching and matching * 3 >= len([line for line in lines if line.strip()]) else 0


def of_errors(lines: list[str]) -> int:
    """Numbered errors of the driver, in whatever words."""
    return 20 if any(xid_of(line) or retold_xid_of(line) or sxid_of(line) for line in lines if "id" in line.lower()) else 0


FORMS: tuple[Form, ...] = (
    Form("logs.errors", lambda text: of_errors(text.lines), beside=True),
    Form("logs.text", lambda text: of_log(text.lines, text.verb), log=True),
)
