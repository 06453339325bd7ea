# SPDX-License-Identifier: Apache-2.0
"""The NumPy oracle: what the operators compute, as pure functions of arrays.

Every function here states an operator's arithmetic and nothing else: no device, no rules of a chip,
no status codes. The simulated NPU computes with it, and results of a real NPU are compared with it.
One operator family per module; only NumPy and ml_dtypes are imported. One thing is not left to
them: `narrow_floats` converts float16 and bfloat16 in a compiled module of its own.

Arithmetic runs in float32 for float16, bfloat16 and float32 tensors, as it does on the NPU, and in
float64 for float64 tensors, which no NPU takes and which serve as golden values. Infinities and
NaNs follow IEEE arithmetic and raise no Python warning.
"""

from __future__ import annotations

from pyaclnn.reference.layer_normalization import (
    LayerNormGrads,
    LayerNormResult,
    layer_norm,
    layer_norm_backward,
)
from pyaclnn.reference.rms_normalization import RmsNormGrads, RmsNormResult, rms_norm, rms_norm_grad

__all__ = [
    "LayerNormGrads",
    "LayerNormResult",
    "RmsNormGrads",
    "RmsNormResult",
    "layer_norm",
    "layer_norm_backward",
    "rms_norm",
    "rms_norm_grad",
]
