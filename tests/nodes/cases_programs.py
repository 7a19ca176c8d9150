"""Jobs whose program, server of models, launcher or transport says itself what of its set-up does not fit."""

from __future__ import annotations

from tests.nodes.case import Case
from tests.nodes.cases_nccl import alone, working
from tests.nodes.cases_slurm import cluster

TRACE = "Traceback (most recent call last):"
UCX = "[1772365800.123456] [gpu-12:4120 :0]"

CASES: dict[str, Case] = {
    # --- sizes
    "program-heads-not-divisible": alone(
        TRACE, "ValueError: Total number of attention heads (28) must be divisible by tensor parallel size (8)."
    ),
    "program-batch-sizes": alone(
        TRACE,
        "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * "
        "world_size 256 != 4 * 8 * 16",
    ),
    "program-checkpoint-of-other-sizes": alone(
        TRACE, "AssertionError: tensor_model_parallel_size value from checkpoint (4) is not equal to the input argument value (8)."
    ),
    # --- values and data
    "program-loss-nan": alone(
        TRACE,
        "RuntimeError: Unexpected result nan on rank 12 at iteration #1042, microbatch #3 (message='found NaN in local forward loss "
        "calculation')",
    ),
    "program-index-not-there": alone(
        TRACE, "FileNotFoundError: [Errno 2] No such file or directory: '/scratch/cache/3f2a-GPTDataset-train-document_index.npy'"
    ),
    # --- models
    "program-model-gated": alone(
        TRACE,
        "huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-67c2)",
        "Cannot access gated repo for url https://huggingface.co/acme/llama-8b/resolve/main/config.json.",
    ),
    "program-hub-not-reached": alone(
        TRACE, "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    ),
    "program-model-folder": alone(
        TRACE,
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '/models/llama-8b'. "
        "Use `repo_type` argument if needed.",
    ),
    "program-context-too-long": alone(
        TRACE,
        "ValueError: User-specified max_model_len (131072) is greater than the derived max_model_len (max_position_embeddings=32768 or "
        "model_max_length=None in model's config.json).",
    ),
    "program-file-unreadable": alone(TRACE, "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge"),
    "program-model-unknown": alone(
        TRACE,
        "ValueError: The checkpoint you are trying to load has model type `acme_moe` but Transformers does not recognize this one.",
    ),
    "program-capability-low": alone(
        TRACE,
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute "
        "capability 7.5.",
    ),
    # --- libraries and compilers
    "program-forked": alone(
        TRACE,
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' method",
    ),
    "program-extension": alone(
        TRACE,
        "ImportError: /opt/venv/lib/python3.12/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: "
        "_ZN3c104cuda9SetDeviceEa",
    ),
    "program-compiler": alone(
        TRACE, "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set triton.knobs.build.impl."
    ),
    # --- launchers and transports
    "program-ssh": alone("pdsh@train-0: gpu-12: ssh exited with exit code 255"),
    "program-ray-group": alone(
        TRACE,
        "ValueError: Cannot provide a placement group of placement_group_specs=[{'GPU': 1.0}, {'GPU': 1.0}] within 1800 seconds. See "
        "`ray status` and `ray list nodes` to make sure the cluster has enough resources.",
    ),
    "program-ray-head": alone(
        "[2026-03-01 11:50:00,123 E 4120 4160] rpc_client.h:203: Failed to connect to GCS within 60 seconds. GCS may have been killed."
    ),
    "program-ray-store": alone(
        TRACE,
        "ray.exceptions.ObjectStoreFullError: Failed to put object ffff01 in object store because it is full. Object size is 10737418240.",
    ),
    "program-ray-disk": alone(
        "(raylet) [2026-03-01 11:50:00,123 E 812 840] (raylet) file_system_monitor.cc:116: /tmp/ray/session_1 is over 95% full, available "
        "space: 21.2 GB; capacity: 480.1 GB. Object creation will fail if spilling is required."
    ),
    "program-ucx": alone(f"{UCX}     ucp_context.c:1770 UCX  ERROR no usable transports/devices (asked transports:rc,cuda_copy)"),
    "program-ucx-device": alone(
        f"{UCX}     ucp_context.c:1508 UCX  WARN  network device 'mlx5_9:1' is not available, please use one or more of: 'eth0'(tcp), "
        "'mlx5_0:1'(ib)"
    ),
    "program-ucx-shared-memory": alone(
        f"{UCX}        mm_posix.c:234  UCX  ERROR open(file_name=/proc/812/fd/31 flags=0x0) failed: Permission denied"
    ),
    # --- what looks like these, in a job that works
    "program-notes-of-one-that-works": working(
        "Installed CUDA version 12.6 does not match the version torch was compiled with 12.4 but since the APIs are compatible, accepting "
        "this combination",
        "INFO 03-01 11:50:10 [ray_utils.py:214] Waiting for creating a placement group of specs for 10 seconds.",
        " iteration 10/ 5000 | lm loss: 8.1E+00 | loss scale: 1.0 | number of skipped iterations: 0 | number of nan iterations: 0 |",
    ),
    # --- enroot
    "slurm-log-hook": cluster(log="slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1"),
    "slurm-log-image-file": cluster(log="slurmstepd: error: pyxis:     [ERROR] Invalid image format: /lustre/images/train.sqsh"),
    "slurm-log-user-namespace": cluster(
        log="slurmstepd: error: pyxis:     enroot-nsenter: failed to create user namespace: No space left on device"
    ),
}
