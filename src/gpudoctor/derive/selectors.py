"""Label selectors of the API against labels (https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpudoctor.facts.kubernetes import Requirement


def matches_all(wanted: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    """Whether labels satisfy all requirements.

    >>> matches_all([Requirement("app", "In", ("a",)), Requirement("old", "DoesNotExist")], {"app": "a"})
    True
    """
    return all(matches_one(one, labels) for one in wanted)


def matches_one(one: Requirement, labels: Mapping[str, str]) -> bool:
    """Whether labels satisfy one requirement; an operator that isn't known is satisfied by nothing."""
    there = labels.get(one.key)
    match one.operator:
        case "In":
            return there in one.values
        case "NotIn":
            return there not in one.values
        case "Exists":
            return there is not None
        case "DoesNotExist":
            return there is None
    return False


def why_not(wanted: Iterable[Requirement], labels: Mapping[str, str], whose: str) -> str:
    """The first requirement that labels don't satisfy, and what they say instead.

    >>> why_not([Requirement("release", "In", ("prom",))], {"app": "a"}, "this one")
    'release=prom, and this one has no release'
    """
    for one in wanted:
        if matches_one(one, labels):
            continue
        there = labels.get(one.key)
        has = f"{whose} has {one.key}={there}" if there is not None else f"{whose} has no {one.key}"
        if one.operator == "In" and len(one.values) == 1:
            return f"{one.key}={one.values[0]}, and {has}"
        return f"{one.key} {one.operator} {', '.join(one.values)}".rstrip() + f", and {has}"
    return ""
