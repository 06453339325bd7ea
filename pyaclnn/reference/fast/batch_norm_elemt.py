# SPDX-License-Identifier: Apache-2.0
"""BatchNorm with given statistics, in tiles."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.batch_norm_elemt import batch_norm_elemt as definition, of_channels
from pyaclnn.reference.fast.tiled_channels import channels_of


@same(definition)
def batch_norm_elemt(given: Given) -> Any:
    """Compute the same as `definition("batch_norm_elemt")`, tile by tile."""
    return of_channels(given, channels_of("input", given.input))
