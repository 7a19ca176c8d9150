"""The options of kubectl that choose who asks and whom: what people pass to kubectl works here too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from typer.core import TyperCommand, TyperOption

from gpudoctor.cli.errors import Refused
from gpudoctor.patterns import regex

if TYPE_CHECKING:
    from gpudoctor.probes.kube_config import Given
    from gpudoctor.runbook.model import Runbook

# 30s, 1m30s, 500ms; a bare number is of seconds; 0 is no limit
DURATION = regex(r"(?:(\d{1,5})h)?(?:(\d{1,7})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9})ms)?\Z")

OPTIONS = {
    "server": "Address of the API server, in place of the kubeconfig's.",
    "cluster": "Name of the kubeconfig's cluster to use.",
    "user": "Name of the kubeconfig's user to use.",
    "token": "Bearer token to show to the API server.",
    "as": "User to act as.",
    "as-group": "Group to act as; may be repeated.",
    "request-timeout": "Longest time for one answer of the API server: 30s, 1m; 0 for none.",
}


KEPT: dict[str, Any] = {}  # of the command that runs; a process runs one


class AsKubectl(TyperCommand):
    """A command that takes these options beside its own."""

    names: ClassVar[dict[str, str]] = {}  # of those that have another one here

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, words in OPTIONS.items():
            many = name == "as-group"
            self.params.append(
                TyperOption(param_decls=[f"--{self.names.get(name, name)}"], help=words, expose_value=False, callback=keep, multiple=many)
            )

    def make_context(self, *args: Any, **options: Any) -> Any:
        """Forget what an earlier command of this process was given."""
        KEPT.clear()
        return super().make_context(*args, **options)


class BesideInputs(AsKubectl):
    """A command whose further options are inputs of a runbook, one of which is `cluster`."""

    names: ClassVar[dict[str, str]] = {"cluster": "kube-cluster"}


def keep(context: Any, option: Any, value: Any) -> None:
    """Remember an option that was given."""
    if value:
        KEPT[option.opts[0].removeprefix("--").removeprefix("kube-")] = value


def inputs_among(book: Runbook) -> list[str]:
    """What was given as such an option and is an input of the runbook, which comes first: as `--name=value`, and no longer an option."""
    names = [name for name in KEPT if name != "cluster" and name.replace("-", "_") in book.inputs]
    said = {name: KEPT.pop(name) for name in names}
    return [f"--{name.replace('-', '_')}={value if isinstance(value, str) else ','.join(value)}" for name, value in said.items()]


def kubeconfig_overrides() -> Given:
    """What the command line says in place of the kubeconfig. Raises `Refused`."""
    from gpudoctor.probes.kube_config import Given

    kept = KEPT
    if kept.get("as-group") and not kept.get("as"):
        raise Refused("--as-group needs --as: a group is that of a user")
    return Given(
        server=kept.get("server", ""),
        cluster=kept.get("cluster", ""),
        user=kept.get("user", ""),
        token=kept.get("token", ""),
        acts_as=kept.get("as", ""),
        groups=tuple(kept.get("as-group", ())),
        longest=seconds(kept.get("request-timeout", "0")),
    )


def seconds(text: str) -> float:
    """A duration as kubectl takes it, 0.0 for none. Raises `Refused`.

    >>> seconds("1m30s"), seconds("5"), seconds("500ms"), seconds("0")
    (90.0, 5.0, 0.5, 0.0)
    """
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return float(text)
    match = DURATION.match(text)
    if match is None or not any(match.groups()):
        raise Refused(f"--request-timeout takes a time such as 30s or 1m, not '{text[:40]}'")
    hours, minutes, whole, parts = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + whole + parts / 1000
