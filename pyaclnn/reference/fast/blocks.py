# SPDX-License-Identifier: Apache-2.0
"""Definitions applied to one part of a large tensor after the other, on all processors.

Where the parts of a tensor along an axis have nothing to do with one another, a definition can be
given some of them at a time: its temporary arrays then fit the processor's cache, and need little
memory.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pyaclnn.reference.fast.results import empty
from pyaclnn.reference.fast.workers import plain_arithmetic, spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["Cut", "in_blocks"]

# As many elements as a block has about: 1 MiB of float32. Larger temporary arrays are given back to
# the system each time, and getting their pages again takes longer than the arithmetic.
BLOCK_ELEMENTS = 262144
# Blocks are not cut smaller than this; tensors of less than two are not cut.
FEWEST_ELEMENTS = 131072
BLOCKS = 8
# The size of the buffers in which NumPy converts what it adds up.
BUFFER = 8192

Function = TypeVar("Function", bound="Callable[..., Any]")


class Cut(NamedTuple):
    """Where a call can be cut.

    Attributes:
        views: The arguments that are cut, as arrays with the parts along `axis`.
        axis: The axis.
        parts: Their number.
        lead: The axes in place of the first one in every result; nothing if that stays.
        least: The parts of a block at least. Parts that are less than a few lines of the cache are
            fetched with their neighbours, as often as these lie in other blocks.
    """

    views: dict[str, NDArray[Any]]
    axis: int
    parts: int
    lead: tuple[int, ...]
    least: int = 1


def in_blocks(cut: Callable[[dict[str, Any]], Cut | None]) -> Callable[[Function], Function]:
    """Make a function of a definition that does the same, some parts at a time.

    Args:
        cut: Returns where the arguments, by their names, can be cut; None if they cannot.

    Returns:
        A decorator that makes a fast function of a definition.
    """

    def wrap(definition: Function) -> Function:
        signature = inspect.signature(definition)

        @functools.wraps(definition)
        def fast(*args: Any, **kwargs: Any) -> Any:
            arguments = signature.bind(*args, **kwargs).arguments
            found = cut(arguments)
            parts = [] if found is None else slices(found)
            if found is None or len(parts) < 2:  # noqa: PLR2004
                return definition(*args, **kwargs)
            try:
                return applied(definition, arguments, found, parts)
            except (TypeError, ValueError):
                # The definition reports errors of whole tensors.
                return definition(*args, **kwargs)

        return fast  # type: ignore[return-value]

    return wrap


def slices(cut: Cut) -> list[slice]:
    """Cut evenly, whatever the number of processors."""
    size = max(view.size for view in cut.views.values())
    elements = min(BLOCK_ELEMENTS, max(FEWEST_ELEMENTS, size // BLOCKS))
    if size < 2 * FEWEST_ELEMENTS:
        return []
    count = min(max(cut.parts // cut.least, 1), math.ceil(size / elements))
    edges = [cut.parts * block // count for block in range(count + 1)]
    return [slice(*pair) for pair in itertools.pairwise(edges)]


def applied(
    definition: Callable[..., Any], arguments: dict[str, Any], cut: Cut, parts: list[slice]
) -> Any:
    """Apply a definition to each block, and put the results where they belong."""

    def work(part: slice) -> Any:
        blocks = {name: select(view, cut.axis, part) for name, view in cut.views.items()}
        return definition(**(arguments | blocks))

    def store(outputs: list[Any], result: Any, part: slice) -> None:
        for output, block in zip(outputs, fields(result), strict=True):
            if output is not None:
                place = select(output, cut.axis, part)
                words = f"u{block.itemsize}"  # NumPy copies bfloat16 one number after the other
                place.view(words)[...] = block.view(words)

    with plain_arithmetic(BUFFER):
        first = work(parts[0])
        outputs: list[Any] = [like(block, cut) for block in fields(first)]
        store(outputs, first, parts[0])
        spread(lambda part: store(outputs, work(part), part), parts[1:])
    if cut.lead:
        outputs = [
            None if output is None else output.reshape(cut.lead + output.shape[1:])
            for output in outputs
        ]
    return type(first)(*outputs) if isinstance(first, tuple) else outputs[0]


def like(block: NDArray[Any] | None, cut: Cut) -> NDArray[Any] | None:
    """Make room for what a block is a part of."""
    if block is None:
        return None
    shape = list(block.shape)
    shape[min(cut.axis, block.ndim - 1)] = cut.parts
    return empty(tuple(shape), block.dtype)


def fields(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple) else (result,)


def select(array: NDArray[Any], axis: int, part: slice) -> NDArray[Any]:
    """Take some parts; of an array with fewer axes they are along the last."""
    return array[(slice(None),) * min(axis, array.ndim - 1) + (part,)]
