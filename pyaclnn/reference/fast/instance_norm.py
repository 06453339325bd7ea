# SPDX-License-Identifier: Apache-2.0
"""InstanceNorm in blocks."""

from __future__ import annotations

from pyaclnn.reference.fast.blocks import in_blocks, samples_of
from pyaclnn.reference.instance_norm import instance_norm as plain_instance_norm

__all__ = ["instance_norm"]

instance_norm = in_blocks(samples_of("x"))(plain_instance_norm)
