"""The answers of the Kubernetes API as bytes → typed objects, one by one, so that one broken item costs only itself.

The parsers describe the few fields they read as private Structs; every field may be null, absent, or of a wrong type. An object of which
any such field has a wrong type is left out.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec

from gpudoctor.facts import Origin
from gpudoctor.probes.base import Output, decoder
from gpudoctor.tools.parser import LINE, ParseError

Quantities = dict[str, str | int | float] | None
Strings = dict[str, str] | None

# RecursionError: an answer nested a thousand levels deep; UnicodeDecodeError: bytes in a string that are not UTF-8.
UNREADABLE = (msgspec.MsgspecError, RecursionError, UnicodeDecodeError)


class Owner(msgspec.Struct):
    """One entry of metadata.ownerReferences."""

    kind: str | None = None
    name: str | None = None
    controller: bool | None = None


class Meta(msgspec.Struct):
    """The part of metadata that any parser reads."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    labels: Strings = None
    annotations: Strings = None
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    ownerReferences: list[Owner] | None = None


class Condition(msgspec.Struct):
    """One entry of status.conditions."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None


class Object(msgspec.Struct):
    """What every object has; the shapes of the parsers add to it. Items of a typed list (PodList) leave `kind` out."""

    kind: str | None = None
    apiVersion: str | None = None
    metadata: Meta | None = None

    @property
    def meta(self) -> Meta:
        """The metadata, empty where there is none."""
        return self.metadata or Meta()


class Envelope(msgspec.Struct):
    """What a page is: a list has `items` (null when it is empty), an object has none, an error is of the kind Status."""

    kind: str | None = None
    apiVersion: str | None = None
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET
    message: str | None = None


T = TypeVar("T", bound=Object)


ENVELOPE = msgspec.json.Decoder(Envelope)
ENVELOPES = msgspec.json.Decoder(list[msgspec.Raw])


def objects(output: Output, shape: type[T], kinds: Iterable[str] | None) -> Iterator[T]:
    """The objects of one of `kinds` (None: any) in all pages of an answer, decoded into `shape`; what doesn't decode is left out.

    A page is a list, one object, or an array of both; an answer without a page is an empty list. Raises `ParseError` for a page that is
    not JSON, or cut off.
    """
    wanted = None if kinds is None else frozenset(kinds)
    of_shape = decoder(shape)
    check_answer(output)
    for page in output.pages:
        for envelope, raw in page_items(page, output):
            try:
                item = of_shape.decode(raw)
            except UNREADABLE:
                continue
            item.kind = item.kind or (envelope.kind or "").removesuffix("List")
            item.apiVersion = item.apiVersion or envelope.apiVersion
            if wanted is None or item.kind in wanted:
                yield item


def whole_list(outputs: Iterable[Output], what: str) -> Iterator[Output]:
    """The pages of a streamed list. Raises `ParseError` when it breaks off: of what wasn't read nothing can be said."""
    for output in outputs:
        if not output.ok:
            raise ParseError(f"{output.origin_name()}: the list of {what} is not complete: {output.reason or output.failure}")
        yield output


def check_answer(output: Output) -> None:
    """Raise `ParseError` for a command that printed nothing but an error. `NotFound` is an answer: there is no such object."""
    if output.exit != 0 and not any(output.pages) and b"NotFound" not in output.stderr:
        said = output.stderr[:200].decode("utf-8", "replace").strip() or f"exit code {output.exit}"
        raise ParseError(f"{output.origin_name()}: {said}")


def page_items(page: bytes, output: Output) -> Iterator[tuple[Envelope, msgspec.Raw]]:
    """The items of one page, each with what it came in: a typed list (PodList) states the kind for all its items."""
    text = page.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text:
        return
    try:
        for part in ENVELOPES.decode(text) if text.startswith(b"[") else [msgspec.Raw(text)]:
            envelope = ENVELOPE.decode(part)
            if envelope.items is not msgspec.UNSET:
                yield from ((envelope, item) for item in envelope.items or ())
            elif envelope.kind and envelope.kind != "Status":
                yield envelope, part
            else:
                raise ParseError(f"{output.origin_name()}: no Kubernetes object: {envelope.message or start(text)}"[:400])
    except UNREADABLE as error:
        raise ParseError(f"{output.origin_name()}: not a Kubernetes answer in JSON ({str(error)[:120]}): {start(text)}") from None


def start(text: bytes) -> str:
    """The first characters of an answer, quoted."""
    return repr(text[:60].decode("utf-8", "replace"))


def seconds(text: str | None) -> float | None:
    """A timestamp of the API (`2026-03-01T12:00:00Z`) in seconds since the epoch, None for anything else.

    >>> seconds("1970-01-01T00:01:00Z"), seconds("yesterday"), seconds(None)
    (60.0, None, None)
    """
    try:
        moment = datetime.datetime.fromisoformat((text or "")[:40])
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def age(since: float | None, output: Output) -> float | None:
    """Seconds from a moment until the answer was given, never negative; None where either is not known."""
    return None if since is None or not output.time else max(0.0, output.time - since)


def evidence(output: Output, text: str) -> Origin:
    """The origin of a fact: the answer as a whole, with the one line that a person would look at."""
    return Origin(output.origin_name(), 0, " ".join(text[:LINE].split()))


def controller(meta: Meta) -> str:
    """The controlling owner as KIND/NAME, else the first owner, else ""."""
    owners = [owner for owner in meta.ownerReferences or () if owner.kind and owner.name]
    chosen = next((owner for owner in owners if owner.controller), owners[0] if owners else None)
    return f"{chosen.kind}/{chosen.name}" if chosen else ""


def strings(values: Iterable[Any] | None) -> list[str]:
    """The texts of a list that may hold nulls."""
    return [value for value in values or () if isinstance(value, str)]
