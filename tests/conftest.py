"""The fixtures that several test modules share."""

from __future__ import annotations

from hypothesis import settings

from tests.kube.fixtures import kube_server

collect_ignore = ["torch_worker.py"]  # runs under a Python that has torch, as a rank of its own

settings.register_profile("untimed", deadline=None)  # a busy machine is no mistake; what must not hang has a limit of its own
settings.load_profile("untimed")

__all__ = ["kube_server"]
