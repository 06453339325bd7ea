# SPDX-License-Identifier: Apache-2.0
"""Data types and formats of CANN by number, and their NumPy types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import ml_dtypes
import numpy as np

from pyaclnn.facts.operators.types import TYPES
from pyaclnn.mock.protocol.headers import enumerators

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DATA_TYPES", "FORMATS", "data_type_name", "format_name", "numpy_dtype", "type_word"]


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

_WORDS = {DATA_TYPES[kind.acl.removeprefix("ACL_")]: word for word, kind in TYPES.items()}
_NUMPY: dict[int, np.dtype[np.generic]] = {
    code: np.dtype(ml_dtypes.bfloat16 if word == "bf16" else TYPES[word].numpy)
    for code, word in _WORDS.items()
}
_DATA_TYPE_NAMES: dict[int, str] = {number: name for name, number in DATA_TYPES.items()}
_FORMAT_NAMES: dict[int, str] = {number: name for name, number in FORMATS.items()}


def numpy_dtype(code: int) -> np.dtype[np.generic]:
    """Give the NumPy type whose bytes are those of a CANN data type.

    Args:
        code: A number of ``aclDataType``.

    Returns:
        The NumPy type; bfloat16 is that of ``ml_dtypes``.

    Raises:
        KeyError: The number is unknown or the simulated device has no array type for it
            (sub-byte types, 8-bit floats, strings).
    """
    try:
        return _NUMPY[code]
    except KeyError:
        raise KeyError(
            f"data type {data_type_name(code)} has no array type on the simulated device"
        ) from None


def data_type_name(code: int) -> str:
    """Name a data type for a message, for example ``"FLOAT16"`` or ``"unknown (99)"``."""
    return _DATA_TYPE_NAMES.get(code) or f"unknown ({code})"


def format_name(code: int) -> str:
    """Name a format for a message, for example ``"FRACTAL_NZ"`` or ``"unknown (99)"``."""
    return _FORMAT_NAMES.get(code) or f"unknown ({code})"


def type_word(code: int) -> str:
    """Return the word of `pyaclnn.facts.operators.types` for a dtype; its name if there is none."""
    return _WORDS.get(code) or data_type_name(code)
