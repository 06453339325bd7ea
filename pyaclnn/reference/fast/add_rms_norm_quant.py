# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum, as integers, in blocks."""

from __future__ import annotations

from pyaclnn.reference.add_rms_norm_quant import (
    add_rms_norm_dynamic_quant as plain_add_rms_norm_dynamic_quant,
    add_rms_norm_dynamic_quant_v2 as plain_add_rms_norm_dynamic_quant_v2,
    add_rms_norm_quant as plain_add_rms_norm_quant,
    add_rms_norm_quant_v2 as plain_add_rms_norm_quant_v2,
)
from pyaclnn.reference.fast.blocks import in_blocks, rows_of

__all__ = [
    "add_rms_norm_dynamic_quant",
    "add_rms_norm_dynamic_quant_v2",
    "add_rms_norm_quant",
    "add_rms_norm_quant_v2",
]

add_rms_norm_dynamic_quant = in_blocks(rows_of("x1"))(plain_add_rms_norm_dynamic_quant)
add_rms_norm_dynamic_quant_v2 = in_blocks(rows_of("x1"))(plain_add_rms_norm_dynamic_quant_v2)
add_rms_norm_quant = in_blocks(rows_of("x1"))(plain_add_rms_norm_quant)
add_rms_norm_quant_v2 = in_blocks(rows_of("x1"))(plain_add_rms_norm_quant_v2)
