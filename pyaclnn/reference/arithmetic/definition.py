# SPDX-License-Identifier: Apache-2.0
"""Definitions of operators: functions of named arguments, with their parameters as text."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.precision import rounded
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import DTypeLike, NDArray

__all__ = ["ChannelsGiven", "Given", "RowsGiven", "chosen", "defined", "definitions_of", "same"]


class Given:
    """Arguments of a definition by their names; None for each that there is not."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def array(self, name: str) -> NDArray[Any]:
        """Return an argument as an array."""
        return np.asarray(getattr(self, name))

    def dtype_like(self, name: str) -> np.dtype[Any]:
        """Return the data type that is asked for, else that of a tensor."""
        return self.array(name).dtype if self.dtype is None else np.dtype(self.dtype)

    def rows(self, name: str, shape: str = "gamma") -> RowsGiven:
        """Split a tensor into rows over the axes of another one, or over a shape that is given."""
        tensor = self.array(name)
        if shape == "normalized_shape":
            axes = self.normalized_shape
        else:
            shape, axes = f"the shape of {shape}", self.array(shape).shape
        return RowsGiven(self, RowLayout.of(name, tensor, shape, axes), tensor.dtype)

    def channels(self, name: str) -> ChannelsGiven:
        """Split a tensor into its samples and channels."""
        tensor = self.array(name)
        return ChannelsGiven(self, ChannelLayout.of(name, tensor), tensor.dtype)

    def passed_to(self, definition: FunctionType, **others: Any) -> Any:
        """Call another definition with those arguments that it has, and others."""
        known, code = vars(self) | others, definition.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return definition(**{name: known[name] for name in names if name in known})


class RowsGiven(NamedTuple):
    """Arguments of a definition on rows, in the data type of its arithmetic.

    Attributes:
        given: The arguments.
        layout: The rows of a tensor.
        dtype: The data type of that tensor.
    """

    given: Given
    layout: RowLayout
    dtype: np.dtype[Any]

    def matrix(self, name: str) -> NDArray[Any]:
        """Bring a tensor of the layout's shape to (M, N)."""
        return self.layout.wide_matrix(name, getattr(self.given, name))

    def columns(self, name: str) -> NDArray[Any]:
        """Bring one number per row to (M, 1)."""
        return self.layout.wide_columns(name, getattr(self.given, name))

    def row(self, name: str, absent: float = 1) -> NDArray[Any]:
        """Bring a tensor of the normalized shape to (N,), or the number that a missing one has."""
        return self.layout.wide_row(name, getattr(self.given, name), absent)

    def scale(self, name: str, absent: float = 0) -> NDArray[Any] | float:
        """Bring a tensor of the normalized shape, or one number for all, to (N,) or (1,)."""
        value = getattr(self.given, name)
        return absent if value is None else self.layout.wide_scale(name, value)

    def tensor(self, numbers: NDArray[Any], dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Bring (M, N) results to the tensor's shape, rounded to its data type or another one."""
        return self.layout.tensor(numbers, self.dtype if dtype is None else dtype)

    def statistics(self, *columns: NDArray[Any]) -> Sequence[NDArray[Any]]:
        """Bring (M, 1) results to the shape of one number per row."""
        return [self.layout.statistic(each) for each in columns]

    def parameters(self, *rows: NDArray[Any]) -> Sequence[NDArray[Any]]:
        """Add up (M, N) results over all rows: gradients of the normalized shape."""
        return [self.layout.parameter(each) for each in rows]


class ChannelsGiven(NamedTuple):
    """Arguments of a definition on channels, in the data type of its arithmetic.

    Attributes:
        given: The arguments.
        layout: The channels of a tensor.
        dtype: The data type of that tensor.
    """

    given: Given
    layout: ChannelLayout
    dtype: np.dtype[Any]

    def wide(self, name: str) -> NDArray[Any]:
        """Bring a tensor of the layout's shape to (N, C, S)."""
        return self.layout.wide(name, getattr(self.given, name))

    def each(self, name: str, absent: float) -> NDArray[Any]:
        """Bring one number per channel to (C, 1), or the number that a missing one has."""
        return self.layout.per_channel(name, getattr(self.given, name), absent)

    def groups(self, name: str) -> int:
        """Return a number of groups, into which the channels must split."""
        count: int = getattr(self.given, name)
        self.layout.check_groups(name, count)
        return count

    def tensor(self, numbers: NDArray[Any], dtype: DTypeLike | None = None) -> NDArray[Any]:
        """Bring results to the tensor's shape, rounded to its data type or another one."""
        kind = self.dtype if dtype is None else np.dtype(dtype)
        return rounded(numbers, kind).reshape(self.layout.shape)


def defined(
    parameters: str, results: str | type[Any] | None = None
) -> Callable[[Callable[[Given], Any]], FunctionType]:
    """Make a function of an operator of the body of its definition.

    A body takes all arguments as one, and returns a result, or all of them in order. Infinities and
    NaNs follow IEEE arithmetic in it.

    Args:
        parameters: The parameters of the function, as Python has them.
        results: The name of the named tuple of results, a colon and their names; or the tuple that
            another definition has; None for one result.

    Returns:
        A decorator.
    """

    def make(body: Callable[[Given], Any]) -> FunctionType:
        kind = result_class(results, body.__module__) if isinstance(results, str) else results

        def compute(arguments: dict[str, Any]) -> Any:
            given = Given()
            given.__dict__ = arguments
            with np.errstate(all="ignore"):  # one decorator for all calls mixes states of threads
                found = body(given)
            return found if kind is None else kind._make(found)

        text = f"lambda {parameters}: compute(locals())"
        function: FunctionType = eval(text, {"compute": compute})  # noqa: S307  # our own
        functools.update_wrapper(function, body)
        del function.__wrapped__  # type: ignore[attr-defined]
        # Tracebacks and inspect.getsource read where the body is written.
        code, place = body.__code__, ("co_filename", "co_firstlineno", "co_name")
        moved: dict[str, Any] = {each: getattr(code, each) for each in place}
        function.__code__ = function.__code__.replace(**moved)
        function.__annotations__ = {"return": kind.__name__ if kind else "NDArray[Any]"}
        vars(function).update(parameters=parameters, kind=kind)
        return function

    return make


def same(definition: Any) -> Callable[[Callable[[Given], Any]], FunctionType]:
    """Make a function with the parameters and results of a definition, see `defined`."""
    return defined(definition.parameters, definition.kind)


@functools.cache
def result_class(text: str, module: str) -> Any:
    """Return the named tuple of a text as `defined` has it, one for equal texts of a module."""
    name, _, fields = text.partition(": ")
    kind = namedtuple(name, fields)  # type: ignore[misc]  # noqa: PYI024
    kind.__module__, kind.__doc__ = module, None
    setattr(sys.modules[module], name, kind)  # where pickle looks for it
    return kind


def chosen(mask: Sequence[bool], *gradients: Any) -> tuple[Any, ...]:
    """Return gradients, with None for each that a mask leaves out."""
    if len(mask) != len(gradients):
        raise ValueError(
            f"output_mask has {len(mask)} elements; it must have one for each of the "
            f"{len(gradients)} gradients"
        )
    return tuple(g if wanted else None for g, wanted in zip(gradients, mask, strict=True))


def definitions_of(module: ModuleType) -> Mapping[str, Any]:
    """Return the operators that a module defines, and what they return, by public names."""
    own = {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and hasattr(value, "kind")
        and value.__module__ == module.__name__
    }
    kinds = {f.kind.__name__: f.kind for f in own.values() if f.kind is not None}
    return own | kinds
