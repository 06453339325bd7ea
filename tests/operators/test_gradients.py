# SPDX-License-Identifier: Apache-2.0
"""A gradient operator, fed by its forward operator, against finite differences of the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.operators.results import numbers_of
from tests.operators.tables import TABLES
from tests.operators.words import Argument, Array, Changed, apply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from tests.operators.npu import Npu
    from tests.operators.table import Gradient, Table

BY_NAME = {table.name: table for table in reversed(TABLES)}
CHAINS = [
    pytest.param(table, gradient, chip, id=f"{gradient.forward}-{table.name}-{chip}")
    for table in TABLES
    for gradient in table.gradients
    if gradient.forward in BY_NAME
    for chip in table.chips
    if table.runs_on(chip)
    and BY_NAME[gradient.forward].runs_on(chip)
    and not set(gradient.saved.values()) & set(BY_NAME[gradient.forward].unwritten.get(chip, ()))
]
STEP = 1e-5


def holding(like: Argument, values: NDArray[np.float64]) -> Array:
    """A tensor of a type with other numbers."""
    assert isinstance(like, Array)
    return Array(values.shape, like.dtype, values=tuple(values.ravel().tolist()))


def differences(
    forward: Table,
    given: Mapping[str, Any],
    result: str,
    upstream: NDArray[np.float64],
    name: str,
    chip: str,
) -> NDArray[np.float64]:
    """The derivative of ``sum(result * upstream)`` by each element of an argument."""
    slopes = np.empty(given[name].shape)
    for place in np.ndindex(slopes.shape):
        sums = []
        for sign in (1, -1):
            moved = given[name].copy()
            moved[place] += sign * STEP
            found = forward.formula({**given, name: moved}, chip)[result]
            sums.append(float((found * upstream).sum()))
        slopes[place] = (sums[0] - sums[1]) / (2 * STEP)
    return slopes


@pytest.mark.sampled(20)
@pytest.mark.parametrize(("table", "gradient", "chip"), CHAINS)
def test_a_gradient_is_the_slope_of_its_forward_operator(
    table: Table, gradient: Gradient, chip: str, device: Callable[[str], Npu]
) -> None:
    forward, npu = BY_NAME[gradient.forward], device(chip)
    arguments = apply(forward.arguments, gradient.changes)
    went = npu.run(forward, arguments)
    numbers = {**went.before, **{name: went.after[name] for name in forward.results}}
    (given_slope,) = gradient.upstream
    result = gradient.upstream[given_slope]
    upstream = np.random.default_rng(7).integers(-16, 17, numbers[result].shape) / 8.0
    changes: dict[str, Argument | Changed] = {
        given_slope: holding(table.base[given_slope], upstream)
    }
    for ours, theirs in {**gradient.saved, **gradient.shared}.items():
        known = arguments[theirs]
        is_tensor = isinstance(known, Array)
        changes[ours] = holding(known, numbers[theirs]) if is_tensor else known
    for ours, sources in gradient.gives.items():
        assert isinstance(table.base[ours], Array)
        changes[ours] = Changed(numbers[sources[0]].shape)
    came = npu.run(table, apply(table.arguments, gradient.own, changes))

    assert (went.status, came.status) == (0, 0), came.reply
    given = numbers_of(arguments, went.before)
    for ours, sources in gradient.gives.items():
        for name in sources:
            truth = differences(forward, given, result, upstream, name, chip)
            error = np.abs(came.after[ours] - truth).max()
            assert error <= 2e-5 * max(1.0, np.abs(truth).max()), (ours, name)
