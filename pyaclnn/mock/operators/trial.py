# SPDX-License-Identifier: Apache-2.0
"""Trial of a kernel in phase 1: shapes of results, at a cost that no tensor's size changes.

A kernel runs on zeros, as long as they are few. Long dimensions of large tensors are replaced by
short ones, equal ones by equal ones, and the kernel runs on a few such probes. Two of them fit the
tensors where the shapes of results are lengths of arguments. Else one more a length shows whether
the results' lengths depend on them linearly, as those of a concatenation do; then the real ones
follow. Before a refusal, two more probes must agree: one with the remainders of the real lengths,
because a kernel may divide them into blocks, and one with lengths far apart, because it may take
strides. Whatever else depends on the lengths is left to phase 2.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.base.errors import text_of
from pyaclnn.mock.operators.kernel_call import CountError, zeros
from pyaclnn.mock.operators.limits import items_of
from pyaclnn.mock.protocol.values import IntArray, Tensor, TensorList

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyaclnn.mock.operators.kernel_call import KernelCall, Result
    from pyaclnn.mock.protocol.values import Value

__all__ = ["MisfitError", "require_fit", "try_kernel"]

_FEW: Final = 1 << 10
"""Most elements of a tensor that are tried as they are, and the largest number of a call."""
_MANY: Final = 1 << 16
"""Most elements of a tensor of a probe that keeps short lengths."""
_MOST: Final = 1 << 22
"""Most elements of a tensor of the probe whose lengths are far apart, which only errors need."""
_SHORT: Final = 8
"""Longest length that a probe keeps, if it stays small: such a number may mean something else."""
_GAP: Final = 2
"""Distance of the lengths in a probe, so that one of them can be longer by one."""
_BLOCKS: Final = (64, 16)
"""Numbers whose multiples a probe adds to a length's remainder, as far as it stays small."""
_NUMBER: Final = re.compile(r"\d+")


class MisfitError(ValueError):
    """Result whose shape is not that of its tensor."""


class _Probe(NamedTuple):
    """Outcome of a kernel on one choice of short lengths.

    Attributes:
        lengths: The short lengths, by the real ones.
        results: The results; empty if the kernel has raised an error.
        error: The text of the error, or empty.
    """

    lengths: Mapping[int, int]
    results: Sequence[Result]
    error: str

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """The shapes of the results."""
        return [result.array.shape for result in self.results]


def try_kernel(call: KernelCall, values: dict[str, Value]) -> None:
    """Run a kernel for the shapes of its results, and compare these with the tensors.

    Args:
        call: The kernel and the operator's signature.
        values: The arguments by their C names.

    Raises:
        MisfitError: A result has another shape than its tensor.
        TypeError: The kernel raises it.
        ValueError: The kernel raises it, or a result has another data type.
    """
    long = _long_lengths(call, values)
    if not long:
        for result in call.results(values, zeros):
            require_fit(result, shrinks=call.kernel.shrinks)
        return
    base = _replacements(call, values, long)
    if _largest(values, base) > _MANY:
        return  # a probe cannot be small and have lengths above the call's numbers
    try:
        first = _probe(call, values, base)
        last = _probe(call, values, {length: short + 1 for length, short in base.items()})
        wrong: ValueError | None = None
        if first.error and last.error:
            text = _real_text(first, last)
            wrong = ValueError(text) if text and _fails_too(call, values, first) else None
        elif not (first.error or last.error or (_fits(call, first) and _fits(call, last))):
            wrong = _misfit(call, values, first, last)
    except CountError:
        return  # the number of results depends on the lengths
    if wrong is not None:
        raise wrong


def _long_lengths(call: KernelCall, values: dict[str, Value]) -> list[int]:
    """Return the lengths that probes replace, in order; none if all tensors are small."""
    tensors = [dims for value in values.values() for dims in _dims(value)]
    numbers = [n for name in _counts(call, values) for n in _integers(values[name])]
    if all(_elements(dims) <= _FEW for dims in tensors) and all(abs(n) <= _FEW for n in numbers):
        return []
    lengths = {length for dims in tensors for length in dims} | {n for n in numbers if n > _FEW}
    least = _largest_kept(call, values)
    long = sorted(length for length in lengths if length > max(_SHORT, least))
    if least <= _SHORT and _largest(values, _replacements(call, values, long)) > _MANY:
        long = sorted(length for length in lengths if length > 1)
    return long


def _largest_kept(call: KernelCall, values: dict[str, Value]) -> int:
    """Return the largest integer that probes keep; short lengths are above it, as long ones are."""
    numbers = (abs(n) for name in _counts(call, values) for n in _integers(values[name]))
    return max((n for n in numbers if n <= _FEW), default=0)


def _largest(values: dict[str, Value], short: Mapping[int, int]) -> int:
    """Return the number of elements of a probe's largest tensor."""
    tensors = (dims for value in values.values() for dims in _dims(value))
    return max((_elements(tuple(short.get(n, n) for n in dims)) for dims in tensors), default=1)


def _dims(value: Value) -> Iterator[tuple[int, ...]]:
    return (item.dims for item in items_of(value) if isinstance(item, Tensor))


def _elements(dims: tuple[int, ...]) -> int:
    """Count the elements of a tensor, and of its slices if it has none."""
    return math.prod(length for length in dims if length)


def _counts(call: KernelCall, values: dict[str, Value]) -> list[str]:
    """Return the arguments that are integers, or lists of them, and no data types."""
    types = call.signature.types
    return [name for name, value in values.items() if name not in types and _integers(value)]


def _integers(value: Value) -> tuple[int, ...]:
    if isinstance(value, IntArray):
        return value.values
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else ()


def _replacements(
    call: KernelCall, values: dict[str, Value], long: Sequence[int]
) -> dict[int, int]:
    """Choose short lengths, in the order of the long ones and above all integers that stay."""
    least = max(1, _largest_kept(call, values)) + 1
    return {length: least + _GAP * i for i, length in enumerate(long)}


def _remainders(call: KernelCall, values: dict[str, Value], first: _Probe) -> dict[int, int] | None:
    """Choose different lengths with the remainders of the real ones; None if too long.

    Results that outgrow the arguments, such as a matrix of a vector's elements, allow few of them.
    """
    largest = max((math.prod(shape) for shape in first.shapes), default=0)
    read = {name: values[name] for name in call.signature.read}
    most = _FEW if largest > _GAP * _largest(read, first.lengths) else _MANY
    least = min(first.lengths.values(), default=1)
    for block in _BLOCKS:
        short: dict[int, int] = {}
        for length in first.lengths:
            found = -(-least // block) * block + length % block
            while found in short.values():
                found += block
            short[length] = found
        if _largest(values, short) <= most:
            return short
    return None


def _far_apart(call: KernelCall, values: dict[str, Value], first: _Probe) -> dict[int, int] | None:
    """Choose lengths that exceed one another by a factor above all integers; None if too long.

    A window of one of them, whatever its dilation, moves in the next one, whatever its stride.
    """
    kept = _largest_kept(call, values)
    short, least = {}, 2 * kept + 1
    for length in first.lengths:
        short[length] = least
        least = (kept + 1) * least + 1
    return short if _largest(values, short) <= _MOST else None


def _confirming(
    call: KernelCall, values: dict[str, Value], first: _Probe
) -> Iterator[_Probe | None]:
    """Run the probes that must agree before a refusal; None stands for one that is too large."""
    for choose in (_remainders, _far_apart):
        short = choose(call, values, first)
        yield None if short is None else _probe(call, values, short)


def _probe(call: KernelCall, values: dict[str, Value], short: Mapping[int, int]) -> _Probe:
    """Run the kernel with short lengths instead of the long ones.

    Raises:
        CountError: There are more or fewer tensors than results.
    """
    counts = _counts(call, values)

    def shortened(name: str, value: Value) -> Value:
        if isinstance(value, TensorList):
            return TensorList(tuple(item and _shortened(item, short) for item in value.items))
        if isinstance(value, Tensor):
            return _shortened(value, short)
        if name not in counts:
            return value
        numbers = tuple(short.get(n, n) for n in _integers(value))
        return IntArray(numbers) if isinstance(value, IntArray) else numbers[0]

    try:
        given = {name: shortened(name, value) for name, value in values.items()}
        return _Probe(short, call.results(given, zeros), "")
    except CountError:
        raise
    except (ValueError, TypeError, IndexError) as error:
        return _Probe(short, [], text_of(error))


def _shortened(tensor: Tensor, short: Mapping[int, int]) -> Tensor:
    return replace(tensor, dims=tuple(short.get(length, length) for length in tensor.dims))


def _fits(call: KernelCall, probe: _Probe) -> bool:
    return not any(r.misfit(r.array.shape, shrinks=call.kernel.shrinks) for r in probe.results)


def _real_text(first: _Probe, last: _Probe) -> str:
    """Return the text that both probes' errors have, with the real lengths; empty if none is.

    A number of the text is a constant, or the short length of the same real one in both.
    """
    if _NUMBER.sub("", first.error) != _NUMBER.sub("", last.error):
        return ""
    real = {(short, last.lengths[long]): long for long, short in first.lengths.items()}
    found = []
    for one, other in zip(
        *(map(int, _NUMBER.findall(p.error)) for p in (first, last)), strict=True
    ):
        if one != other and (one, other) not in real:
            return ""
        found.append(str(one if one == other else real[one, other]))
    numbers = iter(found)
    return _NUMBER.sub(lambda _: next(numbers), first.error)


def _fails_too(call: KernelCall, values: dict[str, Value], first: _Probe) -> bool:
    """Report whether the kernel fails alike with other lengths.

    It must also fail with the tensors themselves, if a probe may have so many elements: a length
    that probes keep may be the sum of a long one and a number, as in padding.
    """
    probes = _confirming(call, values, first)
    if not all(probe is not None and _real_text(first, probe) for probe in probes):
        return False
    return _largest(values, {}) > _MANY or _probe(call, values, {}).error != ""


def _misfit(
    call: KernelCall, values: dict[str, Value], first: _Probe, last: _Probe
) -> MisfitError | None:
    """Return the error of a shape that depends linearly on the lengths, and is not the tensor's."""
    steps = []
    for length in first.lengths:
        longer = {**first.lengths, length: first.lengths[length] + 1}
        probe = _probe(call, values, longer)
        if probe.error or [*map(len, probe.shapes)] != [*map(len, first.shapes)]:
            return None
        steps.append(probe.shapes)
    slopes = [
        [
            [longer - length for longer, length in zip(step[place], shape, strict=True)]
            for step in steps
        ]
        for place, shape in enumerate(first.shapes)
    ]

    def shapes_at(lengths: Mapping[int, int]) -> list[tuple[int, ...]]:
        more = [lengths[n] - first.lengths[n] for n in first.lengths]
        return [_at(*found, more) for found in zip(first.shapes, slopes, strict=True)]

    if last.shapes != shapes_at(last.lengths):
        return None
    probes = _confirming(call, values, first)
    if not all(probe is not None and probe.shapes == shapes_at(probe.lengths) for probe in probes):
        return None
    real = shapes_at({n: n for n in first.lengths})
    written = (item for name in call.signature.written for item in items_of(values[name]))
    targets = [item for item in written if isinstance(item, Tensor)]
    for result, target, shape in zip(first.results, targets, real, strict=True):
        wrong = result._replace(tensor=target).misfit(shape, shrinks=call.kernel.shrinks)
        if wrong is not None:
            return MisfitError(wrong)
    return None


def _at(
    shape: tuple[int, ...], slopes: Sequence[Sequence[int]], more: Sequence[int]
) -> tuple[int, ...]:
    """Return the lengths that follow linearly from those of the first probe."""
    return tuple(
        length + sum(slope[axis] * n for slope, n in zip(slopes, more, strict=True))
        for axis, length in enumerate(shape)
    )


def require_fit(result: Result, *, shrinks: bool) -> None:
    """Require the shape of a result to be that of its tensor.

    Args:
        result: The result.
        shrinks: True if it may be shorter than the tensor.

    Raises:
        MisfitError: It is another one.
    """
    if wrong := result.misfit(result.array.shape, shrinks=shrinks):
        raise MisfitError(wrong)
