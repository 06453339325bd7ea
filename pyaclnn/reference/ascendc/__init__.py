# SPDX-License-Identifier: Apache-2.0
"""Golden data for the normalization interfaces that kernels call (CANN: asc-devkit, Ascend C).

The output tensors of `AscendC::LayerNorm`, `LayerNormGrad` and `LayerNormGradBeta`, as
pure functions of arrays. They differ from aclnnLayerNorm and aclnnLayerNormBackward: the first form
of LayerNorm gives the variance and not its reciprocal root, LayerNormGrad takes the variance and
carries one more term, and tensors may be stored with padded rows.

Arithmetic runs in float32 for half and float, as in the kernels, and in float64 for float64, which
no kernel takes and which serves for checking. Kernels want the last axis of a tensor to be a
multiple of 32 bytes; these functions compute any length.

============================== ====================================================================
here                           C++
============================== ====================================================================
`layer_norm`                   `AscendC::LayerNorm<T>`, output, mean and variance
`layer_norm_rstd`              `AscendC::LayerNorm<U, T, false, config>`, output, mean and rstd
`layer_norm_grad`              `AscendC::LayerNormGrad<T>`
`layer_norm_grad_beta`         `AscendC::LayerNormGradBeta<T>`
`LayerNormConfig`              `LayerNormConfig {isNoBeta, isNoGamma, isOnlyOutput, isOutputRstd}`
`LayerNormPara`                `LayerNormPara {aLength, rLength, rLengthWithPadding}`
============================== ====================================================================
"""

from __future__ import annotations

from pyaclnn.reference.ascendc.gradients import (
    LayerNormGradBetaOutputs,
    LayerNormGradOutputs,
    layer_norm_grad,
    layer_norm_grad_beta,
)
from pyaclnn.reference.ascendc.mean_rstd import (
    LayerNormConfig,
    LayerNormPara,
    LayerNormRstdOutputs,
    layer_norm_rstd,
)
from pyaclnn.reference.ascendc.mean_variance import LayerNormOutputs, layer_norm

__all__ = [
    "LayerNormConfig",
    "LayerNormGradBetaOutputs",
    "LayerNormGradOutputs",
    "LayerNormOutputs",
    "LayerNormPara",
    "LayerNormRstdOutputs",
    "layer_norm",
    "layer_norm_grad",
    "layer_norm_grad_beta",
    "layer_norm_rstd",
]
