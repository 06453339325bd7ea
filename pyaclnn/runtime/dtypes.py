# SPDX-License-Identifier: Apache-2.0
"""NumPy's data types and CANN's: which is which.

bfloat16 is that of the ``ml_dtypes`` package. CANN names more types than NumPy can hold; their
constants are in ``pyaclnn.cann.raw`` under CANN's names.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from pyaclnn.cann import raw
from pyaclnn.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

__all__ = ["acl_dtype", "bfloat16", "dtype_of", "float16", "float32", "numpy_dtype"]

float32: Final[np.dtype[Any]] = np.dtype(np.float32)
float16: Final[np.dtype[Any]] = np.dtype(np.float16)
bfloat16: Final[np.dtype[Any]] = np.dtype(ml_dtypes.bfloat16)

_CONSTANTS: Final[Mapping[np.dtype[Any], str]] = {
    float32: "ACL_FLOAT",
    float16: "ACL_FLOAT16",
    bfloat16: "ACL_BF16",
    np.dtype(np.float64): "ACL_DOUBLE",
    np.dtype(np.int8): "ACL_INT8",
    np.dtype(np.int16): "ACL_INT16",
    np.dtype(np.int32): "ACL_INT32",
    np.dtype(np.int64): "ACL_INT64",
    np.dtype(np.uint8): "ACL_UINT8",
    np.dtype(np.uint16): "ACL_UINT16",
    np.dtype(np.uint32): "ACL_UINT32",
    np.dtype(np.uint64): "ACL_UINT64",
    np.dtype(np.bool_): "ACL_BOOL",
    np.dtype(np.complex64): "ACL_COMPLEX64",
    np.dtype(np.complex128): "ACL_COMPLEX128",
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
        InvalidArgumentError: CANN has no such type; byte-swapped types are among those.
    """
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found not in _CONSTANTS:
        supported = ", ".join(str(known) for known in _CONSTANTS)
        given = repr(dtype) if found is None else found.str if found.kind != "V" else str(found)
        raise InvalidArgumentError.of(routine, argument, given, f"one of {supported}")
    return found


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
