"""How the outputs of this package are recognised: a score for a text, 0 for "not this", and which parser reads it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gpudoctor.tools.common.measures import form
from gpudoctor.tools.form import Form
from gpudoctor.tools.training import program_figures, tracked_values, tracker_gpus
from gpudoctor.tools.training.step_compare import slowest_in
from gpudoctor.tools.training.step_lines import memory_in, peak_in, step_in
from gpudoctor.tools.training.step_tables import steps_in

FEWEST = 3  # lines of progress: one alone may be a sentence, if it doesn't tell the time for data or compare ranks


def of_tracker(lines: Sequence[str]) -> int:
    """An experiment tracker's rows of system metrics."""
    return tracker_gpus.score(lines)


def of_progress(lines: Sequence[str]) -> int:
    """Lines of progress; whatever else the text is wins."""
    if len([*islice(steps_in(lines), FEWEST)]) == FEWEST:
        return 24
    found = 0
    for line in lines:
        step = step_in(line)
        told = (step is not None and step.data is not None and step.seconds is not None) or slowest_in(line) is not None
        whole = step is not None and step.total is not None and step.seconds is not None
        told = told or (whole and "elapsed time per iteration" in line)  # Megatron's is no sentence
        found += FEWEST if told else 1 + whole if step is not None else memory_in(line) is not None or peak_in(line) is not None
        if found >= FEWEST:
            return 24
    return 0


FORMS: tuple[Form, ...] = (
    Form("tracker.gpus", lambda text: of_tracker(text.lines), embedded=True),
    Form("training.log", lambda text: of_progress(text.lines), embedded=True, beside=True, among_lines=True),
    Form("training.values", lambda text: tracked_values.score(text.lines), embedded=True, beside=True, among_lines=True),
    form("training.figures", program_figures.READERS),
)
