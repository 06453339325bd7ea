# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that gives integers in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, rows_of
from pyaclnn.reference.layer_norm_quant import layer_norm_quant as plain_layer_norm_quant

__all__ = ["layer_norm_quant"]

layer_norm_quant = in_blocks(rows_of("x"))(plain_layer_norm_quant)
