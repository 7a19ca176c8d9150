"""The forms that secrets have in printed text: one rule a form, with what must occur in a text before its pattern is tried.

Every pattern runs in linear time: repetitions are bounded, possessive or end at a delimiter that the next start lies behind.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.knowledge import environment
from gpudoctor.patterns import regex

Match = re.Match[str]


class Rule(NamedTuple):
    """`literals`, in lower case, of which one must occur; `pattern`, whose group `secret` is hidden; `spare` says what is no secret."""

    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    spare: Callable[[Match], bool] = lambda match: False


# A token starts at the start of a word, or behind an escaped line end (`\nghp_…` in JSON that was printed as text).
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"

SECRET_WORDS = f"{environment.PASSWORD_WORDS}|{environment.TOKEN_WORDS}"

# Between a name and its value: `name=`, `name: `, `"name": `, `\"name\":`
SEPARATOR = r"""(?P<closed>\\?["'])?[ \t]{0,8}(?P<separator>[:=])[ \t]{0,8}"""

# A value: quoted, quoted inside a quoted text (\"…\"), or bare up to a space, a quote or `&`, without the punctuation behind it.
QUOTED = r"""(?:[^"'\\\n]|\\.|(?!(?P=quote))["'])++"""
INNER = r"""(?:[^"'\\\n]|\\(?!["'])[^\n])++"""
BARE = r"""(?:[^\s"'&\\]|\\(?!["']))*(?:[^\s"'&\\,;)}\]]|\\(?!["']))"""
VALUE = rf"""(?:(?P<quote>["'])|(?P<inner>\\["']))?(?P<secret>(?(quote){QUOTED}|(?(inner){INNER}|{BARE})))"""

PROSE = regex(r"[A-Za-z]{1,24}[.!?]?|.*:|\d+|/(?:etc|home|mnt|opt|root|run|tmp|usr|var)/.*", re.DOTALL)
CONSTANTS = frozenset({"none", "null", "nil", "true", "false"})


def _prose(match: Match) -> bool:
    """`failed to fetch token: serviceaccounts "x" not found` says why, and holds no token; `token: 8f3a…` and `token=…` do."""
    value = match["secret"]
    if value.lower() in CONSTANTS:
        return True
    return match["separator"] == ":" and not match["quote"] and (len(value) < 6 or PROSE.fullmatch(value) is not None)


def _prose_behind_quote(match: Match) -> bool:
    """`secret "db-password": timed out` is prose; a bare value behind `password:` never is, for passwords are words."""
    return match["secret"].lower() in CONSTANTS or (bool(match["closed"]) and _prose(match))


def _not_credentials(match: Match) -> bool:
    """`basic authentication` is prose; the credentials of HTTP basic authentication are base64 of `user:password`."""
    try:
        return b":" not in base64.b64decode(match["secret"] + "=" * (-len(match["secret"]) % 4), validate=True)
    except binascii.Error:
        return True


def _word(match: Match) -> bool:
    """`bearer authentication` is prose; a bearer token is longer, or more than letters."""
    return match["secret"].isalpha() and len(match["secret"]) < 20


def _name(match: Match) -> bool:
    """`sk-learn-worker-0` names a pod; a key has capitals, or 20 letters and digits in a row."""
    value = match["secret"]
    return not (re.search(r"[A-Z]", value) or any(len(part) >= 20 and re.search(r"\d", part) for part in re.split("[-_]", value)))


def _evidence(match: Match) -> bool:
    """The value of a listed environment variable is evidence, unless it looks random."""
    name = match["name"]
    return (environment.shown(name) or environment.printed(name)) and not looks_random(match["secret"].strip())


def looks_random(value: str) -> bool:
    """Whether a value is one word that nobody would choose as a name: 32 hexadecimal digits, or 20 of capitals, small letters and digits.

    A GPU's UUID, a path and a product name are not random in this sense.

    >>> looks_random("d41d8cd98f00b204e9800998ecf8427e"), looks_random("GPU-8a3f1c52-9d1e-4f0a-b2c3-0d1e2f3a4b5c")
    (True, False)
    """
    return re.fullmatch(r"[0-9a-f]{32,}|[0-9A-F]{32,}", value) is not None or looks_mixed(value)


def looks_mixed(value: str) -> bool:
    """Whether a value has 20 capitals, small letters and digits without a break, as keys in base64 do and hashes don't."""
    return not value.startswith(("GPU-", "MIG-", "/")) and any(
        len(run) >= 20 and re.search("[a-z]", run) and re.search("[A-Z]", run) and re.search(r"\d", run)
        for run in re.findall(r"[A-Za-z0-9+]+", value)
    )


RULES: tuple[Rule, ...] = (
    # -----BEGIN RSA PRIVATE KEY----- … -----END RSA PRIVATE KEY-----, to the end of the text when its end was cut off
    Rule(
        ("private key-----",),
        regex(r"(?P<secret>-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:[^-]|-(?!----))*+(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?)"),
    ),
    # https://deploy:s3cr3t@registry.example.com/v2/, but not docker://app:v1@sha256:…
    Rule(("@",), regex(r"://[^\s/@:\"']*:(?P<secret>[^\s/\"']+)@(?!sha\d+:)")),
    # https://x7Tq9…@git.example.com/: a token in the place of the user
    Rule(("@",), regex(r"://(?P<secret>[^\s/@:\"'<>]{16,})@(?!sha\d+:)")),
    # eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW0ifQ.Zx81…
    Rule(("eyj",), regex(START + r"(?P<secret>eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)*+)")),
    # AKIAIOSFODNN7EXAMPLE: the identifier of an AWS key
    Rule(("akia", "asia"), regex(START + r"(?P<secret>(?:AKIA|ASIA)[A-Z0-9]{16})(?![A-Za-z0-9])")),
    # ghp_…, github_pat_…, glpat-…, hf_…, nvapi-…, xoxb-…, npm_…, dckr_pat_…: tokens with a prefix of their issuer
    Rule(
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "npm_", "dckr_pat_"),
        regex(START + r"(?P<secret>(?:gh[pousr]_|github_pat_|hf_|npm_|dckr_pat_)[A-Za-z0-9_-]{16,})"),
        lambda match: not re.search(r"[A-Z0-9]", match["secret"][3:]),
    ),
    Rule(
        ("glpat-", "nvapi-", "xoxb-", "xoxp-", "xoxa-", "aiza"),
        regex(START + r"(?P<secret>(?:glpat-|nvapi-|xox[abp]-|AIza)[A-Za-z0-9_-]{16,})"),
    ),
    # sk-proj-4f9Qx…
    Rule(("sk-",), regex(START + r"(?P<secret>sk-[A-Za-z0-9_-]{16,})"), _name),
    # Authorization: Bearer 0b79bab50daca910b000d4f1a2b675d604257e42
    Rule(("bearer",), regex(r"(?i:bearer)[ \t]{1,8}(?P<secret>[A-Za-z0-9._~+/-]{6,}+=*+)"), _word),
    # Authorization: Basic ZGVwbG95OnMzY3IzdA==
    Rule(("basic",), regex(r"(?i:basic)[ \t]{1,8}(?P<secret>[A-Za-z0-9+/]{6,}+=*+)"), _not_credentials),
    # curl -sS -u deploy:s3cr3t https://…, but not docker run -u 1000:1000
    Rule(
        ("curl",),
        regex(r"""(?<![^\s"'])(?:-u|--user)[ =]{0,2}["']?[^\s:"']{1,128}:(?P<secret>[^\s"']{1,256})"""),
        lambda match: match["secret"].isdigit(),
    ),
    # --registry-password s3cr3t
    Rule(("--",), regex(rf"(?<![A-Za-z0-9_.-])(?i:--(?=[a-z0-9])[a-z0-9_.-]{{0,40}}?(?:{SECRET_WORDS}))[ \t]{{1,8}}(?!-)" + VALUE)),
    # db_password=s3cr3t, "apiKey": "s3cr3t", \"client_secret\":\"s3cr3t\"
    Rule(("pass", "key", "secret"), regex(f"(?i:{environment.PASSWORD_WORDS})" + SEPARATOR + VALUE), _prose_behind_quote),
    # token: 8f3a91, HF_TOKEN=s3cr3t, "auth": "ZGVwbG95OnMzY3IzdA=="
    Rule(
        ("token", "secret", "credential", "authorization", "auth", "pass", "pwd"),
        regex(f"(?i:{environment.TOKEN_WORDS})" + SEPARATOR + VALUE),
        _prose,
    ),
    # {"name":"DATABASE","value":"s3cr3t"}, or the same two lines in YAML: a variable in a manifest that was printed as text
    Rule(
        ("value",),
        regex(
            r"""\bname\\?["']?[ ]{0,8}:[ ]{0,8}\\?["']?(?P<name>[A-Z_][A-Z0-9_]{0,255})\\?["']?"""
            r"""[\s,]{0,64}\\?["']?value\\?["']?[ ]{0,8}:[ ]{0,8}""" + VALUE
        ),
        _evidence,
    ),
)

# DATABASE_DSN=host=db user=app: a line of an environment, or one element of a list of variables
ENVIRONMENT_LINE = Rule(
    ("=",),
    regex(r"^[ \t]*+(?:export[ \t]|declare -x[ \t])?(?P<name>[A-Z_][A-Z0-9_]{0,255})=(?P<secret>[^\s][^\r\n]*)", re.MULTILINE),
    _evidence,
)
