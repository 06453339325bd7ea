# SPDX-License-Identifier: Apache-2.0
"""Group normalization and its gradients, where samples or positions are lacking."""

from __future__ import annotations

import numpy as np
import pytest

from pyaclnn import ops


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 4, 0)])
def test_gradients_of_parameters_over_nothing_are_0(shape: tuple[int, ...]) -> None:
    nothing = np.empty(shape, np.float32)
    statistics = np.ones((shape[0], 2), np.float32)
    found = ops.group_norm_backward(nothing, nothing, statistics, statistics, 2)
    assert found.grad_input is not None
    assert found.grad_input.shape == shape
    np.testing.assert_array_equal(found.grad_weight, np.zeros(4))
    np.testing.assert_array_equal(found.grad_bias, np.zeros(4))
