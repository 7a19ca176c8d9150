"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.tools.form import Form
from gpudoctor.tools.nccl import tests

HEAD = 1 << 20  # characters of a JSON text that are looked at; its keys come sorted, and `entries` before `pg_config`


def of_ras(lines: list[str], whole: str) -> int:
    """The text's own headings, or the JSON's own keys."""
    if whole[:HEAD].lstrip().startswith("{"):
        return 85 if '"communicators"' in whole[:HEAD] and '"nccl_version"' in whole[:HEAD] else 0
    return 75 if any(line.startswith("Communicators...") for line in lines) else 0


def of_tests(lines: Sequence[str]) -> int:
    """Tables of nccl-tests, alone or in a log."""
    return tests.score(lines)


FORMS: tuple[Form, ...] = (
    Form("collective.tests", lambda text: of_tests(text.lines), embedded=True, beside=True),
    Form("nccl.ras", lambda text: of_ras(text.lines, text.whole), in_logs=True),
)
