# SPDX-License-Identifier: Apache-2.0
"""Calls of normalization kernels, and their host functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

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

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.ascendc.tiling.source_shape import TmpSize
    from pyaclnn.ascendc.tiling.structures import TilingStructure

__all__ = ["TilingRequest"]

_FUNCTIONS: dict[str, tuple[Callable[..., TmpSize], Callable[..., TilingStructure]]] = {
    "layernorm": (get_layer_norm_max_min_tmp_size, get_layer_norm_nd_tiling_info),
    "layernorm-rstd": (get_layer_norm_rstd_max_min_tmp_size, get_layer_norm_rstd_nd_tiling_info),
    "layernorm-grad": (get_layer_norm_grad_max_min_tmp_size, get_layer_norm_grad_nd_tiling_info),
    "layernorm-grad-beta": (
        get_layer_norm_grad_beta_max_min_tmp_size,
        get_layer_norm_grad_beta_nd_tiling_info,
    ),
}


class TilingRequest(NamedTuple):
    """One kernel call.

    Attributes:
        interface: layernorm, layernorm-rstd, layernorm-grad or layernorm-grad-beta.
        src_shape: The shape as the host functions take it: {B, S, storage H, origin H} or {A, R}.
        type_size: The size of an element, 2 (half) or 4 (float).
        reuse: True if the kernel may overwrite its source.
        compute_rstd: For layernorm-rstd: False if the kernel outputs the variance.
        soc: The chip.
    """

    interface: str
    src_shape: tuple[int, ...]
    type_size: int
    reuse: bool
    compute_rstd: bool
    soc: str

    def tmp_size(self) -> TmpSize:
        """Return the sizes that CANN documents."""
        function, _ = _FUNCTIONS[self.interface]
        return function(self.src_shape, *self._rest(), soc=self.soc)

    def tiling(self, stack: int) -> TilingStructure:
        """Return the structure for a temporary buffer of so many bytes."""
        _, function = _FUNCTIONS[self.interface]
        return function(self.src_shape, stack, *self._rest(), soc=self.soc)

    def _rest(self) -> tuple[int, ...]:
        rest = (self.type_size, self.reuse)
        return (*rest, self.compute_rstd) if self.interface == "layernorm-rstd" else rest
