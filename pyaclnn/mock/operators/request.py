# SPDX-License-Identifier: Apache-2.0
"""Request to run a described operator: its arguments, and what phase 1 finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.facts.operators.parameters import Kind, Option
from pyaclnn.mock.protocol.dtypes import format_name, numpy_dtype, type_word
from pyaclnn.mock.protocol.values import (
    BoolArray,
    Flag,
    FloatArray,
    IntArray,
    Scalar,
    Tensor,
    TensorList,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.chips import Chip
    from pyaclnn.facts.operators.operator import Operator
    from pyaclnn.facts.operators.parameters import Parameter, Tensor as Described
    from pyaclnn.facts.operators.words import Lengths
    from pyaclnn.mock.operators.operator import Setting

__all__ = ["CHANNELS_LAST", "POINTERS", "Request", "kind_of"]

_ARRAYS = (IntArray, BoolArray, FloatArray)
_KINDS: dict[Kind, type] = {
    Kind.REAL: float,
    Kind.INTEGER: int,
    Kind.FLAG: bool,
    Kind.LENGTHS: IntArray,
    Kind.AXES: IntArray,
    Kind.MASK: BoolArray,
    Kind.SCALAR: Scalar,
    Kind.DTYPE: int,
    Kind.STRING: str,
    Kind.ABSENT: Tensor,
}
CHANNELS_LAST = {4: "NHWC", 5: "NDHWC"}
"""The format with the channels at the end, by the number of axes."""

POINTERS = (IntArray, BoolArray, Scalar, Tensor, TensorList, str)
"""The classes of arguments that may be NULL."""


def kind_of(parameter: Parameter, *, each: bool = False) -> type:
    """The class of a parameter's values, of which an operator may take a list of each tensor."""
    if isinstance(parameter, Option):
        return _KINDS[parameter.kind]
    return TensorList if each else Tensor


class Request:
    """A call.

    Args:
        operator: The operator.
        arguments: Its arguments in the order of C.

    Attributes:
        chip: The chip.
        deterministic: True if results must be the same in every run.
        tensors: The arguments by Python names, None for NULL.
        values: The same, and the options as plain values.
        types: The words of the types of tensors and scalars, by Python names.
        bound: The types that words stand for.
        known: The lengths of axes and groups of axes.
        is_learned: True if these lengths have been looked for.
        squeezed: The tensors whose first axis is ignored, by Python names.
        flags: Bits of `pyaclnn.mock.protocol.values.Flag`.
        fills: The numbers that outputs are filled with, by Python names, if nothing is computed.
        prepared: State that its kernel keeps from run to run.
    """

    chip: Chip

    def __init__(self, operator: Operator, *arguments: Any) -> None:
        self.operator = operator
        self.deterministic = False
        self.tensors: dict[str, Any] = {}
        self.values: dict[str, Any] = {}
        self.types: dict[str, str] = {}
        self.bound: dict[str, str] = {}
        self.known: Lengths = {}
        self.is_learned = False
        self.flags = 0
        self.squeezed: tuple[str, ...] = ()
        self.fills: dict[str, float] | None = None
        self.prepared: Any = None
        self._seen: list[tuple[Tensor, Tensor]] = []
        for parameter, value in zip(operator.parameters.values(), arguments, strict=True):
            name = parameter.name
            if isinstance(parameter, Option):
                self.values[name] = _plain(parameter, value)
                if isinstance(value, Scalar):
                    self.types[name] = type_word(value.data_type)
            else:
                self.tensors[name] = self.values[name] = value
                if value is not None:
                    self.types[name] = type_word(value.data_type)

    def c_name(self, name: str) -> str:
        """The C name of what is called so in Python."""
        return self.operator.by_name[name].c_name

    def start(self, setting: Setting) -> None:
        """Begin phase 1 on a chip."""
        self.chip, self.flags = setting.chip, setting.flags
        self.deterministic = bool(setting.flags & Flag.DETERMINISTIC)
        self.bound, self.known, self.is_learned, self.fills = {}, {}, False, None
        self.prepared = None
        if self.chip.family in self.operator.channels_last:
            self._move_channels()
        self.squeezed = tuple(self.operator.hooks.squeezed(self))
        for name in self.squeezed:
            given = self.tensors[name]
            self._see(name, given, given.dims[1:], given.strides[1:])

    def _move_channels(self) -> None:
        """See tensors with their channels at the end as if these were axis 1."""
        shape = self.operator.primary.shape
        for tensor in self.operator.tensors:
            given = self.tensors[tensor.name]
            if given is not None and tensor.shape == shape and _channels_are_last(given):
                self._see(tensor.name, given, _moved(given.dims), _moved(given.strides))

    def _see(
        self, name: str, given: Tensor, dims: tuple[int, ...], strides: tuple[int, ...]
    ) -> None:
        """See a tensor as if it had other axes."""
        seen = replace(given, dims=dims, strides=strides)
        self.tensors[name] = self.values[name] = seen
        self._seen.append((seen, given))

    def resume(self) -> None:
        """Look where the tensors are now."""
        for seen, given in self._seen:
            seen.address = given.address

    def wants(self, tensor: Described) -> bool:
        """Return whether a tensor is read, or written and required."""
        return not tensor.written or self.operator.wants(tensor, self.values)

    def takes_part(self, name: str) -> bool:
        """Return whether an argument, by its Python name, is there, and is read or wanted."""
        parameter = self.operator.by_name[name]
        wanted = isinstance(parameter, Option) or parameter.read or self.wants(parameter)
        return wanted and self.values[name] is not None

    def given(self) -> Iterator[tuple[Described, Tensor]]:
        """The tensors that are there and take part, in the order of C."""
        for tensor in self.operator.tensors:
            value = self.tensors[tensor.name]
            if value is not None and (tensor.read or self.operator.wants(tensor, self.values)):
                yield tensor, value


def _channels_are_last(given: Tensor) -> bool:
    return CHANNELS_LAST.get(given.rank) == format_name(given.format)


def _moved(axes: tuple[int, ...]) -> tuple[int, ...]:
    return (axes[0], axes[-1], *axes[1:-1])


def _plain(option: Option, value: Any) -> Any:
    if isinstance(value, _ARRAYS):
        return value.values
    if isinstance(value, Scalar):
        return float(np.frombuffer(value.data, numpy_dtype(value.data_type))[0].real)
    if option.kind is Kind.DTYPE:
        return type_word(value)
    return value
