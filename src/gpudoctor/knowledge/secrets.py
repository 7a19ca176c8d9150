"""What the rules for secrets in printed text are made of: how a value begins and ends, and what only looks like one.

Every pattern runs in linear time: repetitions are bounded, possessive or end at a delimiter that the next start lies behind.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import NamedTuple

from gpudoctor.knowledge import environment, nccl_settings
from gpudoctor.patterns import regex

Match = re.Match[str]


class Rule(NamedTuple):
    """`hint` is an expression for RE2 that every text with a match has; `pattern` has a group `secret`, which is hidden.

    `spare` says what is no secret. `within`: the pattern is looked for in the matches of that one. `wide`: a match may have several lines.
    """

    hint: str
    pattern: re.Pattern[str]
    spare: Callable[[Match], bool] = lambda match: False
    within: re.Pattern[str] | None = None
    wide: bool = False


# A token starts at the start of a word, or behind an escaped line end (`\nghp_…` in JSON that was printed as text).
START = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"

WORDS = f"(?:{environment.PASSWORD_WORDS}|{environment.TOKEN_WORDS}){environment.ENDING}"
RE2_WORDS = WORDS.replace("(?<![A-Za-z])", "")  # RE2 doesn't look behind

# Between a name and its value: `name=`, `name: `, `"name": `, `\"name\":` (and so on, in JSON in JSON), `name%3D` in a URL
QUOTE = r"""(?:\\{0,8}["']|%22)"""
NAMED = rf"""{QUOTE}?[ \t]*(?:[:=]|%3[ad])"""  # the same for RE2
SEPARATOR = rf"""(?P<closed>{QUOTE})?[ \t]{{0,8}}(?P<separator>[:=]|%3[ADad])[ \t]{{0,8}}"""

# A value: quoted, quoted inside a quoted text (\"…\"), or bare up to a space, a quote or `&`, without the punctuation behind it; a
# program that prints its own values may say their kind: b'…', Some("…"). JOINT stands between the elements of a command; no value has one.
JOINT = "\x1f"
STAND_IN = "\ufdd0"  # for one that a binary file has; Unicode gives this no meaning
QUOTED = r"""(?:[^"'\\\n\x1f]|\\[^\x1f]|(?!(?P=quote))["'])++"""
INNER = r"""(?:[^"'\\\n\x1f]|\\(?!\\{0,8}["'])[^\n\x1f])++"""
BARE = r"""(?:[^\s"'&\\]|\\(?!["']))*(?:[^\s"'&\\,;)}\]]|\\(?!["']))"""
KIND = r"""(?:(?:[brf]|[A-Za-z_.*()]{1,24}\()(?=\\{0,8}["']))?"""
VALUE = rf"""{KIND}(?:(?P<quote>["'])|(?P<inner>\\{{1,8}}["']|%22))?(?P<secret>(?(quote){QUOTED}|(?(inner){INNER}|{BARE})))"""

# Between an option and its value: a space, `","` of a printed list, `- ` of the next line of a YAML list, the next line of one that
# `kubectl describe` printed, a line that goes on, or the next element of a command
GAP = (
    r"""(?:[ \t]{1,8}=?[ \t]{0,8}|=|\\?["'],\s{0,40}\\?["']|["']?\n[ \t]{0,40}-[ \t]{1,8}["']?"""
    r"""|\n[ \t]{4,40}(?=[^\s-])|\\\n\s{0,40}|(?P<own>\x1f))"""
)
PASSED = GAP.replace("(?P<own>", "(?:")  # the same, before a word that is no secret
ARGUMENT = VALUE.replace("(?P<secret>", r"(?P<secret>(?(own)[^\x1f]+|") + ")"

PROSE = regex(r"[A-Za-z]{1,24}[.!?]?|.*:|\d+|/(?:etc|home|mnt|opt|root|run|tmp|usr|var)/.*", re.DOTALL)
# No value, the beginning of a block in YAML, kinds of authentication, a number
CONSTANTS = regex(
    r"none|null|nil|true|false|[|>][+-]?\d?|(?:auth/)?(?:munge|slurm|jwt)|basic|bearer|oauth2?|ldap|kerberos|0x[0-9a-f]{1,16}",
    re.IGNORECASE,
)
NUMBER = regex(r"\d{1,3}|\d+\.\d+[a-z]{0,2}")  # p2p_token=0, time_per_token="27.0ms"


def constant(match: Match) -> bool:
    """`token=none` holds no secret."""
    return CONSTANTS.fullmatch(match["secret"]) is not None


def no_exemption(match: Match) -> bool:
    """Whatever stands there is a secret."""
    return False


def prose(match: Match) -> bool:
    """`failed to fetch token: serviceaccounts "x" not found` says why, and holds no token; `token: 8f3a…` and `token=…` do."""
    value = match["secret"]
    if constant(match) or NUMBER.fullmatch(value):
        return True
    return match["separator"] == ":" and not match["quote"] and (len(value) < 6 or PROSE.fullmatch(value) is not None)


def prose_behind_quote(match: Match) -> bool:
    """`secret "db-password": timed out` is prose; a bare value behind `password:` never is, for passwords are words."""
    return constant(match) or (bool(match["closed"]) and prose(match))


def not_credentials(match: Match) -> bool:
    """`basic authentication` is prose; the credentials of HTTP basic authentication are base64 of `user:password`."""
    try:
        return b":" not in base64.b64decode(match["secret"] + "=" * (-len(match["secret"]) % 4), validate=True)
    except binascii.Error:
        return True


def word(match: Match) -> bool:
    """`bearer authentication` is prose; a bearer token is longer, or more than letters."""
    return match["secret"].isalpha() and len(match["secret"]) < 20


def name(match: Match) -> bool:
    """`sk-learn-worker-0` names a pod; a key has capitals, or 20 letters and digits in a row."""
    value = match["secret"]
    return not (re.search(r"[A-Z]", value) or any(len(part) >= 20 and re.search(r"\d", part) for part in re.split("[-_]", value)))


# One word of capitals, small letters and digits: `Zq7Xw2Lm`, but not mlx5_0, compute,utility or node-07
SHORT_KEY = regex(r"(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])(?=\D*\d)[A-Za-z0-9!#$%*+=?@^~]{8,64}")


def evidence(match: Match) -> bool:
    """The value of a listed environment variable is evidence, unless it looks random."""
    return environment.is_printed_only(match["name"]) or is_evidence(match["name"], match["secret"].strip())


def given_evidence(match: Match) -> bool:
    """`env NV_VERBOSE=1 make` sets a switch."""
    return constant(match) or NUMBER.fullmatch(match["secret"]) is not None or evidence(match)


def is_evidence(name: str, value: str) -> bool:
    """Whether the value of an environment variable may be shown: its name is listed and the value is no secret by its form.

    NCCL's and Gloo's variables are all known: another one with their prefix is somebody's own, and so is its value.
    """
    if not environment.is_evidence(name) or looks_random(value):
        return False
    if nccl_settings.known_setting(name) or nccl_settings.nearest_name(name):
        return True
    return not name.startswith(nccl_settings.COMPLETE) and SHORT_KEY.fullmatch(value) is None


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


def port(match: Match) -> bool:
    """`-p8080:80` maps a port, `-u 1000:1000` is a user and a group."""
    return re.fullmatch(r"\d{1,5}(?::\d{1,5})?(?:/\w+)?", match["secret"]) is not None and ":" in match[0]


def not_random(match: Match) -> bool:
    """`cache key: train-0` names something; `key: 5f4dcc3b5aa765d61d8327deb882cf99` and `--wandb_key=Zq7Xw2Lm` may open it."""
    return not (looks_random(match["secret"]) or (match["separator"] != ":" and SHORT_KEY.fullmatch(match["secret"])))


def digest(match: Match) -> bool:
    """`datadog-agent: 64 hexadecimal digits` is an image or a container."""
    value = match["secret"]
    return re.fullmatch(r"[0-9a-f]{64}", value) is not None or not re.search(r"\d", value) or not re.search(r"[A-Za-z]", value)


def no_key_beside(match: Match) -> bool:
    """A secret key of AWS has 40 letters of base64 and no name; its identifier stands beside it."""
    around = match.string[max(0, match.start() - 300) : match.end() + 300]
    return not looks_mixed(match["secret"]) or re.search(r"A[KS]IA[A-Z0-9]{16}", around) is None


def no_bootstrap_token(match: Match) -> bool:
    """`train1.17c3a1b2c3d4e5f6` is an event and `docker.containerdserver` a name; a bootstrap token has digits and all letters."""
    second = match["secret"].partition(".")[2]
    return len(re.findall(r"\d", second)) < 2 or re.search("[g-z]", second) is None
