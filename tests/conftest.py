"""The fixtures that several test modules share."""

from __future__ import annotations

from tests.kube.fixtures import kube_server

collect_ignore = ["torch_worker.py"]  # runs under a Python that has torch, as a rank of its own

__all__ = ["kube_server"]
