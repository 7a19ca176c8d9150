"""The project's own messages: the scanner finds each in every line of it, and with the detail of the wording that matches."""

from __future__ import annotations

import pytest

from gpudoctor.knowledge.compiled import KnownMessage, Wording
from gpudoctor.library.index import library
from gpudoctor.tools.common.messages import find
from gpudoctor.tools.common.scanner import compile_scanner


@pytest.mark.parametrize("message", library().messages, ids=lambda message: message.name)
def test_a_message_is_found_in_its_lines(message: KnownMessage) -> None:
    for wording in message.wordings:
        assert message.name in {hit.name for hit in find([wording.line.encode()])}, wording.line


def test_the_detail_is_that_of_the_wording_which_matches() -> None:
    refused = KnownMessage(
        name="refused",
        wordings=[
            Wording(r"connect to (\S+) failed", "connect to a failed"),
            Wording(r"(\S+) refuses", "a refuses"),
            Wording("was refused", "it was refused"),
        ],
    )
    known = compile_scanner([(refused.name, refused.pattern)])
    found = [hit.detail for hit in find([b"connect to gpu-01 failed\ngpu-02 refuses\nit was refused\n"], known)]
    assert found == ["gpu-01", "gpu-02", ""]
