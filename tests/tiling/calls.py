# SPDX-License-Identifier: Apache-2.0
"""The space of kernel calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from pyaclnn.ascendc.tiling.request import TilingRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.ascendc.tiling import TilingError

__all__ = ["A2", "A5", "INTERFACES", "elements", "needed_by", "requests", "row_length"]

A2 = "Ascend910B3"
A5 = "Ascend950PR_9579"
INTERFACES = ("layernorm", "layernorm-rstd", "layernorm-grad", "layernorm-grad-beta")


@st.composite
def requests(
    draw: st.DrawFn, interfaces: Sequence[str] = INTERFACES, socs: Sequence[str] = (A2,)
) -> TilingRequest:
    interface = draw(st.sampled_from(interfaces))
    type_size = draw(st.sampled_from([2, 4]))
    if interface == "layernorm-rstd":
        shape: tuple[int, ...] = (draw(st.integers(1, 70)), draw(st.integers(1, 300)))
    else:
        h = draw(st.integers(1, 20)) * 32 // type_size
        shape = (draw(st.integers(1, 9)), draw(st.integers(1, 40)), h, draw(st.integers(1, h)))
    return TilingRequest(
        interface, shape, type_size, draw(st.booleans()), draw(st.booleans()),
        draw(st.sampled_from(socs)),
    )  # fmt: skip


def row_length(request: TilingRequest) -> int:
    """The length of a stored row."""
    if request.interface == "layernorm-rstd":
        block = 32 // request.type_size
        return (request.src_shape[1] + block - 1) // block * block
    return request.src_shape[2]


def elements(request: TilingRequest) -> int:
    """All elements, padding included."""
    rows = request.src_shape[0]
    if request.interface != "layernorm-rstd":
        rows *= request.src_shape[1]
    return rows * row_length(request)


def needed_by(error: TilingError) -> int:
    """The size that an error asks for."""
    assert error.needed is not None
    return error.needed
