# SPDX-License-Identifier: Apache-2.0
"""Data types and formats of CANN by number, and the NumPy types that stand for them."""

from __future__ import annotations

from enum import IntEnum

import ml_dtypes
import numpy as np

from pyaclnn.operators.types import TYPES

__all__ = ["DataType", "Format", "data_type_name", "format_name", "numpy_dtype", "type_word"]


class DataType(IntEnum):
    """The numbers of ``aclDataType`` (CANN: runtime acl/acl_base_rt.h)."""

    UNDEFINED = -1
    FLOAT = 0
    FLOAT16 = 1
    INT8 = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 6
    UINT16 = 7
    UINT32 = 8
    INT64 = 9
    UINT64 = 10
    DOUBLE = 11
    BOOL = 12
    STRING = 13
    COMPLEX64 = 16
    COMPLEX128 = 17
    BF16 = 27
    INT4 = 29
    UINT1 = 30
    COMPLEX32 = 33
    HIFLOAT8 = 34
    FLOAT8_E5M2 = 35
    FLOAT8_E4M3FN = 36
    FLOAT8_E8M0 = 37
    FLOAT6_E3M2 = 38
    FLOAT6_E2M3 = 39
    FLOAT4_E2M1 = 40
    FLOAT4_E1M2 = 41


class Format(IntEnum):
    """The numbers of ``aclFormat`` (CANN: runtime acl/acl_base_rt.h)."""

    UNDEFINED = -1
    NCHW = 0
    NHWC = 1
    ND = 2
    NC1HWC0 = 3
    FRACTAL_Z = 4
    NC1HWC0_C04 = 12
    HWCN = 16
    NDHWC = 27
    FRACTAL_NZ = 29
    NCDHW = 30
    NDC1HWC0 = 32
    FRACTAL_Z_3D = 33
    NC = 35
    NCL = 47
    FRACTAL_NZ_C0_16 = 50
    FRACTAL_NZ_C0_32 = 51
    FRACTAL_NZ_C0_2 = 52
    FRACTAL_NZ_C0_4 = 53
    FRACTAL_NZ_C0_8 = 54


_WORDS = {int(DataType[kind.acl.removeprefix("ACL_")]): word for word, kind in TYPES.items()}
_NUMPY: dict[int, np.dtype[np.generic]] = {
    code: np.dtype(ml_dtypes.bfloat16 if word == "bf16" else TYPES[word].numpy)
    for code, word in _WORDS.items()
}
_DATA_TYPE_NAMES: dict[int, str] = {int(code): code.name for code in DataType}
_FORMAT_NAMES: dict[int, str] = {int(code): code.name for code in Format}


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
    """Give the word of `pyaclnn.operators.types` for a data type; its name if there is none."""
    return _WORDS.get(code) or data_type_name(code)
