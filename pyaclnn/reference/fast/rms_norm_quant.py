# SPDX-License-Identifier: Apache-2.0
"""RmsNorm that gives integers in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, rows_of
from pyaclnn.reference.rms_norm_quant import (
    rms_norm_dynamic_quant as plain_rms_norm_dynamic_quant,
    rms_norm_quant as plain_rms_norm_quant,
    rms_norm_quant_v3 as plain_rms_norm_quant_v3,
)

__all__ = ["rms_norm_dynamic_quant", "rms_norm_quant", "rms_norm_quant_v3"]

rms_norm_dynamic_quant = in_blocks(rows_of("x"))(plain_rms_norm_dynamic_quant)
rms_norm_quant = in_blocks(rows_of("x"))(plain_rms_norm_quant)
rms_norm_quant_v3 = in_blocks(rows_of("x"))(plain_rms_norm_quant_v3)
