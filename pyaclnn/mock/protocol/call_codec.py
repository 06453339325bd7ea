# SPDX-License-Identifier: Apache-2.0
"""Encoding of an operator call: a tag and a value for each argument."""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.protocol.values import (
    BoolArray,
    Call,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
    Unsigned,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Reader", "WireError", "read_call"]

_U8 = Struct("<B")
_U32 = Struct("<I")
_U64 = Struct("<Q")
_I64 = Struct("<q")
_F64 = Struct("<d")
_PAIR = Struct("<II")
_TENSOR_HEAD = Struct("<iiI")
_TENSOR_MIDDLE = Struct("<qI")
_SCALAR_HEAD = Struct("<iI")
_COMMON_ROWS = [Struct(f"<{count}q") for count in range(33)]
# An argument takes at least an empty name and a tag.
_SMALLEST_ARGUMENT = 5
_NULL = ord("n")


class WireError(ValueError):
    """A malformed frame, or a value that cannot be encoded."""


class Reader:
    """A cursor over a payload that never reads past its end.

    Args:
        payload: The bytes to read.
    """

    __slots__ = ("_at", "_end", "_payload", "addresses", "scalar_values")

    def __init__(self, payload: memoryview | bytes) -> None:
        self._payload = payload
        self._at = 0
        self._end = len(payload)
        self.addresses: list[int] = []
        self.scalar_values: list[int] = []

    @property
    def at(self) -> int:
        """Number of bytes read."""
        return self._at

    def unpack(self, layout: Struct) -> tuple[Any, ...]:
        """Read the fields of a layout."""
        at = self._at
        self._at = at + layout.size
        if self._at > self._end:
            raise WireError(f"payload has {self._end} bytes; a field at {at} needs {layout.size}")
        return layout.unpack_from(self._payload, at)

    def take(self, length: int) -> bytes:
        """Read raw bytes."""
        at = self._at
        if length > self._end - at:
            raise WireError(f"payload has {self._end} bytes; a field at {at} needs {length}")
        self._at = at + length
        return bytes(self._payload[at : self._at])

    def string(self) -> str:
        """Read a length and that many bytes of UTF-8."""
        (length,) = self.unpack(_U32)
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise WireError(f"the string before byte {self._at} is not UTF-8: {error}") from None

    def integers(self, count: int) -> tuple[int, ...]:
        """Read 64-bit signed integers."""
        self.expect(count, 8)
        if count < len(_COMMON_ROWS):
            return self.unpack(_COMMON_ROWS[count])
        return self.unpack(Struct(f"<{count}q"))

    def expect(self, count: int, size: int) -> None:
        """Refuse a count whose items of at least so many bytes are not there."""
        if count * size > self._end - self._at:
            raise WireError(
                f"a count before byte {self._at} says {count}; the payload has "
                f"{self._end - self._at} bytes left"
            )

    def finish(self) -> None:
        """Refuse bytes behind the last field."""
        if self._at != self._end:
            raise WireError(f"{self._end - self._at} bytes follow the last field")


def read_call(reader: Reader) -> Call:
    """Read an operator call.

    Raises:
        WireError: Truncated, an unknown tag, a repeated parameter name, a string that is no UTF-8.
    """
    operator = reader.string()
    flags, count = reader.unpack(_PAIR)
    reader.expect(count, _SMALLEST_ARGUMENT)
    arguments: dict[str, Value] = {}
    for _ in range(count):
        name = reader.string()
        if name in arguments:
            raise WireError(f"{operator} has two arguments named {name!r}")
        (tag,) = reader.unpack(_U8)
        read = _READ.get(tag)
        if read is None:
            raise WireError(f"{operator} argument {name!r} has the unknown tag {tag:#04x}")
        arguments[name] = read(reader)
    places = tuple(reader.addresses), tuple(reader.scalar_values)
    return Call(operator, flags, arguments, *places, reader.at)


def _read_null(_reader: Reader) -> None:
    return None


def _read_tensor(reader: Reader) -> Tensor:
    data_type, form, rank = reader.unpack(_TENSOR_HEAD)
    numbers = reader.integers(2 * rank)
    offset, storage_rank = reader.unpack(_TENSOR_MIDDLE)
    storage = reader.integers(storage_rank)
    reader.addresses.append(reader.at)
    (address,) = reader.unpack(_U64)
    return Tensor(data_type, form, numbers[:rank], numbers[rank:], offset, storage, address)


def _read_scalar(reader: Reader) -> Scalar:
    data_type, length = reader.unpack(_SCALAR_HEAD)
    reader.scalar_values.append(reader.at)
    return Scalar(data_type, reader.take(length))


def _read_items(reader: Reader, tag: int) -> list[Any]:
    # Only the list's own tag: a list inside a list could nest without end.
    (count,) = reader.unpack(_U32)
    reader.expect(count, 1)
    items = []
    for position in range(count):
        (found,) = reader.unpack(_U8)
        if found not in (_NULL, tag):
            raise WireError(f"list element {position} has tag {found:#04x}; it must be {tag:#04x}")
        items.append(_READ[found](reader))
    return items


def _read_tensor_list(reader: Reader) -> TensorList:
    return TensorList(tuple(_read_items(reader, ord("t"))))


def _read_scalar_list(reader: Reader) -> ScalarList:
    return ScalarList(tuple(_read_items(reader, ord("s"))))


def _read_int_array(reader: Reader) -> IntArray:
    (count,) = reader.unpack(_U64)
    return IntArray(reader.integers(count))


def _read_float_array(reader: Reader) -> FloatArray:
    (count,) = reader.unpack(_U64)
    reader.expect(count, 4)
    return FloatArray(reader.unpack(Struct(f"<{count}f")))


def _read_bool_array(reader: Reader) -> BoolArray:
    (count,) = reader.unpack(_U64)
    return BoolArray(tuple(map(bool, reader.take(count))))


def _read_signed(reader: Reader) -> int:
    return int(reader.unpack(_I64)[0])


def _read_unsigned(reader: Reader) -> Unsigned:
    return Unsigned(reader.unpack(_U64)[0])


def _read_double(reader: Reader) -> float:
    return float(reader.unpack(_F64)[0])


def _read_bool(reader: Reader) -> bool:
    return bool(reader.unpack(_U8)[0])


_READ: dict[int, Callable[[Reader], Value]] = {
    _NULL: _read_null,
    ord("t"): _read_tensor,
    ord("T"): _read_tensor_list,
    ord("S"): _read_scalar_list,
    ord("I"): _read_int_array,
    ord("F"): _read_float_array,
    ord("B"): _read_bool_array,
    ord("s"): _read_scalar,
    ord("i"): _read_signed,
    ord("u"): _read_unsigned,
    ord("d"): _read_double,
    ord("b"): _read_bool,
    ord("c"): Reader.string,
}
