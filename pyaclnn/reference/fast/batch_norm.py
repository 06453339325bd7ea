# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in tiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.reference.batch_norm import BatchNormResult, of_channels
from pyaclnn.reference.fast.tiled_channels import channels_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["batch_norm"]


def batch_norm(
    input: ArrayLike,
    running_mean: ArrayLike | None,
    running_var: ArrayLike | None,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> BatchNormResult:
    """Compute the same as `definition("batch_norm")`, tile by tile."""
    statistics = running_mean, running_var, weight, bias
    return of_channels(
        channels_of("input", input), *statistics, training, momentum, eps, family=family
    )
