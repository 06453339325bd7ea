# SPDX-License-Identifier: Apache-2.0
"""The host refuses harmful calls that C accepts, and no other calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.parameters import Option
from pyaclnn.ops import (
    add_rms_norm,
    add_rms_norm_quant,
    batch_norm,
    group_norm,
    instance_norm,
    rms_norm,
)

if TYPE_CHECKING:
    from collections.abc import Callable

f16, f32 = np.float16, np.float32


def ones(*shape: int, dtype: Any = f32) -> Any:
    return np.ones(shape, dtype)


def batch(*shape: int, **options: Any) -> Any:
    x = ones(*shape)
    return batch_norm(x, ones(shape[1]), ones(shape[1]), **{"training": True, **options})


def instance(*shape: int, dtype: Any = f32, beta: int = 0, **options: Any) -> Any:
    channels = shape[-1] if options.get("data_format") == "NHWC" else shape[1]
    scale, shift = (ones(channels + more, dtype=dtype) for more in (0, beta))
    return instance_norm(ones(*shape, dtype=dtype), scale, shift, **options)


def summed(columns: int, **options: Any) -> Any:
    return add_rms_norm(ones(2, columns), ones(2, columns), ones(columns), **options)


def quantized(columns: int = 4, **options: Any) -> Any:
    x, gamma = ones(2, columns, dtype=f16), ones(columns, dtype=f16)
    return add_rms_norm_quant(x, x, gamma, ones(columns), **options)


POINTS = np.ones(4, np.int32)

REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: batch(1, 3), "'input' is one element a channel; it must be more than one a"),
    (lambda: batch(1, 3, 1, 1), "'input' is one element a channel; it must be more than one a"),
    (lambda: batch(2, 3, momentum=-0.01), "'momentum' is -0.01; it must be"),
    (lambda: batch(2, 3, momentum=1.01), "'momentum' is 1.01; it must be"),
    (lambda: batch(2, 3, eps=0.0), "'eps' is 0.0; it must be"),
    (lambda: group_norm(ones(2, 3, 4), 2), "'num_groups' is 2; it must be a divisor of 3"),
    (lambda: group_norm(ones(2, 3, 4), 0), "'num_groups' is 0; it must be"),
    (lambda: group_norm(ones(2, 3, 4), 3, eps=0.0), "'eps' is 0.0; it must be"),
    (lambda: instance(1, 7, 4, 4), "'x' is an array of 7 channels; it must be an array of at lea"),
    (lambda: instance(1, 15, 4, 4, dtype=f16), "at least 16, which take 32 bytes"),
    (lambda: instance(1, 8, 1, 7), "'x' is an array of 7 positions of a channel; it must be an "),
    (lambda: instance(1, 16, 3, 5, dtype=f16), "at least 16, which take 32 bytes"),
    (lambda: instance(1, 4, 4, 7, data_format="NHWC"), "at least 8, which take 32 bytes"),
    (lambda: instance(1, 8, 4, 4, beta=1), "'beta' is of shape (9,); it must be of shape (8,)"),
    (lambda: instance(1, 8, 4, 4, eps=0.0), "'eps' is 0.0; it must be"),
    (lambda: rms_norm(ones(2, 0), ones(0)), "'gamma' is of shape (0,); it must be not empty"),
    (lambda: rms_norm(ones(2, 4), ones(4), -1e-9), "'epsilon' is -1e-09; it must be"),
    (lambda: summed(0), "'gamma' is of shape (0,); it must be not empty"),
    (lambda: summed(4, epsilon=-1e-9), "'epsilon' is -1e-09; it must be"),
    (lambda: quantized(0), "'gamma' is of shape (0,); it must be not empty"),
    (lambda: quantized(epsilon=-1e-9), "'epsilon' is -1e-09; it must be"),
    (
        lambda: quantized(zero_points2=POINTS),
        "'zero_points2' is an array; it must be None, because there is no 'scales2'",
    ),
]
TAKEN: list[Callable[[], Any]] = [
    lambda: batch(2, 3, momentum=0.0),
    lambda: batch(1, 3, 2, momentum=1.0),
    lambda: batch(1, 3, training=False),
    lambda: batch(2, 3, eps=1e-12),
    lambda: batch(1, 0),
    lambda: group_norm(ones(2, 3, 4), 3, eps=1e-12),
    lambda: instance(1, 8, 2, 4, eps=1e-12),
    lambda: instance(1, 16, 2, 8, dtype=f16),
    lambda: instance(1, 2, 4, 8, data_format="NHWC"),
    lambda: instance(1, 8, 0, 4),
    lambda: instance(1, 0, 4, 4),
    lambda: rms_norm(ones(0, 4), ones(4), 0.0),
    lambda: summed(4, epsilon=0.0),
    lambda: quantized(epsilon=0.0),
    lambda: quantized(scales2=ones(4), zero_points2=POINTS),
    lambda: quantized(scales2=ones(4)),
]


@pytest.mark.parametrize(("action", "message"), REFUSED, ids=range(len(REFUSED)))
def test_what_would_come_to_no_good_is_refused(action: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        action()
    assert message in str(caught.value)
    assert caught.value.code is None


@pytest.mark.parametrize("action", TAKEN, ids=range(len(TAKEN)))
def test_what_is_just_good_enough_is_taken(action: Callable[[], Any]) -> None:
    refused = None
    try:
        action()
    except InvalidArgumentError as error:
        refused = error
    # That this chip has no such operator is what CANN says.
    assert refused is None or refused.code is not None


def test_cann_is_told_the_axis_that_has_an_effect() -> None:
    axis = all_operators()["add_rms_norm_quant"].by_name["axis"]
    assert isinstance(axis, Option)
    assert axis.derived is not None
    assert axis.derived({}) == -1
