# SPDX-License-Identifier: Apache-2.0
"""Checks of aclnnLayerNormBackward, and its workspace (CANN: ops-nn norm/layer_norm_grad_v3)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.workspace import FLOAT_BYTES, block_align, tensor_slot

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["failure", "scratch", "unwritten", "wrong_normalized_shape", "wrong_parameter"]

_SPLIT_FAMILIES = ("310p", "910")
# LayerNormXBackpropV3, the first of the two kernels of 310P and 910: input, mean and rstd, weight.
_SPLIT_KERNELS = {
    ("f16", "f16", "f16"),
    ("f32", "f32", "f32"),
    ("f16", "f32", "f16"),
    ("f16", "f32", "f32"),
}


def wrong_normalized_shape(request: Request, _name: str) -> str | None:
    """Compare the entries that CANN compares, which are not all.

    The loop of the original starts at the first normalized axis instead of 0, so that entries in
    front of it are never looked at, and none at all if the input has twice as many dimensions as
    normalizedShape or more. Others are caught by the outputs' sizes or by the tiling.
    """
    normalized, dims = request.values["normalized_shape"], request.tensors["input"].dims
    axis = len(dims) - len(normalized)
    for index in range(axis, len(normalized)):
        if normalized[index] != dims[index + axis]:
            return (
                f"normalizedShape is {shape_text(normalized)} with {normalized[index]} at "
                f"{index}; it must be {shape_text(dims[axis:])}, the last dimensions of input"
            )
    return None


def wrong_parameter(request: Request, name: str) -> str | None:
    """Compare a parameter with normalizedShape, which may be wrong, and not with the input."""
    dims, normalized = request.tensors[name].dims, request.values["normalized_shape"]
    if dims == normalized:
        return None
    has, must = shape_text(dims), shape_text(normalized)
    return f"{request.c_name(name)} has shape {has}; it must be {must}, that of normalizedShape"


def failure(request: Request) -> str | None:
    """Return why no kernel can be launched: the launcher is queued, and CANN ignores its status."""
    chip, normalized = request.chip, request.values["normalized_shape"]
    if chip.family in _SPLIT_FAMILIES:
        key = (request.tensors["input"].type, _statistics_type(request), _weight_type(request))
        if key not in _SPLIT_KERNELS:
            return (
                f"LayerNormXBackpropV3 has no kernel on {chip.soc_name} for the data types "
                f"{', '.join(key)} of input, mean and weight"
            )
    if normalized != request.known["norm"]:
        return (
            f"tiling failed: the weight has shape {shape_text(normalized)}, that of "
            f"normalizedShape; it must be {shape_text(request.known['norm'])}, the last dimensions "
            "of input"
        )
    return None


def unwritten(request: Request) -> list[str]:
    """Return the gradients of another shape: the copy into them fails, and CANN ignores that.

    Only tensors of one element are exempt (CANN: ops-math contiguous.cpp).
    """
    expected = request.known["norm"]
    given = {name: request.tensors[name] for name in ("grad_weight", "grad_bias")}
    return [
        name
        for name, tensor in given.items()
        if tensor is not None and tensor.dims != expected and tensor.size != 1
    ]


def scratch(request: Request) -> int:
    """Return the bytes of two padded float32 rows a block, and of mean and rstd if they are cast.

    A block is a core that has rows to work on (template "common" of the tiling).
    """
    rows, columns = prod(request.known["rows"]), prod(request.known["norm"])
    kind = _statistics_type(request)
    casts = sum(
        tensor_slot(tensor.dims, kind)
        for tensor in (request.tensors["mean"], request.tensors["rstd"])
        if tensor.type != kind
    )
    blocks = min(rows, request.chip.kernel_cores)
    return 2 * blocks * block_align(columns) * FLOAT_BYTES + casts


def _weight_type(request: Request) -> str:
    """Return the type of the weight, or of the ones that stand in for it."""
    return str((request.tensors["weight"] or request.tensors["input"]).type)


def _statistics_type(request: Request) -> str:
    """Return the type in which the kernel gets mean and rstd.

    The fused kernel takes float32 alone. The split kernels get both as they are, unless they differ
    or the weight is float32.
    """
    mean, rstd = request.tensors["mean"].type, request.tensors["rstd"].type
    split = request.chip.family in _SPLIT_FAMILIES
    return str(mean) if split and mean == rstd and _weight_type(request) != "f32" else "f32"
