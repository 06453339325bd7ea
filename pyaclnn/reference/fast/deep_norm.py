# SPDX-License-Identifier: Apache-2.0
"""DeepNorm in blocks."""

from __future__ import annotations

from pyaclnn.reference.deep_norm import deep_norm as plain_deep_norm
from pyaclnn.reference.fast.blocks import in_blocks, rows_of

__all__ = ["deep_norm"]

deep_norm = in_blocks(rows_of("x"))(plain_deep_norm)
