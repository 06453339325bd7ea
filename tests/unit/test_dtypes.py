# SPDX-License-Identifier: Apache-2.0
"""NumPy's data types and CANN's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.runtime.dtypes import acl_dtype, dtype_of, numpy_dtype

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

TABLE: list[tuple[DTypeLike, int]] = [
    (np.float32, 0),
    (np.float16, 1),
    (np.int8, 2),
    (np.int32, 3),
    (np.uint8, 4),
    (np.int16, 6),
    (np.uint16, 7),
    (np.uint32, 8),
    (np.int64, 9),
    (np.uint64, 10),
    (np.float64, 11),
    (np.bool_, 12),
    (np.complex64, 16),
    (np.complex128, 17),
    (ml_dtypes.bfloat16, 27),
]


@pytest.mark.parametrize(("dtype", "code"), TABLE)
def test_every_dtype_and_its_constant_lead_to_each_other(dtype: DTypeLike, code: int) -> None:
    assert acl_dtype(dtype) == code
    assert numpy_dtype(code) == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["S3", object, "no dtype", np.longdouble])
def test_other_dtypes_are_refused_with_the_list_of_those_there_are(dtype: DTypeLike) -> None:
    with pytest.raises(InvalidArgumentError, match=r"one of float32, float16, bfloat16, float64"):
        dtype_of(dtype)


def test_the_other_byte_order_is_refused() -> None:
    for dtype in (np.dtype(known).newbyteorder("S") for known in ("f2", "f4", "i8", "c16")):
        with pytest.raises(InvalidArgumentError, match="of the machine's byte order") as caught:
            dtype_of(dtype)
        assert f"np.{dtype.newbyteorder('S')} is the same type" in str(caught.value)


def test_a_code_without_a_numpy_dtype_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"'code' is 29; it must be one of 0 \(floa"):
        numpy_dtype(29)
