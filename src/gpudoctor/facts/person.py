"""What a person who was asked has answered."""

from __future__ import annotations

from gpudoctor.facts.base import Fact


class Answer(Fact, frozen=True, kw_only=True):
    """The answer to the question of an `ask` step, about what the step asked about."""

    node: str = ""
    gpu: str = ""
    namespace: str = ""
    pod: str = ""
    workload: str = ""
    question: str  # the id of the step
    choice: str  # the id of the choice
    note: str = ""  # what the person added
