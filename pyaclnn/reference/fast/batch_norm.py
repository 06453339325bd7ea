# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in tiles; of few samples in blocks of channels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn.reference.batch_norm import BatchNormResult, batch_norm as definition, of_channels
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.fast.cuts import channels
from pyaclnn.reference.fast.tiled_channels import channels_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["batch_norm"]

# Of fewer elements a channel, its moments take as long as the results.
FEWEST_OF_A_CHANNEL = 64

in_blocks_of_channels = in_blocks(channels)(definition)


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
    tensor = np.asarray(input)
    if training and tensor.size < FEWEST_OF_A_CHANNEL * np.prod(tensor.shape[1:2]):
        return in_blocks_of_channels(tensor, *statistics, training, momentum, eps, family=family)
    found = channels_of("input", tensor)
    return of_channels(found, *statistics, training, momentum, eps, family=family)
