# SPDX-License-Identifier: Apache-2.0
"""LayerNorm of a sum in blocks."""

from __future__ import annotations

from pyaclnn.reference.add_layer_norm import add_layer_norm as plain_add_layer_norm
from pyaclnn.reference.fast.blocks import in_blocks, rows_of

__all__ = ["add_layer_norm"]

add_layer_norm = in_blocks(rows_of("x1"))(plain_add_layer_norm)
