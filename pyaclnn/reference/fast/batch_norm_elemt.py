# SPDX-License-Identifier: Apache-2.0
"""BatchNorm with given statistics, in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.reference.batch_norm_elemt import of_channels
from pyaclnn.reference.fast.tiled_channels import channels_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["batch_norm_elemt"]


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
    """Compute the same as `definition("batch_norm_elemt")`, tile by tile."""
    return of_channels(channels_of("input", input), weight, bias, mean, invstd, eps, family=family)
