"""What Slurm's commands say on stderr when they get no answer."""

from __future__ import annotations

from gpudoctor.facts import Facts, Origin, Subject
from gpudoctor.probes.base import Output
from gpudoctor.tools.common.messages import scan_text

LONGEST = 65536  # bytes of an error text that are looked at


def complaints(output: Output, about: Subject) -> Facts:
    """The known messages of stderr; {} where there are none."""
    text = output.stderr[:LONGEST].decode("utf-8", "replace")
    found = scan_text(text, source="log", about=about, origin=Origin(output.origin_name())) if text.strip() else []
    return {"messages": [*found]} if found else {}
