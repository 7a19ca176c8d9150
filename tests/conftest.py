"""The fixtures that several test modules share."""

from __future__ import annotations

from tests.kube.fixtures import kube_server

__all__ = ["kube_server"]
