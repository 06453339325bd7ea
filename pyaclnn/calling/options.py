# SPDX-License-Identifier: Apache-2.0
"""Options of a call, checked and converted to plain values."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.facts.operators.parameters import Kind
from pyaclnn.runtime.dtypes import dtype_of
from pyaclnn.runtime.shapes import count_of, shape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.facts.operators.parameters import Option

__all__ = ["plain_value"]

_LARGEST: Final = float(np.finfo(np.float32).max)
_MANY_BITS: Final = 256
_INT64: Final = 1 << 63
_COUNTS: Final = ("no", "one", "two", "three", "four", "five", "six")


def plain_value(option: Option, value: object, routine: str) -> Any:
    """Check what was given for an option.

    Args:
        option: The option.
        value: The caller's argument.
        routine: The public function, for messages.

    Returns:
        A float, int, bool, tuple or NumPy dtype; None for a dtype that is left to the operator.

    Raises:
        InvalidArgumentError: It is not acceptable.
    """
    if option.kind is Kind.LENGTHS:
        hint = "these are lengths, not numbers of axes: x.shape[-1] is that of the last axis."
        return shape_of(value, routine, option.name, hint)  # type: ignore[arg-type]  # it checks
    if option.kind is Kind.DTYPE:
        return None if value is None else dtype_of(value, routine, option.name)  # type: ignore[arg-type]
    return _PLAIN[option.kind](option, value, routine)


def _refuse(option: Option, value: object, routine: str, expected: str) -> NoReturn:
    raise InvalidArgumentError.of(routine, option.name, _short(value), expected)


def _real(option: Option, value: object, routine: str) -> float:
    number = _number(value)
    if not math.isfinite(number) or not _is_within(option, number):
        _refuse(option, value, routine, f"a finite number{_limits(option)}")
    if abs(number) > _LARGEST:
        expected = f"at most {_LARGEST:.7g}, the largest float32: operators compute with that"
        _refuse(option, value, routine, expected)
    return number


def _scalar(option: Option, value: object, routine: str) -> float:
    if option.word.startswith("i"):
        return _integer(option, value, routine)
    number = _number(value)
    if math.isnan(number) or not _is_within(option, number):
        hint = None
        if isinstance(value, str) and value.lstrip("+-").lower() in ("inf", "infinity"):
            hint = f"write float({value!r})."
        raise InvalidArgumentError.of(
            routine, option.name, _short(value), f"a number{_limits(option)}", hint
        )
    return number


def _number(value: object) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        with contextlib.suppress(OverflowError):
            return float(value)
    return math.nan


def _integer(option: Option, value: object, routine: str) -> int:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    number = int(value) if isinstance(value, (int, np.integer)) else 0
    if not whole or not -_INT64 <= number < _INT64 or not _is_within(option, number):
        _refuse(option, value, routine, f"a whole number{_limits(option)}")
    return number


def _flag(option: Option, value: object, routine: str) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        _refuse(option, value, routine, "True or False")
    return bool(value)


def _mask(option: Option, value: object, routine: str) -> tuple[bool, ...] | None:
    if value is None and option.default is None:
        return None
    flags: tuple[Any, ...] = ()
    with contextlib.suppress(TypeError):
        flags = tuple(value)  # type: ignore[arg-type]  # what is no sequence raises
    if len(flags) != len(option.results) or not all(isinstance(f, (bool, np.bool_)) for f in flags):
        expected = f"{_COUNTS[len(option.results)]} booleans, one for each gradient"
        hint = None
        if len(flags) == len(option.results) and all(
            count_of(flag, 1) is not None for flag in flags
        ):
            hint = f"write {tuple(map(bool, flags))}."
        raise InvalidArgumentError.of(routine, option.name, _short(value), expected, hint)
    return tuple(map(bool, flags))


def _axes(option: Option, value: object, routine: str) -> tuple[int, ...]:
    given = () if value is None else value
    found = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if not all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in found):
        _refuse(option, value, routine, "a number of an axis, a tuple of them, or None for all")
    return tuple(map(int, found))


def _string(option: Option, value: object, routine: str) -> str:
    if not isinstance(value, str) or value not in option.choices:
        _refuse(option, value, routine, " or ".join(map(repr, option.choices)))
    return value


_PLAIN: Final[dict[Kind, Callable[[Option, object, str], Any]]] = {
    Kind.REAL: _real,
    Kind.SCALAR: _scalar,
    Kind.INTEGER: _integer,
    Kind.FLAG: _flag,
    Kind.MASK: _mask,
    Kind.AXES: _axes,
    Kind.STRING: _string,
}


def _is_within(option: Option, number: float) -> bool:
    return (
        (option.least is None or number >= option.least)
        and (option.above is None or number > option.above)
        and (option.most is None or number <= option.most)
    )


def _limits(option: Option) -> str:
    if option.least is not None and option.most is not None:
        return f", {option.least} to {option.most}"
    if option.least is not None:
        return f", {option.least} or more"
    return f" above {option.above}" if option.above is not None else ""


def _short(value: object) -> str:
    """Write a value; an integer too long to be printed by its length."""
    if isinstance(value, int) and value.bit_length() > _MANY_BITS:
        return f"an integer of {value.bit_length()} bits"
    return repr_of(value)
