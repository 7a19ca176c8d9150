"""What is known of the numbered errors of the NVIDIA driver (Xid) and of the NVSwitch driver (SXid). The data is `xids.yaml`.

A run reads no YAML: `book()` is the compiled form, see `knowledge.compiled`.
"""

from __future__ import annotations

import functools

import msgspec

from gpudoctor.knowledge.compiled import source


class Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One form of a code's message. Named groups of `pattern` are what it says: see `xid_decode`; `line` is one that it matches."""

    pattern: str
    line: str


class Bucket(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """NVIDIA's catalogue by its own identifiers: what to do at once, what to look into, since when the driver says it by Xid 154."""

    now: str = ""
    then: str = ""
    driver_says_since: str = ""


class Xid(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One code. `actions` and `causes` are keys of the book's vocabularies, in their order."""

    code: int
    title: str
    meaning: str
    symbols: list[str] = []  # names in the driver's headers, the newest first
    severity: str  # info, warning, error, critical; decode: the text decides
    scope: str  # process, gpu, link, node, vm; none: no supported GPU logs it
    whose: str  # a key of the book's `whose`: application, driver, firmware, hardware, nvlink, pcie, configuration, follow-on, …
    causes: list[str] = []
    actions: list[str]
    device_plugin_ignores: bool = False  # the Kubernetes device plugin leaves the GPU healthy
    dcgm: str = ""  # DCGM's health check: failure, warning, "" = it doesn't watch the code
    dcgm_text_wrong: bool = False  # what DCGM writes beside it contradicts NVIDIA's catalogue
    bucket: Bucket = Bucket()
    legacy_causes: list[str] = []  # flags of NVIDIA's table for Volta and older
    applies_to: list[str] = []  # GPU generations of NVIDIA's catalogue; [] = none of them
    forms: list[Form] = []
    reading: dict[str, str] = {}  # words of the message, or what stands beside it → what that means
    confused: list[str] = []  # what it is often taken for
    otherwise: list[str] = []  # who says otherwise
    notes: str = ""
    sources: list[str]


class Sxid(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One code of an NVSwitch. `fatal` None: the line says whether."""

    code: int
    title: str
    fatal: bool | None = None
    meaning: str = ""
    actions: list[str] = []


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """Codes that stand together on one GPU, and what they mean so. `any_other`: beside any code; `alone`: no other code is there."""

    codes: list[int]
    verdict: str
    actions: list[str]
    alone: bool = False
    any_other: bool = False
    sxid: bool = False  # together with an SXid of the switch
    repeated: str = ""  # it needs the same code again, in these words


class Register(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Bits of one of the seven words of Xid 74, counted from 1, and what they mean."""

    word: int
    bits: list[int]
    means: str


class Recovery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One recovery action as the driver names it; `action` is our word for it."""

    value: int
    name: str
    action: str
    means: str
    act: str = ""  # in the words of the catalogue's acts; "" = nothing to do


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One row of NVIDIA's table for NVLink 5: unit, low bits of the first word (before R575, since), second word → what to do."""

    code: int
    units: list[str]
    bits_before_575: str
    bits: str
    statuses: list[str] = []  # [] = any
    reason: int | None = None  # link-down reason, bits 25:20 of the first word
    fatal: str  # Fatal, Non-fatal, Link Fatal, NA
    now: str
    then: str
    domain: str = ""  # HW, SW, FW
    beside: list[str] = []  # what is to be expected with it
    promoted: str = ""  # what to do where the low bits say that it was promoted to fatal
    promoted_bits: str = ""


class Retired(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Numbers that no driver logs, and why."""

    first: int
    last: int
    why: str


class Book(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """All of it."""

    sources: dict[str, str]  # key → document or file
    severities: dict[str, str]
    whose: dict[str, str]
    causes: dict[str, str]
    actions: dict[str, str]  # key → one line for a person
    buckets: dict[str, str]  # NVIDIA's identifiers → words
    precedence: list[str]  # who decides when several speak
    words: dict[str, dict[str, str]]  # named group of a form → what was captured → what it means
    registers: list[Register]
    recovery: list[Recovery]
    link_down_reasons: dict[str, str]
    nvlink5: list[Rule]
    pairs: list[Pair]
    xids: list[Xid]
    sxids: list[Sxid]
    unused: list[Retired]

    def xid(self, code: int) -> Xid | None:
        """The entry of a code."""
        return next((entry for entry in self.xids if entry.code == code), None)

    def sxid(self, code: int) -> Sxid | None:
        """The entry of a switch's code."""
        return next((entry for entry in self.sxids if entry.code == code), None)


@functools.cache
def book() -> Book:
    """The compiled book. Raises `library.index.BrokenLibrary` when xids.yaml doesn't pass."""
    return source().xids()
