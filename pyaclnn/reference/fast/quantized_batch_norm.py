# SPDX-License-Identifier: Apache-2.0
"""BatchNorm of integers in blocks of channels, of which float32 takes four times the room."""

from __future__ import annotations

from pyaclnn.reference.fast.batch_norm import channels
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.quantized_batch_norm import (
    quantized_batch_norm as plain_quantized_batch_norm,
)

__all__ = ["quantized_batch_norm"]

quantized_batch_norm = in_blocks(channels)(plain_quantized_batch_norm)
