# SPDX-License-Identifier: Apache-2.0
"""Tiling of LayerNormGradBeta (CANN: asc-devkit adv_api/normalization)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import FLOAT_BYTES, TilingError, uint32
from pyaclnn.ascendc.tiling.chips import has_vector_registers
from pyaclnn.ascendc.tiling.source_shape import HALF_SIZE, BshShape, TmpSize
from pyaclnn.ascendc.tiling.structures import LayerNormGradBetaTiling
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["get_layer_norm_grad_beta_max_min_tmp_size", "get_layer_norm_grad_beta_nd_tiling_info"]


def get_layer_norm_grad_beta_max_min_tmp_size(
    src_shape: Sequence[int],
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> TmpSize:
    """Compute the temporary space that LayerNormGradBeta takes.

    Args:
        src_shape: {B, S, storage H, origin H}.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite an input; changes nothing here.
        soc: The chip; all that have the interface agree.

    Returns:
        The largest and the smallest size, in bytes.

    Raises:
        TilingError: An argument is none that the kernel takes, or a size exceeds 32 bits.

    C function: `GetLayerNormGradBetaMaxMinTmpSize`.
    """
    del is_reuse_source
    has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size, may_be_padded=False)
    buffers = 4 if type_size == HALF_SIZE else 2
    return TmpSize.of(
        buffers * shape.elements * FLOAT_BYTES,
        buffers * shape.h * FLOAT_BYTES,
    )


def get_layer_norm_grad_beta_nd_tiling_info(
    src_shape: Sequence[int],
    stack_buffer_size: int,
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> LayerNormGradBetaTiling:
    """Lay out the temporary buffer of LayerNormGradBeta.

    Args:
        src_shape: {B, S, storage H, origin H}.
        stack_buffer_size: The size of the temporary buffer, in bytes; CANN's documents call it a
            number of elements.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite an input; changes nothing here.
        soc: The chip; all that have the interface agree.

    Returns:
        The structure for the kernel.

    Raises:
        TilingError: An argument is none that the kernel takes, or the buffer is too small, where
            CANN's function fails an assertion.

    C function: `GetLayerNormGradBetaNDTilingInfo`.
    """
    del is_reuse_source
    has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size, may_be_padded=False)
    uint32("stack_buffer_size", stack_buffer_size)
    half = type_size == HALF_SIZE
    floats = stack_buffer_size // FLOAT_BYTES
    sums = 2 * shape.h
    buffers = 2 if half else 1
    room = (floats - sums) // buffers if half else floats
    one = min(room // shape.h * shape.h, shape.elements)
    if floats < sums or one <= 0:
        needed = (sums + buffers * shape.h if half else sums) * FLOAT_BYTES
        raise TilingError(
            f"stack_buffer_size is {stack_buffer_size} bytes, which is too small for rows of "
            f"{shape.h} elements; it must be at least {needed}",
            needed,
        )
    tail = shape.elements % one
    return LayerNormGradBetaTiling(
        stackBufferSize=floats,
        bLength=shape.b,
        sLength=shape.s,
        hLength=shape.h,
        originalHLength=shape.origin_h,
        bshLength=shape.elements,
        bsLength=shape.rows,
        oneCalSize=one,
        numberOfTmpBuf=buffers,
        loopRound=shape.elements // one,
        inputTailSize=tail,
        inputTailPos=shape.elements - tail,
        bsTailSize=tail // shape.h,
        bshCurLength=one,
        bsCurLength=one // shape.h,
        gammaTempTensorPos=0,
        betaTempTensorPos=shape.h if half else 0,
        inputDyTmpTensorPos=sums if half else 0,
        resForGammaTmpTensorPos=sums + one if half else 0,
    )
