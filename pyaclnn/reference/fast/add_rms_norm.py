# SPDX-License-Identifier: Apache-2.0
"""RmsNorm of a sum in blocks."""

from __future__ import annotations

from pyaclnn.reference.add_rms_norm import (
    add_rms_norm as plain_add_rms_norm,
    add_rms_norm_cast as plain_add_rms_norm_cast,
    inplace_add_rms_norm as plain_inplace_add_rms_norm,
)
from pyaclnn.reference.fast.blocks import in_blocks, rows_of

__all__ = ["add_rms_norm", "add_rms_norm_cast", "inplace_add_rms_norm"]

add_rms_norm = in_blocks(rows_of("x1"))(plain_add_rms_norm)
add_rms_norm_cast = in_blocks(rows_of("x1"))(plain_add_rms_norm_cast)
inplace_add_rms_norm = in_blocks(rows_of("x1"))(plain_inplace_add_rms_norm)
