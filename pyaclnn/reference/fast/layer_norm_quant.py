# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that gives integers in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, rows_of
from pyaclnn.reference.layer_norm_quant import (
    add_layer_norm_quant as plain_add_layer_norm_quant,
    add_layer_norm_quant_v2 as plain_add_layer_norm_quant_v2,
    layer_norm_quant as plain_layer_norm_quant,
)

__all__ = ["add_layer_norm_quant", "add_layer_norm_quant_v2", "layer_norm_quant"]

layer_norm_quant = in_blocks(rows_of("x"))(plain_layer_norm_quant)
add_layer_norm_quant = in_blocks(rows_of("x1"))(plain_add_layer_norm_quant)
add_layer_norm_quant_v2 = in_blocks(rows_of("x1"))(plain_add_layer_norm_quant_v2)
