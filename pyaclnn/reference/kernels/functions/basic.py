# SPDX-License-Identifier: Apache-2.0
"""Mathematical functions that NumPy lacks, and idioms of axes and reductions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.special import erf
from pyaclnn.reference.kernels.promotion import cast, category, promoted, wide

if TYPE_CHECKING:
    from collections.abc import Callable

Array = Any


def floats(x: Any) -> Array:
    """A tensor in float32 or wider: NumPy computes functions of short integers in 16 bits."""
    return np.asarray(x).astype(np.result_type(x, np.float32))


def times(alpha: Any, x: Array) -> Array:
    """A product in the type of a tensor, of integers by integers alone."""
    if category(x.dtype) in "bi" and category(np.asarray(alpha).dtype) not in "bi":
        raise ValueError(f"alpha is {alpha}; with {x.dtype} it must be an integer")
    return x if alpha == 1 else x * wide(alpha, x.dtype)


def minus(a: Array, b: Array) -> Array:
    """A difference; that of two truth values is true if it is not 0."""
    return np.not_equal(a, b) if a.dtype.kind == "b" else a - b


def clamped(x: Array, low: Any, high: Any) -> Array:
    """Elements, not below one number and not above another one, which wins."""
    if low is None and high is None:
        raise ValueError("clipValueMin and clipValueMax are both NULL")
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def held(value: Any, dtype: Any) -> Array:
    """A scalar in a data type; an integer must fit, and wraps around if negative, as PyTorch's."""
    if dtype.kind not in "iu":
        return np.asarray(value).astype(dtype)
    most = int(np.iinfo(dtype).max)
    if not np.isfinite(value) or not -most - (dtype.kind == "i") <= int(value) <= most:
        raise ValueError(f"value is {value}, which {dtype} cannot hold")
    return np.asarray(int(value)).astype(dtype)


def evenly_spaced(start: Any, end: Any, steps: int, dtype: Any) -> Array:
    """Numbers at equal distances; integers are exact, and rounded towards zero."""
    if dtype.kind not in "iu" or steps <= 1:
        return np.linspace(start, end, steps).astype(dtype)
    sums = int(start) * (steps - 1) + (int(end) - int(start)) * np.arange(steps).astype(object)
    return (np.sign(sums) * (abs(sums) // (steps - 1))).astype(dtype)


def added_quotient(x: Array, a: Array, b: Array, factor: Any, into: Any = None) -> Array:
    """``x + factor * a / b``.

    Raises:
        NotImplementedError: CANN lists INT64, and states neither order nor rounding of a division.
    """
    if category(promoted(x, a, b)) in "bi":
        raise NotImplementedError("a division of integers")
    dtype = promoted(x, a, b, factor)
    x, a, b, factor = (wide(each, dtype) for each in (x, a, b, factor))
    fits = into is not None and x.dtype == into.dtype == dtype
    return cast(np.add(x, factor * a / b, into if fits else None), dtype)


def lerped(start: Array, end: Array, weight: Array, into: Any = None) -> Array:
    """``start + weight * (end - start)``, computed from the end that is nearer."""
    if weight.ndim == 0:  # the same end for all
        near = abs(weight) < 0.5  # noqa: PLR2004  # half the way
        if near:
            return np.add(start, weight * (end - start), into)
        return np.subtract(end, (end - start) * (1 - weight), into)
    near = np.abs(weight) < 0.5  # noqa: PLR2004  # as above
    return np.where(near, start + weight * (end - start), end - (end - start) * (1 - weight))


def powers(base: Array, exponent: Array) -> Array:
    """Powers; of an integer the reciprocal, cut off, where the exponent is negative."""
    if base.dtype.kind in "iu":
        reciprocal = np.where(np.abs(base) == 1, base, 0)
        base, exponent = np.where(exponent < 0, reciprocal, base), np.abs(exponent)
    return np.power(base, exponent)


def sigmoid(x: Array) -> Array:
    """``1 / (1 + exp(-x))``."""
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    """``log(1 + exp(x))``."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def normal_density(x: Array) -> Array:
    """The density of the standard normal distribution."""
    return np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


def gelu(x: Array, tanh: bool) -> Array:
    """The Gaussian error linear unit, exactly or by the hyperbolic tangent."""
    if tanh:
        return x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def gelu_slope(x: Array, tanh: bool) -> Array:
    """The derivative of `gelu`."""
    if not tanh:
        return 0.5 * (1 + erf(x / math.sqrt(2))) + x * normal_density(x)
    factor = 2 * math.sqrt(2 / math.pi)
    share = sigmoid(factor * (x + 0.044715 * x**3))
    return share + x * share * (1 - share) * factor * (1 + 3 * 0.044715 * x * x)


def softmax(x: Array, axis: int = -1) -> Array:
    """``exp(x) / sum(exp(x))`` along an axis; zeros where all are minus infinity."""
    top = x.max(axis, keepdims=True, initial=-np.inf)
    raised = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = raised.sum(axis, keepdims=True)
    return raised / np.where(total == 0, 1, total)


def log_softmax(x: Array, axis: int = -1) -> Array:
    """``x - log(sum(exp(x)))`` along an axis."""
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def xlogy(x: Array, y: Array) -> Array:
    """``x * log(y)``, 0 where ``x`` is."""
    return np.where((np.asarray(x) == 0) & ~np.isnan(y), 0, x * np.log(y))


def complex_of(real: Array, imaginary: Array) -> Array:
    """A complex number of its parts, infinities included."""
    parts = np.stack(np.broadcast_arrays(real, imaginary), -1)
    kind = np.complex128 if parts.dtype == np.float64 else np.complex64
    return np.ascontiguousarray(parts).view(kind)[..., 0]


def along(vector: Array, x: Array, axis: int = 1) -> Array:
    """A vector in the shape that broadcasts along an axis of a tensor."""
    shape = [1] * x.ndim
    if x.ndim > axis or axis < 0:
        shape[axis] = -1
    return vector.reshape(shape)


def axes(dims: Any, x: Array) -> tuple[int, ...]:
    """Axes that are named, or all of them; a tensor without axes counts as one with one.

    Raises:
        ValueError: There is no such axis, or one is named twice.
    """
    rank, dims = max(x.ndim, 1), tuple(dims or ())
    for dim in dims:
        if not -rank <= dim < rank:
            raise ValueError(f"dimension {dim} is not in [{-rank}, {rank - 1}]")
    found = tuple(dim % rank for dim in dims)
    if len(set(found)) != len(found):
        raise ValueError(f"a dimension appears twice in {list(dims)}")
    return () if x.ndim == 0 else found or tuple(range(x.ndim))


def axis(dim: int, x: Array) -> int:
    """An axis, counted from the first one; 0 of a tensor without axes."""
    return (axes((dim,), x) or (0,))[0]


def mean_in(x: Array, dims: Any, keep: bool, dtype: Any) -> Array:
    """The mean along axes, in a data type that is named."""
    if category(dtype) not in "fc":
        raise ValueError(f"a mean has no data type {dtype}; it must be of floating point")
    return cast(wide(x.astype(dtype)).mean(axes(dims, x), keepdims=keep), dtype)


def sum_in(x: Array, dims: Any, keep: bool, dtype: Any, shape: tuple[int, ...]) -> Array:
    """The sum along axes, in a data type that is named; of all elements, in any shape."""
    found = cast(wide(x.astype(dtype)).sum(axes(dims, x), keepdims=keep), dtype)
    return found.reshape(shape) if found.size == math.prod(shape) == 1 else found


def variance_of(x: Array, dims: Any, correction: int, keep: bool) -> Array:
    """The sum of squares around the mean by the number of elements less a correction."""
    along, values = axes(dims, x), wide(x)
    count = math.prod(x.shape[axis] for axis in along)
    around = values - values.mean(along, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        degrees = np.asarray(max(count - correction, 0), values.dtype)
        return cast(np.square(around).sum(along, keepdims=keep) / degrees, x.dtype)


def running_sum(x: Array, dim: int, exclusive: bool, reverse: bool) -> Array:
    """The sums up to each element, without it, or from the other end."""
    along = axis(dim, x)
    if not x.ndim:
        return x * (not exclusive)
    sums = (np.flip(x, along) if reverse else x).cumsum(along)
    if exclusive:
        sums = np.roll(sums, 1, along)
        np.moveaxis(sums, along, 0)[:1] = 0
    return np.flip(sums, along) if reverse else sums


def product(a: Array, b: Array, cube: int, ranks: tuple[int, ...] = (), into: Any = None) -> Array:
    """A product of matrices, accumulated in float32: ``cube``, cubeMathType, may lower that.

    Raises:
        ValueError: It is none of CANN's, or the shapes are not those of factors.
    """
    if cube not in range(4):
        raise ValueError(f"cubeMathType is {cube}; it must be 0 to 3")
    for rank, matrix in zip(ranks, (a, b), strict=False):
        if matrix.ndim != rank:
            raise ValueError(f"a factor has {matrix.ndim} dimensions; it must have {rank}")
    if not (a.ndim and b.ndim) or a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        raise ValueError(f"shapes {a.shape} and {b.shape} do not go together as factors")
    return np.matmul(a, b, into)


def one_of(known: Any, value: Any, name: str = "mode") -> Any:
    """A value of those that are known; a ValueError if it is none of them."""
    if value not in known:
        raise ValueError(f"{name} is {value!r}; it must be one of {[*known]}")
    return value


def reduced(each: Array, reduction: Any) -> Array:
    """A loss: of each element (0), their mean (1) or their sum (2)."""
    return (lambda x: x, np.mean, np.sum)[one_of(range(3), reduction, "reduction")](each)


def mean_factor(x: Array, reduction: int) -> float:
    """The factor of a gradient whose loss is a mean."""
    return 1 / max(x.size, 1) if one_of(range(3), reduction, "reduction") == 1 else 1.0


def by_tanh(approximate: Any) -> bool:
    """Report whether a word or number asks for an approximation by the hyperbolic tangent."""
    known = {0: False, 1: True, "none": False, "tanh": True}
    return known[one_of(known, approximate, "approximate")]


def plus(x: Array, *others: Array) -> Array:
    """The sum of a tensor and those others that are not NULL."""
    return sum((other for other in others if other is not None), x)


def rms_normed(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    """Rows divided by the root of their mean square, times gamma; and the divisor's inverse."""
    inverse_root = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return x * inverse_root * gamma, inverse_root


def weighted(factor: Any, x: Array) -> Array:
    """A product; 0 without reading the tensor where the factor is 0."""
    return factor * x if factor != 0 else np.zeros_like(x)


def order(x: Array, axis: int, descending: bool = False) -> Array:
    """The order of elements along an axis: stable, NaN is the largest."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def taken(x: Array, places: Array, axis: int, keep: bool) -> tuple[Array, Array]:
    """Elements at places along an axis, one a line, and the places."""
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    pair = np.take_along_axis(x, np.expand_dims(places, axis), axis), np.expand_dims(places, axis)
    return pair if keep else (pair[0].squeeze(axis), pair[1].squeeze(axis))


def running_place(x: Array, extremes: Array, axis: int) -> Array:
    """The last place of each running extreme along an axis."""
    places = np.where((x == extremes) | np.isnan(x), along(np.arange(x.shape[axis]), x, axis), 0)
    return np.maximum.accumulate(places, axis)


def rounded_off(x: Array, mode: int) -> Array:
    """Elements without their fractions: 1 halves to even, 2 down, 3 up, 5 towards 0."""
    return {1: np.rint, 2: np.floor, 3: np.ceil, 5: np.trunc}[int(mode)](x)


def substituted(a: Array, b: Array, from_below: bool) -> Array:
    """The solution of ``a @ x = b``, row by row: elimination that exchanges rows loses it.

    Args:
        a: Triangular matrices.
        b: The right sides.
        from_below: True if the last row is first, as `a` has its upper triangle.
    """
    wide, length = np.result_type(a, np.float64), a.shape[-1]
    x = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *b.shape[-2:]), wide)
    for i in range(length)[:: -1 if from_below else 1]:
        known = slice(i + 1, None) if from_below else slice(i)
        others = a[..., i : i + 1, known].astype(wide) @ x[..., known, :]
        x[..., i, :] = (b[..., i, :] - others[..., 0, :]) / a[..., i, i, None]
    return x


def cdist_backward(gradient: Array, x1: Array, x2: Array, apart: Array, p: float) -> Array:
    """The gradient of p-norms of differences by the first rows; a pair's elements lie last."""
    difference = x1.astype(np.float64) - x2
    if np.isinf(p) or p < 0:  # on an Ascend 950, torch-npu passes -1 for infinity
        lengths = np.abs(difference).astype(x1.dtype)  # in which equal ones share the gradient
        slope = np.sign(difference) * (lengths == lengths.max(-1, keepdims=True, initial=0))
    elif p == 0:
        slope = 0 * difference
    else:
        powers = np.where(apart > 0, apart, 1).astype(np.float64) ** (p - 1)
        slope = np.sign(difference) * np.abs(difference) ** (p - 1) / powers
    return (gradient * slope * (apart > 0)).sum(-2)


def inverse(a: Array) -> Array:
    """The inverse of each matrix."""
    return _solved(np.linalg.inv, a)


def cholesky(a: Array) -> Array:
    """The lower triangle of each matrix whose product with its transpose is that."""
    return _solved(np.linalg.cholesky, a)


def _solved(function: Callable[[Array], Array], a: Array) -> Array:
    """A function of matrices; of zeros in a trial, which have no strides, NaN."""
    return function(a) if any(a.strides) else np.full(a.shape, np.nan)
