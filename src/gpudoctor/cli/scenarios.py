"""The demo: recorded incidents, executed by the real engine."""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.cli.errors import no_such
from gpudoctor.cli.printing import Shown


class Scenario(NamedTuple):
    """A bundle under the fixtures, and one line about it."""

    bundle: str
    about: str


SCENARIOS: dict[str, Scenario] = {
    "lost-gpu": Scenario("diagnose-pod/whole-lost-gpu", "a pod that waits for a node which lost a GPU to Xid 79"),
    "taint": Scenario("diagnose-pod/taint", "a pod that waits because it does not tolerate the taint of the GPU nodes"),
    "no-gpu": Scenario("diagnose-pod/whole-no-gpu-asked", "a pod that runs on the CPU, a hundred times slower, without an error"),
    "mismatch": Scenario("diagnose-pod/whole-mismatch", "a pod that can't start after the driver's libraries were upgraded"),
    "driver": Scenario("diagnose-pod/whole-driver-crashes", "no node offers a GPU, because the driver pods crash"),
    "teams": Scenario("diagnose-pod/whole-lost-gpu-two-teams", "every GPU pod that isn't well, by cause"),
    "rack": Scenario("node-health/rack-fell-off", "three machines, of which one has a GPU that fell off the bus"),
    "hot-card": Scenario("thermal-throttle/throttle-hot-card", "a GPU at half its clock, and its neighbours that are cool"),
    "xids": Scenario("xid-triage/xid-card-or-program", "numbered errors of programs, and which of them are the card's"),
    "healthy": Scenario("diagnose-pod/whole-healthy", "a pod that is well"),
}


def demonstrate(name: str, shown: Shown, guided: bool = False) -> int:
    """Run one scenario, or list them."""
    from gpudoctor.cli.execute import execute
    from gpudoctor.cli.where import Where
    from gpudoctor.library.index import fixtures_folder

    if not name:
        for key, scenario in SCENARIOS.items():
            print(f"gpudoctor demo {key:<12} {scenario.about}")
        print("with --guided step by step; with --explain-path also why this cause and no other")
        return 0
    if name not in SCENARIOS:
        raise no_such("scenario", name, SCENARIOS, f"there are {', '.join(SCENARIOS)}")
    where = Where(replay=fixtures_folder() / SCENARIOS[name].bundle, guided=guided)
    return execute("", {}, where, timeout=120.0, shown=shown)
