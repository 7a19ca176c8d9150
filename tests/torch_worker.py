"""One rank of a small distributed job on the CPU, for a Python that has torch: torch_worker.py SCENARIO."""

import os
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist

RANK = int(os.environ["RANK"])
WORLD = int(os.environ["WORLD_SIZE"])


def join(seconds):
    dist.init_process_group("gloo", timeout=timedelta(seconds=seconds))
    print(f"rank {RANK} of {WORLD} is in", flush=True)


def dies():
    """Rank 1 ends without a word; the others are in the second all-reduce."""
    join(30)
    dist.all_reduce(torch.ones(4))
    if RANK == 1:
        os._exit(7)
    dist.all_reduce(torch.ones(4))


def sleeps():
    """Rank 1 does something else for longer than the others wait."""
    join(3)
    dist.all_reduce(torch.ones(4))
    if RANK == 1:
        time.sleep(8)
    dist.all_reduce(torch.ones(4))


def mismatch():
    """Ranks call different operations; TORCH_DISTRIBUTED_DEBUG=DETAIL compares them first."""
    join(10)
    if RANK == 1:
        dist.broadcast(torch.ones(4), 0)
    else:
        dist.all_reduce(torch.ones(4))


def sizes():
    """The same operation on tensors of different sizes."""
    join(10)
    dist.all_reduce(torch.ones(8 if RANK == 1 else 4))


def port():
    """The rendezvous port is taken."""
    join(5)


def absent():
    """One rank never comes: the others wait at the rendezvous."""
    if RANK == 1:
        return
    join(4)


def barrier():
    """monitored_barrier names the rank that doesn't come."""
    join(30)
    if RANK == 1:
        time.sleep(6)
        os._exit(0)
    dist.monitored_barrier(timeout=timedelta(seconds=2), wait_all_ranks=True)


def healthy():
    """All goes well."""
    join(10)
    dist.all_reduce(torch.ones(4))
    dist.barrier()
    dist.destroy_process_group()


torch.set_num_threads(1)
{one.__name__: one for one in (dies, sleeps, mismatch, sizes, port, absent, barrier, healthy)}[sys.argv[1]]()
print(f"rank {RANK} is done", flush=True)
