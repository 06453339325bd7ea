# SPDX-License-Identifier: Apache-2.0
"""GroupNorm followed by swish in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, samples_of
from pyaclnn.reference.group_norm_swish import group_norm_swish as plain_group_norm_swish

__all__ = ["group_norm_swish"]

group_norm_swish = in_blocks(samples_of("x"))(plain_group_norm_swish)
