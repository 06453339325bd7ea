# SPDX-License-Identifier: Apache-2.0
"""norm and linalg_vector_norm of tensors without axes, which CANN takes as vectors of one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.ops import linalg_vector_norm, norm
from pyaclnn.runtime.creation import to_device

X = np.array(-3, np.float32)


@pytest.mark.parametrize("function", [norm, linalg_vector_norm])
@pytest.mark.parametrize("dim", [None, (), 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize(("order", "expected"), [(2, 3), (0, 1), (math.inf, 3), (-math.inf, 3)])
def test_a_tensor_without_axes(
    function: Any, dim: Any, keepdim: bool, order: float, expected: float
) -> None:
    found = function(X, order, dim, keepdim)
    assert (found.shape, found) == ((), expected)
    on_device = function(to_device(X), order, dim, keepdim)
    on_device.device.synchronize()
    assert (on_device.shape, on_device.numpy()) == ((), expected)


@pytest.mark.parametrize("function", [norm, linalg_vector_norm])
def test_a_tensor_without_axes_has_the_axis_0_alone(function: Any) -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"'dim' is \(1,\); it must be axes from -1 to 0"
    ):
        function(X, 2.0, 1)
