# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in tiles; of few samples in blocks of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.batch_norm import batch_norm as definition, of_channels
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.fast.cuts import channels
from pyaclnn.reference.fast.tiled_channels import channels_of

# Of fewer elements a channel, its moments take as long as the results.
FEWEST_OF_A_CHANNEL = 64

in_blocks_of_channels = in_blocks(channels)(definition)


@same(definition)
def batch_norm(given: Given) -> Any:
    """Compute the same as `definition("batch_norm")`, tile by tile."""
    tensor = given.array("input")
    if given.training and tensor.size < FEWEST_OF_A_CHANNEL * np.prod(tensor.shape[1:2]):
        return in_blocks_of_channels(**vars(given))
    return of_channels(given, channels_of("input", tensor))
