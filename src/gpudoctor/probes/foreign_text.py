"""Words of others for our sentences: an error of a library, what a server or a credential plugin said. None carries a credential."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from gpudoctor.probes.redact import Redactor

SHOWN = 500  # characters of foreign words in a sentence
READ = 1 << 16  # characters that are looked at
WORD = 6  # characters of a credential that is hidden wherever it occurs; a shorter one only where it stands alone

_IN_USE: set[str] = set()


def keep_out(*secrets: str) -> None:
    """Credentials in use: from here on no foreign words show them, nor a line of them, nor their form in a URL."""
    for secret in secrets:
        for form in {secret, quote(secret, safe=""), unquote(secret)}:
            _IN_USE.update(re.findall(r"[!-~][ -~]*[!-~]", form))


def clean_foreign_text(words: object) -> str:
    """Foreign words on one line, without control characters, credentials and what has the form of one, and not too long."""
    text = without_credentials(str(words)[:READ] or (type(words).__name__ if isinstance(words, BaseException) else ""))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) > 4 * SHOWN:  # a word that is cut could be half a secret, which has no form any more
        line = line[: 4 * SHOWN].rpartition(" ")[0]
    line = _redactor().text(line)
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"


def without_credentials(text: str) -> str:
    """A text without the credentials in use, whatever form they have."""
    for secret in sorted(_IN_USE, key=len, reverse=True):
        if secret in text:
            hidden = _redactor().hide(secret)
            whole = re.escape(secret) if len(secret) >= WORD else rf"(?<!\w){re.escape(secret)}(?!\w)"
            text = re.sub(whole, hidden, text)
    return text


def bearer(token: str, where: str) -> str:
    """The header's value for a token, whose ends are trimmed as client-go does. Raises ValueError, which doesn't tell the token."""
    token = token.strip()
    keep_out(token)
    if not token:
        raise ValueError(f"{where} is empty")
    if not (token.isascii() and token.isprintable()):
        raise ValueError(f"{where} has a line break or other characters inside that no token has")
    return f"Bearer {token}"


@functools.cache
def _redactor() -> Redactor:
    from gpudoctor.probes.redact import Redactor

    return Redactor()
