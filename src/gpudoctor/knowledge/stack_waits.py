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
        # an iterator over a queue that threads fill: fairseq/data/iterators.py, t5x/prefetch.py
        r"^(?:__next__|next|_next) \((?:\S*/)?(?:data|datasets?|input_pipeline)/",
        r"^__next__ \((?:\S*/)?\w*(?:iterators?|prefetch\w*|loaders?|feeder)\.py",
    ),
    "collective": (
        r"torch/distributed/(?:distributed_c10d|_functional_collectives|c10d_logger|utils)\b",
        r"horovod/|deepspeed/comm/|mpi4py|gloo|\blibnccl|^p?nccl[A-Z]\w+ |c10d::|ProcessGroup\w*::",
    ),
    "device": (r"^synchronize \(torch/cuda/|^cu(?:da)?(?:Stream|Event|Ctx|Device|Context)Synchronize\b",),
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
    "device": ("checkpoint", "collective", "compile"),
}
# The frame of a worker of PyTorch's data loader; the queue in which one without an order waits; what it stands in where a lock was copied
# by fork() while a thread of the parent held it, or where it waits for threads that fork() doesn't copy (OpenMP, OpenBLAS, TBB).
WORKER = regex(r"^_worker_loop \(torch/utils/data/")
WITHOUT_ORDER = regex(r"^(?:get|poll|_poll) \(multiprocessing/")
LOCKED = regex(
    r"^(?:acquire|_acquireLock|__enter__) \((?:logging/|threading|filelock/|multiprocessing/synchronize|importlib/)"
    r"|^(?:acquire|__enter__) \(<frozen importlib|^put \(multiprocessing/queues"
    r"|^(?:gomp_|GOMP_|__?kmp\w*_(?:wait|barrier)|__lll_lock_wait|_*pthread_(?:mutex_lock|cond_wait)|blas_thread|exec_blas|tbb::)"
)


def waits_in(frames: list[str]) -> str:
    """The state of a stack, innermost frame first: that of the innermost frame that has one, or of an outer one that says what it is for.

    >>> waits_in(["wait (threading.py:327)", "_try_get_data (torch/utils/data/dataloader.py:1133)", "main (train.py:90)"])
    'data_loader'
    """
    if is_worker(frames) and any(map(LOCKED.search, frames)) and not any(map(WITHOUT_ORDER.search, frames)):
        return "loader_lock"
    states = [state for state in map(state_of, frames) if state]
    if not states:
        return ""
    return next((outer for outer in states[1:] if outer in OUTER.get(states[0], ())), states[0])


# all_gather_object (torch/distributed/distributed_c10d.py:2740): what the library calls itself begins with _ or is a wrapper
CALL = regex(r"^([a-z]\w{2,40}) \((?:\S*/)?torch/distributed/(?:distributed_c10d|_functional_collectives)\.py:")
OF_TWO_RANKS = {"send", "recv", "isend", "irecv", "batch_isend_irecv"}


def collective(frames: list[str]) -> str:
    """The collective that a program called, the outermost of the library's functions; "" for none, and for what two ranks do alone.

    >>> file = "torch/distributed/distributed_c10d.py"
    >>> collective([f"all_gather ({file}:2912)", f"all_gather_object ({file}:2740)", "save (train.py:58)"])
    'all_gather_object'
    """
    called = [match[1] for frame in frames if (match := CALL.match(frame)) and match[1] != "wrapper"]
    return "" if not called or OF_TWO_RANKS & {*called} else called[-1]


def is_worker(frames: list[str]) -> bool:
    """Whether it is the stack of a data loader's worker."""
    return any(map(WORKER.search, frames))


def state_of(frame: str) -> str:
    """What one frame says, "" for nothing."""
    return next((state for state, pattern in PATTERNS if pattern.search(frame)), "")
