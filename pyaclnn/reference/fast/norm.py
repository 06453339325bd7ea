# SPDX-License-Identifier: Apache-2.0
"""Norms of vectors in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.fast.blocks import Cut, in_blocks
from pyaclnn.reference.norm import (
    linalg_vector_norm as plain_linalg_vector_norm,
    norm as plain_norm,
)

__all__ = ["linalg_vector_norm", "norm"]


def first_axis(arguments: dict[str, Any]) -> Cut | None:
    """Cut along the first axis where the vectors lie along others."""
    tensor, dim = np.asarray(arguments["input"]), arguments.get("dim")
    axes = (dim,) if isinstance(dim, int) else tuple(dim or ())
    if not tensor.ndim or not axes or {0, -tensor.ndim} & set(axes):
        return None
    return Cut({"input": tensor}, 0, len(tensor), ())


linalg_vector_norm = in_blocks(first_axis)(plain_linalg_vector_norm)
norm = in_blocks(first_axis)(plain_norm)
