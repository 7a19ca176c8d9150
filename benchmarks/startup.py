"""The first minute: how long the help, a demo and the explanation of a code take, against the help and the version of kubectl."""

from __future__ import annotations

from benchmarks.measure import GPUDOCTOR, compare, in_turn, run, wall

TIMES = 21


def measure() -> None:
    """Print the ratios of whole processes, from exec to exit."""
    sides = (
        lambda: run([GPUDOCTOR, "--help"], says="Usage"),
        lambda: run([GPUDOCTOR, "demo", "taint"], exit=1, says="untolerated-taint"),
        lambda: run(["kubectl", "--help"], says="Usage"),
        lambda: run([GPUDOCTOR, "xid", "79"], says="PCIe"),
        lambda: run(["kubectl", "version", "--client"]),
    )
    in_turn(2, *sides)  # the first runs read the programs from the disk
    our_help, demo, kubectl, xid, version = in_turn(TIMES, *sides)
    compare("gpudoctor --help / kubectl --help", wall(our_help), wall(kubectl), 2.0)
    compare("gpudoctor demo taint / kubectl --help", wall(demo), wall(kubectl), 8.0)
    compare("gpudoctor xid 79 / kubectl version --client", wall(xid), wall(version), 2.5)
