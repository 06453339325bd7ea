# SPDX-License-Identifier: Apache-2.0
"""Namespace of the array API for device arrays: the functions that operators of CANN compute.

A name of the standard that is missing here has no operator; the array's ``.numpy()`` is the way to
NumPy's. Functions queue their work on the default stream, and do not wait. Numbers count by their
category, and dtypes are promoted as CANN promotes them.

Source: https://data-apis.org/array-api/2024.12.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling import array_dtypes
from pyaclnn.calling.array_dtypes import (
    complex64 as complex64,
    float32 as float32,
    int64 as int64,
    result_type as result_type,
)
from pyaclnn.calling.array_functions import compute, ways_to_call
from pyaclnn.calling.array_info import NamespaceInfo
from pyaclnn.calling.array_numbers import default_dtype, numbers
from pyaclnn.calling.by_name import op
from pyaclnn.calling.empty import Empty
from pyaclnn.calling.reductions import cast_to, follow, normal_axes, reduce
from pyaclnn.facts.operators.array_functions import array_functions
from pyaclnn.reference.kernels.promotion import category
from pyaclnn.runtime import creation
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.dtypes import dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from pyaclnn.runtime.device import Device

__all__: list[str]  # the names below, and the functions of the table

__array_api_version__: Final = "2024.12"
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


def __getattr__(name: str) -> Any:
    """Return a function of the table; another name of the standard has no operator."""
    if name == "__all__":
        return __dir__()
    if name in array_dtypes.__all__:
        return getattr(array_dtypes, name)
    if name in array_functions() and name.isidentifier():
        return _function(name)
    ways = ways_to_call(name)
    message = (
        f"{name!r} of the array API is not among the functions here, though CANN has an operator "
        f"for it; call {ways}, or copy the arrays with .numpy(), and use NumPy's"
        if ways
        else f"no operator of CANN computes {name!r} of the array API; copy the arrays with "
        f".numpy(), and use NumPy's{did_you_mean(name, __dir__(), lead='; ', likeness=0.75)}"
    )
    raise AttributeError(message, name=name)


@functools.cache  # not among the globals, where "sum" would replace Python's own
def _function(name: str) -> Callable[..., DeviceArray]:
    function = array_functions()[name]
    made: Any = functools.partial(reduce if function.is_reduction else compute, name)
    made.__name__ = name
    made.__doc__ = f"Compute ``{name}`` by ``{function.on_arrays.operator}``."
    return made  # type: ignore[no-any-return]


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807  # the standard's name
    """Return the inspection functions: capabilities, devices and dtypes."""
    return NamespaceInfo()


def __dir__() -> list[str]:
    here = {name for name, value in globals().items() if _is_of_the_standard(name, value)}
    table = filter(str.isidentifier, array_functions())
    return sorted({*here, *array_dtypes.__all__, *table, "newaxis"})


def _is_of_the_standard(name: str, value: Any) -> Any:
    is_own = callable(value) and value.__module__ == __name__
    return name[0] != "_" and (is_own or isinstance(value, float))


def count_nonzero(x: DeviceArray, /, *, axis: Any = None, keepdims: Any = False) -> DeviceArray:
    """Return the number of elements that are not 0, over axes."""
    return reduce("sum", compute("not_equal", x, 0), axis, keepdims=keepdims)


def cumulative_sum(
    x: DeviceArray, /, *, axis: int | None = None, dtype: DTypeLike | None = None
) -> DeviceArray:
    """Return the sums up to each element along an axis (``aclnnCumsum``)."""
    if axis is None and x.ndim != 1:
        raise InvalidArgumentError.of("cumulative_sum", "axis", "None", "given for several axes")
    (place,) = normal_axes("cumulative_sum", 0 if axis is None else axis, x.ndim)
    kind = int64 if category(x.dtype) in "bi" else x.dtype
    kind = kind if dtype is None else dtype_of(dtype)
    follow("cumulative_sum", (x,), None)
    made: DeviceArray = op("aclnnCumsum")(x, place, kind, Empty(x.shape, kind))
    return made


def where(condition: DeviceArray, x1: Any, x2: Any, /) -> DeviceArray:
    """Return elements of ``x1`` where the condition is true, else of ``x2`` (``aclnnSWhere``)."""
    dtype = result_type(x1, x2)
    values = [_as_array(x, dtype, condition) for x in (x1, x2)]
    shape = np.broadcast_shapes(condition.shape, *(value.shape for value in values))
    follow("where", (condition, *values), None)
    made: DeviceArray = op("aclnnSWhere")(condition, *values, Empty(shape, dtype))
    return made


def clip(x: DeviceArray, /, min: Any = None, max: Any = None) -> DeviceArray:  # noqa: A002
    """Return elements, not below one limit and not above another."""
    for name, limit in (("maximum", min), ("minimum", max)):
        x = x if limit is None else compute(name, x, limit)
    return x


def sort(
    x: DeviceArray, /, *, axis: int = -1, descending: Any = False, stable: Any = True
) -> DeviceArray:
    """Return the elements in order along an axis (``aclnnSort``)."""
    values: DeviceArray = _sorted(x, axis, descending, stable)[0]
    return values


def argsort(
    x: DeviceArray, /, *, axis: int = -1, descending: Any = False, stable: Any = True
) -> DeviceArray:
    """Return the places of the elements in their order along an axis (``aclnnSort``)."""
    places: DeviceArray = _sorted(x, axis, descending, stable)[1]
    return places


def _sorted(x: DeviceArray, axis: int, descending: Any, stable: Any) -> tuple[Any, Any]:
    (place,) = normal_axes("sort", axis, x.ndim)
    follow("sort", (x,), None)
    results = (Empty(x.shape, x.dtype), Empty(x.shape, int64))
    made: tuple[Any, Any] = op("aclnnSort")(x, stable, place, descending, *results)
    return made


def take(x: DeviceArray, indices: DeviceArray, /, *, axis: int = 0) -> DeviceArray:
    """Return slices of an axis in the order of indices (``aclnnIndexSelect``)."""
    (place,) = normal_axes("take", axis, x.ndim)
    shape = (*x.shape[:place], indices.size, *x.shape[place + 1 :])
    follow("take", (x, indices), None)
    made: DeviceArray = op("aclnnIndexSelect")(x, place, indices, Empty(shape, x.dtype))
    return made


def concat(arrays: Sequence[DeviceArray], /, *, axis: int | None = 0) -> DeviceArray:
    """Join arrays along an axis (``aclnnCat``)."""
    if not arrays:
        raise InvalidArgumentError.of("concat", "arrays", repr_of(arrays), "one array at least")
    dtype = result_type(*arrays)
    parts = [_as_array(x, dtype, x) for x in arrays]
    if axis is None:
        parts, axis = [reshape(part, (part.size,)) for part in parts], 0
    (place,) = normal_axes("concat", axis, parts[0].ndim)
    shape = [*parts[0].shape]
    shape[place] = sum(part.shape[place] for part in parts)
    follow("concat", parts, None)
    made: DeviceArray = op("aclnnCat")(parts, place, Empty(shape, dtype))
    return made


def stack(arrays: Sequence[DeviceArray], /, *, axis: int = 0) -> DeviceArray:
    """Join arrays along a new axis (``aclnnCat``)."""
    return concat([expand_dims(array, axis=axis) for array in arrays], axis=axis)


def unstack(x: DeviceArray, /, *, axis: int = 0) -> tuple[DeviceArray, ...]:
    """Return the views along an axis."""
    (place,) = normal_axes("unstack", axis, x.ndim)
    return tuple(x[(slice(None),) * place + (number,)] for number in range(x.shape[place]))


def from_dlpack(x: Any, /, *, device: Device | None = None, copy: Any = None) -> DeviceArray:
    """Return an array of a tensor of another library; one on an NPU is not copied."""
    if isinstance(x, DeviceArray) or x.__dlpack_device__()[0] != 1:
        return asarray(creation.from_dlpack(x, device), copy=copy)
    return to_device(x, device)


def reshape(x: DeviceArray, /, shape: tuple[int, ...], *, copy: Any = None) -> DeviceArray:
    """Return an array of another shape: a view if it is contiguous and ``copy`` is not True."""
    if copy or (copy is None and not x.is_contiguous):
        follow("reshape", (x,), None)
        x = cast_to(x, x.dtype, None)
    return x.reshape(shape)


def permute_dims(x: DeviceArray, /, axes: tuple[int, ...]) -> DeviceArray:
    """Return a view with the axes in another order."""
    return x.transpose(*axes)


def matrix_transpose(x: DeviceArray, /) -> DeviceArray:
    """Return a view with the last two axes exchanged."""
    if x.ndim < 2:  # noqa: PLR2004
        given, expected = f"an array of {x.ndim} axes", "one of two axes or more"
        raise InvalidArgumentError.of("matrix_transpose", "x", given, expected)
    return x.mT


def moveaxis(x: DeviceArray, source: Any, destination: Any, /) -> DeviceArray:
    """Return a view with axes moved to other places."""
    sources, places = (normal_axes("moveaxis", axes, x.ndim) for axes in (source, destination))
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return x.transpose(*order)


def expand_dims(x: DeviceArray, /, *, axis: int = 0) -> DeviceArray:
    """Return a view with a new axis of length 1."""
    (place,) = normal_axes("expand_dims", axis, x.ndim + 1)
    return x[(slice(None),) * place + (None,)]


def squeeze(x: DeviceArray, /, axis: int | tuple[int, ...]) -> DeviceArray:
    """Return a view without axes of length 1."""
    axes = normal_axes("squeeze", axis, x.ndim)
    if any(x.shape[place] != 1 for place in axes):
        given, expected = f"{repr_of(axis)} of shape {x.shape}", "axes of length 1"
        raise InvalidArgumentError.of("squeeze", "axis", given, expected)
    return x[tuple(0 if place in axes else slice(None) for place in range(x.ndim))]


# ---- creation ------------------------------------------------------------------------------------


def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    copy: Any = None,
) -> DeviceArray:
    """Return a device array of an array, of numbers or of nested sequences of them."""
    if isinstance(obj, DeviceArray):
        made = obj if device is None else obj.to_device(device)
        kind = obj.dtype if dtype is None else dtype_of(dtype)
        return astype(made, kind, copy=copy and made is obj)
    wanted = None if dtype is None else dtype_of(dtype)
    typed = np.ndarray if wanted is not None else (np.ndarray, np.generic)
    host = obj if isinstance(obj, typed) else numbers("asarray", "obj", obj, wanted)
    return to_device(np.asarray(host, wanted, order="C"), device)


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
) -> DeviceArray:
    """Return numbers at equal distances, which the host computes."""
    low, high = (0, start) if stop is None else (start, stop)
    if not step:
        raise InvalidArgumentError.of("arange", "step", repr_of(step), "a number other than 0")
    return asarray(np.arange(low, high, step).tolist() or np.arange(0), dtype=dtype, device=device)


def linspace(
    start: complex,
    stop: complex,
    /,
    num: int,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
    endpoint: Any = True,
) -> DeviceArray:
    """Return numbers from one to another, which the host computes."""
    values = np.linspace(start, stop, num, endpoint=endpoint)
    kind = default_dtype(values.dtype) if dtype is None else dtype
    return to_device(numbers("asarray", "obj", values, dtype_of(kind)), device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
) -> DeviceArray:
    """Return ones on a diagonal, which the host writes."""
    return asarray(np.eye(n_rows, n_cols, k, dtype_of(dtype or float32)), device=device)


def empty(
    shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: Device | None = None
) -> DeviceArray:
    """Allocate an array; its content is undefined."""
    return DeviceArray.empty(shape, dtype or float32, device)


def full(
    shape: int | tuple[int, ...],
    fill_value: complex,
    *,
    dtype: DTypeLike | None = None,
    device: Device | None = None,
) -> DeviceArray:
    """Return an array of one number."""
    wanted = None if dtype is None else dtype_of(dtype)
    kind = numbers("full", "fill_value", fill_value, wanted).dtype
    return creation.full(shape, fill_value, kind, device)


def zeros(
    shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: Device | None = None
) -> DeviceArray:
    """Return an array of zeros."""
    return creation.zeros(shape, dtype or float32, device)


def ones(
    shape: int | tuple[int, ...], *, dtype: DTypeLike | None = None, device: Device | None = None
) -> DeviceArray:
    """Return an array of ones."""
    return creation.ones(shape, dtype or float32, device)


def _like(make: Callable[..., DeviceArray]) -> Callable[..., DeviceArray]:
    def like(
        x: DeviceArray,
        /,
        *numbers: complex,
        dtype: DTypeLike | None = None,
        device: Device | None = None,
    ) -> DeviceArray:
        kind = x.dtype if dtype is None else dtype
        return make(x.shape, *numbers, dtype=kind, device=device or x.device)

    like.__name__ = f"{make.__name__}_like"
    like.__doc__ = f"Do what ``{make.__name__}`` does, in the shape and dtype of another array."
    return like


empty_like, full_like = _like(empty), _like(full)
ones_like, zeros_like = _like(ones), _like(zeros)


# ---- dtypes --------------------------------------------------------------------------------------


def astype(
    x: DeviceArray, dtype: DTypeLike, /, *, copy: Any = True, device: Device | None = None
) -> DeviceArray:
    """Return an array in another dtype (``aclnnCast``); the array itself if nothing is to do."""
    x = x if device is None else x.to_device(device)
    kind = dtype_of(dtype)
    return x.astype(kind) if copy or x.dtype != kind else x


def _as_array(value: Any, dtype: np.dtype[Any], like: DeviceArray) -> DeviceArray:
    if not isinstance(value, DeviceArray):
        return creation.full((), value, dtype, like.device)
    follow("astype", (value,), None)
    return value if value.dtype == dtype else cast_to(value, dtype, None)
