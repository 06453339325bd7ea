# SPDX-License-Identifier: Apache-2.0
"""GroupNorm (CANN: aclnnGroupNorm)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import rounded, wide

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["GroupNormResult", "group_norm"]


class GroupNormResult(NamedTuple):
    """What `group_norm` returns.

    Attributes:
        out: The normalized tensor: the input's shape and data type.
        mean: The mean of each group: (N, groups), the input's data type.
        rstd: The reciprocal standard deviation of each group, like `mean`.
    """

    out: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


@np.errstate(all="ignore")
def group_norm(
    input: ArrayLike,
    num_groups: int,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> GroupNormResult:
    """Normalize groups of channels to mean 0 and variance 1, then scale and shift each channel.

    With the mean and the biased variance taken over a group's channels in all positions of a
    sample: `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    Args:
        input: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.
        num_groups: How many groups the channels form; it divides C.
        weight: (C,), any float type; None means ones.
        bias: (C,), any float type; None means zeros.
        eps: Added to the variance.
        family: The family of chips. On ``"910"`` rstd is formed of a variance that was rounded to
            the input's data type, with `eps` added in that type.

    Returns:
        `out`, `mean` and `rstd`. If a group holds no elements, its mean is 0 and its rstd is NaN,
        as CANN fills them.

    Raises:
        TypeError: The input's data type is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/group_norm.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    groups = layout.groups_of("num_groups", num_groups)
    scale = layout.per_channel("weight", weight, 1)
    shift = layout.per_channel("bias", bias, 0)
    x = layout.wide("input", tensor).reshape(groups)
    centred, mean, variance = moments(x, 1)
    rstd = 1 / np.sqrt(variance + eps)
    out = layout.split(centred * rstd) * scale + shift
    if family == "910":
        variance = rounded(variance, tensor.dtype) + tensor.dtype.type(eps)
        rstd = 1 / np.sqrt(wide(variance, layout.dtype))
    mean, rstd = (
        rounded(part, tensor.dtype).reshape(layout.samples, num_groups) for part in (mean, rstd)
    )
    return GroupNormResult(rounded(out, tensor.dtype).reshape(tensor.shape), mean, rstd)
