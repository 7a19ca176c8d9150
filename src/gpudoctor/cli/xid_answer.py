"""What `gpudoctor xid CODE` answers, as `--format json` prints it."""

from __future__ import annotations

import msgspec

from gpudoctor.knowledge.xid_decode import Decoded
from gpudoctor.knowledge.xids import Sxid, Xid


class Asked(msgspec.Struct):
    """One thing that was asked: a code, and the message where a line was pasted."""

    code: int
    text: str = ""
    decoded: Decoded | None = None


class Together(msgspec.Struct):
    """What codes mean that stand together on one GPU."""

    codes: list[int]
    verdict: str
    actions: list[str]


class Explained(msgspec.Struct):
    """The answer, as `--format json` prints it. `first` is the code to act on, where there are several."""

    schema: str
    xids: list[Xid]
    sxids: list[Sxid]
    lines: list[Asked]
    together: list[Together]
    first: int | None
    unknown: list[int]
