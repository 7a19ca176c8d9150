"""Names of environment variables, fields and options: which values a bundle may show, and which names announce a secret.

A variable's value is hidden unless its name is on the list, since only the job's owner knows what the others hold.
"""

from __future__ import annotations

import functools
import re

from gpudoctor.patterns import regex

# The variables that are themselves evidence: they decide which GPUs a process sees, how NCCL, UCX, Gloo and MPI connect, and which rank
# it is. Sources: the variables documented by the NVIDIA container toolkit, CUDA, NCCL, PyTorch (torchrun), UCX, Open MPI and Slurm.
SHOWN: tuple[str, ...] = (
    "CUDA_*",
    "DCGM_EXPORTER_*",
    "FI_*",
    "GLOO_*",
    "LD_LIBRARY_PATH",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "MASTER_*",
    "NCCL_*",
    "NVIDIA_*",
    "OFI_NCCL_*",
    "OMPI_*",
    "RANK",
    "SHARP_COLL_*",
    "SLURM_*",
    "TORCH_*",
    "TORCHELASTIC_*",
    "TP_SOCKET_IFNAME",
    "UCX_*",
    "WORLD_SIZE",
)

# NAME=value at the start of a printed line that is no environment variable: os-release(5), scontrol, journalctl -o export.
PRINTED: tuple[str, ...] = (
    "BUILD_ID",
    "ID",
    "ID_LIKE",
    "MESSAGE",
    "NAME",
    "OS",
    "PRETTY_NAME",
    "PRIORITY",
    "TRES",
    "VERSION",
    "VERSION_CODENAME",
    "VERSION_ID",
)

# Words that end the name of a secret. `tokenizer`, `max_tokens` and `secretName` end otherwise, and name none.
PASSWORD_WORDS = (
    r"password|passwd|passphrase|passcode|(?:api|access|account|secret|private|encryption|signing)[ ._-]?key"  # noqa: S105
    r"|client[ _-]?(?:secret|key[ _-]?data)"
)
TOKEN_WORDS = (
    r"token|secret|credentials?|authorization|bearer|cookie|jwt|psk|connection[ _-]?string|webhook[ _-]?url"  # noqa: S105
    r"|(?:app|application|auth|certificate|consumer|deploy|integration|licen[cs]e|master|munge|recovery|routing|service|session|shared"
    r"|ssh|storage|subscription|unseal)[ ._-]?key"
    r"|(?:bind|db|key|ldap|mysql|pg|require|root|smtp|ssh|storage|store|sudo|user|vnc)pass|masterauth"
    r"|(?<![A-Za-z])(?:auth|dsn|pass|pwd|pw)"
)
# What may follow them: `TOKEN_2`, `client-key-data`, `SECRET_KEY_BASE`, `password1`
ENDING = r"(?:[ ._-]?(?:\d{1,2}|base|base64|b64|data|hash|hex|old|new))?"
# Parts of a variable's name, wherever they stand in it: NCCL_SITE_KEY_ID
PARTS = {"AUTH", "COOKIE", "CRED", "CREDENTIAL", "CREDENTIALS", "CREDS", "KEY", "KEYS", "JWT", "LICENSE", "PASS", "PASSWORD", "PASSWD"}
PARTS |= {"PSK", "PWD", "SECRET", "SECRETS", "TOKEN", "TOKENS", "WEBHOOK"}


def _names(listed: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for a list of names in which a trailing `*` stands for anything."""
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in listed), re.DOTALL)


_SHOWN, _PRINTED = _names(SHOWN), _names(PRINTED)
_SECRET = regex(f"(?:{PASSWORD_WORDS}|{TOKEN_WORDS}){ENDING}$", re.IGNORECASE)


def may_be_evidence(name: str) -> bool:
    """Whether an environment variable of this name may be evidence."""
    return _SHOWN.fullmatch(name) is not None


def is_evidence(name: str) -> bool:
    """Whether the value of this environment variable is evidence, and no secret by its name.

    >>> is_evidence("NCCL_DEBUG"), is_evidence("HF_TOKEN"), is_evidence("NCCL_API_KEY"), is_evidence("RANKING")
    (True, False, False, False)
    """
    return may_be_evidence(name) and not names_secret(name) and PARTS.isdisjoint(name.upper().split("_"))


def is_printed_only(name: str) -> bool:
    """Whether programs print this name as `NAME=value` without its being an environment variable."""
    return _PRINTED.fullmatch(name) is not None


@functools.lru_cache(10_000)  # in a list of pods the same fields come again and again
def names_secret(name: str) -> bool:
    """Whether a field, an option or a variable of this name holds a secret.

    >>> names_secret("--hf-token"), names_secret("client-key-data"), names_secret("tokenizer"), names_secret("secretName")
    (True, True, False, False)
    """
    return _SECRET.search(name) is not None
