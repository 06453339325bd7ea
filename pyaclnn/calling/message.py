# SPDX-License-Identifier: Apache-2.0
"""The message of a launch: every argument of an operator in one ``bytes``.

A message has a word of eight bytes for each parameter, and a tail for what needs more: arrays,
lists, scalars, strings. ``objects.c`` reads it; here it is written, and nowhere else. C believes
the content of a message, so every argument is checked before it is written.
"""

from __future__ import annotations

import operator
import struct
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dtypes import acl_dtype, dtype_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyaclnn.calling.arguments import Argument

__all__ = ["Tail", "check", "slots_format", "word_of"]

_INTEGERS: Final = {
    "c": ("int8_t", -(2**7), 2**7 - 1),
    "i": ("int32_t", -(2**31), 2**31 - 1),
    "q": ("int64_t", -(2**63), 2**63 - 1),
    "Q": ("uint64_t", 0, 2**64 - 1),
}
_TYPE_NAMES: Final = ("dtype", "dstType")
"""Names of integer parameters that mean an ``aclDataType``."""
_WORD: Final = 8
_LONG: Final = 80
_LARGEST_FLOAT: Final = float(np.finfo(np.float32).max)


def slots_format(kinds: str) -> str:
    """Return the words of a message in the letters of :mod:`struct`."""
    letters = {"d": "d", "f": "d", "c": "q", "i": "q", "q": "q", "y": "q"}
    return "@" + "".join(letters.get(kind, "Q") for kind in kinds)


class Tail:
    """Part of a message after its words.

    Attributes:
        routine: The operator, for messages.
        parameter: The C name of the parameter whose argument is looked at.
    """

    def __init__(self, routine: str, words: int) -> None:
        """Begin the tail of a message of so many words."""
        self.routine = routine
        self.parameter = ""
        self._start = words * _WORD
        self._content = bytearray()

    def add(self, *parts: bytes) -> int:
        """Append something, and return where it begins, counted from the start of the message."""
        place = self._start + len(self._content)
        for part in parts:
            self._content += part
        self._content += bytes(-len(self._content) % _WORD)
        return place

    def items(self, count: int, *parts: bytes) -> int:
        """Append an array or a list of so many items."""
        return self.add(struct.pack("@Q", count), *parts)

    def content(self) -> bytes:
        """Return the tail as it is now."""
        return bytes(self._content)

    def refuse(self, argument: object, expected: str) -> NoReturn:
        """Raise the error that the argument must be ``expected``."""
        self.refuse_as(_short(argument), expected)

    def refuse_as(self, given: str, expected: str) -> NoReturn:
        """Raise the error that the argument is what words say and must be ``expected``."""
        raise InvalidArgumentError.of(self.routine, self.parameter, given, expected)


def word_of(kind: str, argument: Argument, tail: Tail) -> int | float:
    """Return the word that a message has for an argument.

    Args:
        kind: C type of the parameter; see ``struct binding_operator``.
        argument: The argument.
        tail: The message's tail, to which the word may refer.

    Raises:
        InvalidArgumentError: C cannot take it for that.
    """
    if argument is None:
        if kind in _INTEGERS or kind in "bdfy":
            tail.refuse_as("None", "a value: C takes no NULL here")
        return 0
    return _WORDS[kind](argument, tail)


def check(kind: str, argument: Argument, routine: str, parameter: str) -> None:
    """Check that C can take an argument.

    Args:
        kind: C type of the parameter; see ``struct binding_operator``.
        argument: The argument.
        routine: The operator, for the message.
        parameter: The name of the parameter, for the message.

    Raises:
        InvalidArgumentError: It cannot.
    """
    tail = Tail(routine, 0)
    tail.parameter = parameter
    word_of(kind, argument, tail)


def _tensor(argument: Argument, tail: Tail) -> int:
    if not isinstance(argument, DeviceArray):
        tail.refuse(argument, "a DeviceArray, or None")
    if not argument._tensor_at:
        given = f"a DeviceArray of {argument.ndim} axes"
        tail.refuse_as(given, "one of at most 25: CANN takes no more")
    return argument._tensor_at


def _tensors(argument: Argument, tail: Tail) -> int:
    items = argument
    if argument.__class__ is not tuple:
        items = _sequence(argument, tail, "a sequence of DeviceArrays, or None")
    # Lists are long: what is nothing but arrays is looked at by one word each.
    plain = {*map(type, items)} == {DeviceArray}
    words = [item._tensor_at for item in items] if plain else [0]
    if not all(words):
        words = [0 if item is None else _tensor(item, tail) for item in items]
    return tail.add(struct.pack(f"@{len(words) + 1}Q", len(words), *words))


def _integer(kind: str) -> Callable[[Argument, Tail], int]:
    c_type, low, high = _INTEGERS[kind]

    def convert(argument: Argument, tail: Tail) -> int:
        named = tail.parameter in _TYPE_NAMES
        if named and not isinstance(argument, (bool, int, np.bool_, np.integer)):
            return _data_type(argument, tail)
        try:
            number = operator.index(argument)
        except TypeError:
            number = high + 1
        if not low <= number <= high or isinstance(argument, (bool, np.bool_)):
            tail.refuse(argument, f"an integer from {low} to {high} ({c_type})")
        return number

    return convert


def _bool(argument: Argument, tail: Tail) -> int:
    if not isinstance(argument, (bool, np.bool_)):
        tail.refuse(argument, "True or False")
    return int(argument)


def _double(argument: Argument, tail: Tail) -> float:
    if type(argument) is float:
        return argument
    number = hasattr(argument, "__float__") or hasattr(argument, "__index__")
    plain = number and not getattr(argument, "ndim", 0) and not np.iscomplexobj(argument)
    if not plain or isinstance(argument, (bool, np.bool_)):
        tail.refuse(argument, "a real number")
    try:
        return float(argument)
    except (TypeError, ValueError, OverflowError):
        tail.refuse(argument, "a real number")


def _float(argument: Argument, tail: Tail) -> float:
    number = _double(argument, tail)
    if abs(number) > _LARGEST_FLOAT and np.isfinite(number):
        tail.refuse(argument, f"at most {_LARGEST_FLOAT:.7g}, the largest float")
    return number


def _array(
    letter: str, item: Callable[[Argument, Tail], int | float], what: str
) -> Callable[[Argument, Tail], int]:
    def convert(argument: Argument, tail: Tail) -> int:
        single = not hasattr(argument, "__iter__") or getattr(argument, "ndim", 1) == 0
        items = (argument,) if single else _sequence(argument, tail, what)
        values = [item(value, tail) for value in items]
        return tail.items(len(values), struct.pack(f"={len(values)}{letter}", *values))

    return convert


def _scalar_bytes(argument: Argument, tail: Tail) -> bytes:
    """The data type and the value, in sixteen bytes; Python's own numbers in their widest type."""
    if isinstance(argument, int) and not isinstance(argument, bool):
        argument = np.int64(_WORDS["q"](argument, tail))
    many = hasattr(argument, "__len__") and not isinstance(argument, np.ndarray)
    value = None if many or isinstance(argument, DeviceArray) else np.asarray(argument)
    if value is None or value.ndim or value.dtype.kind in "OSUVmM":
        tail.refuse(argument, "a number or a NumPy scalar")
    code = acl_dtype(dtype_of(value.dtype, tail.routine, tail.parameter))
    return struct.pack("@q16s", code, value.tobytes())


def _scalar(argument: Argument, tail: Tail) -> int:
    return tail.add(_scalar_bytes(argument, tail))


def _scalars(argument: Argument, tail: Tail) -> int:
    items = _sequence(argument, tail, "a sequence of numbers, or None")
    return tail.items(len(items), *(_scalar_bytes(item, tail) for item in items))


def _string(argument: Argument, tail: Tail) -> int:
    if not isinstance(argument, str) or not argument.isascii() or "\0" in argument:
        tail.refuse(argument, "a str of ASCII letters, or None")
    return tail.add(argument.encode() + b"\0")


def _data_type(argument: Argument, tail: Tail) -> int:
    if isinstance(argument, (int, np.integer)) and not isinstance(argument, bool):
        return _WORDS["i"](argument, tail)  # type: ignore[return-value]  # that of an integer
    return acl_dtype(dtype_of(argument, tail.routine, tail.parameter))


def _sequence(argument: Argument, tail: Tail, expected: str) -> Sequence[Any]:
    many = hasattr(argument, "__iter__") and getattr(argument, "ndim", 1) > 0
    if not many or isinstance(argument, (str, bytes, DeviceArray)):
        tail.refuse(argument, expected)
    return tuple(argument)


def _short(value: object) -> str:
    text = repr_of(value)
    return text if len(text) <= _LONG else f"{text[:_LONG]}… ({type(value).__name__})"


_WORDS: Final[dict[str, Callable[[Argument, Tail], int | float]]] = {
    **{kind: _integer(kind) for kind in _INTEGERS},
    "t": _tensor,
    "w": _tensor,
    "T": _tensors,
    "W": _tensors,
    "I": _array("q", _integer("q"), "an integer or a sequence of integers, or None"),
    "F": _array("f", _float, "a number or a sequence of numbers, or None"),
    "B": _array("?", _bool, "a bool or a sequence of bools, or None"),
    "a": _scalar,
    "A": _scalars,
    "s": _string,
    "b": _bool,
    "d": _double,
    "f": _float,
    "y": _data_type,
}
