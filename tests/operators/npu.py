# SPDX-License-Identifier: Apache-2.0
"""Calls of the tables on a simulated device in this process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import ml_dtypes
import numpy as np

from pyaclnn.facts.releases import RELEASES
from pyaclnn.mock.protocol.batch import Run
from pyaclnn.mock.protocol.values import (
    BoolArray,
    Call,
    Flag,
    IntArray,
    Scalar as ScalarValue,
    Tensor,
    TensorList,
)
from tests.mock_device.bench import BASE, WORKSPACE, Bench, numbers, row_major
from tests.operators.table import POINTERS, Table
from tests.operators.words import (
    FORMATS,
    SOC_NAMES,
    TYPES,
    Argument,
    Array,
    Bools,
    Dtype,
    Ints,
    Scalar,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.mock.protocol.wire import CheckReply

__all__ = ["Npu", "Outcome", "named", "numpy_type", "release_of"]

_ABSENT = {"workspaceSize": Flag.NO_WORKSPACE_POINTER, "executor": Flag.NO_EXECUTOR_POINTER}
_NUMPY: dict[str, Any] = {
    "DOUBLE": np.float64,
    "FLOAT": np.float32,
    "FLOAT16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "INT8": np.int8,
    "UINT8": np.uint8,
    "INT32": np.int32,
    "INT64": np.int64,
    "COMPLEX64": np.complex64,
    "FLOAT8_E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8_E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8_E8M0": ml_dtypes.float8_e8m0fnu,
}


def release_of(table: Table) -> str:
    """The oldest release that a table holds for, by the name of a simulated one."""
    return next(name for name in RELEASES if table.is_in(name))


def named(table: Table, chip: str) -> str:
    """Return the id of a test of an operator on a chip family."""
    return f"{table.name}-{release_of(table)}-{chip}"


def numpy_type(dtype: str) -> np.dtype[Any]:
    """The NumPy type of a type's name."""
    found: np.dtype[Any] = np.dtype(_NUMPY[dtype])
    return found


def _bare(argument: Argument) -> Value:
    """An argument for phase 1, which looks at no memory."""
    if isinstance(argument, Array):
        dims, form = argument.shape, FORMATS[argument.format]
        strides = argument.strides or row_major(dims)
        return Tensor(TYPES[argument.dtype], form, dims, strides, 0, dims, BASE)
    if isinstance(argument, Ints):
        return IntArray(argument.values)
    if isinstance(argument, Bools):
        return BoolArray(argument.values)
    if isinstance(argument, Scalar):
        value = np.array(argument.value, numpy_type(argument.dtype))
        return ScalarValue(TYPES[argument.dtype], value.tobytes())
    if isinstance(argument, Dtype):
        return TYPES[argument.name]
    return argument


def _listed(table: Table, values: dict[str, Value]) -> dict[str, Value]:
    """The same, with tensors in lists of one where the operator takes lists."""
    if not table.each:
        return values
    return {
        name: TensorList((value,)) if isinstance(value, Tensor) else value
        for name, value in values.items()
    }


def _flags(arguments: Mapping[str, Argument]) -> int:
    return sum(flag for name, flag in _ABSENT.items() if name in arguments and not arguments[name])


@dataclass
class Outcome:
    """Outcome of a call.

    Attributes:
        reply: What phase 1 answered.
        status: What the kernels answered; None if phase 1 refused.
        before: The tensors as they were.
        after: The tensors as they are now.
    """

    reply: CheckReply
    status: int | None
    before: dict[str, NDArray[np.float64]]
    after: dict[str, NDArray[np.float64]]


class Npu:
    """A simulated device of a family of chips.

    Args:
        chip: The family.

    Attributes:
        tried: How often phase 1 and kernels have been called, on all devices of this process.
    """

    tried: ClassVar[Counter[str]] = Counter()

    def __init__(self, chip: str) -> None:
        self.chip = chip
        self._bench = Bench(SOC_NAMES[chip])
        self._first = self._bench._next

    def close(self) -> None:
        """Give the device back."""
        self._bench.close()

    def check(self, table: Table, arguments: Mapping[str, Argument], flags: int = 0) -> CheckReply:
        """Run phase 1."""
        self._bench.device.release = release_of(table)
        values = {name: _bare(arguments[name]) for name in table.base}
        self.tried["phase 1"] += 1
        return self._bench.check(table.name, _listed(table, values), _flags(arguments) | flags)

    def run(
        self,
        table: Table,
        arguments: Mapping[str, Argument],
        layout: Mapping[str, tuple[tuple[int, ...], int]] | None = None,
    ) -> Outcome:
        """Run both phases.

        Args:
            table: The operator.
            arguments: Its arguments; tensors without values get some.
            layout: Strides and offsets of tensors that are not dense, in elements.
        """
        self._bench._next = self._first
        self._bench.device.release = release_of(table)
        layout = layout or {}
        values = {}
        for seed, (name, argument) in enumerate(arguments.items()):
            if name in POINTERS:
                continue
            values[name] = _bare(argument)
            if isinstance(argument, Array):
                values[name] = self._place(
                    table, name, argument, seed, *layout.get(name, (None, 0))
                )
        placed = {name: value for name, value in values.items() if isinstance(value, Tensor)}
        before = {name: self._bench.get(value) for name, value in placed.items()}
        with np.errstate(all="ignore"):
            call = Call(table.name, _flags(arguments), _listed(table, values))
            reply = self._bench.device.check(call)
            self.tried["phase 1"] += 1
            status = None
            if reply.status == 0:
                request = Run(WORKSPACE, reply.workspace_size, call)
                status = self._bench.device.run(request).status
                self.tried["kernels"] += 1
        after = {name: self._bench.get(value) for name, value in placed.items()}
        self.placed = placed
        return Outcome(reply, status, before, after)

    def storage(self, name: str) -> NDArray[np.float64]:
        """The memory behind a tensor of the last call, gaps and all."""
        return self._bench.storage(self.placed[name])

    def _place(
        self,
        table: Table,
        name: str,
        wanted: Array,
        seed: int,
        strides: tuple[int, ...] | None,
        offset: int,
    ) -> Tensor:
        code = TYPES[wanted.dtype]
        written = name in table.results and name not in table.updated
        if written and wanted.values is None:
            made = self._bench.empty(*wanted.shape, data_type=code, strides=strides, offset=offset)
        else:
            if wanted.values is None:
                found = numbers(seed, *wanted.shape)
            else:
                found = np.array(wanted.values).reshape(wanted.shape)
            made = self._bench.put(found, code, strides, offset)
        made.format = FORMATS[wanted.format]
        return made
