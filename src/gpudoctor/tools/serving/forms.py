"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.serving import engine_load, measures

FORMS: tuple[Form, ...] = (
    Form("serving.load", lambda text: engine_load.score(text.lines), embedded=True, beside=True, among_lines=True),
    form("serving.measures", measures.READERS),
)
