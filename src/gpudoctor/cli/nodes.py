"""The machines that a command line names: a node set in ClusterShell's notation, a label selector, or this machine."""

from __future__ import annotations

import math
import os
import re
from typing import TYPE_CHECKING, Any

from gpudoctor.cli.errors import Refused
from gpudoctor.cli.inputs import check
from gpudoctor.patterns import regex
from gpudoctor.runbook.model import Runbook

if TYPE_CHECKING:
    from gpudoctor.cli.where import Where

MOST = 10_000  # machines of one run; a step's `limit` in the runbooks of a node
# gpu-07, gpu-07.example.org, 10.0.0.7, root@gpu-07: never an option, a path or a word for a shell
NAME = regex(r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}@)?[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,252}\Z", re.ASCII)
BRACKETS = regex(r"\[([0-9,/-]{1,4000})\]")
RANGE = regex(r"(\d{1,9})-(\d{1,9})(?:/(\d{1,9}))?\Z")


def node_inputs(book: Runbook, where: Where) -> dict[str, Any]:
    """The inputs of a runbook that `--node`, `-l` and `--local` fill. Raises `Refused`."""
    named = [bool(where.nodes), bool(where.selector), where.local]
    if not any(named):
        return {}
    if sum(named) > 1:
        raise Refused("give names of nodes, or -l SELECTOR, or --local: one of them")
    made: dict[str, Any] = {}
    if where.selector:
        check("selector", where.selector, "-l ")
        made = {"selector": where.selector}
    elif where.local:
        made = {"nodes": this_machine(), "local": True}
    else:
        nodes = expand(where.nodes)
        made = {"node": nodes[0]} if "nodes" not in book.inputs and len(nodes) == 1 else {"nodes": ",".join(nodes)}
    if wrong := made.keys() - book.inputs.keys():
        raise Refused(f"{book.id} takes no {' and no '.join(sorted(wrong))}")
    if "cluster" in book.inputs and where.replay is None:
        made["cluster"] = has_cluster(where)
    return made


def has_cluster(where: Where) -> bool:
    """Whether there is a cluster to ask about the nodes: not of this machine or over ssh, unless a kubeconfig is named."""
    from gpudoctor.probes.kube_config import ProbeSetupError, find_context

    named = bool(where.context or where.kubeconfig or where.selector)
    if (where.local or where.via == "ssh") and not named:
        return False
    try:
        return not find_context(str(where.kubeconfig) if where.kubeconfig else None, where.context).trouble
    except ProbeSetupError as error:
        raise Refused(str(error)) from None


def this_machine() -> str:
    """The name of this machine, as it calls itself."""
    return os.uname().nodename.split(".")[0] or "localhost"


def expand(sets: list[str]) -> list[str]:
    """The names in node sets, each once, in order: `gpu-[01-03,07],login1`. Raises `Refused`."""
    from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

    made: dict[str, None] = {}
    for text in sets:
        if size(text) > MOST:
            raise Refused(f"'{text[:80]}' names more than {MOST} machines")
        try:
            names = [str(name) for name in NodeSet(text, resolver=RESOLVER_NOGROUP)]
        except NodeSetException as error:
            raise Refused(f"'{text[:80]}' is no node set such as gpu-[01-16,18]: {str(error)[:200]}") from None
        for name in names:
            if not NAME.match(name):
                raise Refused(f"'{name[:80]}' is not a name of a machine")
        made |= dict.fromkeys(names)
    if not made:
        raise Refused("the node set is empty")
    if len(made) > MOST:
        raise Refused(f"{len(made)} machines are more than {MOST}")
    return list(made)


def size(text: str) -> int:
    """At least how many names a set stands for, without making them: `a[1-9]b[1-9]` is 81, `[1-999999999]` would fill the memory."""
    total = 0
    for part in re.split(r",(?![^\[]*\])", text[:100_000]):
        total += math.prod(sum(map(range_size, group.split(","))) for group in BRACKETS.findall(part))
    return total


def range_size(text: str) -> int:
    """Count the numbers of one range: `01-16` are 16, `0-10/5` are 3."""
    match = RANGE.match(text)
    return max(0, int(match[2]) - int(match[1])) // max(1, int(match[3] or 1)) + 1 if match else 1
