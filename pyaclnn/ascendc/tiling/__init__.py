# SPDX-License-Identifier: Apache-2.0
"""Tilings of Ascend C's normalization interfaces, computed without CANN.

A kernel that calls `AscendC::LayerNorm`, `LayerNormGrad` or `LayerNormGradBeta` needs a temporary
buffer and a structure that describes how to process its rows. On the host CANN has a pair of
functions for each interface: one says how large the buffer should be, one fills the structure. The
functions here do the same arithmetic and return what CANN's write through references. Where CANN's
leave the structure untouched or fail an assertion, these raise `TilingError`.

| here | CANN |
|---|---|
| `get_layer_norm_max_min_tmp_size` | `GetLayerNormMaxMinTmpSize` |
| `get_layer_norm_nd_tiling_info` | `GetLayerNormNDTilingInfo` (`…NDTillingInfo`) |
| `get_layer_norm_rstd_max_min_tmp_size` | `GetLayerNormMaxMinTmpSize` with `isComputeRstd` |
| `get_layer_norm_rstd_nd_tiling_info` | `GetLayerNormNDTilingInfo` with `isComputeRstd` |
| `get_layer_norm_grad_max_min_tmp_size` | `GetLayerNormGradMaxMinTmpSize` |
| `get_layer_norm_grad_nd_tiling_info` | `GetLayerNormGradNDTilingInfo` |
| `get_layer_norm_grad_beta_max_min_tmp_size` | `GetLayerNormGradBetaMaxMinTmpSize` |
| `get_layer_norm_grad_beta_nd_tiling_info` | `GetLayerNormGradBetaNDTilingInfo` |

The structures carry C's names, and C's names for their fields. `to_bytes`
gives what a kernel reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.ascendc.tiling.arithmetic import TilingError
    from pyaclnn.ascendc.tiling.layer_norm import (
        get_layer_norm_max_min_tmp_size,
        get_layer_norm_nd_tiling_info,
    )
    from pyaclnn.ascendc.tiling.layer_norm_grad import (
        get_layer_norm_grad_max_min_tmp_size,
        get_layer_norm_grad_nd_tiling_info,
    )
    from pyaclnn.ascendc.tiling.layer_norm_grad_beta import (
        get_layer_norm_grad_beta_max_min_tmp_size,
        get_layer_norm_grad_beta_nd_tiling_info,
    )
    from pyaclnn.ascendc.tiling.layer_norm_rstd import (
        get_layer_norm_rstd_max_min_tmp_size,
        get_layer_norm_rstd_nd_tiling_info,
    )
    from pyaclnn.ascendc.tiling.layout import Buffer, addressed_bytes, buffer_map
    from pyaclnn.ascendc.tiling.source_shape import TmpSize
    from pyaclnn.ascendc.tiling.structures import (
        LayerNormGradBetaTiling,
        LayerNormGradTiling,
        LayerNormSeparateTiling,
        LayerNormTiling,
        TilingStructure,
    )

__all__ = [
    "Buffer",
    "LayerNormGradBetaTiling",
    "LayerNormGradTiling",
    "LayerNormSeparateTiling",
    "LayerNormTiling",
    "TilingError",
    "TilingStructure",
    "TmpSize",
    "addressed_bytes",
    "buffer_map",
    "get_layer_norm_grad_beta_max_min_tmp_size",
    "get_layer_norm_grad_beta_nd_tiling_info",
    "get_layer_norm_grad_max_min_tmp_size",
    "get_layer_norm_grad_nd_tiling_info",
    "get_layer_norm_max_min_tmp_size",
    "get_layer_norm_nd_tiling_info",
    "get_layer_norm_rstd_max_min_tmp_size",
    "get_layer_norm_rstd_nd_tiling_info",
]

# The modules that have public names, each after those that it imports.
_HOMES = (
    "arithmetic",
    "structures",
    "layout",
    "source_shape",
    "layer_norm",
    "layer_norm_rstd",
    "layer_norm_grad",
    "layer_norm_grad_beta",
)

# So that the command line costs nothing where it is not this part's.
if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
