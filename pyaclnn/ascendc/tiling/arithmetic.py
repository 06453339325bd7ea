# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of CANN's host functions: unsigned 32-bit integers and floats."""

from __future__ import annotations

import struct

__all__ = [
    "FLOAT_BYTES",
    "TilingError",
    "align_up",
    "float32",
    "float32_bits",
    "reciprocal",
    "uint32",
]

FLOAT_BYTES = 4
"""Temporary buffers are counted in floats, whatever the operands are."""

_UINT32_MAX = 2**32 - 1


class TilingError(ValueError):
    """A tiling that CANN's function would not make, or would make wrongly.

    Attributes:
        needed: A `stack_buffer_size` in bytes that works, or None if the size is not what is wrong.
    """

    def __init__(self, message: str, needed: int | None = None) -> None:
        super().__init__(message)
        self.needed = needed

    def __reduce__(self) -> tuple[type[TilingError], tuple[str, int | None]]:
        return type(self), (str(self), self.needed)


def uint32(name: str, value: int) -> int:
    """Return an integer that fits into a `uint32_t`.

    Args:
        name: Its name in the caller, for the message.
        value: The integer.

    Raises:
        TilingError: It does not fit; CANN's function would go on with a wrong number.
    """
    if not 0 <= value <= _UINT32_MAX:
        raise TilingError(
            f"{name} is {value}; it must fit into 32 bits without a sign, 0 to {_UINT32_MAX}"
        )
    return value


def align_up(value: int, multiple: int) -> int:
    """Round up to a multiple."""
    return -(-value // multiple) * multiple


def float32(value: float) -> float:
    """Round to what a C float holds."""
    rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    return rounded


def reciprocal(value: int) -> float:
    """Divide 1.0f by an integer, as a C float."""
    return float32(1 / float32(value))


def float32_bits(value: float) -> int:
    """Return the bits of a C float as a `uint32_t`."""
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits
