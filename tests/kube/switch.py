"""One server in this process that can be switched from cluster to cluster: a test over all cases pays for no process each."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from tests.kube.api import Api
from tests.kube.server import Server, start
from tests.kube.store import Store


class Switched:
    """A serving thread. `kubeconfig` stays the same, whatever is shown."""

    def __init__(self, folder: Path) -> None:
        self.server: Server = start({}, folder)
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def show(self, contents: dict[str, Any]) -> None:
        """Serve another cluster from the next request on."""
        self.server.api = Api(contents, Store(contents.get("objects") or ()), self.server.url)

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()
