# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a BatchNorm over devices in blocks of channels."""

from __future__ import annotations

from pyaclnn.reference.batch_norm_elemt import batch_norm_elemt as plain_batch_norm_elemt
from pyaclnn.reference.fast.batch_norm import channels
from pyaclnn.reference.fast.blocks import in_blocks

__all__ = ["batch_norm_elemt"]

batch_norm_elemt = in_blocks(channels)(plain_batch_norm_elemt)
