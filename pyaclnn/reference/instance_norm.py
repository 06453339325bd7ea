# SPDX-License-Identifier: Apache-2.0
"""InstanceNorm (CANN: aclnnInstanceNorm)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded


@defined("x, gamma, beta, data_format='NCHW', eps=1e-5", "InstanceNormResult: y mean variance")
def instance_norm(given: Given) -> Any:
    """Normalize each channel of each sample, then scale and shift it.

    With the mean and the biased variance over all positions of a channel of a sample:
    `y = (x - mean) / sqrt(variance + eps) * gamma + beta`.

    Without positions the mean is 0 and the variance NaN.
    """
    if given.data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"data_format is {given.data_format!r}; it must be 'NCHW' or 'NHWC'")
    last = given.data_format == "NHWC"
    given.x = np.moveaxis(given.array("x"), -1, 1) if last else given.array("x")
    channels = given.channels("x")
    centred, mean, variance = moments(channels.wide("x"), 2)
    y = centred / np.sqrt(variance + given.eps) * channels.each("gamma", 1)
    y += channels.each("beta", 0)
    statistic = channels.layout.shape[:2] + (1,) * (given.x.ndim - 2)
    statistics = (rounded(part, channels.dtype).reshape(statistic) for part in (mean, variance))
    results = channels.tensor(y), *statistics
    if not last:
        return results
    return [np.ascontiguousarray(np.moveaxis(part, 1, -1)) for part in results]
