"""Shell completion. It never takes long and never complains: no answer is an answer."""

import contextlib
from collections.abc import Iterator
from typing import Any


def complete_pod(ctx: Any, incomplete: str) -> list[str]:
    """Names of pods in the namespace that is on the command line."""
    return names("pods", str(ctx.params.get("namespace") or ""), incomplete, ctx)


def complete_node(ctx: Any, incomplete: str) -> list[str]:
    """Names of nodes."""
    return names("nodes", "", incomplete, ctx)


def complete_namespace(ctx: Any, incomplete: str) -> list[str]:
    """Names of namespaces."""
    return names("namespaces", "", incomplete, ctx)


def names(kind: str, namespace: str, prefix: str, ctx: Any) -> list[str]:
    """Names from the cluster, within a second."""
    with contextlib.suppress(Exception):
        from gpudoctor.probes.live import Live

        config = ctx.params.get("kubeconfig")
        live = Live(kubeconfig=str(config) if config else None, context=ctx.params.get("context"))
        return list(live.names(kind, namespace or live.namespace, prefix))
    return []


def complete_context(incomplete: str) -> list[str]:
    """Contexts of the kubeconfig."""
    with contextlib.suppress(Exception):
        from gpudoctor.probes.kube_config import context_names

        return [name for name in context_names() if name.startswith(incomplete)]
    return []


def complete_runbook(incomplete: str) -> list[str]:
    """Ids of the runbooks."""
    return [name for name in library_names("runbooks") if name.startswith(incomplete)]


def complete_cause(incomplete: str) -> list[str]:
    """Names of the causes."""
    return [name for name in library_names("causes") if name.startswith(incomplete)]


def complete_scenario(incomplete: str) -> list[str]:
    """Names of the demo's scenarios."""
    from gpudoctor.cli.scenarios import SCENARIOS

    return [name for name in SCENARIOS if name.startswith(incomplete)]


def complete_xid(incomplete: str) -> list[str]:
    """Codes of Xids, once a digit is typed: before that, the shell offers files."""
    with contextlib.suppress(Exception):
        from gpudoctor.knowledge.xids import book

        return [str(entry.code) for entry in book().xids if incomplete and str(entry.code).startswith(incomplete)]
    return []


def complete_format(incomplete: str) -> list[str]:
    """The forms of a report."""
    from gpudoctor.reporters import REPORTERS

    return [name for name in REPORTERS if name.startswith(incomplete)]


def complete_session(incomplete: str) -> list[str]:
    """Names of guided sessions."""
    from gpudoctor.probes.session import ids

    return [name for name in ids() if name.startswith(incomplete)]


def complete_bundle(incomplete: str) -> list[str]:
    """Folders that are bundles, and texts of recorded runs."""
    from glob import escape, glob
    from pathlib import Path

    from gpudoctor.probes.transcript import transcript_path

    texts = [path for path in glob(f"{escape(incomplete)}*.txt") if transcript_path(Path(path))]  # noqa: PTH207 - a prefix, no folder
    return [path.removesuffix("/bundle.json") for path in glob(f"{escape(incomplete)}*/bundle.json")] + texts  # noqa: PTH207


def library_names(part: str) -> Iterator[str]:
    """The ids of one part of the library."""
    from gpudoctor.library.index import library

    yield from getattr(library(), part)
