"""Runs that somebody compares: one variable at a time, in a table or by their logs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gpudoctor.analyze import trial_tables
from gpudoctor.analyze.trials import compare_runs, trial
from gpudoctor.intake.split import Section


def said(text: str) -> list[str]:
    return [f"{one.name} {one.detail}" for one in trial_tables.messages(Section("runs.txt", 1, text, ""))]


def test_two_variables_that_help_together_are_none() -> None:
    assert said("default hang\nNCCL_ALGO=Ring hang\nNCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 ok\n") == []
    assert said("default hang\nNCCL_ALGO=Ring hang\nNCCL_ALGO=Ring NCCL_SHM_DISABLE=1 ok\n") == ["works_with_setting NCCL_SHM_DISABLE=1"]


def test_a_log_is_no_table() -> None:
    assert said("step failed\n" * 500 + "default hang\nNCCL_ALGO=Ring hang\nNCCL_P2P_DISABLE=1 ok\n") == []


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["default hang", "NCCL_ALGO=Ring -> ok", "A + B", "| x | yes |", "with n1 failed", "without n1 ok", "é\x00"]))
)
def test_any_rows_are_read(rows: list[str]) -> None:
    assert set(said("\n".join(rows))) <= {"works_with_setting NCCL_ALGO=Ring", "runs_fail_with_host n1"}


def section(command: str, text: str) -> Section:
    return Section("runs.txt", 2, text, command)


def test_runs_are_compared_only_where_one_variable_differs() -> None:
    bad = trial(section("mpirun -x NCCL_IB_GID_INDEX=1 -x NCCL_ALGO=Ring ./all_reduce_perf", "Test NCCL failure common.cu:958\n"))
    one = trial(section("mpirun -x NCCL_IB_GID_INDEX=3 -x NCCL_ALGO=Ring ./all_reduce_perf", "# Avg bus bandwidth    : 91.4\n"))
    two = trial(section("mpirun -x NCCL_IB_GID_INDEX=3 ./all_reduce_perf", "# Avg bus bandwidth    : 91.4\n"))
    other = trial(section("NCCL_IB_GID_INDEX=3 NCCL_ALGO=Ring ./alltoall_perf", "# Avg bus bandwidth    : 91.4\n"))
    assert bad is not None
    assert one is not None
    assert two is not None
    assert other is not None
    assert [message.detail for message in compare_runs([bad, one])] == ["NCCL_IB_GID_INDEX=3"]
    assert compare_runs([bad, two]) == compare_runs([bad, other]) == compare_runs([one, bad]) == []
