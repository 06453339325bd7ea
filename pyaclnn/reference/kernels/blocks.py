# SPDX-License-Identifier: Apache-2.0
"""Formats whose memory holds rows, columns or channels in blocks, and tensors in them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["IN_BLOCKS", "blocked_dims", "relaid"]

Array = Any

_PLAIN: Final = frozenset({"ND", "NCHW", "NCDHW"})
IN_BLOCKS: Final[Mapping[str, tuple[str, str]]] = {
    "FRACTAL_NZ": ("NC", "C N n c"),
    "NC1HWC0": ("NCHW", "N C H W c"),
    "FRACTAL_Z": ("NCHW", "CHW N n c"),
    "NDC1HWC0": ("NCDHW", "N D C H W c"),
    "FRACTAL_Z_3D": ("NCDHW", "DCHW N n c"),
}
"""Format -> axes of a tensor, and in each dimension of its storage: a small letter is an axis in a
block, the capital then counts blocks. FRACTAL_NZ has the last two axes, rows and columns, so."""
_FEWEST: Final = 4
"""Axes of an image, to which vectors of channels are completed."""


class _Layout(NamedTuple):
    """Layout of a tensor in a format.

    Attributes:
        whole: The lengths of all axes of the format.
        padded: The same in whole blocks.
        split: The same with an axis of blocks before each axis in a block.
        order: The axes of ``split`` in the order in which they are stored.
        stored: The dimensions of the storage.
    """

    whole: tuple[int, ...]
    padded: tuple[int, ...]
    split: tuple[int, ...]
    order: tuple[int, ...]
    stored: tuple[int, ...]

    def pack(self, x: Array) -> Array:
        padded = np.zeros(self.padded, x.dtype)
        padded[tuple(map(slice, self.whole))] = x.reshape(self.whole)
        return padded.reshape(self.split).transpose(self.order).reshape(self.stored)

    def unpack(self, blocks: Array) -> Array:
        moved = blocks.reshape([self.split[axis] for axis in self.order])
        padded = moved.transpose(np.argsort(self.order)).reshape(self.padded)
        return padded[tuple(map(slice, self.whole))]


def _layout(form: str, dims: Sequence[int], stored: Sequence[int]) -> _Layout | None:
    """Return the layout of a tensor; the last dimensions of its storage are the size of blocks."""
    axes, groups = IN_BLOCKS.get(form, ("", ""))
    whole = tuple(dims)
    if axes == "NC":
        whole = (*whole, 1, 1)[: max(len(whole), 2)]
        axes = "." * (len(whole) - 2) + axes
    elif len(whole) < _FEWEST:
        whole = (1, *whole, 1, 1, 1)[:_FEWEST]
    if not groups or len(whole) != len(axes) or len(stored) < 2:  # noqa: PLR2004  # rows, columns
        return None
    stack = len(axes) - len(axes.lstrip("."))
    block = {"N": stored[-2] if "n" in groups else 1, "C": stored[-1]}
    sizes = [block.get(axis, 1) for axis in axes]
    if min(sizes) < 1:
        return None
    counts = [-(-length // size) for length, size in zip(whole, sizes, strict=True)]
    padded = tuple(count * size for count, size in zip(counts, sizes, strict=True))
    places = [(a, s) for axis, n, size in zip(axes, counts, sizes, strict=True) if axis != "."
              for a, s in ((axis, n), (axis.lower(), size)) if a in groups]  # fmt: skip
    names, lengths = [name for name, _ in places], dict(places)
    order = (stack + names.index(letter) for letter in groups.replace(" ", ""))
    return _Layout(
        whole,
        padded,
        (*whole[:stack], *(length for _, length in places)),
        (*range(stack), *order),
        (*whole[:stack], *(prod(lengths[x] for x in group) for group in groups.split())),
    )


def blocked_dims(form: str, dims: Sequence[int], stored: Sequence[int]) -> tuple[int, ...] | None:
    """Return the dimensions of the storage of a tensor, or None in a format without blocks.

    Args:
        form: The format, such as ``"NC1HWC0"``.
        dims: The dimensions of the tensor.
        stored: Those of a storage, of which the last ones are the size of blocks.
    """
    layout = _layout(form, dims, stored)
    return layout and layout.stored


def relaid(x: Array, source: str, target: str, out: Array) -> Array:
    """Return a tensor in another format, of the shape of ``out``: into blocks, or out of them.

    Raises:
        NotImplementedError: Another format is asked for, or the shapes are not those of a tensor.
    """
    if source == target or {source, target} <= _PLAIN:
        return x
    packs = source in _PLAIN
    pair = (x.shape, out.shape) if packs else (out.shape, x.shape)
    layout = _layout(target if packs else source, *pair)
    if layout is None or layout.stored != pair[1] or not {source, target} & _PLAIN:
        raise NotImplementedError(
            f"a tensor of format {source} and shape {x.shape} as {target} of {out.shape}"
        )
    return layout.pack(x) if packs else layout.unpack(x).reshape(out.shape)
