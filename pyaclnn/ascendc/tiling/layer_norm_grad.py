# SPDX-License-Identifier: Apache-2.0
"""Tiling of LayerNormGrad (CANN: asc-devkit adv_api/normalization)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import (
    FLOAT_BYTES,
    TilingError,
    align_up,
    float32_bits,
    reciprocal,
    uint32,
)
from pyaclnn.ascendc.tiling.chips import has_vector_registers
from pyaclnn.ascendc.tiling.source_shape import FLOAT_SIZE, HALF_SIZE, BshShape, TmpSize
from pyaclnn.ascendc.tiling.structures import LayerNormGradTiling
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["get_layer_norm_grad_max_min_tmp_size", "get_layer_norm_grad_nd_tiling_info"]


def get_layer_norm_grad_max_min_tmp_size(
    src_shape: Sequence[int],
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> TmpSize:
    """Compute the temporary space that LayerNormGrad takes, by CANN's account.

    The sizes are those that CANN's function returns. The layout rounds rows up afterwards and can
    address more than either; see `addressed_bytes`.

    Args:
        src_shape: {B, S, storage H, origin H}.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite its inputs; half kernels never do.
        soc: The chip.

    Returns:
        The largest and the smallest size, in bytes.

    Raises:
        TilingError: An argument is none that the kernel takes, or a size exceeds 32 bits.

    C function: `GetLayerNormGradMaxMinTmpSize`.
    """
    registers = has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size, may_be_padded=False)
    if registers:
        if is_reuse_source and type_size == FLOAT_SIZE:
            return TmpSize(0, 0)
        both = 2 * align_up(shape.h, 8) * FLOAT_BYTES
        return TmpSize.of(both, both)
    buffers = _buffers(type_size, is_reuse_source)
    bases = (shape.elements, shape.h * shape.h)
    return TmpSize.of(buffers * max(bases) * type_size, buffers * min(bases) * type_size)


def get_layer_norm_grad_nd_tiling_info(
    src_shape: Sequence[int],
    stack_buffer_size: int,
    type_size: int,
    is_reuse_source: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> LayerNormGradTiling:
    """Lay out the temporary buffer of LayerNormGrad.

    As in CANN, the rows of a round are rounded up to 8 (float) or 16 (half) after the buffer was
    divided, so the layout can be larger than the buffer; compare `addressed_bytes`.

    Args:
        src_shape: {B, S, storage H, origin H}.
        stack_buffer_size: The size of the temporary buffer, in bytes; CANN's documents call it a
            number of elements. On Ascend 950 the layout does not depend on it.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: True if the kernel may overwrite its inputs; half kernels never do.
        soc: The chip.

    Returns:
        The structure for the kernel.

    Raises:
        TilingError: An argument is none that the kernel takes, or the buffer has no room for one
            row, where CANN's function fails an assertion. `needed` is what the layout fits into.

    C function: `GetLayerNormGradNDTilingInfo`.
    """
    registers = has_vector_registers(soc)
    shape = BshShape.of(src_shape, type_size, may_be_padded=False)
    uint32("stack_buffer_size", stack_buffer_size)
    half = type_size == HALF_SIZE
    reuse = is_reuse_source and not half
    floats = stack_buffer_size // FLOAT_BYTES
    if registers:
        one = rows = 1
    else:
        rows = _rows(shape, stack_buffer_size, type_size, is_reuse_source)
        one = rows * shape.h
    tail = shape.elements % one
    x1, x2, x3 = (0, 0, 3) if reuse else (3, 4, 5)
    last = (6, 7, 8) if half else (0, 0, 0)
    return LayerNormGradTiling(
        stackBufferSize=floats,
        bLength=shape.b,
        sLength=shape.s,
        hLength=shape.h,
        originalHLength=shape.origin_h,
        oneCalSize=one,
        nohCalSize=rows,
        loopNum=shape.elements // one,
        tailSize=tail,
        nohTailSize=tail // shape.h,
        tmpTensorBSHPos=0,
        tmpTensorBSHSize=one,
        pdVarTensorPos=one,
        pdVarTensorSize=one,
        pdMeanTensorPos=2 * one,
        pdMeanTensorSize=one,
        x1TensorPos=x1 * one,
        x1TensorSize=one,
        x2TensorPos=x2 * one,
        x2TensorSize=one,
        x3TensorPos=x3 * one,
        x3TensorSize=one,
        tmpTensorPos=last[0] * one,
        tmpTensorSize=one,
        tmpTensor1Pos=last[1] * one,
        tmpTensor1Size=one,
        tmpTensor2Pos=last[2] * one,
        tmpTensor2Size=one,
        lastDimValueBack=float32_bits(reciprocal(shape.origin_h)),
        lastDimValueBackMulTwo=float32_bits(2 * reciprocal(shape.origin_h)),
    )


def _rows(shape: BshShape, stack_buffer_size: int, type_size: int, is_reuse_source: bool) -> int:
    """Return the number of rows of a round."""
    buffers = _buffers(type_size, is_reuse_source)
    rows_together = 16 if type_size == HALF_SIZE else 8
    fitting = stack_buffer_size // FLOAT_BYTES // buffers // shape.h
    if fitting == 0:
        accepted = buffers * shape.h * FLOAT_BYTES
        needed = rows_together * accepted
        raise TilingError(
            f"stack_buffer_size is {stack_buffer_size} bytes, which has no room for one row of "
            f"{shape.h} elements in each of {buffers} buffers; it must be at least {needed}, which "
            f"holds the {rows_together} rows that the layout rounds up to (CANN's function would "
            f"accept {accepted} and lay out more than that)",
            needed,
        )
    return align_up(fitting, rows_together)


def _buffers(type_size: int, is_reuse_source: bool) -> int:
    """Return the number of row buffers of the kernel."""
    if type_size == HALF_SIZE:
        return 9
    return 4 if is_reuse_source else 6
