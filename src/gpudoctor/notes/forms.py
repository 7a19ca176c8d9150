"""How a note is recognised: a score for a text, 0 for "not this"."""

from __future__ import annotations

from gpudoctor.notes import said
from gpudoctor.tools.form import Form

FORMS: tuple[Form, ...] = (Form("notes.said", lambda text: said.score(text.lines, text.whole), embedded=True, beside=True),)
