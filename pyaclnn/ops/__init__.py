# SPDX-License-Identifier: Apache-2.0
"""The operators, as functions on NumPy arrays or device arrays; one family a module."""

from __future__ import annotations

from pyaclnn.ops.layer_normalization import (
    LayerNormGradients,
    LayerNormResult,
    layer_norm,
    layer_norm_backward,
)
from pyaclnn.ops.rms_normalization import RmsNormGradients, RmsNormResult, rms_norm, rms_norm_grad

__all__ = [
    "LayerNormGradients",
    "LayerNormResult",
    "RmsNormGradients",
    "RmsNormResult",
    "layer_norm",
    "layer_norm_backward",
    "rms_norm",
    "rms_norm_grad",
]
