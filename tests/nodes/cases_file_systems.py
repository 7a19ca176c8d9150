"""File systems that are full or do not answer, programs that wait for them; and some with room."""

from __future__ import annotations

from tests.nodes.case import Case, Said
from tests.nodes.watched import GIVEN, HEAD, ROOM, WAVES, log, megatron, node, seen_by

FULL = ROOM.replace("31457280000 20971520000      60%", "52428800000           0     100%")
NEARLY = ROOM.replace("31457280000 20971520000      60%", "52310000000   118800000      100%").replace("100% /mnt", "99% /mnt")
DAEMON = "rpc_wait_bit_killable"


def local(rows: str) -> str:
    """What df shows where only disks of the machine are mounted."""
    return "\n".join(row for row in rows.split("\n") if "/mnt/ml" not in row)


CASES: dict[str, Case] = seen_by(
    "file-systems",
    {
        "files-well": node(*WAVES, log=log(*megatron(60))),
        "files-shared-full": node(*WAVES, df=FULL),
        "files-local-full": node(*WAVES, df=ROOM.replace("121340036 315078636      28%", "459850824         0     100%")),
        "files-df-hangs": node(
            *WAVES,
            df=Said(failure="timeout"),
            ps=HEAD + f"D   48213   51034 {DAEMON:<32} python3\n",
        ),
        "files-list-once": node(*WAVES, ps=[HEAD + f"D   48213   51034 {DAEMON:<32} python3\n", Said(failure="timeout")]),
        "files-sleepers": node(
            *WAVES,
            ps=HEAD
            + "D   48213     102 -                                python3\nD   48214     102 -                                python3\n",
        ),
        # it answers by now, and a program has slept in it both times
        "files-one-asleep": node(*WAVES, ps=HEAD + f"D   48213     102 {DAEMON:<32} python3\n"),
        "files-stack-once": node(*WAVES, log=log("[<0>] rpc_wait_bit_killable+0x24/0xb0 [sunrpc]")),
        "files-asleep": node(
            *WAVES, log=log("top shows python in D state, and it can not be killed.", "The records are on an NFS share.", gap=1)
        ),
        "files-quota": node(
            *WAVES, log=log(*megatron(40), after="OSError: [Errno 122] Disk quota exceeded: '/lustre/ml/ckpt/step_40/optim.pt'")
        ),
        "files-no-space": node(
            *WAVES, log=log(*megatron(40), after="OSError: [Errno 28] No space left on device: '/mnt/ml/ckpt/step_40/optim.pt'")
        ),
        "files-checkpoint-read-only": node(
            *WAVES, log=log(*megatron(40), after="OSError: [Errno 30] Read-only file system: '/ckpt/step_40/optim.pt'")
        ),
        "files-checkpoint-rights": node(
            *WAVES,
            log=log("Saving model checkpoint to /ckpt/step_40", "PermissionError: [Errno 13] Permission denied: '/ckpt/step_40/optim.pt'"),
        ),
        "files-dead-mount": node(*WAVES, log=log("OSError: [Errno 116] Stale file handle: '/mnt/ml/shard-00012.tar'")),
        "files-refuse-write": node(
            *WAVES, log=log("safetensors_rust.SafetensorError: Error while serializing: I/O error: Operation not supported (os error 95)")
        ),
        "files-out-of-order": node(
            *WAVES,
            log=log(
                "mountpoint_s3::fuse: write failed: upload error: out-of-order write NOT supported by Mountpoint, aborting the upload; "
                "expected offset 0 but got 512"
            ),
        ),
        "files-write-not-taken": node(
            *WAVES,
            log=log(
                '  File "/opt/venv/lib/python3.12/site-packages/torch/serialization.py", line 944, in save',
                "OSError: [Errno 22] Invalid argument",
            ),
        ),
        "files-write-not-taken-perhaps": node(
            *WAVES,
            df=local(ROOM),
            inodes=local(GIVEN),
            log=log('  File "/opt/run/train.py", line 44, in save_state', "OSError: [Errno 95] Operation not supported"),
        ),
        "files-nearly-full": node(
            *WAVES,
            df=NEARLY,
            log=log("RuntimeError: [enforce fail at inline_container.cc:588] . unexpected pos 2097216 vs 2097110", gap=0),
        ),
        "files-calls": node(
            *WAVES,
            log=log(
                '[pid 48260] pread64(31, "\\0\\0"..., 262144, 88080384) = 262144 <41.483011>',
                "           ops/s       rpc bklog",
                "           0.000         812.000",
                "$ ls /mnt/team",
                "^C",
                "$ uptime",
                gap=1,
            ),
        ),
        "files-no-answer": node(
            *WAVES,
            ps=Said(failure="timeout"),
            df=Said(failure="refused", exit=1, reason="df: permission denied"),
        ),
    },
)
