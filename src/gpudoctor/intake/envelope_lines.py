"""One line of a log in JSON or CSV, as collectors and viewers export it: the text, the time, and where it was printed."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from gpudoctor.facts import Subject
from gpudoctor.patterns import regex

# Where the text stands, the first that is there. Programs' own JSON (`msg` of zap and logrus) is no envelope.
TEXTS = ("MESSAGE", "log", "message", "Message", "line", "Line", "textPayload", "@message", "body")
TIMES = ("__REALTIME_TIMESTAMP", "time", "timestamp", "@timestamp", "Timestamp", "ts", "Time", "Date", "date", "tsNs", "_time")
# Where else the text or the names may stand: Elasticsearch, Datadog, Google, fluent-bit, logcli and Grafana.
INSIDE = ("_source", "content", "attributes", "jsonPayload", "kubernetes", "labels", "stream", "fields", "resource", "event", "metadata")
NAMESPACES = ("namespace", "namespace_name", "kube_namespace", "k8s.namespace.name", "kubernetes_namespace_name")
PODS = ("pod", "pod_name", "k8s.pod.name", "kubernetes_pod_name")
CONTAINERS = ("container", "container_name", "k8s.container.name", "kubernetes_container_name")
NODES = ("node", "node_name", "nodename", "_HOSTNAME", "k8s.node.name", "host", "hostname", "Host")
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}$")
OF_PROGRAMS = ("level", "levelname", "severity_text", "logger", "lvl")  # a program's own line has one of them and no place
WHOLE = 32 << 20  # characters of one JSON value that is decoded as a log
MOST = 200_000  # lines of it
DEPTH = 3


class Entry(NamedTuple):
    """One line: who said it, when (ISO 8601, "" = not said), the text, and the index of its line in the file.

    `part` is Docker's: True where the line goes on in the next entry, False where it ends, None where nothing is said of that.
    """

    about: Subject
    stamp: str
    text: str
    number: int
    part: bool | None = None


def json_entry(line: str, number: int) -> Entry | None:
    """The entry of one JSON object, None for what is none."""
    if not line.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None
    return entry_of(value, number) if isinstance(value, dict) else None


def entry_of(value: dict[str, Any], number: int) -> Entry | None:
    """An object as an entry: it has a text and beside it a time or a place."""
    if "kind" in value:  # an object of the API
        return None
    flat = flatten_fields(value, DEPTH)
    key = next((key for key in TEXTS if key in flat), "")
    text = text_of(flat.get(key))
    if not key or text is None:
        return None
    about = subject_of(flat)
    stamp = next((at for key in TIMES if (at := moment(flat.get(key)))), "")
    if not stamp and about.kind == "cluster":
        return None
    if key in ("message", "line") and about.kind == "cluster" and any(name in value for name in OF_PROGRAMS):
        return None
    if key == "MESSAGE":
        return of_journal(value, text, about, stamp, number)
    part = None if key != "log" or "stream" not in value or not isinstance(value["stream"], str) else not text.endswith("\n")
    return Entry(about, stamp, text, number, part)


def of_journal(value: dict[str, Any], text: str, about: Subject, stamp: str, number: int) -> Entry | None:
    """A line of `journalctl -o json`: the kernel's stay as they are, with the boot they belong to, but for a message in bytes."""
    program = text_of(value.get("SYSLOG_IDENTIFIER")) or text_of(value.get("_COMM")) or ""
    nobody = Subject(kind="cluster")  # one journal may be of many machines: the host stands in each line
    if program == "kernel" or value.get("_TRANSPORT") == "kernel":
        return Entry(nobody, "", msgspec.json.encode({**value, "MESSAGE": text}).decode(), number)
    pid = text_of(value.get("_PID")) or text_of(value.get("SYSLOG_PID"))
    who = f"{program or 'unknown'}[{pid}]" if pid else program or "unknown"
    return Entry(nobody, "", f"{stamp} {about.node or 'localhost'} {who}: {text}", number)


def flatten_fields(value: dict[str, Any], depth: int) -> dict[str, Any]:
    """The fields of an object and of those inside it that say where a line comes from; the outer ones win."""
    found: dict[str, Any] = {}
    if depth:
        for key in INSIDE:
            inner = value.get(key)
            if isinstance(inner, dict):
                for name, one in flatten_fields(inner, depth - 1).items():
                    found.setdefault(name, one)
    return {**found, **{key: one for key, one in value.items() if isinstance(key, str) and not isinstance(one, dict)}}


def text_of(value: Any) -> str | None:
    """The text of a value; the journal writes text that isn't plain as a list of bytes."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        return bytes(value).decode("utf-8", "replace")
    return None


def subject_of(flat: dict[str, Any]) -> Subject:
    """The pod and container or the machine that an object names."""

    def first(keys: tuple[str, ...]) -> str:
        return next((flat[key] for key in keys if isinstance(flat.get(key), str) and NAME.match(flat[key])), "")

    pod, node = first(PODS), first(NODES)
    if pod:
        return Subject(kind="pod", namespace=first(NAMESPACES), pod=pod, container=first(CONTAINERS), node=node if node != pod else "")
    return Subject(kind="node", node=node) if node else Subject(kind="cluster")


def moment(value: Any) -> str:
    """A time as ISO 8601: a text that is one, or a number of seconds to nanoseconds since the epoch; "" for anything else."""
    if isinstance(value, str):
        if re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d", value):
            return value[:35].replace(" ", "T", 1)
        if not (value.isascii() and value.isdigit()):
            return ""
        value = int(value[:20])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e20:
        return ""
    seconds = float(value)
    while seconds > 1e11:  # ms, µs, ns
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def whole_entries(text: str) -> list[Entry]:
    """The entries of one JSON value: a list of objects, or an answer with such a list (Loki, Elasticsearch, CloudWatch)."""
    bare = text.strip()
    if len(text) > WHOLE or bare[:1] + bare[-1:] not in ("[]", "{}") or '"kind"' in bare[:4096]:
        return []
    try:
        value = msgspec.json.decode(bare)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return []
    items = list(log_objects(value))[:MOST]
    found = [entry for item in items if (entry := entry_of(item, 0))]
    return place_entries(found, text) if found and len(found) * 2 >= len(items) else []


def log_objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list of log lines, wherever the services put it."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))
    if not isinstance(value, dict):
        return
    for key in ("events", "entries", "results"):
        yield from log_objects(value[key]) if isinstance(value.get(key), list) else ()
    if isinstance(value.get("hits"), dict):
        yield from log_objects(value["hits"].get("hits"))
    data = value.get("data")
    if isinstance(data, list):
        yield from log_objects(data)
    elif isinstance(data, dict) and data.get("resultType") == "streams" and isinstance(data.get("result"), list):
        for stream in data["result"]:
            if isinstance(stream, dict) and isinstance(stream.get("values"), list):
                labels = stream.get("stream")
                for pair in stream["values"]:
                    if isinstance(pair, list) and len(pair) >= 2 and isinstance(pair[1], str):
                        yield {"timestamp": pair[0], "line": pair[1], "labels": labels if isinstance(labels, dict) else {}}


def place_entries(entries: list[Entry], text: str) -> list[Entry]:
    """The entries with the lines on which their texts stand, as far as they are found in order."""
    made: list[Entry] = []
    at = line = 0
    for entry in entries:
        needle = msgspec.json.encode(entry.text[:40]).decode()[1:-1]
        found = text.find(needle, at)
        if found >= 0:
            line += text.count("\n", at, found)
            at = found
        made.append(entry._replace(number=line))
    return made


def csv_entries(text: str) -> list[Entry]:
    """The entries of a table with a header that names a time and a message."""
    header, _, rest = text.lstrip("\n").partition("\n")
    titles = [title.strip().strip('"') for title in header[:2000].split(",")]
    if len(titles) < 2 or not rest or len(text) > WHOLE:
        return []
    if not any(title in TEXTS for title in titles) or not any(title in TIMES for title in titles):
        return []
    found: list[Entry] = []
    reader = csv.reader(io.StringIO(text), strict=False)
    before = 0
    try:
        for row in reader:
            values = dict(zip(titles, row, strict=False))
            if len(found) < MOST and before and (entry := entry_of(with_labels(values), before)):
                found.append(entry)
            before = reader.line_num
    except csv.Error:  # a field longer than 128 KiB, a NUL: what was read so far counts
        pass
    return found


def with_labels(values: dict[str, str]) -> dict[str, Any]:
    """A row whose column `labels` holds JSON, as Grafana writes it."""
    made: dict[str, Any] = dict(values)
    if values.get("labels", "").startswith("{"):
        with contextlib.suppress(msgspec.MsgspecError, RecursionError, UnicodeError):
            made["labels"] = msgspec.json.decode(values["labels"])
    return made
