# SPDX-License-Identifier: Apache-2.0
"""NumPy's data types and CANN's: which is which.

bfloat16 and float8 are those of the ``ml_dtypes`` package. CANN names more types than NumPy can
hold; their constants are in ``pyaclnn.cann.raw`` under CANN's names.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.cann import raw
from pyaclnn.facts.operators.types import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

__all__ = [
    "DTYPES",
    "WORDS",
    "acl_dtype",
    "bfloat16",
    "conversion_hint",
    "dtype_of",
    "float16",
    "float32",
    "holds",
    "numpy_dtype",
    "require_native",
]

float32: Final[np.dtype[Any]] = np.dtype(np.float32)
float16: Final[np.dtype[Any]] = np.dtype(np.float16)
bfloat16: Final[np.dtype[Any]] = np.dtype(ml_dtypes.bfloat16)

DTYPES: Final[Mapping[str, np.dtype[Any]]] = {
    word: np.dtype(getattr(ml_dtypes, kind.numpy, kind.numpy)) for word, kind in ARRAYS.items()
}
"""The dtype of each word of descriptions."""

WORDS: Final[Mapping[np.dtype[Any], str]] = {dtype: word for word, dtype in DTYPES.items()}
"""The word by which descriptions call a dtype."""

_CONSTANTS: Final[Mapping[np.dtype[Any], str]] = {
    dtype: ARRAYS[word].acl for word, dtype in DTYPES.items()
}


def dtype_of(dtype: DTypeLike, routine: str = "dtype_of", argument: str = "dtype") -> np.dtype[Any]:
    """Check that a dtype has a counterpart in CANN.

    Args:
        dtype: Anything that NumPy takes for a dtype.
        routine: The function that was given it, for the message.
        argument: The name under which it was given.

    Returns:
        The dtype.

    Raises:
        InvalidArgumentError: CANN has no such type, or the byte order is not the machine's.
    """
    found = _numpy_dtype(dtype)
    if found is not None:
        require_native(routine, argument, found)
    if found is None or found not in _CONSTANTS:
        supported = ", ".join(str(known) for known in _CONSTANTS)
        given = repr_of(dtype) if found is None else found.str if found.kind != "V" else str(found)
        hint = conversion_hint(argument, found) if argument == "host" else None
        if isinstance(dtype, str):
            # fp16 shares half of its letters with float16.
            hint = did_you_mean(dtype, map(str, _CONSTANTS), likeness=0.5) or hint
        elif given.startswith("torch."):
            hint = did_you_mean(given.removeprefix("torch."), map(str, _CONSTANTS))
        elif isinstance(dtype, int):
            hint = "a shape of several axes is a tuple: zeros((2, 3))."
        raise InvalidArgumentError.of(routine, argument, given, f"one of {supported}", hint)
    return found


def _numpy_dtype(dtype: object) -> np.dtype[Any] | None:
    """Return NumPy's dtype; None if there is none.

    Only NumPy's own refusals are caught: a signal handler may raise here, too. NumPy would format
    what it refuses, whose text may raise.
    """
    if isinstance(dtype, str):
        dtype = str.__str__(dtype)  # without the methods of a subclass
    elif not (dtype is None or isinstance(dtype, (type, np.dtype)) or hasattr(dtype, "dtype")):
        return None
    given: Any = dtype
    try:
        found: np.dtype[Any] = np.dtype(given)
    except (TypeError, ValueError, SyntaxError, Warning):
        return None
    return found


def require_native(routine: str, argument: str, dtype: np.dtype[Any]) -> None:
    """Require the byte order of the machine.

    Args:
        routine: The function that was given the dtype or an array of it, for the message.
        argument: The name under which it was given; one of a dtype ends in ``dtype``.
        dtype: The dtype. One without a counterpart in CANN, in any byte order, passes.

    Raises:
        InvalidArgumentError: The byte order is the other one.
    """
    if dtype.isnative:
        return
    native = dtype.newbyteorder("=")
    if native not in _CONSTANTS:
        return
    has, must = ("big", "little") if sys.byteorder == "little" else ("little", "big")
    name = _in_source(str(native))
    hint = f"convert it: {argument}.astype({name})."
    if argument.endswith("dtype"):
        hint = f"{name} is the same type in the machine's byte order."
    elif argument.startswith("out") or routine == "copy_to":
        hint = f"results are written to an array of {name}."
    expected = f"of the machine's byte order, {must}-endian, and not {has}-endian"
    raise InvalidArgumentError.of(routine, argument, dtype.str, expected, hint)


def holds(dtype: np.dtype[Any], number: float) -> bool:
    """Return True if an integer dtype can hold a number of Python, which is compared exactly.

    Args:
        dtype: The dtype, one of integers.
        number: The number; NaN and infinities are held by none.
    """
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def conversion_hint(
    argument: str, given: np.dtype[Any] | None, wanted: str = "", of: object = None
) -> str | None:
    """Return a hint how an array of another dtype is converted.

    Args:
        argument: The name of the array.
        given: Its dtype; None if it is none at all.
        wanted: The name of the dtype it must have; any that CANN knows if empty.
        of: The array as the caller gave it; PyTorch's tensors have ``to`` for ``astype``.

    Returns:
        The hint; None if no conversion is meant.
    """
    native = None if given is None else given.newbyteorder("=")
    if native is None:
        return None
    is_known = native in _CONSTANTS
    name = wanted or (str(native) if is_known else "float32")
    dtype = _in_source(name)
    is_torch = type(of).__module__.partition(".")[0] == "torch"
    way = f"to(torch.{name})" if is_torch else f"astype({dtype})"
    if native.kind == "c" and not name.startswith("complex"):
        return f"take a part of it: {argument}.real.{way}."
    if native.kind in "US":
        return f"it holds text; if that is numbers, {argument}.astype({dtype}) reads them."
    if native.kind == "O":
        return "it holds Python objects, as of rows of different lengths: make these one."
    if native.kind in "mM":
        return "it holds times, which are no numbers until you choose a unit and an origin."
    return f"convert it: {argument}.{way}." if wanted or is_known else None


def _in_source(name: str) -> str:
    """Return the expression of a dtype in a program."""
    return f"{'ml_dtypes' if name == 'bfloat16' else 'np'}.{name}"


def acl_dtype(dtype: DTypeLike) -> int:
    """Return the ``aclDataType`` of a NumPy dtype.

    Raises:
        InvalidArgumentError: CANN has no such type.
    """
    return int(getattr(raw, _CONSTANTS[dtype_of(dtype, "acl_dtype")]))


@functools.cache
def _by_code() -> Mapping[int, np.dtype[Any]]:
    return {int(getattr(raw, name)): dtype for dtype, name in _CONSTANTS.items()}


def numpy_dtype(code: int) -> np.dtype[Any]:
    """Return the NumPy dtype of an ``aclDataType``.

    Raises:
        InvalidArgumentError: NumPy has no such type.
    """
    found = _by_code().get(code)
    if found is None:
        known = ", ".join(f"{number} ({dtype})" for number, dtype in sorted(_by_code().items()))
        raise InvalidArgumentError.of("numpy_dtype", "code", str(code), f"one of {known}")
    return found
