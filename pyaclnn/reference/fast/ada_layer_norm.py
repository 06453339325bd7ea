# SPDX-License-Identifier: Apache-2.0
"""LayerNorm that each sample scales and shifts, in blocks of samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.ada_layer_norm import (
    ada_layer_norm as plain_ada_layer_norm,
    ada_layer_norm_quant as plain_ada_layer_norm_quant,
    ada_layer_norm_v2 as plain_ada_layer_norm_v2,
)
from pyaclnn.reference.fast.blocks import Cut, in_blocks

__all__ = ["ada_layer_norm", "ada_layer_norm_quant", "ada_layer_norm_v2"]


def samples(arguments: dict[str, Any]) -> Cut | None:
    """Cut along the first axis, if that is one of samples."""
    tensor = np.asarray(arguments["x"])
    views = {name: np.asarray(arguments[name]) for name in ("x", "scale", "shift")}
    if tensor.ndim < 3 or {view.shape[:1] for view in views.values()} != {tensor.shape[:1]}:  # noqa: PLR2004
        return None
    return Cut(views, 0, len(tensor), ())


ada_layer_norm = in_blocks(samples)(plain_ada_layer_norm)
ada_layer_norm_quant = in_blocks(samples)(plain_ada_layer_norm_quant)
ada_layer_norm_v2 = in_blocks(samples)(plain_ada_layer_norm_v2)
