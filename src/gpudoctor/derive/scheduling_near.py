"""Which nodes come nearest to holding a pod, and what is in its way there, by the kind of change that would remove it.

A node is as far away as it takes kinds of change. Where the nearest take several at once, what most of them have in common is the reason: a
rule that each of them breaks says more than the taint that one of them has beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from gpudoctor.derive.scheduling_moves import fits_when_restored, is_full
from gpudoctor.derive.scheduling_plugins import SLOTS, Blocker, Host
from gpudoctor.derive.scheduling_text import first_words

# The kind of change that a node needs → the word for such nodes, and what is in the way there.
KINDS = {
    "tolerate": ("tainted", "the taint {}"),
    "uncordon": ("cordoned", "a cordon"),
    "repair_node": ("not_ready", "the node's condition ({})"),
    "label": ("unmatched", "the pod's choice of {}"),
    "less": ("other_resource", "too little {}"),
    "volume": ("pinned", "{}"),
    "port": ("port_taken", "the host port {}"),
    "prefer": ("ruled_out", "{}"),
    "others": ("ruled_out", "{}"),
}
WORDS = (*dict.fromkeys(word for word, _ in KINDS.values()), "full", "lost")


class Near:
    """The nearest of some nodes. `together` is how many kinds of change they take at once, 0 where no change helps or none is needed."""

    def __init__(self, hosts: Sequence[Host], verdicts: Sequence[Sequence[Blocker]]) -> None:
        liftable = [
            (host, blockers, frozenset(one.lift for one in blockers))
            for host, blockers in zip(hosts, verdicts, strict=True)
            if blockers and all(one.lift for one in blockers)
        ]
        fewest = min((len(kinds) for _, _, kinds in liftable), default=0)
        self.together = fewest if fewest == 1 or all(verdicts) else 1  # where a node fits none need be asked for two
        self.nodes = [(host, blockers) for host, blockers, kinds in liftable if len(kinds) == self.together]
        every = [words_of(blockers) for _, blockers in self.nodes]
        self.counted: set[str] = set().union(*every)
        if self.together > 1:
            self.counted = {common(every)}

    def nodes_by_word(self) -> dict[str, list[Host]]:
        """The nodes by word."""
        return {word: [host for host, blockers in self.nodes if word in self.counted and word in words_of(blockers)] for word in WORDS}

    def most(self, word: str) -> str:
        """The key that blockers of one word have most often, the first in the alphabet among equals; "" for none."""
        keys = Counter(one.key for _, blockers in self.nodes for one in blockers if KINDS.get(one.lift, ("",))[0] == word)
        return most_common(keys) if word in self.counted else ""

    def obstacles(self) -> str:
        """All that is in the way on most of the nodes, in words, where it is several things at once."""
        if self.together < 2:
            return ""
        ways = Counter(tuple(dict.fromkeys(obstacle(one) for one in blockers)) for _, blockers in self.nodes)
        words = min(ways, key=lambda way: (-ways[way], way))
        shared = [one for one in words if all(one in way for way in ways)]
        if shared and len(ways) > 1:
            words = (*shared, "something else each")
        return (" and ".join(words) if len(words) <= 3 else first_words(words)) + ("" if shared else " and the like")


def one_kind(blockers: Iterable[Blocker]) -> str:
    """The kind of change that would lift all blockers of a node, "" when it takes several kinds or there are none."""
    kinds = {blocker.lift for blocker in blockers}
    return kinds.pop() if len(kinds) == 1 else ""


def words_of(blockers: Sequence[Blocker]) -> set[str]:
    """The words of `WORDS` that say what separates one node from the pod; GPUs in use and lost ones may be both."""
    words = {KINDS[one.lift][0] for one in blockers if one.lift in KINDS}
    short = [one.shortage for one in blockers if one.shortage and one.lift == "gpus"]
    words |= {"full"} if short and all(map(is_full, short)) else set()
    return words | ({"lost"} if short and all(map(fits_when_restored, short)) else set())


def common(every: Sequence[set[str]]) -> str:
    """The word that most nodes have, the first among equals; a lost GPU is blamed for all of them or for none."""
    counts = Counter(word for words in every for word in words if word != "lost" or all("lost" in each for each in every))
    return min(counts, key=lambda word: (-counts[word], WORDS.index(word)), default="")


def obstacle(blocker: Blocker) -> str:
    """What one blocker puts in the way, in words."""
    if blocker.key == SLOTS:
        return "too few pod slots"
    if blocker.lift in KINDS:
        return KINDS[blocker.lift][1].format(blocker.key)
    return "GPUs in use" if blocker.shortage and is_full(blocker.shortage) else "too few GPUs"


def most_common(counted: Counter[str]) -> str:
    """The key counted most often, the first in the alphabet among equals; "" for none."""
    return min(counted, key=lambda key: (-counted[key], key), default="")
