# SPDX-License-Identifier: Apache-2.0
"""Data types without an array, in operators that only move elements.

Their kernels compute with the elements of another type of as many bits, which moves the same bits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pyaclnn.mock.operators.limits import items_of
from pyaclnn.mock.protocol.dtypes import DATA_TYPES
from pyaclnn.mock.protocol.values import Scalar, Tensor, TensorList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.mock.protocol.values import Value

__all__ = ["MOVING", "STAND_INS", "with_stand_ins"]

STAND_INS: Final = {
    DATA_TYPES["HIFLOAT8"]: DATA_TYPES["UINT8"],
    DATA_TYPES["FLOAT4_E1M2"]: DATA_TYPES["FLOAT4_E2M1"],
}
"""Types by those that they are moved as. Zero has no bits in any of them."""
_IN_AND_OUT: Final = frozenset({"self", "out"})
MOVING: Final[Mapping[str, frozenset[str]]] = {
    "aclnnCast": _IN_AND_OUT,
    "aclnnConstantPadNd": _IN_AND_OUT,
    "aclnnPermute": _IN_AND_OUT,
    "aclnnRepeat": _IN_AND_OUT,
    "aclnnStridedSlice": _IN_AND_OUT,
    "aclnnReflectionPad1d": _IN_AND_OUT,
    "aclnnReflectionPad2d": _IN_AND_OUT,
    "aclnnReflectionPad3d": _IN_AND_OUT,
    "aclnnReplicationPad1d": _IN_AND_OUT,
    "aclnnReplicationPad2d": _IN_AND_OUT,
    "aclnnReplicationPad3d": _IN_AND_OUT,
    "aclnnCat": frozenset({"tensors", "out"}),
    "aclnnInplaceCopy": frozenset({"selfRef", "src"}),
    "aclnnInplaceScatterUpdate": frozenset({"data", "updates"}),
    "aclnnInplaceZero": frozenset({"selfRef"}),
    "aclnnScatterNdUpdate": frozenset({"varRef", "updates"}),
}
"""The tensors whose elements an operator moves, which have one type; zeros may come between."""


def with_stand_ins(operator: str, values: dict[str, Value]) -> dict[str, Value]:
    """Return the arguments with types that can be moved, if the operator only moves elements.

    A cast moves elements of the type that is asked for.

    Args:
        operator: The C name.
        values: The arguments by their C names.
    """
    names = MOVING.get(operator, ())
    moved = [item for name in names for item in items_of(values[name]) if isinstance(item, Tensor)]
    codes = {tensor.data_type for tensor in moved}
    (code, *others) = codes or {0}
    scalars = (value for value in values.values() if isinstance(value, Scalar))
    if others or code not in STAND_INS or any(any(scalar.data) for scalar in scalars):
        return values
    if values.get("dtype", code) != code:
        return values
    changed = {name: _of_type(values[name], STAND_INS[code]) for name in names}
    return values | changed | ({"dtype": STAND_INS[code]} if "dtype" in values else {})


def _of_type(value: Value, code: int) -> Value:
    if isinstance(value, TensorList):
        items = (item and replace(item, data_type=code) for item in value.items)
        return TensorList(tuple(items))
    return replace(value, data_type=code) if isinstance(value, Tensor) else value
