"""ConfigMaps of the device plugin and the MIG manager: what is shared, what stands in the wrong place, and hostile values."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudoctor.facts import Subject
from gpudoctor.facts.kubernetes import StackConfig
from gpudoctor.probes.base import Command, Output
from gpudoctor.registry import load

ABOUT = Subject(kind="cluster")
SHARED = "version: v1\nsharing:\n  timeSlicing:\n    resources:\n    - name: nvidia.com/gpu\n      replicas: 4\n"


def configs(*maps: dict[str, Any]) -> list[StackConfig]:
    """The records of ConfigMaps with these `data`."""
    items = [
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": f"map-{at}", "namespace": "gpu"}, "data": data}
        for at, data in enumerate(maps)
    ]
    page = json.dumps({"kind": "List", "apiVersion": "v1", "items": items}).encode()
    made = load("kubernetes.stack_configs")(Output(command=Command(()), pages=(page,), exit=0), ABOUT)
    return [record for record in made["stack_configs"] if isinstance(record, StackConfig)]


def test_time_slicing_and_mps_are_read_with_their_replicas() -> None:
    found = configs({"a": SHARED, "b": SHARED.replace("timeSlicing", "mps").replace("4", "10")})
    assert [(one.key, one.method, one.resource, one.replicas) for one in found] == [
        ("a", "timeSlicing", "nvidia.com/gpu", 4),
        ("b", "mps", "nvidia.com/gpu", 10),
    ]
    assert {(one.tool, one.config_map, one.namespace, one.misplaced) for one in found} == {("device-plugin", "map-0", "gpu", "")}


def test_a_configuration_that_shares_nothing_is_one_record() -> None:
    assert [(one.key, one.replicas) for one in configs({"plain": "version: v1\nflags:\n  migStrategy: none\n"})] == [("plain", 0)]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("version: v1\ntimeSlicing:\n  resources: []\n", "timeSlicing"),
        ("version: v1\nsharing:\n  timeSlicing:\n    migStrategy: single\n    resources: []\n", "migStrategy"),
        ("version: v1\nsharing:\n  renameByDefault: true\n  timeSlicing: {}\n", "renameByDefault"),
        ("version: v1\nflags:\n  deviceListStrategy: envvar\n", "deviceListStrategy"),
        ("version: v1\nmigStrategy: mixed\n", "migStrategy"),
        ("version: v1\nflags:\n  plugin:\n    passDeviceSpecs: true\n  unknownOption: 1\n", ""),
    ],
)
def test_an_option_on_another_level_is_named(text: str, option: str) -> None:
    assert [one.misplaced for one in configs({"key": text})] == [option]


def test_mig_layouts_are_read_by_name() -> None:
    (found,) = configs({"config.yaml": "version: v1\nmig-configs:\n  all-disabled: []\n  all-1g.10gb: []\n"})
    assert (found.tool, found.layouts) == ("mig-manager", ["all-disabled", "all-1g.10gb"])


@pytest.mark.parametrize(
    "text",
    [
        "just some text with flags",
        "sharing: [unclosed",
        "timeSlicing: " + "[" * 5000,
        "flags: &a [*a]",
        "replicas: 4",
        "migStrategy: {1: 2}",
        SHARED + "x" * 40_000,
        "flags:\n  " + "a: &x b\n  " * 3,
    ],
)
def test_other_and_broken_values_give_nothing_that_is_shared(text: str) -> None:
    assert all(one.replicas == 0 for one in configs({"key": text, "ca.crt": "-----BEGIN CERTIFICATE-----"}))


@given(
    st.dictionaries(
        st.sampled_from(["version", "flags", "sharing", "timeSlicing", "mig-configs"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["resources", "timeSlicing", "name", "replicas"]), inner)
            ),
            max_leaves=8,
        ),
    )
)
def test_any_shape_of_a_configuration_is_survived(value: dict[str, Any]) -> None:
    assert all(0 <= one.replicas < 10**6 for one in configs({"key": json.dumps(value)}))
