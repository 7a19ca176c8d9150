"""Which cluster: the kubeconfig's contexts, merged as kubectl does (the first file that says something wins). Nothing is asked here."""

from __future__ import annotations

import base64
import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import msgspec

from gpudoctor.probes import bounded_files
from gpudoctor.probes.foreign_text import clean_foreign_text

NODES = 200_000  # of a kubeconfig's YAML; 2,000 clusters have 50,000
DEPTH = 100  # levels; libyaml's composer recurses on the C stack
ALIASES = 100  # kubectl writes none; a few hundred can stand for billions of nodes where mappings are merged (`<<`)
LISTED = 8  # names that an error lists
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class ProbeSetupError(ValueError):
    """The kubeconfig or context that was asked for can't be used. The message is one sentence for the person who asked."""


class Entry:
    """A cluster or a user of a kubeconfig. `folder` is where its relative paths start. (A plain class: its repr shows no credentials.)"""

    def __init__(self, fields: dict[str, Any] | None = None, folder: str = "") -> None:
        self.fields, self._folder = fields or {}, folder

    def with_fields(self, fields: dict[str, Any]) -> Entry:
        """The same entry with other fields."""
        return Entry(fields, self._folder)

    def text(self, key: str) -> str:
        """A field that is text, "" where it isn't there. Raises ProbeSetupError."""
        value = self.fields.get(key)
        if value is not None and not isinstance(value, str):
            raise ProbeSetupError(f"{key} in the kubeconfig is no text")
        return value or ""

    def resolve_path(self, path: str) -> str:
        """A path as this entry means it."""
        return os.path.join(self._folder, path)  # noqa: PTH118

    def file(self, key: str) -> bytes:
        """What is in the file that a field names, b"" where it names none. Raises ProbeSetupError."""
        path = self.text(key)
        try:
            return bounded_files.read(self.resolve_path(path)) if path else b""
        except (OSError, ValueError) as error:
            raise ProbeSetupError(f"{key} {path} can't be read: {getattr(error, 'strerror', None) or error}") from None

    def data(self, key: str) -> bytes:
        """What is in `KEY-data` as base64, or else in the file that `KEY` names. Raises ProbeSetupError."""
        given = self.text(f"{key}-data")
        if not given:
            return self.file(key)
        try:
            return base64.b64decode("".join(given.split()), validate=True)
        except ValueError:
            raise ProbeSetupError(f"{key}-data in the kubeconfig is not base64") from None


class Given(msgspec.Struct, frozen=True):
    """What a command line says in place of the kubeconfig; "" where it says nothing."""

    server: str = ""
    cluster: str = ""  # the name of one in the kubeconfig
    user: str = ""
    token: str = ""
    acts_as: str = ""
    groups: tuple[str, ...] = ()
    longest: float = 0.0  # seconds for one answer, 0 = no limit


class Context(msgspec.Struct, frozen=True):
    """One way to reach a cluster. `trouble` says why there is none; only a cluster that was asked for by name is an error at once."""

    name: str = ""
    namespace: str = "default"
    plugin: str = ""  # the program that makes its credentials
    cluster: Entry = msgspec.field(default_factory=Entry)
    user: Entry = msgspec.field(default_factory=Entry)
    files: tuple[str, ...] = ()  # kubeconfig files; none = this process runs in a pod
    trouble: str = ""

    @property
    def shown(self) -> str:
        """The context in a sentence."""
        return f"context {self.name!r}" if self.name else "the service account of this pod"

    def server(self) -> SplitResult:
        """The address of the API server; it may hold a user and a password. Raises ProbeSetupError, without them."""
        given = self.cluster.text("server")
        try:
            parts = urlsplit(given)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:  # its words have a part of the URL
            usable = False
        if not usable:
            raise ProbeSetupError("its server is no http or https URL" if given else "the kubeconfig names no server")
        return parts


def find_context(kubeconfig: str | None = None, name: str | None = None, given: Given = Given()) -> Context:  # noqa: B008 frozen
    """The context to use, found as kubectl does: the file given, else $KUBECONFIG, else ~/.kube/config, else the pod we run in.

    Raises ProbeSetupError when a file, context, cluster or user that was named doesn't exist or can't be read.
    """
    files = [kubeconfig] if kubeconfig else _default_files()
    try:
        found = _choose([(file, _read(file)) for file in files], name, given) if files else _in_cluster(name)
        return _with_overrides(found, given)
    except ProbeSetupError as error:
        if kubeconfig or name or given != Given():
            raise
        return Context(trouble=str(error))


def context_names() -> list[str]:
    """The contexts there are, for completion. Raises ProbeSetupError for a kubeconfig that can't be read."""
    return sorted(_entries([(file, _read(file)) for file in _default_files()], "contexts", "context"))


def _default_files() -> list[str]:
    paths = os.environ.get("KUBECONFIG", "").split(os.pathsep)
    candidates = [_expand_home(path) for path in paths if path] or [_expand_home("~/.kube/config")]
    return [path for path in candidates if path != os.devnull and _is_there(path)]


def _is_there(path: str) -> bool:
    """Whether there is something, though we may not be allowed to look: that is then said."""
    try:
        os.stat(path)  # noqa: PTH116
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def _expand_home(path: str) -> str:
    """The path with the home in it; as it is where there is none, as for a container's user that has no name."""
    return os.path.expanduser(path)  # noqa: PTH111


def _in_cluster(name: str | None) -> Context:
    if name:
        raise ProbeSetupError(f"there is no context {name!r}: {_no_kubeconfig()}")
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port):
        return Context(trouble=f"{_no_kubeconfig()} and this is not a pod")
    account = str(_SERVICE_ACCOUNT)
    try:
        namespace = bounded_files.read(_SERVICE_ACCOUNT / "namespace").decode("utf-8", "replace").strip()
    except OSError:
        namespace = ""
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    return Context(
        namespace=namespace or "default",
        cluster=Entry({"server": server, "certificate-authority": "ca.crt"}, account),
        user=Entry({"tokenFile": "token"}, account),
    )


def _no_kubeconfig() -> str:
    named = os.environ.get("KUBECONFIG", "")
    where = "$KUBECONFIG, ~/.kube/config" if named in ("", os.devnull) else f"$KUBECONFIG names {clean_foreign_text(named)}"
    return f"no kubeconfig was found ({where})"


def _read(file: str) -> dict[str, Any]:
    try:
        loaded = first_of(bounded_files.read(_expand_home(file)))
    except OSError as error:
        raise ProbeSetupError(f"the kubeconfig {file} can't be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ProbeSetupError(f"the kubeconfig {file} is not YAML: {clean_foreign_text(error)}") from None
    if loaded is not None and not isinstance(loaded, dict):
        raise ProbeSetupError(f"the kubeconfig {file} holds no configuration")
    return loaded or {}


def first_of(text: bytes) -> Any:
    """The first document of a text in YAML, or in JSON, which is YAML too: Go reads no other one, and takes null for what isn't there.

    Raises ValueError, also for what would take long, grow without bounds, or nest deeper than the stack.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check(text, loader)
        document = next(yaml.load_all(text, Loader=loader), None)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(_yaml_trouble(error)) from None
    rest, seen = [document], set()
    while rest:  # aliases share what they stand for, and may stand for what they are in
        found = rest.pop()
        if isinstance(found, dict | list) and id(found) not in seen:
            seen.add(id(found))
            for key in [key for key, value in found.items() if value is None] if isinstance(found, dict) else ():
                del found[key]
            rest += found.values() if isinstance(found, dict) else found
    return document


def _yaml_trouble(error: Exception) -> str:
    """What is wrong and where. A password that begins with `!` is a tag, and is quoted in it."""
    said, mark = str(getattr(error, "problem", None) or error), getattr(error, "problem_mark", None)
    return (f"line {mark.line + 1}: " if mark else "") + re.sub("'.*'", "'…'", said)


def _check(text: bytes, loader: Any) -> None:
    """Raise ValueError for YAML that would take long, grow without bounds, or nest deeper than the stack."""
    import yaml

    depth = aliases = 0
    for number, event in enumerate(yaml.parse(text, Loader=loader)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        aliases += isinstance(event, yaml.AliasEvent)
        if isinstance(event, yaml.DocumentEndEvent):
            return
        if number > NODES or depth > DEPTH or aliases > ALIASES:
            raise ValueError(f"more than {NODES} values, {DEPTH} levels or {ALIASES} aliases are not read")


def _with_overrides(found: Context, given: Given) -> Context:
    """The context with what the command line says in its place. A token takes the place of all other credentials, as with kubectl."""
    own = {"as": given.acts_as, "as-groups": [*given.groups]} if given.acts_as else {}
    user, cluster = found.user.fields | own, found.cluster.fields | ({"server": given.server} if given.server else {})
    if given.token:
        user = {key: value for key, value in user.items() if key.startswith("as")} | {"token": given.token}
    return msgspec.structs.replace(
        found,
        trouble="" if given.server and given.token else found.trouble,
        plugin="" if given.token else found.plugin,
        user=found.user.with_fields(user),
        cluster=found.cluster.with_fields(cluster),
    )


def _choose(configs: list[tuple[str, dict[str, Any]]], name: str | None, given: Given) -> Context:
    contexts, users = _entries(configs, "contexts", "context"), _entries(configs, "users", "user")
    current = [named for _, config in configs if isinstance(named := config.get("current-context"), str) and named]
    chosen = name or next(iter(current), "")
    where = ", ".join(file for file, _ in configs)
    if not contexts:
        raise ProbeSetupError(f"the kubeconfig {where} has no contexts")
    if not chosen:
        raise ProbeSetupError(f"the kubeconfig {where} has no current context: give --context NAME; {_known('contexts', contexts)}")
    if chosen not in contexts:
        raise ProbeSetupError(f"there is no context {chosen!r} in {where}; {_known('contexts', contexts, chosen)}")
    context = contexts[chosen].fields
    wanted = given.user or str(context.get("user", ""))
    if wanted and wanted not in users:
        who = (
            f"there is no user {wanted!r} in {where}"
            if given.user
            else f"the context {chosen!r} names the user {wanted!r}, who isn't in {where}"
        )
        raise ProbeSetupError(who)
    user, clusters = users.get(wanted, Entry()), _entries(configs, "clusters", "cluster")
    if given.cluster and given.cluster not in clusters:
        raise ProbeSetupError(f"there is no cluster {given.cluster!r} in {where}; {_known('clusters', clusters, given.cluster)}")
    cluster = clusters.get(given.cluster or str(context.get("cluster")), Entry())
    plugin = user.fields.get("exec")
    return Context(
        name=chosen,
        namespace=str(context.get("namespace") or "default"),
        plugin=str(plugin.get("command", "")) if isinstance(plugin, dict) else "",
        cluster=cluster,
        user=user,
        files=tuple(_expand_home(file) for file, _ in configs),
    )


def _known(what: str, names: Iterable[str], wanted: str = "") -> str:
    """The names that come close, and those that there are; of many the first."""
    there = sorted(names)
    close = difflib.get_close_matches(wanted[:253], there, n=3)
    rest = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
    return (f"did you mean {' or '.join(close)}? " if close else "") + f"the {what} are {', '.join(there[:LISTED])}{rest}"


def _entries(configs: list[tuple[str, dict[str, Any]]], section: str, key: str) -> dict[str, Entry]:
    """The named entries of a section; the first file that has a name wins."""
    found: dict[str, Entry] = {}
    for file, config in configs:
        folder = str(Path(_expand_home(file)).parent.absolute())
        entries = config.get(section)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and isinstance(entry.get(key, {}), dict) and isinstance(entry.get("name"), str):
                found.setdefault(entry["name"], Entry(entry.get(key), folder))
    return found
