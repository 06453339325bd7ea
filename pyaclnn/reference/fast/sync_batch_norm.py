# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a BatchNorm over devices in blocks of channels."""

from __future__ import annotations

from pyaclnn.reference.fast.batch_norm import channels
from pyaclnn.reference.fast.blocks import in_blocks
from pyaclnn.reference.sync_batch_norm import batch_norm_elemt as plain_batch_norm_elemt

__all__ = ["batch_norm_elemt"]

batch_norm_elemt = in_blocks(channels)(plain_batch_norm_elemt)
