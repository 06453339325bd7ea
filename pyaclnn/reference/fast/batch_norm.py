# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in strips."""

from __future__ import annotations

from typing import Any

from pyaclnn.reference.arithmetic.definition import Given, same
from pyaclnn.reference.batch_norm import batch_norm as definition, of_channels
from pyaclnn.reference.fast.channels import channels_of


@same(definition)
def batch_norm(given: Given) -> Any:
    """Compute the same as `definition("batch_norm")`, strip by strip."""
    return of_channels(given, channels_of("input", given.input))
