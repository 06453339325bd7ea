# SPDX-License-Identifier: Apache-2.0
"""GroupNorm, with and without SiLU, in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, samples_of
from pyaclnn.reference.group_norm import (
    group_norm as plain_group_norm,
    group_norm_silu as plain_group_norm_silu,
    group_norm_silu_quant as plain_group_norm_silu_quant,
    group_norm_silu_v2 as plain_group_norm_silu_v2,
)

__all__ = ["group_norm", "group_norm_silu", "group_norm_silu_quant", "group_norm_silu_v2"]

group_norm = in_blocks(samples_of("input"))(plain_group_norm)
group_norm_silu = in_blocks(samples_of("input"))(plain_group_norm_silu)
group_norm_silu_quant = in_blocks(samples_of("input"))(plain_group_norm_silu_quant)
group_norm_silu_v2 = in_blocks(samples_of("input"))(plain_group_norm_silu_v2)
