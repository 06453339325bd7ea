# SPDX-License-Identifier: Apache-2.0
"""layer_norm and layer_norm_backward against formulas in float64, on host and device arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from numpy.typing import NDArray

from pyaclnn.base.errors import ContextError, InvalidArgumentError
from pyaclnn.ops import layer_norm, layer_norm_backward
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

Host = NDArray[Any]
Check = Callable[[Host, Host], None]
Place = Callable[[Host, str], DeviceArray]

FLOATS = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
EPSILON = dict(zip(FLOATS, (2.0**-23, 2.0**-10, 2.0**-7), strict=True))
LAYOUTS = ["contiguous", "offset", "strided", "transposed"]
MASKS = [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]

# The leak check around each test holds for all examples together.
ON_DEVICE = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def normal(seed: int, shape: tuple[int, ...], dtype: Any = np.float64) -> Host:
    return np.random.default_rng(seed).normal(0.3, 1.0, shape).astype(dtype)


def forward(x: Host, rank: int, weight: Host | None, bias: Host | None, eps: float) -> list[Host]:
    """Evaluate the definition in float64."""
    x = x.astype(np.float64)
    axes = tuple(range(x.ndim - rank, x.ndim))
    mean = x.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + eps)
    out = (x - mean) * rstd
    if weight is not None:
        out = out * weight.astype(np.float64)
    if bias is not None:
        out = out + bias.astype(np.float64)
    return [out, mean, rstd]


def backward(
    grad: Host, x: Host, rank: int, mean: Host, rstd: Host, weight: Host | None
) -> list[Host]:
    """Evaluate the closed form of the gradients in float64, with mean and rstd as given."""
    rows = x.shape[: x.ndim - rank] + (1,) * rank
    inner, outer = tuple(range(x.ndim - rank, x.ndim)), tuple(range(x.ndim - rank))
    grad, x = grad.astype(np.float64), x.astype(np.float64)
    rstd = rstd.astype(np.float64).reshape(rows)
    hat = (x - mean.astype(np.float64).reshape(rows)) * rstd
    g = grad if weight is None else grad * weight.astype(np.float64)
    count = max(int(np.prod(x.shape[x.ndim - rank :])), 1)
    mean_g = g.sum(inner, keepdims=True) / count
    mean_gh = (g * hat).sum(inner, keepdims=True) / count
    return [(g - mean_g - hat * mean_gh) * rstd, (grad * hat).sum(outer), grad.sum(outer)]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("affine", ["none", "weight", "bias", "both", "float32"])
def test_layer_norm_on_host_arrays(dtype: Any, affine: str, check: Check) -> None:
    x = normal(0, (3, 5, 16), dtype)
    kind = np.float32 if affine == "float32" else dtype
    weight = normal(1, (16,), kind) if affine in {"weight", "both", "float32"} else None
    bias = normal(2, (16,), kind) if affine in {"bias", "both", "float32"} else None
    result = layer_norm(x, 16, weight, bias, 1e-3)
    assert [r.dtype for r in result] == [x.dtype, np.float32, np.float32]
    golden = forward(x, 1, weight, bias, 1e-3)
    check(result.out, golden[0])
    # CANN rounds the statistics to the weight's dtype on the way: they are as good as that.
    rounded_to = kind if weight is not None or bias is not None else dtype
    tolerance = EPSILON[np.dtype(rounded_to)]
    np.testing.assert_allclose(result.mean, golden[1], rtol=2 * tolerance, atol=tolerance)
    np.testing.assert_allclose(result.rstd, golden[2], rtol=2 * tolerance)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("rank", range(1, 9))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layer_norm_of_every_rank_and_layout(
    rank: int, layout: str, check: Check, place: Place, stream: Stream
) -> None:
    shape = (2, 3, 1, 2, 2, 1, 2, 3)[:rank]
    x = normal(rank, shape, np.float32)
    for normalized in {1, (rank + 1) // 2, rank}:
        result = layer_norm(place(x, layout), shape[-normalized:], stream=stream)
        stream.synchronize()
        for actual, golden in zip(result, forward(x, normalized, None, None, 1e-5), strict=True):
            check(actual.numpy(), golden)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("with_weight", [True, False])
def test_layer_norm_backward_for_every_dtype_and_mask(
    dtype: Any, mask: tuple[bool, bool, bool], with_weight: bool, check: Check
) -> None:
    x, grad = normal(0, (4, 6, 8), dtype), normal(1, (4, 6, 8), dtype)
    weight = normal(2, (6, 8), dtype) if with_weight else None
    mean, rstd = (s.astype(np.float32) for s in forward(x, 2, None, None, 1e-5)[1:])
    result = layer_norm_backward(grad, x, (6, 8), mean, rstd, weight, weight, output_mask=mask)
    dtypes = [x.dtype, np.float32, np.float32]
    golden = backward(grad, x, 2, mean, rstd, weight)
    for on, actual, expected, kind in zip(mask, result, golden, dtypes, strict=True):
        if on:
            assert actual is not None
            assert actual.dtype == kind
            check(actual, expected)
        else:
            assert actual is None


@ON_DEVICE
@given(data=st.data())
def test_layer_norm_backward_agrees_on_any_shape_layout_and_dtype(
    data: st.DataObject, check: Check, place: Place
) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8), "shape"))
    rank = data.draw(st.integers(1, len(shape)), "normalized axes")
    dtype = data.draw(st.sampled_from(FLOATS), "dtype")
    mask = data.draw(st.sampled_from(MASKS), "mask")
    layouts = st.sampled_from(LAYOUTS)
    x, grad = normal(0, shape, dtype), normal(1, shape, dtype)
    kind = data.draw(st.sampled_from([np.dtype(np.float32), dtype]), "weight's dtype")
    weight = data.draw(st.sampled_from([normal(2, shape[-rank:], kind), None]), "weight")
    mean, rstd = (s.astype(np.float32) for s in forward(x, rank, None, None, 1e-2)[1:])
    if data.draw(st.booleans(), "flat statistics"):
        mean, rstd = mean.ravel(), rstd.ravel()
    result = layer_norm_backward(
        place(grad, data.draw(layouts)),
        place(x, data.draw(layouts)),
        shape[-rank:],
        place(mean, data.draw(layouts)),
        to_device(rstd),
        place(weight, data.draw(layouts)) if weight is not None else None,
        output_mask=mask,
    )
    Stream.default().synchronize()
    golden = backward(grad, x, rank, mean, rstd, weight)
    for on, actual, expected in zip(mask, result, golden, strict=True):
        if on:
            assert actual is not None
            check(actual.numpy(), expected)
        else:
            assert actual is None


def test_given_mean_and_rstd_are_used_as_they_are() -> None:
    # A published example; the statistics are not those of x.
    x = np.array([[2, 3], [4, 5]], np.float32)
    mean, rstd = np.array([[2], [3]], np.float32), np.array([[4], [5]], np.float32)
    ones = np.ones(2, np.float32)
    result = layer_norm_backward(x, x, 2, mean, rstd, ones, ones * 0)
    expected = np.array([[-2, -94], [-877.5, -1747.5]])
    np.testing.assert_allclose(result.grad_input, expected)
    np.testing.assert_allclose(result.grad_weight, [20, 62])
    np.testing.assert_allclose(result.grad_bias, [6, 8])


@pytest.mark.parametrize("kind", ["host", "device"])
def test_empty_arrays(kind: str) -> None:
    def move(array: Host) -> Any:
        return to_device(array) if kind == "device" else array

    def back(array: Any) -> Any:
        Stream.default().synchronize()
        return array.numpy() if kind == "device" else array

    no_rows = np.empty((0, 4), np.float32)
    out, mean, rstd = layer_norm(move(no_rows), 4)
    assert (out.shape, mean.shape, rstd.shape) == ((0, 4), (0, 1), (0, 1))
    result = layer_norm_backward(move(no_rows), move(no_rows), 4, mean, rstd)
    assert result.grad_input.shape == (0, 4)
    np.testing.assert_array_equal(back(result.grad_weight), np.zeros(4))
    np.testing.assert_array_equal(back(result.grad_bias), np.zeros(4))

    no_columns = np.empty((3, 0), np.float32)
    out, mean, rstd = layer_norm(move(no_columns), 0)
    np.testing.assert_array_equal(back(mean), np.zeros((3, 1)))
    np.testing.assert_array_equal(back(rstd), np.full((3, 1), np.nan))
    result = layer_norm_backward(move(no_columns), move(no_columns), 0, mean, rstd)
    assert [g.shape for g in result] == [(3, 0), (0,), (0,)]


@pytest.mark.parametrize("kind", ["host", "device"])
def test_out_takes_the_results_and_is_returned(kind: str, check: Check, place: Place) -> None:
    x, grad = normal(0, (4, 8), np.float16), normal(1, (4, 8), np.float16)
    weight = normal(2, (8,), np.float16)
    mean, rstd = (s.astype(np.float32) for s in forward(x, 1, None, None, 1e-5)[1:])
    dx, dw = np.full((4, 8), 9, np.float16), np.full(8, 9, np.float16)
    golden = backward(grad, x, 1, mean, rstd, weight)
    if kind == "host":
        result = layer_norm_backward(
            grad, x, 8, mean, rstd, weight, output_mask=(True, True, False), out=(dx, dw, None)
        )
        assert result.grad_input is dx
        assert result.grad_weight is dw
    else:
        targets = (place(dx, "strided"), place(dw, "strided"), None)
        moved = [to_device(a) for a in (grad, x, mean, rstd, weight)]
        made = layer_norm_backward(moved[0], moved[1], 8, moved[2], moved[3], moved[4], out=targets)
        Stream.default().synchronize()
        assert made.grad_input is targets[0]
        assert made.grad_weight is targets[1]
        check(made.grad_bias.numpy(), golden[2])
        dx, dw = targets[0].numpy(), targets[1].numpy()
        # Memory between the elements of a strided output is unchanged.
        wide = DeviceArray(targets[0].buffer, (4, 16), np.float16).numpy()
        np.testing.assert_array_equal(wide[:, 1::2], 0)
    check(dx, golden[0])
    check(dw, golden[1])


@pytest.mark.pyaclnn(contract=False)
def test_nothing_is_visible_before_synchronizing(stream: Stream, check: Check) -> None:
    x = normal(0, (16, 32), np.float32)
    result = layer_norm(to_device(x), 32, stream=stream)
    with pytest.raises(ContextError, match="has still to write"):
        result.out.numpy()
    stream.synchronize()
    check(result.out.numpy(), forward(x, 1, None, None, 1e-5)[0])


def test_masked_off_outputs_allocate_nothing(stream: Stream) -> None:
    from pyaclnn.runtime.handle import live_handles  # noqa: PLC0415  # only this test looks at it

    x = to_device(normal(0, (4, 8), np.float32))
    statistics = to_device(np.ones(4, np.float32))
    before = live_handles()
    result = layer_norm_backward(
        x, x, 8, statistics, statistics, output_mask=(False, False, False), stream=stream
    )
    assert result == (None, None, None)
    assert live_handles() == before


def test_interleaved_outputs_do_not_overlap() -> None:
    x = to_device(np.zeros((2, 4), np.float32))
    both = DeviceArray.empty((2, 8), np.float32)
    layer_norm(x, 4, out=(both[:, ::2], None, None))
    layer_norm(both[:, 1::2], 4, out=(both[:, ::2], None, None))
    with pytest.raises(InvalidArgumentError, match="shares memory with 'input'"):
        layer_norm(both[:, 1:5], 4, out=(both[:, ::2], None, None))
