# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator call in the protocol between host and device process."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag
from math import prod
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "RANKS_SHIFT",
    "BoolArray",
    "Call",
    "Flag",
    "FloatArray",
    "IntArray",
    "Scalar",
    "ScalarList",
    "Tensor",
    "TensorList",
    "Unsigned",
    "Value",
]


class Unsigned(int):
    """An ``uint64_t`` argument; a plain ``int`` is an ``int64_t``."""

    __slots__ = ()


@dataclass(slots=True)
class Tensor:
    """An ``aclTensor``: a strided view of device memory.

    Attributes:
        data_type: Number of ``aclDataType``.
        format: Number of ``aclFormat``.
        dims: View shape.
        strides: View strides in elements, one for each dimension.
        offset: View offset in elements, relative to ``address``.
        storage_dims: Shape of the storage behind the view.
        address: Device address of the storage, 0 for NULL.
    """

    data_type: int
    format: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage_dims: tuple[int, ...]
    address: int

    @property
    def rank(self) -> int:
        """Number of view dimensions."""
        return len(self.dims)

    @property
    def size(self) -> int:
        """Number of elements of the view; 1 for rank 0."""
        return prod(self.dims)

    @property
    def type(self) -> str:
        """Return the data type as a word of `pyaclnn.facts.operators.types`."""
        from pyaclnn.mock.protocol.dtypes import type_word  # noqa: PLC0415  # it loads NumPy

        return type_word(self.data_type)

    @property
    def format_name(self) -> str:
        """Return the format's name, such as ``"NCHW"``."""
        from pyaclnn.mock.protocol.dtypes import format_name  # noqa: PLC0415  # it loads NumPy

        return format_name(self.format)

    @property
    def contiguous(self) -> bool:
        """Return whether the strides are those of a dense row-major view of this shape."""
        expected = 1
        for dim, stride in zip(reversed(self.dims), reversed(self.strides), strict=True):
            if dim != 1 and stride != expected:
                return False
            expected *= dim
        return True


@dataclass(slots=True)
class Scalar:
    """An ``aclScalar``: raw bytes of one value of a data type."""

    data_type: int
    data: bytes


@dataclass(slots=True)
class TensorList:
    """An ``aclTensorList``; elements may be None for NULL."""

    items: tuple[Tensor | None, ...]


@dataclass(slots=True)
class ScalarList:
    """An ``aclScalarList``; elements may be None for NULL."""

    items: tuple[Scalar | None, ...]


@dataclass(slots=True)
class IntArray:
    """An ``aclIntArray``."""

    values: tuple[int, ...]


@dataclass(slots=True)
class FloatArray:
    """An ``aclFloatArray``; the values are float32 on the wire."""

    values: tuple[float, ...]


@dataclass(slots=True)
class BoolArray:
    """An ``aclBoolArray``."""

    values: tuple[bool, ...]


Value: TypeAlias = (
    Tensor
    | TensorList
    | Scalar
    | ScalarList
    | IntArray
    | FloatArray
    | BoolArray
    | bool
    | int
    | Unsigned
    | float
    | str
    | None
)


class Flag(IntFlag):
    """Flags of a call beside the operator's arguments."""

    NO_WORKSPACE_POINTER = 1
    NO_EXECUTOR_POINTER = 2
    DETERMINISTIC = 4
    WRONG_NUMBERS = 8


RANKS_SHIFT = 16
"""The bits of a call's flags from here on count the ranks of its group (C: MOCK_RANKS_SHIFT)."""


@dataclass(slots=True)
class Call:
    """One operator call.

    Attributes:
        operator: Name without suffix, ``"aclnnRmsNormGrad"``.
        flags: Bits of `Flag`; unknown bits are carried along.
        arguments: Values by the C parameter's name, in the order of the C signature.
        addresses: Offset of each tensor's address in the encoded call, if it was decoded.
        scalar_values: Offset of each scalar's value there.
        encoded_bytes: Size of the encoded call in bytes, if it was decoded.
    """

    operator: str
    flags: int = 0
    arguments: dict[str, Value] = field(default_factory=dict)
    addresses: tuple[int, ...] = field(default=(), compare=False)
    scalar_values: tuple[int, ...] = field(default=(), compare=False)
    encoded_bytes: int = field(default=0, compare=False)

    @property
    def tensors(self) -> list[Tensor]:
        """Every tensor, lists in the order of their elements."""
        return [item for item in self._items() if isinstance(item, Tensor)]

    @property
    def scalars(self) -> list[Scalar]:
        """Every scalar, lists in the order of their elements."""
        return [item for item in self._items() if isinstance(item, Scalar)]

    def _items(self) -> Iterator[Value]:
        for value in self.arguments.values():
            yield from value.items if isinstance(value, (TensorList, ScalarList)) else (value,)
