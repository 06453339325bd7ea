# SPDX-License-Identifier: Apache-2.0
"""Report on the tiling of one kernel call: sizes, structure, layout, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.ascendc.tiling.arithmetic import TilingError
from pyaclnn.ascendc.tiling.capacity import of_the_capacity
from pyaclnn.ascendc.tiling.chips import has_vector_registers
from pyaclnn.ascendc.tiling.layout import Buffer, addressed_bytes, buffer_map
from pyaclnn.ascendc.tiling.source_shape import HALF_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.ascendc.tiling.request import TilingRequest
    from pyaclnn.ascendc.tiling.source_shape import TmpSize
    from pyaclnn.ascendc.tiling.structures import TilingStructure

__all__ = ["TilingPlan", "make_plan"]

_GRADIENTS = {"layernorm-grad", "layernorm-grad-beta"}


class TilingPlan(NamedTuple):
    """Report on one kernel call.

    Attributes:
        request: The call.
        tmp_size: The sizes that CANN documents, in bytes.
        stack: The size of the temporary buffer, in bytes.
        tiling: The structure.
        buffers: The layout.
        warnings: Problems of the tiling, in sentences.
    """

    request: TilingRequest
    tmp_size: TmpSize
    stack: int
    tiling: TilingStructure
    buffers: tuple[Buffer, ...]
    warnings: tuple[str, ...]


def make_plan(request: TilingRequest, stack: int | None = None) -> TilingPlan:
    """Compute everything about one kernel call.

    Args:
        request: The call.
        stack: The size of the temporary buffer in bytes; None means CANN's maximum.

    Returns:
        The plan.

    Raises:
        TilingError: The call is none that the kernel takes, or the buffer is too small for it.
    """
    tmp_size = request.tmp_size()
    given = tmp_size.max_value if stack is None else stack
    tiling = request.tiling(given)
    warnings = (
        *_of_the_call(request),
        *_of_the_minimum(request, tmp_size.min_value),
        *_of_the_buffer(given, tmp_size.min_value, addressed_bytes(tiling)),
        *of_the_capacity(request, given),
    )
    return TilingPlan(request, tmp_size, given, tiling, buffer_map(tiling), warnings)


def _of_the_call(request: TilingRequest) -> Iterator[str]:
    if request.reuse and request.type_size == HALF_SIZE:
        yield "isReuseSource is not supported for half; the kernel must be compiled without it."
    if request.reuse and request.interface == "layernorm-rstd":
        yield "isReuseSource is reserved in this form of LayerNorm; leave it false."
    if request.interface == "layernorm-rstd":
        if not request.compute_rstd and not has_vector_registers(request.soc):
            yield "Only Ascend 950 can output the variance in place of rstd."
    elif request.interface in _GRADIENTS and request.src_shape[-1] != request.src_shape[-2]:
        yield (
            "This interface supports padded rows on no chip: storage H must equal origin H, since "
            "its sums run over the padding or its rows lie origin H apart."
        )
    if request.interface == "layernorm-grad-beta" and has_vector_registers(request.soc):
        yield "On Ascend 950 this kernel leaves its temporary buffer unused."


def _of_the_minimum(request: TilingRequest, minimum: int) -> Iterator[str]:
    try:
        addressed = addressed_bytes(request.tiling(minimum))
    except TilingError as error:
        yield (
            f"The documented minimum of {minimum} bytes is too small for any tiling: "
            f"reserve {error.needed} bytes."
        )
        return
    if addressed > minimum:
        yield (
            f"The documented minimum of {minimum} bytes is too small for the tiling it gives, "
            f"which addresses {addressed} bytes: reserve {addressed} bytes."
        )


def _of_the_buffer(given: int, minimum: int, addressed: int) -> Iterator[str]:
    if addressed > given:
        yield (
            f"The tiling addresses {addressed} bytes and runs over the end of the buffer of "
            f"{given} bytes: reserve {addressed} bytes."
        )
    if given < minimum:
        yield f"The buffer of {given} bytes is smaller than the documented minimum of {minimum}."
