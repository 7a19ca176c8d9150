"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence

from gpudoctor.tools.form import Form
from gpudoctor.tools.torch import one_liners as said_forms
from gpudoctor.tools.torch.memory_reports import is_memory_line

HEAD = 1 << 20  # characters of a JSON text that are looked at; its keys come sorted, and `entries` before `pg_config`


def of_flight_recorder(whole: str) -> int:
    """One object with the operations of a rank, or only its process groups."""
    head = whole[:HEAD].lstrip()
    if not head.startswith("{"):
        return 0
    return 85 if '"pg_config"' in head or ('"entries"' in head and '"collective_seq_id"' in head) else 0


def of_memory(lines: Sequence[str]) -> int:
    """A line that tells how a program's memory on its GPU is divided."""
    return 22 if any(map(is_memory_line, lines)) else 0


FORMS: tuple[Form, ...] = (
    Form("program.answer", lambda text: said_forms.score(text.argv, text.whole), said_forms.facts),
    Form("torch.flight_recorder", lambda text: of_flight_recorder(text.whole)),
    Form("program.memory", lambda text: of_memory(text.lines), embedded=True, beside=True, among_lines=True),
)
