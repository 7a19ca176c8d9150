"""What a kubectl command asks for by paths: `-o jsonpath`, `-o custom-columns`, `-o json | jq`; and where in an object each path leads.

JSONPath: https://kubernetes.io/docs/reference/kubectl/jsonpath/; columns: `kubectl get -h`; jq: its manual.
"""

from __future__ import annotations

import shlex
from typing import Any, NamedTuple

from gpudoctor.patterns import regex
from gpudoctor.tools.kubectl.jsonpath_fields import whole_keys

PATHS = 24  # of one command
# .status.allocatable.nvidia\.com/gpu  |  ["nvidia.com/gpu"]  |  [0]  |  [*]  |  []  |  [?(@.type=="Ready")]
STEP = regex(
    r"""\.?\[(?:(?P<index>\d{1,4})|(?P<all>\*?)|["'](?P<quoted>[^"'\]]{1,300})["']|\?\(@\.(?P<by>\w{1,40})\s*==\s*["'](?P<is>[^"']{1,200})["']\))\]\??"""
    r"|\.?(?P<key>(?:[\w/-]|\\.){1,300}|\"[^\"]{1,300}\")\??|(?P<root>[.$@])(?=$|\[|\.)"
)
KINDS = {
    **dict.fromkeys(("po", "pod", "pods"), "Pod"),
    **dict.fromkeys(("no", "node", "nodes"), "Node"),
    **dict.fromkeys(("ds", "daemonset", "daemonsets"), "DaemonSet"),
    **dict.fromkeys(("deploy", "deployment", "deployments"), "Deployment"),
    **dict.fromkeys(("sts", "statefulset", "statefulsets"), "StatefulSet"),
    **dict.fromkeys(("job", "jobs"), "Job"),
    **dict.fromkeys(("ns", "namespace", "namespaces"), "Namespace"),
    **dict.fromkeys(("cm", "configmap", "configmaps"), "ConfigMap"),
    **dict.fromkeys(("ev", "event", "events"), "Event"),
    **dict.fromkeys(("quota", "resourcequota", "resourcequotas"), "ResourceQuota"),
    **dict.fromkeys(("pvc", "persistentvolumeclaim", "persistentvolumeclaims"), "PersistentVolumeClaim"),
    **dict.fromkeys(("pv", "persistentvolume", "persistentvolumes"), "PersistentVolume"),
    **dict.fromkeys(("cq", "clusterqueue", "clusterqueues"), "ClusterQueue"),
    **dict.fromkeys(("nodepool", "nodepools"), "NodePool"),
    **dict.fromkeys(("clusterpolicy", "clusterpolicies"), "ClusterPolicy"),
    **dict.fromkeys(("wl", "workload", "workloads"), "Workload"),
}
NAME = regex(r"[a-z0-9][a-z0-9.-]{0,252}$")
VALUED = ("-n", "--namespace", "-l", "--selector", "--context", "--field-selector", "--kubeconfig", "-L", "--label-columns", "--sort-by")

Step = str | int | tuple[str, str]  # a key, a place in a list (-1: all of them), or the entry of a list whose KEY is VALUE
Path = tuple[Step, ...]
Shape = Path | dict[str, Any] | list[Any]  # of one JSON value: what stands at a path, or a mapping or list of such

# Filters of jq that leave something out, or print it in another form.
PASSED = ("select(", "with_entries(", "map_values(", "to_entries", "from_entries", "sort", "length", "keys", "@", "tostring", "unique")


class Asked(NamedTuple):
    """One command: the kind of the objects, the name of the one that is named, and how the answer is made of paths.

    `form` is jsonpath, columns or jq; `parts` are literal texts and paths in order (columns: titles and paths by turns; jq: shapes).
    """

    kind: str
    name: str
    namespace: str
    form: str
    parts: tuple[Any, ...]
    each: bool  # the parts once for each object


def requested_paths(argv: tuple[str, ...]) -> Asked | None:
    """The paths that a command asks for; None where it names none.

    >>> requested_paths(("kubectl", "get", "node", "gpu-1", "-o", "jsonpath={.spec.taints[*].key}")).parts
    (('spec', 'taints', -1, 'key'),)
    """
    if len(argv) < 4 or argv[0].rpartition("/")[2] not in ("kubectl", "oc", "k", "kubecolor"):
        return None
    end = argv.index("|") if "|" in argv else len(argv)
    plain, form, space = plain_words(argv[1:end])
    if plain[:1] != ["get"] or len(plain) < 2:
        return None
    kind, _, name = plain[1].partition("/")
    name = name or (plain[2] if len(plain) > 2 else "")
    known = KINDS.get(kind.lower().partition(".")[0], "")
    if not known or "," in plain[1] or len(plain) > 3:
        return None
    made = parts_of(form, argv[end + 1 :])
    if made is None or not any(part and not isinstance(part, str) for part in made[1]):
        return None
    parts = made[1][: 2 * PATHS]
    return Asked(known, name if NAME.match(name) else "", space if NAME.match(space) else "", made[0], parts, made[2])


def plain_words(words: tuple[str, ...]) -> tuple[list[str], str, str]:
    """(the words that are no options, the output form, the namespace)."""
    plain: list[str] = []
    form = space = pending = ""
    for word in words:
        if pending:
            form, space = (word, space) if pending == "-o" else (form, word if pending in ("-n", "--namespace") else space)
            pending = ""
        elif word in ("-o", "--output"):
            pending = "-o"
        elif word in VALUED:
            pending = word
        elif word.startswith(("-o", "--output=")):
            form = word.removeprefix("--output").removeprefix("-o").removeprefix("=")
        elif word.startswith(("-n=", "--namespace=")):
            space = word.partition("=")[2]
        elif not word.startswith("-"):
            plain.append(word)
    return plain, form, space


def parts_of(form: str, behind: tuple[str, ...]) -> tuple[str, tuple[Any, ...], bool] | None:
    """(form, parts, whether they come once for each object)."""
    if form.startswith("jsonpath="):
        return "jsonpath", *template(form.removeprefix("jsonpath="))
    if form.startswith("custom-columns="):
        columns = [column.partition(":") for column in form.removeprefix("custom-columns=").split(",")]
        return "columns", tuple(one for title, _, path in columns for one in (title, steps(path))), True
    if form == "json" and behind[:1] == ("jq",):
        program = next((word for word in behind[1:] if not word.startswith("-")), "")
        stages = [stage.strip() for stage in split_at(program, "|")]
        if stages[-1][:1] == '"' and (parts := interpolation_parts(stages[-1])):
            return "jsonpath", parts, stages[0] == ".items[]"
        return "jq", *jq(program)
    return None


def template(text: str) -> tuple[tuple[str | Path, ...], bool]:
    """The parts of a JSONPath template; `{range .items[*]}` makes them those of one object."""
    parts: list[str | Path] = []
    each = False
    for index, piece in enumerate(text.split("{")):
        inner, closed, literal = piece.partition("}")
        if index and not closed:
            return (), False
        if not index:
            literal = piece
        elif inner.startswith("range"):
            each = each or steps(inner.removeprefix("range").strip())[:1] == ("items",)
        elif inner[:1] in "\"'":
            literal = inner[1:-1].replace("\\n", "\n").replace("\\t", "\t") + literal
        elif inner != "end":
            parts.append(of_one(steps(inner)))
        if literal:
            parts.append(literal)
    return tuple(parts), each


def of_one(path: Path) -> Path:
    """A path in one entry of a list of objects, which a selector has found, as one in the object."""
    return path[2:] if path[:1] == ("items",) and len(path) > 2 and isinstance(path[1], int) and path[1] >= 0 else path


def interpolation_parts(text: str) -> tuple[str | Path, ...]:
    """The parts of a text of jq with paths in it: "\\(.metadata.name) \\(.status.phase)"."""
    first, *pieces = text.strip('"').split("\\(")
    parts: list[str | Path] = [first] if first else []
    for piece in pieces:
        path, _, literal = piece.partition(")")
        parts.append(steps(path))
        if literal:
            parts.append(literal.replace("\\n", "\n").replace("\\t", "\t"))
    return tuple(parts) if all(parts) else ()


def jq(program: str) -> tuple[tuple[Shape, ...], bool]:
    """The values that a jq program prints for each object; filters that only leave something out are passed over."""
    stages = [stage.strip() for stage in split_at(program, "|")]
    each = stages[0].startswith(".items[]")
    shapes: list[Shape] = [()]
    for stage in stages:
        if stage.startswith(PASSED):
            continue
        base = shapes[0] if len(shapes) == 1 and isinstance(shapes[0], tuple) else ()
        shapes = [shape(one.removeprefix(".items[]").strip(), base) for one in split_at(stage, ",")]
    return tuple(shapes), each


def shape(text: str, base: Path) -> Shape:
    """What one expression of jq makes: a value, or a mapping or list of values."""
    if text.startswith("(") and text.endswith(")"):
        inner = [stage.strip() for stage in split_at(text[1:-1], "|")]
        made: Shape = base
        for stage in inner:
            if not stage.startswith(PASSED):
                made = shape(stage, made if isinstance(made, tuple) else ())
        return made
    if text.startswith("{") and text.endswith("}"):
        members = [one.strip().partition(":") for one in split_at(text[1:-1], ",")]
        return {name.strip().strip("\"'."): shape(path.strip() if colon else "." + name, base) for name, colon, path in members}
    if text.startswith("[") and text.endswith("]"):
        return [shape(one.strip(), base) for one in split_at(text[1:-1], ",")]
    return base + steps(text)


def split_at(text: str, mark: str) -> list[str]:
    """A text cut at a mark that stands outside of brackets and quotes."""
    found, depth, quote, start = [], 0, "", 0
    for index, sign in enumerate(text[:4000]):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == mark and not depth:
            found.append(text[start:index])
            start = index + 1
    return [*found, text[start:]]


def steps(path: str) -> Path:
    """The steps of a path, () where it is none.

    >>> steps(".status.capacity.nvidia\\\\.com/gpu"), steps('.status.conditions[?(@.type=="Ready")].status')
    (('status', 'capacity', 'nvidia.com/gpu'), ('status', 'conditions', ('type', 'Ready'), 'status'))
    """
    found: list[Step] = []
    at = 0
    path = path.strip()
    while at < len(path):
        match = STEP.match(path, at)
        if not match or match.end() == at:
            return ()
        at = match.end()
        if match["key"] is not None:
            found.append(match["key"].strip('"').replace("\\", ""))
        elif match["quoted"] is not None:
            found.append(match["quoted"].replace("\\", ""))
        elif match["by"] is not None:
            found.append((match["by"], match["is"]))
        elif match["index"] is not None:
            found.append(int(match["index"]))
        elif match["all"] is not None:
            found.append(-1)
    return whole_keys(found)


def answers_json(words: list[str]) -> bool:
    """Whether a command prints JSON, by its last word, or as Prometheus' API and its clients do."""
    return words[-1:] in (["json"], ["-ojson"], ["-o=json"], ["--output=json"]) or (
        words[:1] in (["curl"], ["promql"], ["promtool"]) and any("query" in word for word in words)
    )


DATED = regex(r"^date(?: [^;|&]{1,40})?; ")  # the time was printed first


# while sleep 60; do date; nvidia-smi -q -d ECC; done  |  for i in 1 2 3; do perfquery -x; sleep 10; done
LOOP = regex(r"(?:while|until|for (?P<each>\w{1,40})) [^;]{1,200}; ?do (?P<body>.{1,2000}); ?done")
BESIDE = regex(r"^(?:(?:date|echo|sleep|clear)(?: [^;|&]{1,60})?; ?)+")


def loop_command(command: str) -> str:
    """The command that a loop asks again and again; a line that is no loop, or one over several things, as it is.

    >>> loop_command("while sleep 60; do date +%T; nvidia-smi -L; done"), loop_command("for n in a b; do ssh $n nvidia-smi -L; done")
    ('nvidia-smi -L', 'for n in a b; do ssh $n nvidia-smi -L; done')
    """
    match = LOOP.match(command)
    if match is None or (match["each"] and (f"${match['each']}" in match["body"] or f"${{{match['each']}" in match["body"])):
        return command
    return BESIDE.sub("", match["body"])


def words_of(command: str) -> list[str]:
    """The words of the first command of a line, without sudo, quotes obeyed. What follows `| jq` stays: it says what is shown.

    >>> words_of("sudo kubectl get no a -o json | jq -c '.status|.capacity' | head")
    ['kubectl', 'get', 'no', 'a', '-o', 'json', '|', 'jq', '-c', '.status|.capacity']
    """
    command = loop_command(command[:2000])
    cut = shlex.shlex(DATED.sub("", command), posix=True, punctuation_chars="|;&<>")
    cut.whitespace_split = True
    cut.commenters = ""
    words: list[str] = []
    try:
        for word in cut:
            if word and set(word) <= set("|;&<>") and not (word == "|" and "|" not in words and answers_json(words)):
                break
            words.append(word)
    except ValueError:  # an open quote
        words = command.split("|")[0].split()
    if "|" in words and words[words.index("|") + 1 :][:1] != ["jq"]:
        words = words[: words.index("|")]
    return words[1:] if words[:1] == ["sudo"] else words
