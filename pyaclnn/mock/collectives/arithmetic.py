# SPDX-License-Identifier: Apache-2.0
"""Reductions of HCCL: in the order of the ranks, rounded once.

float16 and bfloat16 are reduced in float32 and rounded at the end; every other type in itself,
where integers wrap around. A NaN of any rank is the result of every reduction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

from pyaclnn.mock.protocol.headers import enumerators

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["data_type", "data_type_name", "reduced", "reduction_name"]

_HEADER: Final = "hccl/hccl_types.h"
_NUMPY: Final[Mapping[str, Any]] = {
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BFP16": ml_dtypes.bfloat16,
}
_NAMES: Final = {
    number: name.removeprefix("HCCL_DATA_TYPE_")
    for name, number in enumerators(_HEADER, "HcclDataType").items()
}
_REDUCTIONS: Final = {
    number: name.removeprefix("HCCL_REDUCE_")
    for name, number in enumerators(_HEADER, "HcclReduceOp").items()
}
_FUNCTIONS: Final = {"SUM": np.add, "PROD": np.multiply, "MAX": np.maximum, "MIN": np.minimum}


def data_type_name(number: int) -> str:
    """Name a data type of HCCL, ``"FP32"``."""
    return _NAMES[number]


def reduction_name(number: int) -> str:
    """Name a reduction of HCCL, ``"SUM"``."""
    return _REDUCTIONS[number]


def data_type(number: int) -> np.dtype[Any]:
    """Return the NumPy type of a number of ``HcclDataType``."""
    name = _NAMES[number]
    return np.dtype(_NUMPY.get(name) or name.lower())


def reduced(reduction: int, arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Reduce arrays of one type and shape, the first one first.

    Args:
        reduction: A number of ``HcclReduceOp``.
        arrays: One a rank.

    Returns:
        A new array of their type.
    """
    own = arrays[0].dtype
    narrow = own in (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
    wide = np.dtype(np.float32) if narrow else own
    function = _FUNCTIONS[_REDUCTIONS[reduction]]
    total = arrays[0].astype(wide)
    for array in arrays[1:]:
        function(total, array.astype(wide, copy=False), out=total)
    return total.astype(own, copy=False)
