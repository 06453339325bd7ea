# SPDX-License-Identifier: Apache-2.0
"""Capacity check of a temporary buffer in the memory of a core, beside its operands."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import TilingError, align_up
from pyaclnn.ascendc.tiling.chips import family_of
from pyaclnn.ascendc.tiling.layout import addressed_bytes
from pyaclnn.ascendc.tiling.source_shape import elements_in_a_block
from pyaclnn.facts.chips import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.ascendc.tiling.request import TilingRequest

__all__ = ["of_the_capacity"]

# Inputs that are as large as the whole shape; the others are small, and outputs may lie in these.
_LARGE_INPUTS = {"layernorm": 1, "layernorm-rstd": 1, "layernorm-grad": 2, "layernorm-grad-beta": 2}
_BLOCK_BYTES = 32
_LESS = "less what outputs of their own take"


def of_the_capacity(request: TilingRequest, stack: int) -> Iterator[str]:
    """Warn of a temporary buffer that the unified buffer has no room for.

    Args:
        request: The kernel call.
        stack: The size of the temporary buffer, in bytes.

    Yields:
        At most one sentence.
    """
    rows = _rows(request)
    if stack <= _room(request, rows):
        return
    capacity = FAMILIES[family_of(request.soc)].unified_buffer
    start = (
        f"The temporary buffer of {stack} bytes does not fit into the unified buffer of "
        f"{request.soc}, which has {capacity} bytes for all tensors: "
    )
    most = bisect_right(range(1, rows + 1), False, key=lambda count: not _fits(request, count))
    if most == 0:
        yield f"{start}not even one row of this length fits."
    elif most == rows:
        yield f"{start}the largest usable size is {_room(request, rows)} bytes, {_LESS}."
    else:
        yield (
            f"{start}give the kernel at most {most} of the {rows} rows at a time, with which the "
            f"largest usable size is {_room(request, most)} bytes, {_LESS}."
        )


def _room(request: TilingRequest, rows: int) -> int:
    """Return the free bytes of the unified buffer beside the large inputs of so many rows."""
    length = request.src_shape[1 if request.interface == "layernorm-rstd" else 2]
    stored = align_up(length, elements_in_a_block(request.type_size)) * request.type_size
    inputs = _LARGE_INPUTS[request.interface] * rows * stored
    left = FAMILIES[family_of(request.soc)].unified_buffer - inputs
    return left // _BLOCK_BYTES * _BLOCK_BYTES


def _fits(request: TilingRequest, rows: int) -> bool:
    """Return whether so many rows leave room for the smallest working temporary buffer."""
    room = _room(request, rows)
    if room <= 0:
        return False
    rest = request.src_shape[1:]
    shape = (rows, *rest) if request.interface == "layernorm-rstd" else (1, rows, *rest[1:])
    fewer = request._replace(src_shape=shape)
    minimum = fewer.tmp_size().min_value
    try:
        needed = max(minimum, addressed_bytes(fewer.tiling(minimum)))
    except TilingError as error:
        needed = error.needed or minimum
    return needed <= room


def _rows(request: TilingRequest) -> int:
    first, second, *_ = request.src_shape
    return first if request.interface == "layernorm-rstd" else first * second
