# SPDX-License-Identifier: Apache-2.0
"""The tiling of Ascend C's normalization interfaces, computed without CANN.

A kernel that calls `AscendC::LayerNorm`, `LayerNormGrad` or `LayerNormGradBeta` needs a temporary
buffer and a structure that says how to work through its rows. On the host CANN has a pair of
functions for each interface: one says how large the buffer should be, one fills the structure. The
functions here do the same arithmetic and return what CANN's write through references. Where CANN's
leave the structure untouched or fail an assertion, these raise `TilingError`.

============================================== ====================================================
here                                           CANN
============================================== ====================================================
`get_layer_norm_max_min_tmp_size`              `GetLayerNormMaxMinTmpSize`
`get_layer_norm_nd_tiling_info`                `GetLayerNormNDTilingInfo` (`…NDTillingInfo`)
`get_layer_norm_rstd_max_min_tmp_size`         `GetLayerNormMaxMinTmpSize` with `isComputeRstd`
`get_layer_norm_rstd_nd_tiling_info`           `GetLayerNormNDTilingInfo` with `isComputeRstd`
`get_layer_norm_grad_max_min_tmp_size`         `GetLayerNormGradMaxMinTmpSize`
`get_layer_norm_grad_nd_tiling_info`           `GetLayerNormGradNDTilingInfo`
`get_layer_norm_grad_beta_max_min_tmp_size`    `GetLayerNormGradBetaMaxMinTmpSize`
`get_layer_norm_grad_beta_nd_tiling_info`      `GetLayerNormGradBetaNDTilingInfo`
============================================== ====================================================

The structures carry C's names, and C's names for their fields. `to_bytes`
gives what a kernel reads.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.tiling.arithmetic import TilingError
    from pyaclnn.tiling.layer_norm import (
        get_layer_norm_max_min_tmp_size,
        get_layer_norm_nd_tiling_info,
    )
    from pyaclnn.tiling.layer_norm_grad import (
        get_layer_norm_grad_max_min_tmp_size,
        get_layer_norm_grad_nd_tiling_info,
    )
    from pyaclnn.tiling.layer_norm_grad_beta import (
        get_layer_norm_grad_beta_max_min_tmp_size,
        get_layer_norm_grad_beta_nd_tiling_info,
    )
    from pyaclnn.tiling.layer_norm_rstd import (
        get_layer_norm_rstd_max_min_tmp_size,
        get_layer_norm_rstd_nd_tiling_info,
    )
    from pyaclnn.tiling.layout import Buffer, addressed_bytes, buffer_map
    from pyaclnn.tiling.source_shape import TmpSize
    from pyaclnn.tiling.structures import (
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


def __getattr__(name: str) -> object:
    # Loaded on first use, so that the command line costs nothing where it is not this part's.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (importlib.import_module(f"{__name__}.{home}") for home in _HOMES)
    value: object = next(getattr(module, name) for module in modules if name in module.__all__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
