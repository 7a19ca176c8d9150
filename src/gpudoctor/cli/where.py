"""What a run reads and may do, as its options say."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Where(msgspec.Struct, kw_only=True):
    """What a run reads and may do, and where it is kept."""

    context: str | None = None
    kubeconfig: Path | None = None
    namespace: str = ""
    no_exec: bool = False
    nodes: list[str] = []  # node sets
    selector: str = ""  # of nodes
    local: bool = False
    via: str = "auto"
    fanout: int = 32
    allow_disruptive: bool = False
    record: Path | None = None
    replay: Path | None = None
    guided: bool = False
