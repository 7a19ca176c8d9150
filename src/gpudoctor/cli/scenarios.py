"""The demo: recorded incidents, executed by the real engine."""

from __future__ import annotations

from typing import NamedTuple

from gpudoctor.cli.errors import Refused


class Scenario(NamedTuple):
    """A bundle under the fixtures, and one line about it."""

    bundle: str
    about: str


SCENARIOS: dict[str, Scenario] = {
    "taint": Scenario("diagnose-pod/taint", "a pod that waits because the GPU nodes have a taint it does not tolerate"),
}


def demonstrate(name: str, *, format: str, verbose: bool, no_color: bool) -> int:
    """Run one scenario, or list them."""
    from gpudoctor.cli.execute import Where, execute
    from gpudoctor.runbook.index import fixtures_folder

    if not name:
        for key, scenario in SCENARIOS.items():
            print(f"gpudoctor demo {key:<12} {scenario.about}")
        return 0
    if name not in SCENARIOS:
        import difflib

        close = difflib.get_close_matches(name, SCENARIOS, n=1)
        raise Refused(f"there is no scenario '{name}'; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(SCENARIOS)}"))
    where = Where(replay=fixtures_folder() / SCENARIOS[name].bundle)
    return execute("", {}, where, timeout=120.0, format=format, verbose=verbose, no_color=no_color)
