# SPDX-License-Identifier: Apache-2.0
"""BatchNorm with given statistics, in strips."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.batch_norm_elemt import batch_norm_elemt as definition, of_channels
from pyaclnn.reference.fast.channels import channels_of


@same(definition)
def batch_norm_elemt(given: Given) -> Any:
    """Compute the same as `definition("batch_norm_elemt")`, strip by strip."""
    return of_channels(given, channels_of("input", given.input))
