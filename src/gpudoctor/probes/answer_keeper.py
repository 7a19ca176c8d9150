"""Remembers what a probe answers, redacted and cut, for a report that shows it. What it hands on is what the probe said."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import msgspec

from gpudoctor.probes import bundle
from gpudoctor.probes.base import Command, Output, Probe
from gpudoctor.probes.bundle import Key
from gpudoctor.probes.redact import Redactor

EACH = 64 * 1024  # bytes of one answer that are kept: its beginning and its end
LARGEST = 4 * 1024 * 1024  # bytes of a page: redacting a list of a whole cluster takes longer than anybody wants to wait for a report
ALL = 64 * 1024 * 1024  # bytes that are kept of all answers


class Keeper:
    """A probe that asks `probe` and keeps its answers in memory; safe to call from several threads."""

    def __init__(self, probe: Probe) -> None:
        self._probe, self.redactor = probe, Redactor()
        self._lock = threading.Lock()
        self._kept: dict[Key, tuple[Output, int]] = {}
        self._room = ALL

    def __call__(self, command: Command) -> Output:
        """The whole answer."""
        output = self._probe(command)
        self._keep(command, output)
        return output

    def stream(self, command: Command) -> Iterator[Output]:
        """The answer in pieces. The first ones are kept, up to the size of a large page."""
        pages: list[bytes] = []
        last = Output(command)
        size = 0
        try:
            for last in self._probe.stream(command):
                pages += last.pages if size <= LARGEST else ()
                size += sum(map(len, last.pages))
                yield last
        finally:
            self._keep(command, msgspec.structs.replace(last, pages=tuple(pages)), size - sum(map(len, pages)))

    def many(self, commands: Sequence[Command]) -> Iterator[Output]:
        """The whole answers of one host."""
        for output in self._probe.many(commands):
            self._keep(output.command, output)
            yield output

    def kept_answer(self, command: Command) -> tuple[Output, int] | None:
        """What a command answered, as one page, and how many bytes of it were left out. None for one that was never asked."""
        return self._kept.get(bundle.key_of(command))

    def _keep(self, command: Command, output: Output, gone: int = 0) -> None:
        """Remember an answer, of which `gone` bytes are no longer here."""
        body, cut = shorten_text(b"".join(map(self._page, output.pages)))
        errors, more = shorten_text(self.redactor.raw(output.stderr[:LARGEST]))
        reason = self.redactor.text(output.reason)
        left_out = gone + cut + more
        with self._lock:
            if len(body) + len(errors) > self._room:
                left_out += len(body) + len(errors)
                body = errors = b""
            self._room -= len(body) + len(errors)
            kept = msgspec.structs.replace(output, command=command, pages=(body,), stderr=errors, reason=reason)
            self._kept[bundle.key_of(command)] = (kept, left_out)

    def _page(self, page: bytes) -> bytes:
        """A page without secrets. Nothing of a large one: cut first, it would have lost the structure by which secrets are told."""
        if len(page) > LARGEST:
            return b"(too large to be shown here)\n"
        return readable_page(self.redactor.page(page))


def readable_page(page: bytes) -> bytes:
    """Format a page for a person: JSON gets line breaks."""
    try:
        return msgspec.json.format(page, indent=2) + b"\n" if page[:1] in (b"{", b"[") else page
    except (msgspec.MsgspecError, RecursionError):
        return page


def shorten_text(text: bytes) -> tuple[bytes, int]:
    """The text without its middle where it is too long, and how many bytes that is."""
    left_out = max(0, len(text) - EACH)
    mark = f"\n… {left_out} bytes are left out here …\n".encode()
    return (text[: EACH // 2] + mark + text[-(EACH // 2) :], left_out) if left_out else (text, 0)
