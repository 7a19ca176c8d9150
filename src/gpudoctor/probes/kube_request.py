"""What a kubectl command asks of the API server: argv in, `Request` out, nothing is touched.

Only the commands and options that runbooks need are known; anything else raises `NotAllowed` with a sentence. The words for resources
come from `kube_resources`; a word that it doesn't know is looked up at the server.
"""

from __future__ import annotations

import math
import re
from typing import Literal, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from gpudoctor.knowledge import proxy_paths
from gpudoctor.patterns import regex
from gpudoctor.probes.kube_resources import PODS, RESOURCES, Resource

NO_EXEC = "running programs in containers was switched off (--no-exec)"

Verb = Literal["get", "list", "log", "exec", "version", "raw"]
_LABEL = regex(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?")  # RFC 1123 label: names of namespaces and containers
_DURATION = regex(r"(\d{1,9})(h|m|s)")
_MAX_ARGUMENTS = 1000
_MAX_LENGTH = 1 << 16  # bytes of all arguments: an API server takes about 1 MiB of URL and headers


class NotAllowed(ValueError):
    """A command that is not asked. The message is one sentence."""


class Request(msgspec.Struct, frozen=True):
    """One read of the API. `namespace` is "" for all namespaces and for resources without one; `name` is "" for a list.

    `resource` is None when only the server knows the resource that `word` names; of a raw read `word` is the path.
    """

    verb: Verb
    word: str = ""
    resource: Resource | None = None
    namespace: str = ""
    name: str = ""
    query: tuple[tuple[str, str], ...] = ()
    argv: tuple[str, ...] = ()  # exec: what to run there
    stdin: bool = False  # exec
    context: str = ""  # the kubeconfig context that the command names
    ignore_not_found: bool = False

    def path(self) -> str:
        """The path on the API server, without the query. `resource` must be known, except for version."""
        if self.verb == "version" or self.resource is None:
            return self.word if self.verb == "raw" else "/version"
        parts = [self.resource.root]
        if self.namespace and self.resource.namespaced:
            parts += ["namespaces", quote(self.namespace, safe="")]
        parts.append(self.resource.plural)
        if self.name:
            parts.append(quote(self.name, safe=""))
        if self.verb in ("log", "exec"):
            parts.append(self.verb)
        return "/".join(parts)

    def target(self, extra: tuple[tuple[str, str], ...] = ()) -> str:
        """Path and query, ready for the request line."""
        query = self.query + extra
        return f"{self.path()}?{urlencode(query, errors='replace')}" if query else self.path()

    def rule(self) -> str:
        """The RBAC rule that the request needs, in words: `list pods at the cluster scope`."""
        if self.verb == "raw":
            return proxy_paths.rule(self.word)
        plural = self.resource.plural if self.resource else self.word
        group = f".{self.resource.group}" if self.resource and self.resource.group else ""
        where = f'in namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        if self.verb == "exec":
            return f"get and create {plural}/exec {where}"  # create from Kubernetes 1.35 on
        return f"get {plural}/log {where}" if self.verb == "log" else f"{self.verb} {plural}{group} {where}"


class _Option(NamedTuple):
    name: str  # the long name
    verbs: str
    takes_value: bool = True


# Every spelling that is understood. pflag, which kubectl uses, takes `--name=v`, `--name v`, `-nv`, `-n v`, `-n=v`.
_OPTIONS = (
    ("-n", _Option("namespace", "get logs exec version")),
    ("", _Option("context", "get logs exec version")),
    ("-o", _Option("output", "get version")),
    ("-A", _Option("all-namespaces", "get", takes_value=False)),
    ("-l", _Option("selector", "get")),
    ("", _Option("field-selector", "get")),
    ("", _Option("ignore-not-found", "get", takes_value=False)),
    ("", _Option("raw", "get")),
    ("-c", _Option("container", "logs exec")),
    ("", _Option("tail", "logs")),
    ("", _Option("since", "logs")),
    ("-p", _Option("previous", "logs", takes_value=False)),
    ("", _Option("timestamps", "logs", takes_value=False)),
    ("", _Option("limit-bytes", "logs")),
    ("-i", _Option("stdin", "exec", takes_value=False)),
)
_BY_SPELLING = {spelling: option for short, option in _OPTIONS for spelling in (short, f"--{option.name}") if spelling}


class _Split(NamedTuple):
    words: list[str]
    options: dict[str, str]  # a flag's value is "true" or "false"
    rest: tuple[str, ...] | None  # what follows `--`; None where there is no `--`


def parse(argv: tuple[str, ...], namespace: str = "default") -> Request:
    """The request behind `kubectl …`; `namespace` is used where the command names none.

    Raises NotAllowed for everything that is not a plain read which this module knows, and for every read of secrets.
    """
    if len(argv) > _MAX_ARGUMENTS or sum(map(len, argv)) > _MAX_LENGTH:
        raise NotAllowed("the kubectl command is too long")
    split = _split(argv[1:])
    verb = split.words[0] if split.words else ""
    build = {"get": _get, "logs": _logs, "exec": _exec, "version": _version}.get(verb)
    if build is None:
        raise NotAllowed(f"kubectl {_quote(verb)} is not a command that gpudoctor runs; it runs get, logs, exec and version")
    for name in split.options:
        if verb not in _BY_SPELLING[f"--{name}"].verbs.split():
            raise NotAllowed(f"kubectl {verb} has no option --{name} here")
    return build(split, _namespace(split, namespace))


def _split(arguments: tuple[str, ...]) -> _Split:
    words: list[str] = []
    options: dict[str, str] = {}
    queue = list(reversed(arguments))
    while queue:
        argument = queue.pop()
        if argument == "--":
            return _Split(words, options, tuple(reversed(queue)))
        if not argument.startswith("-") or argument == "-":
            words.append(argument)
            continue
        option, value = _option(argument)
        if value is None and option.takes_value:
            if not queue:
                raise NotAllowed(f"kubectl option --{option.name} lacks its value")
            value = queue.pop()
        if not option.takes_value and value not in (None, "true", "false"):
            raise NotAllowed(f"kubectl option --{option.name} is true or false, not {_quote(value or '')}")
        options[option.name] = "true" if value is None else value
    return _Split(words, options, None)


def _option(argument: str) -> tuple[_Option, str | None]:
    """The option that an argument spells and the value that is attached to it, if one is."""
    spelling, equals, value = argument.partition("=")
    if not argument.startswith("--") and len(spelling) > 2 and (known := _BY_SPELLING.get(argument[:2])) and known.takes_value:
        return known, argument[2:]
    option = _BY_SPELLING.get(spelling)
    if option is None:
        raise NotAllowed(f"kubectl option {_quote(spelling)} is not one that gpudoctor uses")
    return option, value if equals else None


def _namespace(split: _Split, default: str) -> str:
    namespace = split.options.get("namespace") or default
    if not _LABEL.fullmatch(namespace):
        raise NotAllowed(f"{_quote(namespace)} is not the name of a namespace")
    return namespace


def _get(split: _Split, namespace: str) -> Request:
    options = split.options
    words = split.words[1:] + list(split.rest or ())
    if path := options.get("raw"):
        if words or not proxy_paths.PATH.match(path):
            raise NotAllowed(f"{_quote(path)} is not one of the paths that are read raw")
        return Request("raw", word=path, context=options.get("context", ""))
    if len(words) == 1 and "/" in words[0]:
        words = words[0].split("/")
    if not 1 <= len(words) <= 2:
        raise NotAllowed("kubectl get takes one resource type and at most one name here")
    if options.get("output") != "json":
        raise NotAllowed("kubectl get needs -o json here")
    word, name = words[0].lower(), words[1] if len(words) == 2 else ""
    resource = _resource(word)
    query = [
        (key, options[option])
        for option, key in (("selector", "labelSelector"), ("field-selector", "fieldSelector"))
        if options.get(option)
    ]
    everywhere = options.get("all-namespaces") == "true"
    if len(words) == 2:
        check_name(name)
        if query or everywhere:
            raise NotAllowed("kubectl get takes a name or a choice of many, not both")
    return Request(
        verb="get" if name else "list",
        word=word,
        resource=resource,
        namespace="" if everywhere or (resource is not None and not resource.namespaced) else namespace,
        name=name,
        query=tuple(query),
        context=options.get("context", ""),
        ignore_not_found=options.get("ignore-not-found") == "true",
    )


def _resource(word: str) -> Resource | None:
    """The resource that a word means, None if only the server can know. Secrets are never read, under whatever name."""
    if not is_subdomain(word):
        raise NotAllowed(f"{_quote(word)} is not a resource type")
    if word.split(".")[0] in ("secret", "secrets"):
        raise NotAllowed("secrets are never read")
    return RESOURCES.get(word)


def _logs(split: _Split, namespace: str) -> Request:
    options = split.options
    query = _container(options)
    for name, key in (("previous", "previous"), ("timestamps", "timestamps")):
        if options.get(name) == "true":
            query.append((key, "true"))
    if "tail" in options and options["tail"] != "-1":  # -1 means all
        query.append(("tailLines", _count(options, "tail")))
    if "limit-bytes" in options:
        query.append(("limitBytes", _count(options, "limit-bytes")))
    if "since" in options:
        query.append(("sinceSeconds", str(seconds(options["since"]))))
    return _of_pod("log", [*split.words[1:], *(split.rest or ())], namespace, query, options)


def _exec(split: _Split, namespace: str) -> Request:
    if not split.rest:
        raise NotAllowed("kubectl exec needs `--` and a program after the pod")
    query = [*_container(split.options), ("stdout", "true"), ("stderr", "true")]
    stdin = split.options.get("stdin") == "true"
    if stdin:
        query.append(("stdin", "true"))
    query += [("command", argument) for argument in split.rest]
    request = _of_pod("exec", split.words[1:], namespace, query, split.options)
    return msgspec.structs.replace(request, argv=split.rest, stdin=stdin)


def _of_pod(verb: Verb, words: list[str], namespace: str, query: list[tuple[str, str]], options: dict[str, str]) -> Request:
    if len(words) == 1 and "/" in words[0]:
        kind, _, name = words[0].partition("/")
        if RESOURCES.get(kind.lower()) is not PODS:
            raise NotAllowed(f"kubectl {'logs' if verb == 'log' else verb} takes a pod here, not {_quote(words[0])}")
        words = [name]
    if len(words) != 1:
        raise NotAllowed(f"kubectl {'logs' if verb == 'log' else verb} takes the name of one pod here")
    check_name(words[0])
    return Request(verb, "pods", PODS, namespace, words[0], tuple(query), context=options.get("context", ""))


def _version(split: _Split, namespace: str) -> Request:
    if len(split.words) > 1 or split.rest or split.options.get("output") != "json":
        raise NotAllowed("kubectl version takes nothing but -o json here")
    return Request("version", context=split.options.get("context", ""))


def _container(options: dict[str, str]) -> list[tuple[str, str]]:
    container = options.get("container")
    if container is None:
        return []
    if not _LABEL.fullmatch(container):
        raise NotAllowed(f"{_quote(container)} is not the name of a container")
    return [("container", container)]


def _count(options: dict[str, str], name: str) -> str:
    if not re.fullmatch(r"[0-9]{1,12}", options[name]):
        raise NotAllowed(f"kubectl option --{name} is a number, not {_quote(options[name])}")
    return str(int(options[name]))


def seconds(duration: str) -> int:
    """The whole seconds, rounded up, of a duration as Go writes it: `90s`, `1h30m`. Raises NotAllowed."""
    parts = _DURATION.findall(duration)
    total = sum(int(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in parts)
    if not total or "".join(number + unit for number, unit in parts) != duration:
        raise NotAllowed(f"kubectl option --since is a duration like 10m, not {_quote(duration)}")
    return math.ceil(total)


def check_name(name: str) -> None:
    """Raise NotAllowed unless `name` can be an object's name."""
    if not is_subdomain(name):
        raise NotAllowed(f"{_quote(name)} is not the name of an object")


def is_subdomain(name: str) -> bool:
    """Whether this is an RFC 1123 subdomain of at most 253 characters, as the names of nearly all objects are."""
    return len(name) <= 253 and all(_LABEL.fullmatch(label) for label in name.split("."))


def _quote(text: str) -> str:
    """Foreign text for a sentence: short, on one line, visible."""
    return ascii(text if len(text) <= 60 else text[:60] + "…")
