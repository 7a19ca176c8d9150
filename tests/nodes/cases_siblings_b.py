"""Jobs whose ranks do not go the same way, told by Horovod, DDP, UCX, Ray, the loader of libraries and the loader of data."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone, begun, job, timed_out

TOKENISES = "Running tokenizer on dataset:  61%|######    | 811000/1330000 [29:48<19:01, 454.7 examples/s]"
LISTED = "#  Rank  {0} Group  0 Pid  3021{0} on     gpu-04 device  0 [0x1b] NVIDIA A100-SXM4-80GB"

CASES: dict[str, Case] = {
    "job-compared-types": alone("Mismatched data types: One rank had type float32, but another rank had type float64."),
    "job-compared-shapes": alone(
        "Mismatched ALLREDUCE tensor shapes: One rank sent a tensor of shape [32, 10], but another rank sent a tensor of shape [31, 10]."
    ),
    "job-models-differ": alone(
        "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 161 params, while rank 0 has inconsistent 163 params."
    ),
    "job-symbol-missing": alone("ImportError: /opt/venv/lib/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister"),
    "job-rank0-works": job([*begun(0, 3), TOKENISES], *([*begun(n, 3), *timed_out(n, 712, "BROADCAST", 1)] for n in (1, 2))),
    "job-loader-timed-out": alone("RuntimeError: DataLoader timed out after 300 seconds"),
    "job-connection-reset": alone("pml_ucx.c:934  Error: ucx send failed: Connection reset by remote peer"),
    "job-ray-node-lost": alone(
        "(raylet) The node with node id: 6e1d0c and address: 10.0.4.17 and node name: 10.0.4.17 has been marked dead because the detector "
        "has missed too many heartbeats from it."
    ),
    "job-two-on-one-seen": alone(
        LISTED.format(0),
        LISTED.format(1),
        "gpu-04: Test NCCL failure common.cu:958 'invalid usage (run with NCCL_DEBUG=WARN for details)'",
    ),
    "job-memlock-said": alone(
        "UCX  ERROR ibv_reg_mr(address=0x7f10c4000000, length=37748736, access=0xf) failed: Cannot allocate memory : Please set max locked "
        "memory (ulimit -l) to 'unlimited' (current: 8192 kbytes)"
    ),
    "job-memlock-warned": alone(
        "libibverbs: Warning: RLIMIT_MEMLOCK is 65536 bytes.", "NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory"
    ),
}
