# SPDX-License-Identifier: Apache-2.0
"""Rearranging, choosing and sorting elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.functions.basic import order
from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import indices_within, some, wide

__all__: list[str] = []

Array = Any
_VECTOR = 1


def _axis(x: Array, dim: int, *, new: bool = False) -> int:
    rank: int = x.ndim + new
    if not -rank <= dim < rank:
        raise ValueError(f"dim is {dim}; it must be in [{-rank}, {rank - 1}]")
    return dim % rank


@operator("aclnnInplaceCopy")
def copy(self: Array, src: Array) -> Array:
    """``src``, broadcast and cast; a fraction is cut off by an integer type."""
    return np.broadcast_to(src, self.shape).astype(self.dtype)


@operator("aclnnPermute")
def permute(self: Array, dims: tuple[int, ...]) -> Array:
    """The same tensor with its dimensions in another order."""
    return np.transpose(self, dims)


@operator("aclnnCat")
def cat(tensors: list[Array], dim: int, out: Array) -> Array:
    """Tensors one behind the other; those of shape ``(0,)`` do not count."""
    kept = [tensor for tensor in some("tensors", tensors) if tensor.shape != (0,)] or tensors
    return np.concatenate(kept, _axis(kept[0], dim)).astype(out.dtype, casting="same_kind")


@operator("aclnnConstantPadNd")
def constant_pad_nd(self: Array, pad: tuple[int, ...], value: Array) -> Array:
    """A value around the tensor: two widths a dimension, the last one first; some below 0."""
    if len(pad) % 2 or len(pad) > 2 * self.ndim:
        raise ValueError(f"pad has {len(pad)} elements; it must have two a dimension")
    pairs = [*zip(pad[::2], pad[1::2], strict=True)]
    widths = [(0, 0)] * (self.ndim - len(pairs)) + pairs[::-1]
    if any(sum(pair) + length < 0 for pair, length in zip(widths, self.shape, strict=True)):
        raise ValueError(f"pad {list(pad)} takes more away than {list(self.shape)} has")
    grown = [(max(before, 0), max(after, 0)) for before, after in widths]
    out = np.pad(self, grown, constant_values=np.asarray(value).astype(self.dtype))
    kept = (
        slice(max(-before, 0), length - max(-after, 0))
        for (before, after), length in zip(widths, out.shape, strict=True)
    )
    return out[tuple(kept)]


@operator("aclnnStack")
def stack(tensors: list[Array], dim: int) -> Array:
    """Tensors of one shape, side by side along a new dimension."""
    return np.stack(tensors, _axis(some("tensors", tensors)[0], dim, new=True))


@operator("aclnnSplitTensor")
def split_tensor(self: Array, splitSections: int, dim: int) -> list[Array]:
    """Pieces of one length; the last one may be shorter."""
    axis = _axis(self, dim)
    if splitSections == 0:
        raise ValueError("splitSections is 0; it must be the length of a piece")
    starts = range(splitSections, self.shape[axis], splitSections)
    return list(np.split(self, list(starts), axis))


@operator("aclnnSplitWithSize")
def split_with_size(self: Array, splitSize: tuple[int, ...], dim: int) -> list[Array]:
    """Pieces of lengths that are given."""
    axis = _axis(self, dim)
    if sum(splitSize) != self.shape[axis]:
        raise ValueError(f"splitSize sums to {sum(splitSize)}; it must be {self.shape[axis]}")
    return list(np.split(self, np.cumsum(splitSize)[:-1], axis))


@operator("aclnnEmbedding")
def embedding(weight: Array, indices: Array) -> Array:
    """The rows of a table that are asked for."""
    if not weight.ndim:
        raise ValueError("weight has no dimension; it must be a table")
    return weight[indices_within("indices", indices, len(weight))]


@operator("aclnnGather")
def gather(self: Array, dim: int, index: Array) -> Array:
    """The elements that ``index`` names at its place, of each line along a dimension."""
    axis = _axis(self, dim)
    if index.ndim != self.ndim:
        raise ValueError(f"index has {index.ndim} dimensions; it must have {self.ndim}, as self")
    lines = tuple(
        slice(None) if axis == place else slice(length) for place, length in enumerate(index.shape)
    )
    return np.take_along_axis(self[lines], indices_within("index", index, self.shape[axis]), axis)


@operator("aclnnGatherV2")
def gather_v2(self: Array, dim: int, index: Array) -> Array:
    """Slices of a dimension, in the order and shape of ``index``."""
    axis = _axis(self, dim)
    return np.take(self, indices_within("index", index, self.shape[axis]), axis)


@operator("aclnnIndexSelect")
def index_select(self: Array, dim: int, index: Array) -> Array:
    """Slices of a dimension, in the order of ``index``."""
    if index.ndim > _VECTOR:
        raise ValueError(f"index has {index.ndim} dimensions; it must have one")
    return gather_v2(self, dim, index.reshape(-1))


@operator("aclnnSort")
def sort(self: Array, dim: int, descending: bool, indicesOut: Array) -> tuple[Array, Array]:
    """A dimension in order, and where each element was; equal ones stay in order, NaN is largest.

    A sort that need not be stable may be.
    """
    axis = _axis(self, dim)
    places = order(wide(self), axis, descending)
    return np.take_along_axis(self, places, axis), places.astype(indicesOut.dtype)


@operator("aclnnTopk")
def topk(
    self: Array,
    k: int,
    dim: int,
    largest: bool,
    sorted_: bool,
    indicesOut: Array,
) -> tuple[Array, Array]:
    """The ``k`` largest or smallest elements of a dimension in order, and where they are."""
    del sorted_  # in order is one of the orders it allows
    axis = _axis(self, dim)
    if not 0 <= k <= self.shape[axis]:
        raise ValueError(f"k is {k}; it must be in [0, {self.shape[axis]}]")
    chosen = np.take(order(wide(self), axis, largest), range(k), axis)
    return np.take_along_axis(self, chosen, axis), chosen.astype(indicesOut.dtype)
