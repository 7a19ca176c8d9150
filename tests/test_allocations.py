"""PyTorch's report of a failed allocation: both wordings, wrapped, cut off, and hostile."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.facts.gpu import Allocation
from gpudoctor.probes.base import Command, Output
from gpudoctor.tools.torch.allocations import SIZE, allocations

GIB = 1 << 30
NEW = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 2.00 GiB is "
    "free. Including non-PyTorch memory, this process has 78.00 GiB memory in use. Of the allocated memory 60.00 GiB is allocated by "
    "PyTorch, and 16.00 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try …"
)
OLD = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 16.00 GiB total capacity; 13.00 GiB already allocated; "
    "512.00 MiB free; 14.00 GiB reserved in total by PyTorch)"
)


def read(text: str) -> list[Allocation]:
    return list(
        allocations(text, Output(Command(("kubectl", "logs")), (text.encode(),)), Subject(kind="pod", namespace="ml", pod="train-0"))
    )


def test_the_present_wording() -> None:
    (one,) = read(f"epoch 1\n{NEW}\n")
    assert (one.tried, one.total, one.free, one.allocated, one.cached) == (4 * GIB, 80 * GIB, 2 * GIB, 60 * GIB, 16 * GIB)
    assert (one.elsewhere, one.origin.line, one.pod) == (2 * GIB, 2, "train-0")


def test_the_wording_before_2_1() -> None:
    (one,) = read(OLD)
    assert (one.tried, one.allocated, one.cached, one.elsewhere) == (GIB * 3 // 2, 13 * GIB, GIB, GIB * 3 // 2)


def test_a_report_that_a_terminal_has_wrapped() -> None:
    words = NEW.split(" ")
    wrapped = "\n".join(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))
    assert [one.cached for one in read(wrapped)] == [16 * GIB]


def test_equal_reports_of_many_ranks_are_one() -> None:
    assert len(read("\n".join([NEW, NEW, OLD, NEW]))) == 2


@pytest.mark.parametrize("text", ["CUDA out of memory. Tried to allocate 4.00 GiB.", "Tried to allocate much", NEW[:150], ""])
def test_a_report_without_its_amounts_gives_nothing(text: str) -> None:
    assert read(text) == []


@given(st.lists(st.one_of(st.sampled_from([NEW, OLD, "Tried to allocate 1.00 GiB", SIZE]), st.text(max_size=60)), max_size=8))
def test_no_text_breaks_it_and_no_amount_is_negative(parts: list[str]) -> None:
    assert all(min(one.tried, one.total, one.free, one.allocated, one.cached, one.elsewhere) >= 0 for one in read(" ".join(parts)))


@pytest.mark.parametrize("end", ["\n", " "])
def test_a_log_of_nothing_else_takes_a_moment(end: str) -> None:
    began = time.monotonic()
    read(f"Tried to allocate 1.00 GiB (GPU 0; {end}" * 200_000)
    assert time.monotonic() - began < 5
