"""The names of collective operations and of process groups: each has another one in NCCL, in PyTorch's watchdog and in its profiler."""

from __future__ import annotations

from functools import lru_cache

# What PyTorch's profiler calls an operation, without underscores → NCCL's word (ProcessGroupNCCL.cpp: the profilingTitle of each call).
OTHER_NAMES = {
    "ALLREDUCEBARRIER": "ALLREDUCE",  # barrier() is an all-reduce of one number
    "BROADCASTOOP": "BROADCAST",
    "REDUCEOOP": "REDUCE",
    "RECVANYSOURCE": "RECV",
    "ALLGATHERINTOTENSORCOALESCED": "ALLGATHER",
    "REDUCESCATTERTENSORCOALESCED": "REDUCESCATTER",
}


@lru_cache(1024)
def operation(name: str) -> str:
    """NCCL's own word for an operation, in capitals without a prefix.

    >>> operation("nccl:_all_gather_base"), operation("_ALLGATHER_BASE"), operation("AllGather"), operation("nccl:send 0->1")
    ('ALLGATHER', 'ALLGATHER', 'ALLGATHER', 'SEND')
    """
    word = name.rpartition(":")[2].strip().partition(" ")[0].upper().replace("_", "")
    if word.endswith("BASE"):
        word = word.removesuffix("BASE")
    return OTHER_NAMES.get(word, word)


def group(name: str, description: str) -> str:
    """A process group: `default_pg`, `tp 5` by its description and name, `5` by its name alone. Many groups share a description.

    >>> group("0", "default_pg"), group("5", "tp"), group("5", "undefined")
    ('default_pg', 'tp 5', '5')
    """
    if description == "default_pg" or (not description and name == "0"):
        return "default_pg"
    return name if description in ("", "undefined", name) else f"{description} {name}"
