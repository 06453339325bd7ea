# SPDX-License-Identifier: Apache-2.0
"""The steps of a BatchNorm whose batch is spread over devices (CANN: aclnnBatchNormStats, ...).

Forward, every device: `batch_norm_stats`, exchange the results,
`batch_norm_gather_stats_with_counts`, `batch_norm_elemt`. Backward: `batch_norm_reduce_backward`,
add up its sums over devices, `batch_norm_elemt_backward`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import arithmetic_dtype, rounded, total, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "BatchNormGatherStatsResult",
    "BatchNormReduceGrads",
    "BatchNormStatsResult",
    "batch_norm_elemt",
    "batch_norm_elemt_backward",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_reduce_backward",
    "batch_norm_stats",
]


class BatchNormStatsResult(NamedTuple):
    """What `batch_norm_stats` returns.

    Attributes:
        mean: The mean of each channel: (C,), float32 (float64 for float64 input).
        invstd: The reciprocal standard deviation of each channel, like `mean`.
    """

    mean: NDArray[Any]
    invstd: NDArray[Any]


class BatchNormGatherStatsResult(NamedTuple):
    """What `batch_norm_gather_stats_with_counts` returns.

    Attributes:
        mean_all: The mean of each channel of the whole batch: (C,), float32 (float64 for float64
            mean).
        invstd_all: The reciprocal standard deviation of each channel, like `mean_all`.
        running_mean: The new running mean: the data type of the one given, None if there was none.
        running_var: The new running variance, like `running_mean`.
    """

    mean_all: NDArray[Any]
    invstd_all: NDArray[Any]
    running_mean: NDArray[Any] | None
    running_var: NDArray[Any] | None


class BatchNormReduceGrads(NamedTuple):
    """What `batch_norm_reduce_backward` returns; None stands for what was not asked for.

    Attributes:
        sum_dy: The sum of the gradient of each channel: (C,), float32 (float64 for float64 input).
        sum_dy_xmu: The sum of the gradient times what the input is above the mean, like `sum_dy`.
        grad_weight: The gradient of the weight, like `sum_dy`.
        grad_bias: The gradient of the bias, like `sum_dy`.
    """

    sum_dy: NDArray[Any] | None
    sum_dy_xmu: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


@np.errstate(all="ignore")
def batch_norm_stats(input: ArrayLike, eps: float = 1e-5) -> BatchNormStatsResult:
    """Find the mean and the reciprocal standard deviation of each channel.

    Over all samples and positions, with the biased variance: `invstd = 1 / sqrt(variance + eps)`.

    Args:
        input: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.
        eps: Added to the variance.

    Returns:
        `mean` and `invstd`. Without elements the mean is 0 and invstd is NaN, as CANN fills them.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: The input has no axis of channels.

    Source: CANN: ops-math math/reduce_std_with_mean.
    """
    layout = ChannelLayout.of("input", np.asarray(input))
    _, mean, variance = moments(layout.wide("input", input), (0, 2))
    return BatchNormStatsResult(mean.ravel(), (1 / np.sqrt(variance + eps)).ravel())


@np.errstate(all="ignore")
def batch_norm_gather_stats_with_counts(
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    momentum: float,
    eps: float,
    counts: ArrayLike,
) -> BatchNormGatherStatsResult:
    """Combine the statistics of devices into those of the whole batch, and move those that run.

    With `variance = 1 / invstd ** 2 - eps` and sums over devices, n elements in all:
    `mean_all = sum(counts * mean) / n`,
    `squares = sum(counts * (variance + (mean - mean_all) ** 2))`,
    `invstd_all = 1 / sqrt(squares / n + eps)`. Both running statistics move:
    `new = (1 - momentum) * old + momentum * batch`, where the batch's variance is the unbiased
    one, `squares / (n - 1)`.

    Args:
        input: A tensor (N, C, ...) whose channels the statistics are of; no result depends on its
            values.
        mean: The mean of each channel on each device: (devices, C), any float type.
        invstd: The reciprocal standard deviations, like `mean`.
        running_mean: (C,), any float type; None means zeros. It is not written to.
        running_var: (C,), any float type; None means zeros. It is not written to.
        momentum: How much this batch moves the running statistics.
        eps: What was added to the variance, and is again.
        counts: How many elements a channel has on each device: (devices,).

    Returns:
        `mean_all`, `invstd_all`, `running_mean` and `running_var`. Without devices the mean is 0,
        invstd is NaN, and nothing moves, as in CANN.

    Raises:
        TypeError: The data type of mean is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/sync_batch_norm_gather_stats_with_counts.
    """
    channels = ChannelLayout.of("input", np.asarray(input)).channels
    given = np.asarray(mean)
    dtype = arithmetic_dtype("mean", given)
    devices = np.size(counts)
    for name, array, shape in (
        ("mean", given, (devices, channels)),
        ("invstd", invstd, (devices, channels)),
        ("counts", counts, (devices,)),
        ("running_mean", running_mean, (channels,)),
        ("running_var", running_var, (channels,)),
    ):
        if array is not None and np.shape(array) != shape:
            raise ValueError(f"{name} has the shape {np.shape(array)}; it must be {shape}")
    means, deviations = wide(given, dtype), wide(invstd, dtype)
    weights = wide(counts, dtype)[:, None]
    count = total(weights, 0)[0]
    mean_all = total(weights * means, 0) / (count if devices else 1)
    variances = 1 / (deviations * deviations) - eps
    squares = total(weights * (variances + (means - mean_all) ** 2), 0)

    def moved(running: ArrayLike | None, batch: NDArray[Any]) -> NDArray[Any] | None:
        if running is None:
            return None
        old = wide(running, dtype)
        new = (1 - momentum) * old + momentum * batch[0] if devices else old
        return rounded(new, np.asarray(running).dtype)

    return BatchNormGatherStatsResult(
        mean_all[0],
        (1 / np.sqrt(squares / count + eps))[0],
        moved(running_mean, mean_all),
        moved(running_var, squares / (count - 1)),
    )


@np.errstate(all="ignore")
def batch_norm_elemt(
    input: ArrayLike,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    mean: ArrayLike,
    invstd: ArrayLike,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> NDArray[Any]:
    """Normalize channels with given statistics, then scale and shift them.

    `output = (input - mean) * invstd * weight + bias`.

    Args:
        input: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.
        weight: (C,), any float type; None means ones.
        bias: (C,), any float type; None means zeros.
        mean: (C,), any float type.
        invstd: The reciprocal standard deviation: (C,), any float type.
        eps: Matters to a family only.
        family: The family of chips. All of them go by the variance, `1 / (invstd * invstd) - eps`
            in the data type of invstd, so that `invstd` is what is left of it after
            `1 / sqrt(variance + eps)`.

    Returns:
        The normalized tensor: the input's shape and data type.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/batch_norm_elemt.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    x = layout.wide("input", tensor) - layout.per_channel("mean", mean, 0)
    deviation = layout.per_channel("invstd", invstd, 1)
    if family is not None:
        dtype = np.asarray(invstd).dtype
        one, small = dtype.type(1), np.asarray(eps, dtype)
        given = deviation.astype(dtype)
        variance = wide(one / (given * given) - small, layout.dtype)
        deviation = 1 / np.sqrt(variance + eps)
    x = x * deviation * layout.per_channel("weight", weight, 1)
    output = x + layout.per_channel("bias", bias, 0)
    return rounded(output, tensor.dtype).reshape(layout.shape)


@np.errstate(all="ignore")
def batch_norm_reduce_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    weight: ArrayLike | None = None,
    input_g: bool = True,
    weight_g: bool = True,
    bias_g: bool = True,
) -> BatchNormReduceGrads:
    """Add up, over one device's part of a batch, what the gradients need of it.

    Over all samples and positions: `sum_dy = sum(grad_out)`,
    `sum_dy_xmu = sum(grad_out * (input - mean))`, `grad_weight = sum_dy_xmu * invstd`,
    `grad_bias = sum_dy`.

    Args:
        grad_out: The gradient of the forward output; the shape of the input, any float type.
        input: The forward input: float16, bfloat16, float32 or float64, (N, C, ...).
        mean: The mean of each channel of the whole batch: (C,), any float type.
        invstd: The reciprocal standard deviation of each channel, like `mean`.
        weight: Not used.
        input_g: Whether to return `sum_dy` and `sum_dy_xmu`.
        weight_g: Whether to return `grad_weight`.
        bias_g: Whether to return `grad_bias`.

    Returns:
        The four sums, None where not asked for.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/sync_batch_norm_backward_reduce.
    """
    del weight
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    grad = layout.wide("grad_out", grad_out)
    centred = layout.wide("input", tensor) - layout.per_channel("mean", mean, 0)
    sum_dy, sum_dy_xmu = (total(part, (0, 2)).ravel() for part in (grad, grad * centred))
    deviation = layout.per_channel("invstd", invstd, 1)[:, 0]
    return BatchNormReduceGrads(
        sum_dy if input_g else None,
        sum_dy_xmu if input_g else None,
        sum_dy_xmu * deviation if weight_g else None,
        sum_dy if bias_g else None,
    )


@np.errstate(all="ignore")
def batch_norm_elemt_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    invstd: ArrayLike,
    weight: ArrayLike | None,
    sum_dy: ArrayLike,
    sum_dy_xmu: ArrayLike,
    counter: ArrayLike,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """Propagate a gradient back to one device's part of the input of a batch normalization.

    With the sums of the whole batch and its number n of elements a channel, `sum(counter)`:
    `grad_input = (grad_out - sum_dy / n - (input - mean) * invstd ** 2 * sum_dy_xmu / n) * invstd *
    weight`.

    Args:
        grad_out: The gradient of the forward output; the shape of the input, any float type.
        input: The forward input: float16, bfloat16, float32 or float64, (N, C, ...).
        mean: The mean of each channel of the whole batch: (C,), any float type.
        invstd: The reciprocal standard deviation of each channel, like `mean`.
        weight: (C,), any float type; None means ones.
        sum_dy: The sums of `batch_norm_reduce_backward` over the whole batch: (C,).
        sum_dy_xmu: Like `sum_dy`.
        counter: How many elements a channel has on each device, in any shape.
        dtype: The data type of the result; None means the input's.

    Returns:
        The gradient of the input, of its shape.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/sync_batch_norm_backward_elemt.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    count = np.add.reduce(wide(counter, layout.dtype), axis=None, dtype=layout.dtype)
    deviation = layout.per_channel("invstd", invstd, 1)
    grad = layout.wide("grad_out", grad_out) - layout.per_channel("sum_dy", sum_dy, 0) / count
    slope = deviation * deviation * (layout.per_channel("sum_dy_xmu", sum_dy_xmu, 0) / count)
    centred = layout.wide("input", tensor) - layout.per_channel("mean", mean, 0)
    grad_input = (grad - centred * slope) * (deviation * layout.per_channel("weight", weight, 1))
    target = tensor.dtype if dtype is None else np.dtype(dtype)
    return rounded(grad_input, target).reshape(layout.shape)
