"""What a command that somebody pasted tells by itself, whatever it printed: that a container was started, and with which memory to share.

$ docker run --gpus all --ipc=host pytorch/pytorch python train.py        root@3f1c9a7be204:/workspace# python train.py
"""

from __future__ import annotations

from gpudoctor.facts import Origin
from gpudoctor.facts.kubernetes import Message
from gpudoctor.intake.split import NOBODY, Section
from gpudoctor.patterns import regex
from gpudoctor.tools.common.messages import scan_text

NAMES = ("program_runs_in_container", "container_given_shared_memory", "credential_sent_across")
# Docker gives a container the first twelve digits of its identifier for a name.
TELLS = regex(r"^root@[0-9a-f]{12}:|\b(?:docker|podman|nerdctl) run |\bunmunge\b")


def messages(section: Section) -> list[Message]:
    """The known messages of a section's command and of the prompt before it."""
    if not section.command:
        return []
    line = f"root@{section.host}:/# {section.command[:2000]}"
    if not TELLS.search(line):
        return []
    origin = Origin(section.path, max(section.line - 1, 1), line[:300])
    return [one for one in scan_text(line, source="file", about=NOBODY, origin=origin) if one.name in NAMES]
