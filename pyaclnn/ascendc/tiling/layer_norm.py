# SPDX-License-Identifier: Apache-2.0
"""Tiling of LayerNorm with mean and variance (CANN: asc-devkit adv_api/normalization)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import FLOAT_BYTES, TilingError, align_up, reciprocal, uint32
from pyaclnn.ascendc.tiling.chips import has_vector_registers
from pyaclnn.ascendc.tiling.source_shape import FLOAT_SIZE, HALF_SIZE, BshShape, TmpSize
from pyaclnn.ascendc.tiling.structures import LayerNormTiling
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["get_layer_norm_max_min_tmp_size", "get_layer_norm_nd_tiling_info"]


def get_layer_norm_max_min_tmp_size(
    src_shape: Sequence[int],
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> TmpSize:
    """Compute the temporary space that LayerNorm with mean and variance takes.

    Args:
        src_shape: {B, S, storage H, origin H}.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite its input; half kernels never do.
        soc: The chip; all that have the interface agree.

    Returns:
        The largest and the smallest size, in bytes.

    Raises:
        TilingError: An argument is none that the kernel takes, or a size exceeds 32 bits.

    C function: `GetLayerNormMaxMinTmpSize`.
    """
    has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size)
    buffers = _buffers(type_size, is_reuse_source)
    statistics = 2 * align_up(shape.rows * FLOAT_BYTES, 32)
    return TmpSize.of(
        buffers * align_up(shape.elements * FLOAT_BYTES, 32) + statistics,
        buffers * align_up(shape.h * FLOAT_BYTES, 32) + statistics,
    )


def get_layer_norm_nd_tiling_info(
    src_shape: Sequence[int],
    stack_buffer_size: int,
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> LayerNormTiling:
    """Lay out the temporary buffer of LayerNorm with mean and variance.

    Args:
        src_shape: {B, S, storage H, origin H}.
        stack_buffer_size: The size of the temporary buffer, in bytes.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite its input; half kernels never do.
        soc: The chip; all that have the interface agree.

    Returns:
        The structure for the kernel.

    Raises:
        TilingError: An argument is none that the kernel takes, or the buffer has no room for one
            row, where CANN's function returns and leaves the structure as it was.

    C function: `GetLayerNormNDTilingInfo`, which old code calls `GetLayerNormNDTillingInfo`.
    """
    has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size)
    uint32("stack_buffer_size", stack_buffer_size)
    buffers = _buffers(type_size, is_reuse_source)
    statistic = align_up(shape.rows, 8)
    # A float kernel computes mean and variance in its outputs.
    statistics = 2 * statistic if type_size == HALF_SIZE else 0
    floats = stack_buffer_size // FLOAT_BYTES
    one = min((floats - statistics) // buffers // shape.h * shape.h, shape.elements)
    if one <= 0:
        needed = (statistics + buffers * shape.h) * FLOAT_BYTES
        raise TilingError(
            f"stack_buffer_size is {stack_buffer_size} bytes, which has no room for one row of "
            f"{shape.h} elements; it must be at least {needed}",
            needed,
        )
    tail = shape.elements % one
    return LayerNormTiling(
        bLength=shape.b,
        sLength=shape.s,
        hLength=shape.h,
        originalHLength=shape.origin_h,
        inputXSize=shape.elements,
        meanVarSize=shape.rows,
        numberOfTmpBuf=buffers,
        meanTmpTensorPos=0,
        meanTmpTensorSize=statistic,
        varianceTmpTensorPos=statistic,
        varianceTmpTensorSize=statistic,
        tmpBufSize=floats,
        oneTmpSize=one,
        firstTmpStartPos=statistics,
        secondTmpStartPos=statistics + one,
        thirdTmpStartPos=statistics + 2 * one,
        loopRound=shape.elements // one,
        inputRoundSize=one,
        inputTailSize=tail,
        inputTailPos=shape.elements - tail,
        meanVarRoundSize=one // shape.h,
        meanVarTailSize=tail // shape.h,
        meanVarTailPos=shape.rows - tail // shape.h,
        bshCurLength=one,
        bsCurLength=one // shape.h,
        lastDimValueBack=reciprocal(shape.origin_h),
    )


def _buffers(type_size: int, is_reuse_source: bool) -> int:
    """Return the number of row buffers of the kernel."""
    return 2 if is_reuse_source and type_size == FLOAT_SIZE else 3
