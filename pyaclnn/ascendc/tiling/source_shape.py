# SPDX-License-Identifier: Apache-2.0
"""The `srcShape` of CANN's host functions, checked for the requirements of the kernels."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.ascendc.tiling.arithmetic import TilingError, align_up, uint32

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FLOAT_SIZE", "HALF_SIZE", "ArShape", "BshShape", "TmpSize"]

HALF_SIZE = 2
FLOAT_SIZE = 4
_BLOCK_BYTES = 32


class TmpSize(NamedTuple):
    """Results of the functions `Get…MaxMinTmpSize`, in bytes.

    Attributes:
        max_value: The size of the temporary buffer with which the kernel is fastest.
        min_value: The size that CANN's documents call sufficient.
    """

    max_value: int
    min_value: int

    @classmethod
    def of(cls, max_value: int, min_value: int) -> TmpSize:
        """Make one of sizes that must fit into 32 bits."""
        return cls(
            uint32("the maximum temporary size in bytes", max_value),
            uint32("the minimum temporary size in bytes", min_value),
        )


class BshShape(NamedTuple):
    """B times S rows of H stored elements, of which the first ones are data.

    Attributes:
        b: B.
        s: S.
        h: The length of a stored row, padding included.
        origin_h: The number of data elements of a row.
    """

    b: int
    s: int
    h: int
    origin_h: int

    @classmethod
    def of(
        cls, src_shape: Sequence[int], type_size: int, *, may_be_padded: bool = True
    ) -> BshShape:
        """Check a shape {B, S, storage H, origin H}.

        Args:
            src_shape: The shape.
            type_size: The size of an element, in bytes.
            may_be_padded: True if the interface supports rows that end in padding.

        Raises:
            TilingError: A length or the type size is not one that the kernels take.
        """
        shape = cls(*_lengths(src_shape, ("B", "S", "storageH", "originH")))
        block = elements_in_a_block(type_size)
        aligned = align_up(shape.h, block)
        if shape.h != aligned and not may_be_padded:
            raise TilingError(
                f"src_shape has storageH {shape.h}, {shape.h * type_size} bytes; this interface "
                f"takes rows of whole blocks of {_BLOCK_BYTES} bytes without padding: H must be a "
                f"multiple of {block} ({'half' if type_size == HALF_SIZE else 'float'})"
            )
        if shape.h != aligned:
            raise TilingError(
                f"src_shape has storageH {shape.h}, {shape.h * type_size} bytes; kernels take rows "
                f"of whole blocks of {_BLOCK_BYTES} bytes: pad them with zeros to {aligned} "
                f"elements and say storageH {aligned}, originH {shape.origin_h}"
            )
        if shape.origin_h > shape.h:
            raise TilingError(
                f"src_shape has originH {shape.origin_h}; it must be at most storageH, {shape.h}"
            )
        uint32("B * S * storageH", shape.elements)
        return shape

    @property
    def rows(self) -> int:
        """B * S."""
        return self.b * self.s

    @property
    def elements(self) -> int:
        """B * S * H."""
        return self.rows * self.h


class ArShape(NamedTuple):
    """A rows of R elements, each stored with padding to whole blocks.

    Attributes:
        a: A.
        r: R, without padding.
        r_padded: The length of a stored row.
    """

    a: int
    r: int
    r_padded: int

    @classmethod
    def of(cls, src_shape: Sequence[int], type_size: int) -> ArShape:
        """Check a shape {A, R}.

        Raises:
            TilingError: A length or the type size is not one that the kernels take.
        """
        a, r = _lengths(src_shape, ("A", "R"))
        shape = cls(a, r, align_up(r, elements_in_a_block(type_size)))
        uint32("A * R with padding", shape.elements)
        return shape

    @property
    def elements(self) -> int:
        """A * R, padding included."""
        return self.a * self.r_padded


def elements_in_a_block(type_size: int) -> int:
    """Return how many elements make the 32 bytes to which rows are aligned.

    Raises:
        TilingError: The type size is neither half's nor float's.
    """
    if type_size not in {HALF_SIZE, FLOAT_SIZE}:
        raise TilingError(f"type_size is {type_size}; it must be 2 (half) or 4 (float)")
    return _BLOCK_BYTES // type_size


def _lengths(src_shape: Sequence[int], axes: tuple[str, ...]) -> list[int]:
    lengths = [operator.index(length) for length in src_shape]
    if len(lengths) != len(axes):
        raise TilingError(f"src_shape is {lengths}; it must be [{', '.join(axes)}]")
    for axis, length in zip(axes, lengths, strict=True):
        if uint32(f"{axis} of src_shape", length) == 0:
            raise TilingError(f"src_shape has {axis} 0; it must be at least 1")
    return lengths
