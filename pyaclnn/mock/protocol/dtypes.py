# SPDX-License-Identifier: Apache-2.0
"""Data types and formats of CANN by number, and their NumPy types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import ml_dtypes
import numpy as np

from pyaclnn.facts.operators.types import ARRAYS, PAIRED
from pyaclnn.mock.protocol.headers import enumerators

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DATA_TYPES",
    "FORMATS",
    "data_type_name",
    "data_type_of",
    "dtype_of_word",
    "format_name",
    "numpy_dtype",
    "type_word",
]


_HEADER: Final = "acl/base/data_type.h"

DATA_TYPES: Final[Mapping[str, int]] = {
    re.sub("^ACL_(DT_)?", "", name): number
    for name, number in enumerators(_HEADER, "aclDataType").items()
}
"""The numbers of ``aclDataType`` (CANN: runtime acl/acl_base_rt.h), by names such as ``BF16``."""

FORMATS: Final[Mapping[str, int]] = {
    re.sub("^ACL_(FORMAT_)?", "", name): number
    for name, number in enumerators(_HEADER, "aclFormat").items()
}
"""The numbers of ``aclFormat`` (CANN: runtime acl/acl_base_rt.h), by names such as ``NCHW``."""

_TYPES: Final = {**ARRAYS, **PAIRED}
_WORDS = {DATA_TYPES[kind.acl.removeprefix("ACL_")]: word for word, kind in _TYPES.items()}
_BY_WORD: Final = {
    word: np.dtype(getattr(ml_dtypes, kind.numpy, kind.numpy)) for word, kind in _TYPES.items()
} | {"COMPLEX32": np.dtype(np.complex64)}
_NUMPY: dict[int, np.dtype[np.generic]] = {
    code: _BY_WORD[word] for code, word in _WORDS.items() if word not in PAIRED
}
_DATA_TYPE_NAMES: dict[int, str] = {number: name for name, number in DATA_TYPES.items()}
_FORMAT_NAMES: dict[int, str] = {number: name for name, number in FORMATS.items()}


def numpy_dtype(code: int) -> np.dtype[np.generic]:
    """Return the NumPy type whose bytes are those of a CANN data type.

    Args:
        code: A number of ``aclDataType``.

    Returns:
        The NumPy type; bfloat16 and float8 are those of ``ml_dtypes``.

    Raises:
        KeyError: The number is unknown or the simulated device has no array type for it
            (types of less than a byte, HIFLOAT8, strings).
    """
    try:
        return _NUMPY[code]
    except KeyError:
        raise KeyError(
            f"data type {data_type_name(code)} has no array type on the simulated device"
        ) from None


def data_type_of(kind: np.dtype[np.generic]) -> int:
    """Return the number of ``aclDataType`` whose arrays have a NumPy type."""
    return next(code for code, each in _NUMPY.items() if each == kind)


def data_type_name(code: int) -> str:
    """Name a data type for a message, for example ``"FLOAT16"`` or ``"unknown (99)"``."""
    return _DATA_TYPE_NAMES.get(code) or f"unknown ({code})"


def format_name(code: int) -> str:
    """Name a format for a message, for example ``"FRACTAL_NZ"`` or ``"unknown (99)"``."""
    return _FORMAT_NAMES.get(code) or f"unknown ({code})"


def dtype_of_word(word: str) -> np.dtype[np.generic]:
    """Return the NumPy type that kernels compute a type in.

    An array of a type of 4 bits has an element a byte, one of COMPLEX32 elements of complex64.

    Raises:
        KeyError: There is no NumPy type for it.
    """
    return _BY_WORD[word]


def type_word(code: int) -> str:
    """Return the word of `pyaclnn.facts.operators.types` for a dtype; its name if there is none."""
    return _WORDS.get(code) or data_type_name(code)
