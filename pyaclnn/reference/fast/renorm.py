# SPDX-License-Identifier: Apache-2.0
"""Shortening to a largest norm in blocks of slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.fast.blocks import Cut, in_blocks
from pyaclnn.reference.renorm import inplace_renorm as plain_inplace_renorm, renorm as plain_renorm

__all__ = ["inplace_renorm", "renorm"]


def slices(arguments: dict[str, Any]) -> Cut | None:
    tensor, dim = np.asarray(arguments["input"]), arguments["dim"]
    if not -tensor.ndim <= dim < tensor.ndim:
        return None
    axis = dim % tensor.ndim
    return Cut({"input": tensor}, axis, tensor.shape[axis], ())


renorm = in_blocks(slices)(plain_renorm)
inplace_renorm = in_blocks(slices)(plain_inplace_renorm)
