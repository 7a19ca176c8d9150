"""What every fact has in common: where it came from, when, and what it is about."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec


class Origin(msgspec.Struct, frozen=True):
    """The place in a source that states a fact.

    `source` is a file name or the command that printed it; `line` counts from 1, 0 means "the whole answer";
    `text` is the decisive line as it was read (still hostile: reporters escape it).
    """

    source: str = ""
    line: int = 0
    text: str = ""


class Subject(msgspec.Struct, frozen=True):
    """What a fact or a finding is about. Only the keys that were seen are set; "" means not known.

    `kind` is one of pod, node, gpu, workload, cluster. Names are never guessed: see `facts.identity`.
    """

    kind: str
    namespace: str = ""
    pod: str = ""
    container: str = ""
    workload: str = ""  # KIND/NAME, for example Job/train
    node: str = ""
    gpu: str = ""  # UUID where it was seen, else the PCI address
    component: str = ""  # the part of the GPU stack the pod belongs to; describes, doesn't identify

    @property
    def name(self) -> str:
        """The one string that names the subject on a screen: `ml/train-0`, `gpu-02`, `gpu-02/0000:1b:00`."""
        if self.kind == "pod":
            return f"{self.namespace}/{self.pod}" if self.namespace else self.pod
        if self.kind == "workload":
            return f"{self.namespace}/{self.workload}" if self.namespace else self.workload
        if self.kind == "gpu":
            return f"{self.node}/{self.gpu}" if self.node else self.gpu
        if self.kind == "node":
            return self.node
        return ""

    @property
    def keys(self) -> dict[str, Any]:
        """Its keys, as the record of something that it says of itself has them."""
        return {key: getattr(self, key) for key in ("namespace", "pod", "container", "node", "workload", "component")}

    def as_kind(self, kind: str) -> Subject:
        """This subject seen as another kind, where the keys for it are known; otherwise itself.

        >>> Subject(kind="pod", namespace="gpu-operator", pod="plugin-x", node="gpu-02").as_kind("node")
        Subject(kind='node', namespace='', pod='', container='', workload='', node='gpu-02', gpu='', component='')
        """
        keys = KEYS_OF_KIND[kind]
        needed = keys[-1:] if keys else ()
        if kind == self.kind or not all(getattr(self, key) for key in needed):
            return self
        return Subject(kind=kind, **{key: getattr(self, key) for key in keys})


# The keys that each kind of subject carries; the last one is the one it can't be without.
KEYS_OF_KIND: dict[str, tuple[str, ...]] = {
    "pod": ("namespace", "node", "container", "component", "pod"),
    "workload": ("namespace", "workload"),
    "node": ("node",),
    "gpu": ("node", "gpu"),
    "cluster": (),
}


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One typed statement read from one source. Subclasses add the fields that conditions use.

    A field that could not be read is None, and `gaps` says why (`N/A`, `[Unknown Error]`, `saturated`):
    a condition that needs it is then unknown, never false.
    """

    local_clock: ClassVar[bool] = False  # it has the time of the machine that printed it, without a zone
    describes: ClassVar[bool] = False  # it says what there is, and can't say that something isn't well
    origin: Origin = Origin()
    time: float | None = None  # seconds since the epoch at which the stated thing happened, where it is known
    gaps: dict[str, str] = {}
    stated: bool = False  # a person says so, in a sentence or in a table of his own; no tool has printed it

    def subject(self) -> Subject:
        """What the fact is about, made of the identity fields that the fact has."""
        values: dict[str, Any] = {key: getattr(self, key, "") or "" for key in Subject.__struct_fields__ if key != "kind"}
        return Subject(kind=subject_kind(values), **values)

    @property
    def tells(self) -> bool:
        """Whether it says something. A record of an answer as a whole may be all that was made of words that nobody knows."""
        return True

    @property
    def lingers(self) -> bool:
        """Whether it may tell of something that is over, with nothing that says since when."""
        return False

    @property
    def said(self) -> str:
        """The words of its line that state it, where the record keeps them."""
        return ""

    @property
    def mild(self) -> bool:
        """Whether the tool itself calls it a warning, where it calls worse things failures."""
        return False


class OfGpu(Fact, frozen=True, kw_only=True):
    """A fact about one GPU, with all its names. `gpu` is the one that identifies it: the UUID where it was seen, else the PCI address."""

    node: str = ""
    gpu: str = ""
    uuid: str = ""
    pci: str = ""
    index: int | None = None
    product: str = ""


def subject_kind(values: dict[str, Any]) -> str:
    """The most specific kind whose key is present."""
    for kind in ("gpu", "pod", "workload", "node"):
        if values.get(KEYS_OF_KIND[kind][-1]):
            return kind
    return "cluster"


def hashable(value: Any) -> Any:
    """The value of a field, or several, as a key.

    >>> hashable(["mlx5_0", "mlx5_1"]), hashable((1, {"a": ["b"]}))
    (('mlx5_0', 'mlx5_1'), (1, (('a', ('b',)),)))
    """
    try:
        hash(value)
    except TypeError:  # a list or a dictionary, or a tuple with one
        parts = tuple(value.items() if isinstance(value, dict) else value)
    else:
        return value
    try:
        hash(parts)  # mostly of texts: one look at all of them
    except TypeError:
        return tuple(map(hashable, parts))
    return parts
