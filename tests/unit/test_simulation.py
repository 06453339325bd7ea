# SPDX-License-Identifier: Apache-2.0
"""Tests that a run on CANN skips."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from pyaclnn import mock
from tests.simulation import needs_simulation

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRAM = "from pyaclnn import mock"


def item(function: Callable[..., object], marker: object = None, **parameters: object) -> Any:
    made = SimpleNamespace(
        function=function,
        callspec=SimpleNamespace(params=parameters),
        get_closest_marker=lambda _: marker,
        _fixtureinfo=SimpleNamespace(name2fixturedefs={}),
    )
    return cast("Any", made)


def asks() -> None:
    assert mock.violations() == []


def asks_by_another() -> None:
    asks()


def runs_a_program() -> str:
    return PROGRAM


def computes() -> float:
    return abs(-1.0)


@pytest.mark.parametrize("function", [asks, asks_by_another, runs_a_program])
def test_what_names_the_simulation_needs_it(function: Callable[..., object]) -> None:
    assert needs_simulation(item(function))


def test_so_do_parameters_and_the_plugins_marker() -> None:
    assert needs_simulation(item(computes, case={"faults": [asks]}))
    assert needs_simulation(item(computes, marker=object()))


def test_what_only_computes_does_not() -> None:
    assert not needs_simulation(item(computes, shape=(2, 3)))
