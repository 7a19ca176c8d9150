"""The clocks of a job's hosts, whose logs are compared in time: right, off, without a server, and a daemon that isn't asked."""

from __future__ import annotations

from tests.nodes.bus import chrony
from tests.nodes.case import Case, Said
from tests.nodes.cases_nccl import STEPS, begun, job

ASKED = "gpu-12: chronyc tracking"
UNSTEERED = "Not synchronised"


def stamped(answer: str | Said | None) -> Case:
    """A job that trains, and what the clock of a host says that was named beside it."""
    return job(*([*begun(n, 2), *STEPS] for n in range(2)), more={} if answer is None else {ASKED: answer}, nodes="gpu-12")


CASES: dict[str, Case] = {
    "clock-right": stamped(chrony()),
    "clock-off": stamped(chrony(7.120042, fast=True)),
    "clock-far-off": stamped(chrony(2711.402188301)),
    "clock-without-server": stamped(chrony(0.0, UNSTEERED)),
    "clock-of-another-daemon": stamped(None),
    "clock-silent": stamped(Said("506 Cannot talk to daemon\n", exit=1)),
}
