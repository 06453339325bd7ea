# SPDX-License-Identifier: Apache-2.0
"""Tiling of LayerNorm with mean and rstd (CANN: asc-devkit adv_api/normalization)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import FLOAT_BYTES, TilingError, align_up, reciprocal, uint32
from pyaclnn.ascendc.tiling.chips import VECTOR_REGISTER_BYTES, has_vector_registers
from pyaclnn.ascendc.tiling.source_shape import FLOAT_SIZE, ArShape, TmpSize
from pyaclnn.ascendc.tiling.structures import LayerNormSeparateTiling
from pyaclnn.facts.chips import DEFAULT_SOC_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["get_layer_norm_rstd_max_min_tmp_size", "get_layer_norm_rstd_nd_tiling_info"]

_BUFFERS = 2
_REGISTER_FLOATS = VECTOR_REGISTER_BYTES // 4
_REGISTER_HALVES = VECTOR_REGISTER_BYTES // 2


def get_layer_norm_rstd_max_min_tmp_size(
    src_shape: Sequence[int],
    type_size: int,
    is_reuse_source: bool = False,
    is_compute_rstd: bool = True,
    is_only_output: bool = False,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> TmpSize:
    """Compute the temporary space that LayerNorm with mean and rstd takes.

    Args:
        src_shape: {A, R}, without padding.
        type_size: The size of an element, 2 (half) or 4 (float). CANN takes gamma and beta to be
            of the same type.
        is_reuse_source: Reserved; changes nothing.
        is_compute_rstd: False if the kernel outputs the variance, which only Ascend 950 can.
        is_only_output: Reserved; must be False.
        soc: The chip.

    Returns:
        The largest and the smallest size, in bytes.

    Raises:
        TilingError: An argument is none that the kernel takes, or a size exceeds 32 bits.

    C function: `GetLayerNormMaxMinTmpSize`, the overload with `isComputeRstd`.
    """
    del is_reuse_source
    registers = has_vector_registers(soc)
    shape = ArShape.of(src_shape, type_size)
    if is_only_output:
        raise TilingError("is_only_output is True; CANN supports False only")
    if registers:
        partial_sums = align_up(shape.r, _REGISTER_FLOATS) // _REGISTER_FLOATS
        floats = align_up(partial_sums, _REGISTER_HALVES) + shape.a
        if not is_compute_rstd:
            floats += shape.a
        return TmpSize.of(floats * FLOAT_BYTES, floats * FLOAT_BYTES)

    statistics = align_up(shape.a * FLOAT_BYTES, 32)
    row = align_up(shape.r_padded * FLOAT_BYTES, 32)
    rows = align_up(shape.elements * FLOAT_BYTES, 32)
    # Mean and variance first, then a normalization of its own with its own needs.
    normalize_max = 2 * row + 2 * align_up(align_up(shape.a, 8) * shape.r_padded * FLOAT_BYTES, 32)
    normalize_min = max(statistics, (2 if type_size == FLOAT_SIZE else 4) * row)
    return TmpSize.of(
        max(_BUFFERS * rows, normalize_max) + statistics,
        max(_BUFFERS * row, normalize_min) + statistics,
    )


def get_layer_norm_rstd_nd_tiling_info(
    src_shape: Sequence[int],
    stack_buffer_size: int,
    type_size: int,
    is_reuse_source: bool = False,
    is_compute_rstd: bool = True,
    *,
    soc: str = DEFAULT_SOC_NAME,
) -> LayerNormSeparateTiling:
    """Lay out the temporary buffer of LayerNorm with mean and rstd.

    Args:
        src_shape: {A, R}, without padding.
        stack_buffer_size: The size of the temporary buffer, in bytes. On Ascend 950 the layout does
            not depend on it.
        type_size: The size of an element, 2 (half) or 4 (float).
        is_reuse_source: Reserved; changes nothing.
        is_compute_rstd: Changes the size and not the layout.
        soc: The chip.

    Returns:
        The structure for the kernel.

    Raises:
        TilingError: An argument is none that the kernel takes, or the buffer has no room for one
            row, where CANN's function returns and leaves the structure as it was.

    C function: `GetLayerNormNDTilingInfo`, the overload with `isComputeRstd`.
    """
    del is_reuse_source, is_compute_rstd
    registers = has_vector_registers(soc)
    shape = ArShape.of(src_shape, type_size)
    uint32("stack_buffer_size", stack_buffer_size)
    return _folding(shape) if registers else _rounds(shape, stack_buffer_size)


def _folding(shape: ArShape) -> LayerNormSeparateTiling:
    """Ascend 950 sums a row by folding what lies behind its power-of-two head onto the head."""
    head = _REGISTER_FLOATS
    while 2 * head <= shape.r:
        head *= 2
    power = head if head >= shape.r else 2 * head
    return LayerNormSeparateTiling(
        aLength=shape.a,
        rLength=shape.r,
        rHeadLength=head,
        k2Rec=1 / power,
        k2RRec=power / shape.r,
        oneTmpSize=head.bit_length() - 1,
    )


def _rounds(shape: ArShape, stack_buffer_size: int) -> LayerNormSeparateTiling:
    """Return the rounds on the other chips: as many whole rows as fit into the buffer."""
    row = shape.r_padded
    variance = align_up(shape.a, 8)
    floats = stack_buffer_size // FLOAT_BYTES
    one = min((floats - variance) // _BUFFERS // row * row, shape.elements)
    if one <= 0:
        needed = (variance + _BUFFERS * row) * FLOAT_BYTES
        raise TilingError(
            f"stack_buffer_size is {stack_buffer_size} bytes, which has no room for one row of "
            f"{row} elements; it must be at least {needed}",
            needed,
        )
    tail = shape.elements % one
    return LayerNormSeparateTiling(
        aLength=shape.a,
        rLength=shape.r,
        inputXSize=shape.elements,
        meanVarSize=shape.a,
        numberOfTmpBuf=_BUFFERS,
        varianceTmpTensorPos=0,
        varianceTmpTensorSize=variance,
        tmpBufSize=floats,
        oneTmpSize=one,
        firstTmpStartPos=variance,
        secondTmpStartPos=variance + one,
        loopRound=shape.elements // one,
        inputRoundSize=one,
        inputTailSize=tail,
        inputTailPos=shape.elements - tail,
        meanVarRoundSize=one // row,
        meanVarTailSize=tail // row,
        meanVarTailPos=shape.a - tail // row,
        arCurLength=one,
        aCurLength=one // row,
        rValueBack=reciprocal(shape.r),
    )
