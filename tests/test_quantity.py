"""Quantities are exact, bounded, and never raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.tools.kubernetes.quantity import LARGEST, amounts, quantity


@pytest.mark.parametrize(
    ("text", "units", "milli"),
    [
        ("8", 8, 8000),
        (8, 8, 8000),
        ("500m", 1, 500),
        ("1500m", 2, 1500),
        ("0.5", 1, 500),
        (".5", 1, 500),
        ("2.", 2, 2000),
        ("100u", 1, 1),
        ("64Gi", 64 * 2**30, 64 * 2**30 * 1000),
        ("1.5Ki", 1536, 1536000),
        ("16k", 16000, 16000000),
        ("1e3", 1000, 1000000),
        ("1E3", 1000, 1000000),
        ("1E", 10**18, LARGEST),
        ("25e-1", 3, 2500),
        ("-3", -3, -3000),
        ("+3", 3, 3000),
        ("263841212Ki", 263841212 * 1024, 263841212 * 1024 * 1000),
        ("99999999999999999999", LARGEST, LARGEST),
    ],
)
def test_forms(text: str | int, units: int, milli: int) -> None:
    assert quantity(text) == units
    assert quantity(text, milli=True) == milli


@pytest.mark.parametrize(
    "text", ["", ".", "-", "eight", "1 Gi", "1gi", "1KiB", "1e", "0x10", "१", "1e999", "9" * 65, "1\n", "nan", "inf", "m"]
)
def test_what_is_no_quantity(text: str) -> None:
    assert quantity(text) is None


@given(st.integers(0, 2**40), st.sampled_from(["", "k", "M", "Ki", "Mi", "Gi"]))
def test_whole_numbers_are_exact(number: int, suffix: str) -> None:
    scale = {"": 1, "k": 10**3, "M": 10**6, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}[suffix]
    assert quantity(f"{number}{suffix}") == min(number * scale, LARGEST)


@given(st.integers(0, 10**9))
def test_milli_cores_round_up_to_cores(number: int) -> None:
    assert quantity(f"{number}m", milli=True) == number
    assert quantity(f"{number}m") == -(-number // 1000)


@given(st.text(max_size=80) | st.floats() | st.integers())
def test_anything_gives_a_number_in_range_or_none(text: str | float | int) -> None:
    value = quantity(text)
    assert value is None or -LARGEST <= value <= LARGEST


def test_cpu_counts_in_milli_cores_and_unreadable_amounts_are_left_out() -> None:
    assert amounts({"cpu": "4", "memory": "1Gi", "nvidia.com/gpu": 8, "pods": "many"}) == {
        "cpu": 4000,
        "memory": 2**30,
        "nvidia.com/gpu": 8,
    }
    assert amounts({"requests.cpu": "1", "requests.nvidia.com/gpu": "2"}) == {"requests.cpu": 1000, "requests.nvidia.com/gpu": 2}
    assert amounts(None) == {}
