# SPDX-License-Identifier: Apache-2.0
"""Outliers among several devices."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from pyaclnn.health.report.figures import LEAST_DEVIATION, outliers
from pyaclnn.health.report.record import Better, Figure, Severity


def figures(values: list[float], better: Better = "more") -> dict[int, Figure]:
    return {i: Figure("launches", value, "1/s", better) for i, value in enumerate(values)}


CASES: list[tuple[str, list[float], Better, dict[int, Severity]]] = [
    ("equal", [10, 10, 10, 10], "more", {}),
    ("one alone", [1], "more", {}),
    # From three on there is a median to trust, and a device may be put out of use.
    ("one of three at half speed", [10, 5, 10], "more", {1: Severity.DRAIN}),
    ("one of three twice as hot", [40, 80, 40], "less", {1: Severity.DRAIN}),
    ("of two the hotter", [40, 80], "less", {1: Severity.MONITOR}),
    ("of two a little slower", [100, 85], "more", {}),
    ("slower by just what equal ones differ by", [100, 100, 100, 85], "more", {}),
    ("slower by more than that", [100, 100, 100, 84], "more", {3: Severity.MONITOR}),
    ("slower by just less than to be drained", [100, 100, 100, 61], "more", {3: Severity.MONITOR}),
    ("slower by as much as to be drained", [100, 100, 100, 60], "more", {3: Severity.DRAIN}),
    ("one slower", [10, 10, 8, 10], "more", {2: Severity.MONITOR}),
    ("one at half speed", [10, 10, 10, 5], "more", {3: Severity.DRAIN}),
    ("one faster is no fault", [10, 10, 10, 20], "more", {}),
    ("a little slower", [10, 10, 10, 9], "more", {}),
    ("as scattered as all are", [10, 14, 6, 12, 8], "more", {}),
    ("one hotter", [40, 41, 40, 52], "less", {3: Severity.MONITOR}),
    ("of neither", [10, 10, 10, 1], "neither", {}),
    ("of two the worse, which may yet be the usual", [10, 4], "more", {1: Severity.MONITOR}),
    ("errors where there are none", [0, 0, 0, 3], "less", {3: Severity.DRAIN}),
    ("nothing where there is something", [5, 5, 5, 0], "more", {3: Severity.DRAIN}),
]


@pytest.mark.parametrize(
    ("values", "better", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_who_is_an_outlier(
    values: list[float], better: Better, expected: dict[int, Severity]
) -> None:
    found = outliers(figures(values, better))
    assert {key: outlier.severity for key, outlier in found.items()} == expected


def test_an_outlier_says_by_how_much() -> None:
    [found] = outliers(figures([2000, 2000, 1000])).values()
    assert str(found) == "launches 1000 1/s, 50 % worse than 2000"


def test_nothing_has_no_outliers() -> None:
    assert outliers({}) == {}


@given(st.lists(st.floats(100, 100 * (1 + LEAST_DEVIATION / 2)), min_size=2, max_size=16))
def test_devices_that_differ_little_are_alike(values: list[float]) -> None:
    assert outliers(figures(values)) == {}


@given(
    st.lists(st.floats(99, 101), min_size=4, max_size=16),
    st.floats(1, 40),
    st.sampled_from(["more", "less"]),
)
def test_one_far_from_all_others_is_found(values: list[float], far: float, better: Better) -> None:
    worse = far if better == "more" else 10_000 / far
    assert list(outliers(figures([*values, worse], better))) == [len(values)]
