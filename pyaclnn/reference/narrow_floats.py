# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16 to float32 and back, with integer arithmetic on whole blocks.

NumPy converts float16 one number after the other, and bfloat16 only while it holds the interpreter
lock, which keeps other threads waiting. Its integer loops do neither.

A bfloat16 number is the upper half of a float32 number. float16 has 5 bits of exponent with a bias
of 15 and 10 bits of fraction, float32 has 8 with a bias of 127 and 23. Moved to their places in
float32, the bits of a float16 number therefore mean the number times 2**-112, subnormal numbers
included, and one multiplication corrects that. It does not for infinities and NaNs; blocks that
hold any are left to NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["narrow", "widen"]

HALF = np.dtype(np.float16)
BFLOAT = np.dtype(ml_dtypes.bfloat16)

REBIAS = np.float32(2.0**112)
SIGN = np.int32(-0x80000000)
SIGN_AND_HALF = np.int32(-0x80000000 | 0x0FFFE000)
HALF_INFINITY = 0x7C00
# The bits of 2.0**16, beyond float16, and of the largest float32 that is not NaN.
BEYOND_HALF = (127 + 16) << 23
INFINITY = 0x7F800000


def widen(narrow: NDArray[Any], out: NDArray[np.float32]) -> None:
    """Convert to float32, exactly.

    Args:
        narrow: float16 or bfloat16 numbers, or any others, which NumPy converts.
        out: float32 numbers of the same shape, contiguous; overwritten.
    """
    bits = out.view(np.int32)
    if narrow.dtype == BFLOAT:
        np.copyto(bits, narrow.view(np.int16))
        np.left_shift(bits, np.int32(16), out=bits)
    elif narrow.dtype == HALF and below(narrow.view(np.int16), HALF_INFINITY):
        np.copyto(bits, narrow.view(np.int16))
        np.left_shift(bits, np.int32(13), out=bits)
        np.bitwise_and(bits, SIGN_AND_HALF, out=bits)
        np.multiply(out, REBIAS, out=out)
    else:
        np.copyto(out, narrow, casting="unsafe")


def narrow(single: NDArray[np.float32], out: NDArray[Any], spare: NDArray[np.float32]) -> None:
    """Convert from float32, rounding to the nearest, ties to even.

    What becomes a subnormal float16 is first rounded to 13 more bits: it may end up on the far side
    of a tie that it was nearer to than those bits tell.

    Args:
        single: float32 numbers, contiguous; overwritten with something meaningless.
        out: float16 or bfloat16 numbers of the same shape.
        spare: Space of the same shape; overwritten.
    """
    bits, more = single.view(np.int32), spare.view(np.int32)
    if not below(bits, BEYOND_HALF if out.dtype == HALF else INFINITY):
        np.copyto(out, single, casting="unsafe")
        return
    if out.dtype == HALF:
        # Without the exponent's top bits, unused now, the upper half of the word is the number.
        np.multiply(single, 1 / REBIAS, out=single)
        np.bitwise_and(bits, SIGN, out=more)
        np.left_shift(bits, np.int32(3), out=bits)
        np.bitwise_or(bits, more, out=bits)
    # Add just less than half of the upper half's last place, and the rest if that place is odd.
    np.right_shift(bits, np.int32(16), out=more)
    np.bitwise_and(more, np.int32(1), out=more)
    np.add(more, np.int32(0x7FFF), out=more)
    np.add(bits, more, out=bits)
    np.right_shift(bits, np.int32(16), out=bits)
    np.copyto(out.view(np.int16), bits, casting="unsafe")


def below(bits: NDArray[Any], limit: int) -> bool:
    """Whether numbers, given as signed words, all have magnitudes below one given as its bits."""
    if bits.size == 0:
        return True
    negative = 1 << (8 * bits.itemsize - 1)
    words = bits.view(f"u{bits.itemsize}")
    return bool(bits.max() < limit and words.max() < negative + limit)
