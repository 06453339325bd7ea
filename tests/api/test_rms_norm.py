# SPDX-License-Identifier: Apache-2.0
"""rms_norm and rms_norm_grad against formulas in float64, on host and device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.typing import NDArray

from pyaclnn.base.errors import ContextError, InvalidArgumentError
from pyaclnn.ops import add_rms_norm_quant, rms_norm, rms_norm_grad
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

Host = NDArray[Any]
Check = Callable[[Host, Host], None]
Place = Callable[[Host, str], DeviceArray]

FLOAT32 = np.dtype(np.float32)
FLOATS = [FLOAT32, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
COMBINATIONS = [(dtype, gamma) for dtype in FLOATS for gamma in dict.fromkeys((dtype, FLOAT32))]
LAYOUTS = ["contiguous", "offset", "strided", "transposed"]

ON_DEVICE = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float64) -> Host:
    return np.random.default_rng(seed).normal(0.3, 1.0, shape).astype(dtype)


def forward(x: Host, gamma: Host, eps: float) -> list[Host]:
    """Evaluate the definition in float64."""
    x = x.astype(np.float64)
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True) + eps)
    return [x * rstd * gamma.astype(np.float64), rstd]


def backward(dy: Host, x: Host, rstd: Host, gamma: Host) -> list[Host]:
    """Evaluate the closed form of the gradients in float64, with rstd as given."""
    dy, x, gamma = (a.astype(np.float64) for a in (dy, x, gamma))
    lead = x.ndim - gamma.ndim
    inner, outer = tuple(range(lead, x.ndim)), tuple(range(lead))
    rstd = rstd.astype(np.float64).reshape(x.shape[:lead] + (1,) * gamma.ndim)
    hat = x * rstd
    mean = (dy * gamma * hat).sum(inner, keepdims=True) / max(gamma.size, 1)
    return [(dy * gamma - hat * mean) * rstd, (dy * hat).sum(outer)]


@pytest.mark.parametrize(("dtype", "gamma_dtype"), COMBINATIONS, ids=str)
def test_both_operators_for_every_dtype_on_host_arrays(
    dtype: Any, gamma_dtype: Any, check: Check
) -> None:
    x, dy = normal(0, (3, 4, 32), dtype), normal(1, (3, 4, 32), dtype)
    gamma = normal(2, (4, 32), gamma_dtype)
    y, rstd = rms_norm(x, gamma, 1e-3)
    single = np.dtype(np.float32)
    golden = forward(x, gamma, 1e-3)
    assert (y.dtype, rstd.dtype, rstd.shape) == (x.dtype, single, (3, 1, 1))
    check(y, golden[0])
    check(rstd, golden[1])
    dx, dgamma = rms_norm_grad(dy, x, rstd, gamma)
    assert (dx.dtype, dgamma.dtype) == (x.dtype, single)
    expected = backward(dy, x, rstd, gamma)
    check(dx, expected[0])
    check(dgamma, expected[1])


@pytest.mark.sampled(12)
@pytest.mark.pyaclnn(contract=False)
@pytest.mark.parametrize("rank", range(1, 9))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_both_operators_for_every_rank_and_layout(
    rank: int, layout: str, check: Check, place: Place, stream: Stream
) -> None:
    shape = (2, 3, 1, 2, 2, 1, 2, 3)[:rank]
    x, dy = normal(0, shape, np.float32), normal(1, shape, np.float32)
    for normalized in {1, (rank + 1) // 2, rank}:
        gamma = normal(2, shape[-normalized:], np.float32)
        placed = [place(a, layout) for a in (dy, x, gamma)]
        y, rstd = rms_norm(placed[1], placed[2], stream=stream)
        dx, dgamma = rms_norm_grad(placed[0], placed[1], rstd, placed[2], stream=stream)
        with pytest.raises(ContextError, match="has still to write"):
            y.numpy()
        stream.synchronize()
        for actual, golden in zip((y, rstd), forward(x, gamma, 1e-6), strict=True):
            check(actual.numpy(), golden)
        expected = backward(dy, x, rstd.numpy(), gamma)
        for actual, golden in zip((dx, dgamma), expected, strict=True):
            check(actual.numpy(), golden)


@ON_DEVICE
@given(data=st.data())
def test_rms_norm_grad_agrees_on_any_shape_layout_and_dtype(
    data: st.DataObject, check: Check, place: Place
) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8), "shape"))
    rank = data.draw(st.integers(1, len(shape)), "axes of gamma")
    dtype, gamma_dtype = data.draw(st.sampled_from(COMBINATIONS), "dtypes")
    layouts = st.sampled_from(LAYOUTS)
    x, dy = normal(0, shape, dtype), normal(1, shape, dtype)
    gamma = normal(2, shape[-rank:], gamma_dtype)
    lead = shape[: len(shape) - rank]
    rstd = np.asarray(np.abs(normal(3, lead, np.float32)) + np.float32(0.5))
    ones = data.draw(st.integers(0, 8 - len(lead)), "ones behind rstd")
    rstd = rstd.reshape(lead + (1,) * ones)
    dx, dgamma = rms_norm_grad(
        place(dy, data.draw(layouts)),
        place(x, data.draw(layouts)),
        to_device(rstd),
        place(gamma, data.draw(layouts)),
    )
    Stream.default().synchronize()
    for actual, golden in zip((dx, dgamma), backward(dy, x, rstd, gamma), strict=True):
        check(actual.numpy(), golden)


def test_the_published_example() -> None:
    x = np.arange(1, 33, dtype=np.float32).reshape(2, 1, 16)
    gamma = np.arange(1, 17, dtype=np.float32)
    dx, dgamma = rms_norm_grad(x, x, np.array([1, 2], np.float32), gamma)
    np.testing.assert_allclose(dx[0, 0, :4], [-1155, -2308, -3459, -4608])
    np.testing.assert_allclose(dgamma[[0, 1, 14, 15]], [579, 652, 2147, 2304])
    sample = np.tile(np.arange(8, dtype=np.float32), (2, 2))
    np.testing.assert_allclose(rms_norm(sample, sample[0]).rstd, [[0.23904572]] * 2, rtol=1e-6)


def test_no_rows_sum_to_zero_on_every_chip(stream: Stream) -> None:
    x, gamma, rstd = np.empty((0, 4), np.float16), np.ones(4, np.float16), np.empty(0, np.float32)
    y, statistics = rms_norm(x, gamma)
    assert (y.shape, statistics.shape) == ((0, 4), (0, 1))
    dx, dgamma = rms_norm_grad(x, x, rstd, gamma)
    assert dx.shape == (0, 4)
    np.testing.assert_array_equal(dgamma, np.zeros(4, np.float32))
    moved = [to_device(a) for a in (x, x, rstd, gamma)]
    queued = rms_norm_grad(*moved, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(queued.dgamma.numpy(), np.zeros(4, np.float32))


def test_rows_of_no_elements_have_gradients_but_no_norm() -> None:
    x, gamma = np.empty((3, 0), np.float32), np.empty(0, np.float32)
    dx, dgamma = rms_norm_grad(x, x, np.ones(3, np.float32), gamma)
    assert (dx.shape, dgamma.shape) == ((3, 0), (0,))
    with pytest.raises(InvalidArgumentError) as caught:
        rms_norm(x, gamma)
    assert str(caught.value) == (
        "rms_norm(): 'gamma' is of shape (0,); it must be not empty: the operator takes no mean "
        "over nothing."
    )


@pytest.mark.parametrize("kind", ["host", "device"])
def test_out_takes_the_results_and_is_returned(kind: str, check: Check) -> None:
    x, dy, gamma = (normal(i, s, np.float32) for i, s in enumerate([(4, 8), (4, 8), (8,)]))
    rstd = np.ones(4, np.float32)
    mine: Any = (np.empty((4, 8), np.float32), np.empty(8, np.float32))
    arrays: list[Any] = [dy, x, rstd, gamma]
    if kind == "device":
        mine, arrays = tuple(map(to_device, mine)), [to_device(a) for a in arrays]
    result = rms_norm_grad(*arrays, out=(mine[0], None))
    assert result.dx is mine[0]
    result = rms_norm_grad(*arrays, out=mine)
    Stream.default().synchronize()
    assert all(r is m for r, m in zip(result, mine, strict=True))
    for actual, golden in zip(result, backward(dy, x, rstd, gamma), strict=True):
        check(actual.numpy() if kind == "device" else actual, golden)


@pytest.mark.parametrize(
    ("div_mode", "scales"), [(True, [0.1, 0.01, 0.1, 0.05]), (False, [10, 100, 10, 20])]
)
def test_scales_of_add_rms_norm_quant_divide_or_multiply(
    scales: list[float], *, div_mode: bool
) -> None:
    x1, x2, gamma = (
        np.array(row, np.float16) for row in ([[1, 2, 3, 4]], [[1, 0, -1, 2]], [1, 2, 0.5, 1])
    )
    points, step = np.array([0, 5, -3, 1], np.int32), np.array(scales, np.float32)
    found = add_rms_norm_quant(x1, x2, gamma, step, zero_points1=points, div_mode=div_mode)
    np.testing.assert_array_equal(found.y1, [[6, 120, 0, 36]])
    assert found.y2 is None
