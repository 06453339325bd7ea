# SPDX-License-Identifier: Apache-2.0
"""InstanceNorm (CANN: aclnnInstanceNorm)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["InstanceNormResult", "instance_norm"]


class InstanceNormResult(NamedTuple):
    """Results of `instance_norm`."""

    y: NDArray[Any]
    mean: NDArray[Any]
    variance: NDArray[Any]


@np.errstate(all="ignore")
def instance_norm(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    data_format: str = "NCHW",
    eps: float = 1e-5,
) -> InstanceNormResult:
    """Normalize each channel of each sample, then scale and shift it.

    With the mean and the biased variance over all positions of a channel of a sample:
    `y = (x - mean) / sqrt(variance + eps) * gamma + beta`.

    Without positions the mean is 0 and the variance NaN.
    """
    tensor = np.asarray(x)
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format is {data_format!r}; it must be 'NCHW' or 'NHWC'")
    last = data_format == "NHWC"
    channels_first = np.moveaxis(tensor, -1, 1) if last else tensor
    layout = ChannelLayout.of("x", channels_first)
    centred, mean, variance = moments(layout.wide("x", channels_first), 2)
    y = centred / np.sqrt(variance + eps) * layout.per_channel("gamma", gamma, 1)
    y += layout.per_channel("beta", beta, 0)
    statistic = layout.shape[:2] + (1,) * (tensor.ndim - 2)
    results = (
        rounded(part, tensor.dtype).reshape(shape)
        for part, shape in ((y, layout.shape), (mean, statistic), (variance, statistic))
    )
    return InstanceNormResult(
        *(np.ascontiguousarray(np.moveaxis(part, 1, -1)) if last else part for part in results)
    )
