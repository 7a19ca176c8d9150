"""What a Python thread waits for, by the functions on its stack: names of PyTorch, of common libraries, and of the standard library."""

from __future__ import annotations

from gpudoctor.patterns import regex

# State → what `function (file:line)` of a frame is searched for; of one frame the first that fits counts.
WAITS: dict[str, tuple[str, ...]] = {
    "checkpoint": (
        r"torch/distributed/checkpoint/|torch/serialization\.py|safetensors/",
        r"^_?(?:async_)?(?:save|load|restore)_(?:\w+_)?(?:checkpoint|state_dict|ckpt|optimizer_states)\b",
        r"/(?:dist_)?checkpoint(?:ing|s)?(?:/|\.py)|/checkpoint_engine/",
    ),
    "compile": (
        r"torch/_inductor/|torch/_dynamo/|torch/utils/cpp_extension|triton/compiler/|triton/runtime/(?:jit|autotuner)|numba/core/",
        r"^(?:backend_compile|_compile_and_write_cache|precompile|autotune)\b",
    ),
    "data_loader": (
        r"torch/utils/data/|webdataset/|streaming/base/|nvidia/dali/|torchdata/|/(?:data|dist_?train)_?loaders?(?:/|\.py)",
        r"^(?:_?next_data|_try_get_data|_try_get_batch)\b",
    ),
    "collective": (
        r"torch/distributed/(?:distributed_c10d|_functional_collectives|c10d_logger|utils)\b",
        r"horovod/|deepspeed/comm/|mpi4py|gloo|\blibnccl|^p?nccl[A-Z]\w+ |c10d::|ProcessGroup\w*::",
    ),
    "file_system": (
        r"^(?:open|read|write|fsync|fdatasync|stat|listdir|scandir|walk|rename|replace|unlink|rmtree|makedirs|mkdir|copyfile|flush|emit)"
        r" \((?:os|posixpath|genericpath|pathlib|logging/__init__|logging/handlers|shutil|tarfile|zipfile|io|codecs|fsspec/)\b",
        r"^(?:__)?(?:open|read|write|pread|pwrite|fsync|stat|fstat|newfstatat|getdents|close)(?:64|at)? \((?:libc|libpthread)\b",
    ),
    "lock": (
        r"^(?:acquire|wait|wait_for|join|_wait_for_tstate_lock|get|put|__enter__|result)"
        r" \((?:threading|queue|filelock/|multiprocessing/|concurrent/futures/|selectors)\b",
        r"^(?:__)?(?:pthread_\w*wait\w*|futex\w*|sem_wait\w*) \(",
    ),
}
PATTERNS = [(state, regex("|".join(patterns))) for state, patterns in WAITS.items()]
# The innermost state → the outer ones that say what it is for: a checkpoint reads and writes files, waits for locks and for all ranks.
OUTER: dict[str, tuple[str, ...]] = {
    "file_system": ("checkpoint", "data_loader", "compile"),
    "lock": ("checkpoint", "data_loader", "collective", "compile"),
}


def waits_in(frames: list[str]) -> str:
    """The state of a stack, innermost frame first: that of the innermost frame that has one, or of an outer one that says what it is for.

    >>> waits_in(["wait (threading.py:327)", "_try_get_data (torch/utils/data/dataloader.py:1133)", "main (train.py:90)"])
    'data_loader'
    """
    states = [state for state in map(state_of, frames) if state]
    if not states:
        return ""
    return next((outer for outer in states[1:] if outer in OUTER.get(states[0], ())), states[0])


def state_of(frame: str) -> str:
    """What one frame says, "" for nothing."""
    return next((state for state, pattern in PATTERNS if pattern.search(frame)), "")
