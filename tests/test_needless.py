"""What a product lacks is not expected of it; what it has and was not read is not shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudoctor.engine.diagnose import diagnose
from gpudoctor.library.index import library
from gpudoctor.report import NotShown, Shown
from tests.nodes.case import Case
from tests.nodes.record import Machines
from tests.nodes.smi import Card, smi_xml

SRAM = ("sram_correctable", "sram_uncorrectable_parity", "sram_uncorrectable_secded", "sram_uncorrectable")
COUNTERS = (*SRAM, "dram_correctable", "dram_uncorrectable")


def without_ecc(word: str, **more: str) -> dict[str, str]:
    """A card of which nvidia-smi prints a word for everything of its ECC."""
    counters = {f"ecc_errors/{kind}/{name}": word for kind in ("volatile", "aggregate") for name in COUNTERS}
    return {"ecc_mode/current_ecc": word, "ecc_mode/pending_ecc": word, **counters, **more}


ROWS = {"remapped_rows": "N/A"}
GEFORCE = Card(product="NVIDIA GeForce RTX 4090", fabric=("N/A", "N/A"))
A6000 = Card(product="NVIDIA RTX A6000", fabric=("N/A", "N/A"), ecc=("Disabled", "Disabled"))
V100 = Card(product="Tesla V100-SXM2-32GB", tlimit=None, retired=(0, 0, "No"), fabric=("N/A", "N/A"))
GUEST = Card(product="NVIDIA A100-40C", fabric=("N/A", "N/A"))


def memory(card: Card) -> Shown | NotShown:
    """What gpu-health shows of a card's memory."""
    case = Case("gpu-health", {"nodes": "gpu-01"}, {"gpu-01: nvidia-smi -q -x": smi_xml([card])})
    book = library().runbooks["gpu-health"]
    inputs = {name: given.default for name, given in book.inputs.items()} | case.inputs
    report = diagnose(library(), book, inputs, Machines(case), recorded=True)
    return next(one for one in (*report.shown, *report.not_shown) if one.expectation == "gpu-health.memory_is_sound")


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (Card(), "counts no uncorrected memory error, and no row or page waits to be taken out of use"),
        (V100, "counts no uncorrected memory error, and no row or page waits to be taken out of use"),
        (replace(GEFORCE, said=without_ecc("N/A", **ROWS)), "has no ECC, and takes no row or page out of use"),
        (replace(A6000, said=without_ecc("N/A", **ROWS) | {"ecc_mode/current_ecc": "Disabled"}), "has its ECC switched off"),
        (replace(GUEST, said=without_ecc("N/A", **ROWS)), "has no ECC"),
    ],
    ids=["H100", "V100", "GeForce", "ECC off", "guest"],
)
def test_what_a_product_lacks_is_needless_and_the_report_says_so(card: Card, words: str) -> None:
    said = memory(card)
    assert isinstance(said, Shown), said
    assert words in said.says


@pytest.mark.parametrize(
    ("card", "why"),
    [
        (replace(Card(), said=without_ecc("N/A")), "N/A, though NVIDIA H100 80GB HBM3 has it"),
        (replace(Card(), said=ROWS), "N/A, though NVIDIA H100 80GB HBM3 has it"),
        (replace(Card(), said=without_ecc("[Unknown Error]")), "Unknown Error"),
        (replace(Card(), said=without_ecc("ERR!")), "ERR!"),
        (replace(GEFORCE, said=without_ecc("ERR!", **ROWS)), "ERR!"),
        (replace(Card(), said={"remapped_rows/remapped_row_pending": "Unknown Error"}), "Unknown Error"),
        (replace(V100, said={"retired_pages/pending_blacklist": "N/A"}), "N/A, though Tesla V100-SXM2-32GB has it"),
    ],
    ids=["ECC", "rows", "ECC unknown", "ECC error", "GeForce error", "rows unknown", "pages"],
)
def test_what_it_has_and_was_not_read_is_not_shown(card: Card, why: str) -> None:
    said = memory(card)
    assert isinstance(said, NotShown), said
    assert (why in said.why, said.not_so) == (True, False), said.why
