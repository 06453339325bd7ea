# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions. Without dimensions they go over all of them."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pyaclnn.reference.kernels.kernel import operator
from pyaclnn.reference.kernels.promotion import cast, category, floating, promoted, some, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    _Pair: TypeAlias = tuple[Callable[..., Any], Callable[..., Any]]

__all__: list[str] = []

Array = Any


def _axes(x: Array, dims: tuple[int, ...] | None) -> tuple[int, ...]:
    """Non-negative dimensions, each once; a tensor without dimensions counts as one with one."""
    rank, dims = max(x.ndim, 1), dims or ()
    for dim in dims:
        if not -rank <= dim < rank:
            raise ValueError(f"dimension {dim} is not in [{-rank}, {rank - 1}]")
    axes = tuple(dim % rank for dim in dims)
    if len(set(axes)) != len(axes):
        raise ValueError(f"a dimension appears twice in {list(dims)}")
    return () if x.ndim == 0 else axes or tuple(range(x.ndim))


@operator("aclnnReduceSum")
def reduce_sum(
    self: Array, dims: tuple[int, ...], keepDims: bool, dtype: np.dtype[Any], out: Array
) -> Array:
    """The sum, in a data type that is named; of all elements into a tensor of any rank."""
    cast_first = wide(self.astype(dtype))
    result = cast(cast_first.sum(_axes(self, dims), keepdims=keepDims), dtype)
    return result.reshape(out.shape) if result.size == out.size == 1 else result


@operator("aclnnMean")
def mean(self: Array, dim: tuple[int, ...], keepDim: bool, dtype: np.dtype[Any]) -> Array:
    """The mean, in a data type that is named."""
    if category(dtype) not in "fc":
        raise ValueError(f"a mean has no data type {dtype}; it must be of floating point")
    return cast(wide(self.astype(dtype)).mean(_axes(self, dim), keepdims=keepDim), dtype)


@operator("aclnnMeanV2")
def mean_v2(self: Array, dim: tuple[int, ...], keepDim: bool, noopWithEmptyAxes: bool) -> Array:
    """The mean; without dimensions, the tensor itself if that is asked for."""
    if noopWithEmptyAxes and not dim:
        return cast(self, self.dtype)
    return mean(self, dim, keepDim, floating(self.dtype))


def _variance(x: Array, dims: tuple[int, ...] | None, correction: int, keep: bool) -> Array:
    """The sum of squares around the mean by the number of elements less a correction."""
    if category(x.dtype) != "f":
        raise ValueError(f"self is {x.dtype}; it must be of floating point")
    axes, values = _axes(x, dims), wide(x)
    count = math.prod(x.shape[axis] for axis in axes)
    around = values - values.mean(axes, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = np.asarray(max(count - correction, 0), values.dtype)
        return np.square(around).sum(axes, keepdims=keep) / degrees


@operator("aclnnVar")
def var(self: Array, dim: tuple[int, ...], unbiased: bool, keepdim: bool) -> Array:
    """The variance, with Bessel's correction or without."""
    return cast(_variance(self, dim, int(unbiased), keepdim), self.dtype)


@operator("aclnnVarCorrection")
def var_correction(self: Array, dim: tuple[int, ...], correction: int, keepdim: bool) -> Array:
    """The variance, with a correction of the number of elements."""
    return cast(_variance(self, dim, correction, keepdim), self.dtype)


@operator("aclnnVarMean")
def var_mean(
    self: Array, dim: tuple[int, ...], correction: int, keepdim: bool
) -> tuple[Array, Array]:
    """The variance and the mean."""
    return (
        var_correction(self, dim, correction, keepdim),
        mean(self, dim, keepdim, self.dtype),
    )


@operator("aclnnStd")
def std(self: Array, dim: tuple[int, ...] | None, correction: int, keepdim: bool) -> Array:
    """The square root of the variance, with a correction of the number of elements."""
    return cast(np.sqrt(_variance(self, dim, correction, keepdim)), self.dtype)


@operator("aclnnCumsum")
def cumsum(self: Array, dim: int, dtype: np.dtype[Any]) -> Array:
    """The sums of all elements up to each one, in a data type that is named."""
    axes = _axes(self, (dim,))
    cast_first = wide(self.astype(dtype))
    return cast(cast_first.cumsum(axes[0]) if axes else cast_first, dtype)


@operator("aclnnCumsumV2")
def cumsum_v2(self: Array, dim: int, exclusive: bool, reverse: bool) -> Array:
    """The sums up to each element, without it or from the other end if that is asked for."""
    axes = _axes(self, (dim,))
    values = wide(self)
    if not axes:
        return cast(values * (not exclusive), self.dtype)
    turned = np.flip(values, axes) if reverse else values
    sums = turned.cumsum(axes[0])
    if exclusive:
        sums = np.roll(sums, 1, axes[0])
        np.moveaxis(sums, axes[0], 0)[:1] = 0
    return cast(np.flip(sums, axes) if reverse else sums, self.dtype)


@operator("aclnnSum")
def sum_of_tensors(tensors: list[Array]) -> Array:
    """The sum of several tensors."""
    dtype = promoted(*some("tensors", tensors))
    return cast(functools.reduce(np.add, (wide(each, dtype) for each in tensors)), dtype)


@operator("aclnnMaxV2")
def max_v2(self: Array, dims: tuple[int, ...], keepDims: bool, noopWithEmptyDims: bool) -> Array:
    """The largest element; without dimensions, the tensor itself if that is asked for."""
    if noopWithEmptyDims and not dims:
        return cast(self, self.dtype)
    return amax(self, dims, keepDims)


def _extreme(function: Callable[..., Any], along: str, whole: str) -> _Pair:
    """Make the kernels of an extreme element: along dimensions, and of a whole tensor."""

    @operator(along)
    def compute(self: Array, dim: tuple[int, ...], keepDim: bool) -> Array:
        return cast(function(wide(self), _axes(self, dim), keepdims=keepDim), self.dtype)

    @operator(whole)
    def of_all(self: Array) -> Array:
        return compute(self, (), False)

    return compute, of_all


amax, largest = _extreme(np.max, "aclnnAmax", "aclnnMax")  # NaN if there is one
amin, smallest = _extreme(np.min, "aclnnAmin", "aclnnMin")


def _with_place(values: Array, places: Array, x: Array, dim: int, keep: bool) -> Any:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    places = np.expand_dims(places, dim)
    values = np.take_along_axis(values, places, dim)
    return tuple(a if keep else np.squeeze(a, dim) for a in (values, places))


def _place(function: Callable[..., Any], with_value: str, alone: str) -> _Pair:
    """Make the kernels of the places of extreme elements: with their values, and alone."""

    @operator(with_value)
    def compute(self: Array, dim: int, keepdim: bool) -> Any:
        (axis,) = _axes(self, (dim,)) or (0,)
        places = function(wide(self), axis) if self.ndim else np.zeros((), np.int64)
        return _with_place(self, places, self, axis, keepdim)

    @operator(alone)
    def place(self: Array, dim: int, keepdim: bool) -> Array:
        return compute(self, dim, keepdim)[1]

    return compute, place


max_of_dim, arg_max = _place(np.argmax, "aclnnMaxDim", "aclnnArgMax")
min_of_dim, arg_min = _place(np.argmin, "aclnnMinDim", "aclnnArgMin")


def _truth(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make the kernel of a truth value over elements; an element that is not 0 is true."""

    def compute(self: Array, dim: tuple[int, ...], keepdim: bool) -> Array:
        result = function(self != 0, _axes(self, dim), keepdims=keepdim)
        return cast(result, np.dtype(np.bool_))

    return operator(name)(compute)


all_of = _truth(np.all, "aclnnAll")
any_of = _truth(np.any, "aclnnAny")


@operator("aclnnEqual")
def equal(self: Array, other: Array, out: Array) -> Array:
    """Whether two tensors have the same shape and elements."""
    same = self.shape == other.shape and bool(np.all(wide(self) == wide(other)))
    return np.full(out.shape, same, np.bool_)
