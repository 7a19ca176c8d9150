"""The known messages of some of the files, scanned for as a run would: what the tables of sibling wordings ask."""

from __future__ import annotations

import yaml

from gpudoctor.library.index import messages_folder
from gpudoctor.tools.common.messages import find
from gpudoctor.tools.common.scanner import compile_scanner


class MessageFiles:
    """The entries of the named files, and a scanner that knows only them."""

    def __init__(self, *files: str) -> None:
        self.entries: list[dict[str, object]] = [
            entry for file in files for entry in yaml.safe_load((messages_folder() / f"{file}.yaml").read_text())["messages"]
        ]
        self.scanner = compile_scanner([(str(entry["name"]), str(entry["pattern"])) for entry in self.entries])
        self.benign = {str(entry["name"]) for entry in self.entries if entry.get("benign")}

    def names(self, text: str) -> set[str]:
        """The messages that a text has."""
        return {hit.name for hit in find([text.encode()], self.scanner)}
