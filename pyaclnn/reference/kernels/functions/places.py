# SPDX-License-Identifier: Apache-2.0
"""Padding, joining, splitting, indexing, sorting and scattering."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.basic import axis, order
from pyaclnn.reference.kernels.promotion import indices_within, promoted, some, wide

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Array = Any
_REDUCE: list[Any] = [None, np.add, np.multiply, np.maximum, np.minimum]


def padded(x: Array, widths: Sequence[int], mode: str, **rule: Any) -> Array:
    """A tensor with a border: two widths an axis, the last axis first; negative ones cut it."""
    pairs = [*zip(widths[::2], widths[1::2], strict=True)][::-1]
    pairs = [(0, 0)] * (x.ndim - len(pairs)) + pairs
    wide = np.pad(x, np.maximum(pairs, 0), mode, **rule)  # type: ignore[call-overload]
    ends = [n + min(behind, 0) for n, (_, behind) in zip(wide.shape, pairs, strict=True)]
    return wide[tuple(slice(max(-a, 0), n) for n, (a, _) in zip(ends, pairs, strict=True))]


def gradient_of_copy(gradient: Array, x: Array, copy: Callable[[Array], Array]) -> Array:
    """The gradient of a function that only copies elements, by its argument; -1 is of none."""
    origins = copy(np.arange(x.size).reshape(x.shape)).ravel() + 1
    parts = (gradient.real, gradient.imag) if gradient.dtype.kind == "c" else (gradient,)
    counts = (np.bincount(origins, part.ravel(), x.size + 1)[1:] for part in parts)
    sums = [count.reshape(x.shape) for count in counts]
    return sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1]


def written(x: Array, places: Any, values: Any, function: Any = None) -> Array:
    """A copy of a tensor with other values in places, combined by a function if there is one."""
    made = np.array(x, np.result_type(x, values))
    if function is None:
        made[places] = values
    else:
        function.at(made, places, values)
    return made


def added(x: Array, places: Any, values: Any) -> Array:
    """A copy of a tensor with values added in places."""
    return written(x, places, values, np.add)


def lines(x: Array, axis: int, index: Array) -> tuple[Any, ...]:
    """The places of elements of a tensor that ``index`` names along an axis."""
    grid = list(np.indices(index.shape, sparse=True))
    grid[axis % x.ndim] = index
    return tuple(grid)


def scattered(x: Array, axis: int, index: Array, values: Any, reduce: int) -> Array:
    """A tensor with values at places along an axis: replaced (0), or combined."""
    chosen = values if np.ndim(values) == 0 else values[tuple(slice(n) for n in index.shape)]
    if x.ndim == 0:
        return scattered(x.reshape(1), 0, index.reshape(-1), np.reshape(chosen, -1), reduce)[0]
    return written(x, lines(x, axis, index), chosen, _REDUCE[reduce])


def slices(x: Array, axis: int, index: Any) -> tuple[Any, ...]:
    """The place of slices of an axis."""
    return (*[slice(None)] * (axis % max(x.ndim, 1)), index)


def named_elements(x: Array, indices: Sequence[Array | None], out: Array) -> Array:
    """Elements or slices that tensors of indices name."""
    return x[_index_places(indices, out)] if out.size else np.zeros(out.shape, x.dtype)


def elements_put(
    x: Array, indices: Sequence[Array | None], values: Array, accumulate: bool
) -> Array:
    """A tensor with values in places that tensors of indices name: none if one of them is empty."""
    named = [index for index in indices if index is not None and not _is_undefined(index, x)]
    if not values.size or not named or any(not index.size for index in named):
        return x
    return written(x, _index_places(indices, values), values, np.add if accumulate else None)


def _is_undefined(index: Array, x: Array) -> bool:
    """Return whether an index stands for none: torch-npu passes an empty tensor of x's type.

    Empty indices of an int64 tensor may be either; they are taken for undefined.
    """
    return bool(index.shape == (0,) and index.dtype == x.dtype)


def _index_places(indices: Sequence[Array | None], results: Array) -> tuple[Any, ...]:
    """The places that tensors of indices name; an undefined or empty one leaves its axis whole."""
    made: list[Any] = []
    for index in indices:
        if index is None or index.shape == (0,):
            made.append(slice(None))
        elif index.dtype == bool:
            made += _truths(index, results.shape[len(made) : len(made) + 1])
        else:
            made.append(index)
    return tuple(made)


def _truths(mask: Array, trial: tuple[int, ...]) -> list[Array]:
    """The places where a mask is true; in a trial, as many as there is room for."""
    if not any(mask.strides) and not mask.any():
        return [np.zeros(trial or (1,), np.int64)] * mask.ndim
    return list(np.nonzero(mask))


def repeated(x: Array, repeats: Any, axis: int | None, results: Array) -> Array:
    """Elements or slices, each as often as is asked for; in a trial, as many as there is room."""
    length = results.shape[axis or 0]
    places = np.repeat(np.arange(x.size if axis is None else x.shape[axis]), repeats)
    return np.take(x, np.resize(places, length) if places.size else [0] * length, axis)


def unique_elements(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    """The different elements or slices in order, NaNs apart, the place of each, and the counts."""
    if x.size == 0:
        kept = x if axis is not None else x.reshape(-1)
        return kept, np.zeros(x.shape, np.int64), np.zeros((0,), np.int64)
    found, places, counts = np.unique(x, False, True, True, axis, equal_nan=False)
    return found, places.reshape(x.shape if axis is None else -1), counts


def consecutive(x: Array, axis: int | None = None) -> tuple[Array, ...]:
    """Runs of equal elements or slices, the run of each of them, and their lengths."""
    rows = x.reshape(-1) if axis is None else np.moveaxis(x, axis, 0)
    flat = rows.reshape(len(rows), -1)
    starts = np.ones(len(rows), bool)
    starts[1:] = (flat[1:] != flat[:-1]).any(1)
    runs = np.cumsum(starts) - 1
    found = rows[starts] if axis is None else np.moveaxis(rows[starts], 0, axis)
    return found, runs.reshape(x.shape if axis is None else -1), np.bincount(runs)


def bags(
    table: Array, indices: Array, weights: Array, offsets: Array, rule: tuple[int, bool, int]
) -> tuple[Array, ...]:
    """Sums (0), means (1) or largest elements (2) of the rows of a table that bags of indices name.

    The rule is the mode, whether offsets have the end of the last bag, and an index that is none.

    Returns:
        The results, the bag of each index, the number of indices of each bag without padding, and
        with mode 2 the index of each largest element, else None.
    """
    mode, last, padding = rule
    starts = offsets[:-1] if last else offsets
    bag = np.searchsorted(starts, np.arange(len(indices)), "right") - 1
    counted = indices != padding
    sizes = np.bincount(bag[counted], minlength=len(starts))
    mine, named = bag[counted], indices_within("indices", indices[counted], len(table))
    rows = table[named]
    if mode == 2:  # noqa: PLR2004
        made = np.zeros((len(starts), table.shape[1]), table.dtype)
        chosen = np.zeros(made.shape, np.int64)
        for place in np.flatnonzero(sizes):
            best = rows[mine == place].argmax(0)
            chosen[place] = named[mine == place][best]
            made[place] = np.take_along_axis(rows[mine == place], best[None], 0)[0]
        return made, bag, sizes, chosen
    rows = rows if weights is None else rows * weights[counted][:, None]
    sums = added(np.zeros((len(starts), table.shape[1]), rows.dtype), mine, rows)
    return sums / np.maximum(sizes, 1)[:, None] if mode == 1 else sums, bag, sizes, None


def paged(cache: Array, slots: Array, rows: Array) -> Array:
    """A cache of pages, (pages, rows, ...), with rows written to slots; a slot below 0 is none."""
    made = np.array(cache).reshape(-1, *cache.shape[2:])
    made[slots[slots >= 0]] = rows[slots >= 0]
    return made.reshape(cache.shape)


def repeated_back(gradient: Array, repeats: Array, axis: int, results: Array) -> Array:
    """The gradient of `repeated` along an axis."""
    places = np.repeat(np.arange(results.shape[axis]), repeats)
    made = np.zeros(results.shape, gradient.dtype)
    if places.size:
        np.add.at(np.moveaxis(made, axis, 0), places, np.moveaxis(gradient, axis, 0))
    return made


def strided_slice(x: Array, bounds: Sequence[Sequence[int]], masks: Sequence[int]) -> Array:
    """Slices as TensorFlow's: masks say which bounds are open, new axes, or single elements."""
    begin, end, ellipsis, new, single = masks
    made: list[Any] = []
    for place, (start, stop, step) in enumerate(zip(*bounds, strict=True)):
        bit = 1 << place
        if ellipsis & bit:
            made.append(...)
        elif new & bit:
            made.append(None)
        elif single & bit:
            made.append(start)
        else:
            made.append(slice(None if begin & bit else start, None if end & bit else stop, step))
    return x[tuple(made)]


def joined(tensors: list[Array], dim: int) -> Array:
    """Tensors one behind the other; those of shape ``(0,)`` do not count."""
    kept = [tensor for tensor in some("tensors", tensors) if tensor.shape != (0,)] or tensors
    return np.concatenate(kept, axis(dim, kept[0]), dtype=promoted(*kept), casting="unsafe")


def bordered(x: Array, pad: Sequence[int], value: Any) -> Array:
    """A tensor in a border of a value: two widths an axis, the last axis first; some below 0."""
    if len(pad) % 2 or len(pad) > 2 * x.ndim:
        raise ValueError(f"pad has {len(pad)} elements; it must have two a dimension")
    sides = zip(pad[::2], pad[1::2], x.shape[::-1], strict=False)
    if any(before + after + length < 0 for before, after, length in sides):
        raise ValueError(f"pad {list(pad)} takes more away than {list(x.shape)} has")
    return padded(x, pad, "constant", constant_values=np.asarray(value).astype(x.dtype))


def pieces(x: Array, dim: int, lengths: Sequence[int] | int) -> list[Array]:
    """Pieces of lengths along an axis, or of one length, of which the last may be shorter."""
    along = axis(dim, x)
    count = x.shape[along]
    if lengths == 0:
        raise ValueError("splitSections is 0; it must be the length of a piece")
    if isinstance(lengths, int):
        return np.split(x, range(lengths, count, lengths), along)
    if sum(lengths) != count:
        raise ValueError(f"splitSize sums to {sum(lengths)}; it must be {count}")
    return np.split(x, np.cumsum(lengths)[:-1], along)


def gathered(x: Array, dim: int, index: Array) -> Array:
    """The elements that ``index`` names at its place, of each line along an axis."""
    along = axis(dim, x)
    if index.ndim != x.ndim:
        raise ValueError(f"index has {index.ndim} dimensions; it must have {x.ndim}, as self")
    lines = [slice(None) if along == k else slice(n) for k, n in enumerate(index.shape)]
    index = indices_within("index", index, x.shape[along])
    return np.take_along_axis(x[tuple(lines)], index, along)


def slices_at(x: Array, dim: int, index: Array, *, most: int = 8) -> Array:
    """Slices of an axis, in the order and shape of ``index``, of ``most`` axes."""
    if index.ndim > most:
        raise ValueError(f"index has {index.ndim} dimensions; it must have {most}")
    along = axis(dim, x)
    index = index.reshape(-1) if most == 1 else index
    return np.take(x, indices_within("index", index, x.shape[along]), along)


def ranked(x: Array, dim: int, descending: bool, count: int | None = None) -> tuple[Array, Array]:
    """The elements of an axis in order, the first ``count`` of them, and where each was.

    Equal ones stay in order: a sort that need not be stable may be. NaN is largest.
    """
    along = axis(dim, x)
    if count is not None and not 0 <= count <= x.shape[along]:
        raise ValueError(f"k is {count}; it must be in [0, {x.shape[along]}]")
    places = order(wide(x), along, descending)
    places = places if count is None else np.take(places, range(count), along)
    return np.take_along_axis(x, places, along), places
