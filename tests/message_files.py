"""The known messages of some of the files, scanned for as a run would: what the tables of sibling wordings ask."""

from __future__ import annotations

from gpudoctor.library.index import messages_folder
from gpudoctor.runbook import load
from gpudoctor.tools.common.messages import find
from gpudoctor.tools.common.scanner import compile_scanner


class MessageFiles:
    """The entries of the named files, and a scanner that knows only them."""

    def __init__(self, *files: str) -> None:
        self.entries = [entry for file in files for entry in load.messages(messages_folder() / f"{file}.yaml")[0]]
        self.scanner = compile_scanner([(entry.name, entry.pattern) for entry in self.entries])
        self.benign = {entry.name for entry in self.entries if entry.benign}

    def names(self, text: str) -> set[str]:
        """The messages that a text has."""
        return {hit.name for hit in find([text.encode()], self.scanner)}
