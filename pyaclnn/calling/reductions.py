# SPDX-License-Identifier: Apache-2.0
"""Reductions of device arrays by operators of CANN, as the table of array functions lists them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.calling.by_name import op
from pyaclnn.calling.empty import Empty
from pyaclnn.facts.operators.array_functions import array_functions
from pyaclnn.reference.kernels.promotion import category, floating
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.stream import require_stream
from pyaclnn.runtime.writers import follow_writers, is_ordered

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike

    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["cast_to", "follow", "normal_axes", "reduce"]

_INT64: Final = np.dtype(np.int64)


def follow(name: str, arrays: Iterable[Any], stream: StreamLike | None) -> None:
    """Order a function after all queued writes to the device arrays among its arguments.

    Args:
        name: The function, for messages.
        arrays: Device arrays; anything else is ignored.
        stream: Where the function is queued; the default stream if None.
    """
    for array in arrays:
        if isinstance(array, DeviceArray) and not is_ordered(array, stream):
            follow_writers(array, require_stream(name, stream, array.device))


def cast_to(array: DeviceArray, dtype: np.dtype[Any], stream: StreamLike | None) -> DeviceArray:
    """Queue the conversion of an array into a new, contiguous one."""
    result = Empty.of(array.shape, dtype)
    made: DeviceArray = op("aclnnCast")(array, dtype, result, stream=stream)
    return made


def normal_axes(name: str, axis: int | tuple[int, ...] | None, rank: int) -> tuple[int, ...]:
    """Return axes as numbers from 0; all of them for None.

    Raises:
        InvalidArgumentError: The array has no such axis, or one is named twice.
    """
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(number % max(rank, 1) for number in given)
    if not all(-rank <= number < rank for number in given) or len({*axes}) != len(axes):
        span = f" ({-rank} to {rank - 1})" if rank else ""
        expected = f"different axes of an array of {rank} axes{span}, or None for all"
        raise InvalidArgumentError.of(name, "axis", repr_of(axis), expected)
    return axes


def reduce(
    name: str,
    x: DeviceArray,
    axis: int | tuple[int, ...] | None = None,
    dtype: DTypeLike | None = None,
    *,
    keepdims: bool = False,
    correction: int = 0,
    stream: StreamLike | None = None,
) -> DeviceArray:
    """Reduce an array over axes on its device, without waiting for it.

    Args:
        name: A name of the table, NumPy's or the array API's.
        x: The array.
        axis: An axis, several, or None for all.
        dtype: The dtype of a sum or a mean; by default that of the array, int64 of the sum of
            integers, and float32 of their mean.
        keepdims: True if the axes stay, with length 1.
        correction: The number that a variance subtracts from the number of elements.
        stream: Where to queue it, behind whatever has still to write the array; the default stream
            if None.

    Raises:
        InvalidArgumentError: An argument is not acceptable.
        AclError: CANN refused the call.
    """
    function = array_functions()[name]
    call = function.on_arrays
    axes = normal_axes(name, axis, x.ndim)
    follow(name, (x,), stream)
    kind = x.dtype
    if function.result == "real":
        kind = floating(kind)
    elif function.result == "sum" and category(kind) in "bi":
        kind = _INT64
    kind = kind if dtype is None else dtype_of(dtype, name)
    shape = tuple(
        1 if place in axes else length
        for place, length in enumerate(x.shape)
        if keepdims or place not in axes
    )
    if x.size == 0 and 0 not in shape and function.result in ("same", "place"):
        expected = "an array with elements along these axes, of which one is chosen"
        raise InvalidArgumentError.of(name, "x", f"of shape {x.shape}", expected)
    if "axis" in call.arguments and len(axes) != 1:
        if len(axes) != x.ndim:
            raise InvalidArgumentError.of(name, "axis", repr_of(axis), "one axis, or None for all")
        x = (x if x.is_contiguous else cast_to(x, x.dtype, stream)).reshape(math.prod(x.shape))
        axes = (0,)
    if function.result == "real" and x.dtype != kind:
        x = cast_to(x, kind, stream)
    results = {"truth": np.dtype(np.bool_), "place": _INT64}
    options = {
        "x1": x,
        "axes": axes,
        "axis": axes[0] if axes else 0,
        "keepdims": keepdims and x.ndim == len(shape),
        "dtype": kind,
        "correction": correction,
    }
    given: list[Any] = [options.get(str(argument), argument) for argument in call.arguments]
    operator = op(call.operator)
    [place] = operator.declared.results
    result = Empty.of(shape, results.get(function.result, kind))
    whole = "axis" in call.arguments and keepdims and not options["keepdims"]
    given.insert(place, Empty.of((), result.dtype) if whole else result)
    found: DeviceArray = operator(*given, stream=stream)
    return found.reshape(shape) if whole else found
