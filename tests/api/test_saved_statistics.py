# SPDX-License-Identifier: Apache-2.0
"""Statistics that the gradients of a batch norm take from its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import pyaclnn
from pyaclnn.facts.operators import by_c_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPS = 1e-5
SHAPES = [(5, 5, 2, 2), (40, 3), (2, 3, 7), (8, 3, 4, 4)]
GRADIENTS = ["batch_norm_backward", "fast_batch_norm_backward"]


def arrays(shape: tuple[int, ...], dtype: type) -> tuple[NDArray[Any], ...]:
    rng = np.random.default_rng(3)
    numbers: NDArray[Any] = rng.normal(1.0, 1.7, (2, *shape)).astype(dtype)
    return numbers[0], numbers[1], rng.normal(size=shape[1]).astype(dtype)


def statistics(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    axes = (0, *range(2, x.ndim))
    wide = x.astype(np.float64)
    mean, variance = wide.mean(axes), wide.var(axes)
    return (
        mean.astype(np.float32),
        variance.astype(np.float32),
        (1 / np.sqrt(variance + EPS)).astype(np.float32),
    )


def golden(slopes: NDArray[Any], x: NDArray[Any], weight: NDArray[Any]) -> NDArray[Any]:
    """Compute the gradient of the input in float64, by its own formula."""
    dy, wide = (a.astype(np.float64).reshape(*a.shape[:2], -1) for a in (slopes, x))
    mean, variance = wide.mean((0, 2), keepdims=True), wide.var((0, 2), keepdims=True)
    inverse = 1 / np.sqrt(variance + EPS)
    normal, scaled = (wide - mean) * inverse, dy * weight.astype(np.float64)[None, :, None]
    means = scaled.mean((0, 2), keepdims=True), (scaled * normal).mean((0, 2), keepdims=True)
    found: NDArray[Any] = (scaled - means[0] - normal * means[1]) * inverse
    return found.reshape(x.shape)


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_inverse_deviation_is_refused(shape: tuple[int, ...], dtype: type, name: str) -> None:
    slopes, x, weight = arrays(shape, dtype)
    mean, _, inverse = statistics(x)
    with pytest.raises(pyaclnn.InvalidArgumentError, match="the variance of 'input'") as caught:
        getattr(pyaclnn, name)(slopes, x, weight, None, None, mean, inverse, True)
    assert caught.value.argument == "save_invstd"
    assert "saved=result" in str(caught.value)


def test_it_is_refused_in_a_repeated_call() -> None:
    slopes, x, weight = arrays((8, 3, 4, 4), np.float32)
    mean, variance, inverse = statistics(x)
    call = pyaclnn.batch_norm_backward
    for _ in range(2):
        call(slopes, x, weight, save_mean=mean, save_invstd=variance)
    with pytest.raises(pyaclnn.InvalidArgumentError, match="save_invstd"):
        call(slopes, x, weight, save_mean=mean, save_invstd=inverse)


def test_other_statistics_are_taken() -> None:
    slopes, x, weight = arrays((8, 3, 4, 4), np.float32)
    for other in (np.ones(3, np.float32), np.full(3, np.nan, np.float32), np.zeros(3, np.float32)):
        pyaclnn.batch_norm_backward(slopes, x, weight, save_mean=other, save_invstd=other)
    _, _, inverse = statistics(x)
    pyaclnn.batch_norm_backward(slopes, x, weight, save_invstd=inverse, training=False)


@pytest.mark.parametrize("on_device", [False, True], ids=["host", "device"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_result_of_the_forward_pass_is_taken(
    shape: tuple[int, ...], on_device: bool, device: pyaclnn.Device
) -> None:
    host = arrays(shape, np.float32)
    slopes, x, weight = map(pyaclnn.to_device, host) if on_device else host
    forward: Any = pyaclnn.batch_norm
    result = forward(x, weight=weight, training=True)
    call: Any = pyaclnn.batch_norm_backward
    pair = {"save_mean": result.save_mean, "save_invstd": result.save_invstd}
    found: list[Any] = [
        call(slopes, x, weight, saved=result).grad_input,
        call(slopes, x, weight, **pair).grad_input,
    ]
    if on_device:
        device.synchronize()
        found = [gradient.numpy() for gradient in found]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], golden(*host), rtol=1e-3, atol=1e-4)


def test_a_result_and_its_parts_are_one_argument() -> None:
    slopes, x, _ = arrays((8, 3), np.float32)
    result = pyaclnn.batch_norm(x, training=True)
    with pytest.raises(TypeError, match="'saved' and 'save_mean'"):
        pyaclnn.batch_norm_backward(slopes, x, saved=result, save_mean=result.save_mean)
    with pytest.raises(pyaclnn.InvalidArgumentError, match="the result of batch_norm"):
        pyaclnn.batch_norm_backward(slopes, x, saved=x)  # type: ignore[call-overload]


def test_the_950_takes_the_inverse_deviation() -> None:
    _, x, _ = arrays((8, 3, 4, 4), np.float32)
    _, variance, inverse = statistics(x)
    find = by_c_name()["aclnnBatchNormBackward"].mistake
    assert find is not None
    values = {"input": x, "training": True, "eps": EPS}
    for family, right, wrong in (("950", inverse, variance), ("910b", variance, inverse)):
        assert find({**values, "save_invstd": right}, family) is None
        assert find({**values, "save_invstd": wrong}, family) is not None


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_first_lines_say_so(name: str) -> None:
    first = " ".join(getattr(pyaclnn, name).__doc__.splitlines()[:6])
    assert "saved=result" in first
    assert "the variance on all chips but Ascend 950" in first


def on_device() -> tuple[tuple[pyaclnn.DeviceArray, ...], tuple[pyaclnn.DeviceArray, ...]]:
    """Return the arguments of a gradient, and statistics of the input, on the device."""
    host = arrays((8, 3, 4, 4), np.float32)
    return tuple(map(pyaclnn.to_device, host)), tuple(map(pyaclnn.to_device, statistics(host[1])))


def test_a_device_array_of_unknown_meaning_is_refused() -> None:
    """In a first call, in a repeated one, in a plan and in a plan's other arrays."""
    (slopes, x, weight), (mean, variance, inverse) = on_device()
    call: Any = pyaclnn.batch_norm_backward
    forward: Any = pyaclnn.batch_norm
    result = forward(x, weight=weight, training=True)
    by_hand = type(result)(result.output, mean, inverse)
    x.device.synchronize()
    known = {"saved": result}
    with pyaclnn.plan(call, slopes, x, weight, **known) as step:
        for array in (inverse, variance, result.save_invstd.copy(), result.save_invstd[:]):
            for given in ({"save_mean": mean, "save_invstd": array}, {"saved": by_hand}):
                for _ in range(2):
                    call(slopes, x, weight, **known)
                    with pytest.raises(pyaclnn.InvalidArgumentError) as caught:
                        call(slopes, x, weight, **given)
                    assert caught.value.argument == "save_invstd"
                    assert "saved=result" in str(caught.value)
                    assert "'variance': ..." in str(caught.value)
                with pytest.raises(pyaclnn.InvalidArgumentError, match="the variance on this chip"):
                    pyaclnn.plan(call, slopes, x, weight, **given)
            with pytest.raises(pyaclnn.InvalidArgumentError, match="the variance on this chip"):
                step.run(save_invstd=array)
        again = forward(x, weight=weight, training=True)
        step.run(save_invstd=again.save_invstd)
    # Where the batch's statistics do not count, the argument does not.
    call(slopes, x, weight, save_invstd=inverse, training=False)


def test_a_device_array_is_taken_with_its_meaning() -> None:
    given, (mean, variance, inverse) = on_device()
    call: Any = pyaclnn.batch_norm_backward
    saved = {"save_mean": mean, "variance": variance}
    for _ in range(2):
        found = call(*given, saved=saved).grad_input
        given[0].device.synchronize()
        np.testing.assert_allclose(
            found.numpy(), golden(*(a.numpy() for a in given)), rtol=1e-3, atol=1e-4
        )
    for wrong in ({"save_mean": mean, "invstd": inverse}, {"variance": variance}, {}):
        with pytest.raises(pyaclnn.InvalidArgumentError, match="'save_mean' and 'variance'"):
            call(*given, saved=wrong)
        with pytest.raises(pyaclnn.InvalidArgumentError, match="'save_mean' and 'variance'"):
            call(*(a.numpy() for a in given), saved=wrong)


def test_results_of_plans_and_given_results_are_known() -> None:
    (slopes, x, weight), _ = on_device()
    forward: Any = pyaclnn.batch_norm
    call: Any = pyaclnn.batch_norm_backward
    out = [pyaclnn.DeviceArray.empty(shape, np.float32) for shape in (x.shape, 3, 3)]
    call(slopes, x, weight, saved=forward(x, weight=weight, training=True, out=out))
    with pyaclnn.plan(forward, x, weight=weight, training=True) as step:
        call(slopes, x, weight, saved=step.run())
    # In eager code the first call goes another way than the next ones.
    for _ in range(3):
        _, mean, variance = forward(x, weight=weight, training=True)
        call(slopes, x, weight, save_mean=mean, save_invstd=variance)


def test_channels_that_are_no_different_hide_no_others() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(64, 6, 8)).astype(np.float32)
    wide = x.astype(np.float64)
    x = ((wide - wide.mean((0, 2), keepdims=True)) / wide.std((0, 2), keepdims=True)).astype("f4")
    x[:, 5] *= 3
    mean, _, inverse = statistics(x)
    with pytest.raises(pyaclnn.InvalidArgumentError, match="the variance of 'input'"):
        pyaclnn.batch_norm_backward(x, x, save_mean=mean, save_invstd=inverse)


def test_a_statistic_of_a_wrong_length_is_held_against_no_other_wrong_one() -> None:
    x = np.ones((2, 4, 3), np.float32)
    short, right = np.ones(3, np.float32), np.ones(4, np.float32)
    with pytest.raises(pyaclnn.InvalidArgumentError) as caught:
        pyaclnn.batch_norm(x, short, short)
    assert str(caught.value) == (
        "batch_norm(): 'running_mean' is of shape (3,); it must be of shape (4,): C, where "
        "'input' is N C space*."
    )
    with pytest.raises(pyaclnn.InvalidArgumentError, match="the shape of 'running_var'"):
        pyaclnn.batch_norm(x, short, right)
