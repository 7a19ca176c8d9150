"""Selectors and pages, without a server."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kube import selectors
from tests.kube.kinds import BUILT_IN
from tests.kube.objects import pod
from tests.kube.statuses import ApiError
from tests.kube.store import Store


@given(count=st.integers(0, 12), limit=st.integers(0, 13))
def test_pages_add_up_to_the_list(count: int, limit: int) -> None:
    store = Store([pod(f"p{number}") for number in range(count)])
    place = store.resources["v1", "pods"]
    seen, token = [], ""
    while True:
        body = json.loads(store.page(place, ("ml", "", ""), limit, token))
        seen += [item["metadata"]["name"] for item in body["items"]]
        assert len(body["items"]) <= (limit or count)
        assert body["metadata"].get("remainingItemCount", 0) == count - len(seen)
        token = body["metadata"].get("continue", "")
        if not token:
            break
    assert seen == sorted(f"p{number}" for number in range(count))


@given(st.text(max_size=60))
def test_any_selector_is_read_or_refused(text: str) -> None:
    for read in (selectors.labels, lambda text: selectors.fields(text, "pods")):
        try:
            for test in read(text):
                assert test({"a": "b"}) in (True, False)
        except selectors.SelectorError:
            pass


@given(st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy")), st.sampled_from("abc"), st.sampled_from("xy"))
def test_each_selector_operator_has_its_contrary(labels: dict[str, str], key: str, value: str) -> None:
    for one, other in ((f"{key}={value}", f"{key}!={value}"), (f"{key} in ({value})", f"{key} notin ({value})"), (key, f"!{key}")):
        [yes], [no] = selectors.labels(one), selectors.labels(other)
        assert yes(labels) is not no(labels)
    assert selectors.labels(f"{key}={value}")[0](labels) is (labels.get(key) == value)


def test_a_kind_without_a_row_is_served_under_its_plural() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "GpuPolicy", "metadata": {"name": "a", "namespace": "ml"}}
    store = Store([obj])
    place = store.resources["example.com/v1", "gpupolicies"]
    assert json.loads(store.one(place, "ml", "a"))["kind"] == "GpuPolicy"
    with pytest.raises(ApiError, match=r'gpupolicies\.example\.com "b" not found'):
        store.one(place, "ml", "b")
    assert len({(each.api, each.plural) for each in BUILT_IN}) == len(BUILT_IN)
