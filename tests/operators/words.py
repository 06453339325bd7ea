# SPDX-License-Identifier: Apache-2.0
"""Vocabulary of the tables: arguments, their changes, chips, names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "A2",
    "A2_A3",
    "A3",
    "BF16",
    "E4M3",
    "E5M2",
    "E8M0",
    "EVERY_CHIP",
    "F16",
    "F32",
    "F64",
    "FLOAT8",
    "FORMATS",
    "HIF8",
    "I8",
    "I32",
    "I64",
    "MOST",
    "NINE",
    "P310",
    "P310B",
    "P910",
    "P950",
    "PRIVATE",
    "SOC_NAMES",
    "TYPES",
    "U8",
    "Argument",
    "Array",
    "Bools",
    "Changed",
    "Changes",
    "Dtype",
    "Ints",
    "Scalar",
    "apply",
    "array",
    "quantized",
    "t",
    "touching",
]

A2, A3, P950, P310, P910, P310B = "A2", "A3", "950", "310P", "910", "310B"
SOC_NAMES = {
    A2: "Ascend910B3",
    A3: "Ascend910_9391",
    P950: "Ascend950PR_9579",
    P310: "Ascend310P3",
    P910: "Ascend910A",
    P310B: "Ascend310B1",
}
"""The families of chips, each with one chip that stands for it."""
EVERY_CHIP = tuple(SOC_NAMES)
A2_A3 = (A2, A3)

NINE = (1,) * 9
"""A shape of more axes than CANN takes."""

F32, F16, BF16, F64 = "FLOAT", "FLOAT16", "BF16", "DOUBLE"
I8, U8, I32, I64 = "INT8", "UINT8", "INT32", "INT64"

E4M3, E5M2, E8M0, HIF8 = "FLOAT8_E4M3FN", "FLOAT8_E5M2", "FLOAT8_E8M0", "HIFLOAT8"
FLOAT8 = (E4M3, E5M2)
MOST = {I8: 127, E4M3: 448, E5M2: 57344}
"""The largest numbers of types that results are quantized to."""

_HEADER = Path(__file__).parents[2] / "include_stubs" / "acl" / "base" / "data_type.h"


def _numbers(enum: str) -> dict[str, int]:
    """Read an enum of the header; without the names of what has no type or no format."""
    body = re.search(rf"typedef enum {enum} \{{(.*?)\}}", _HEADER.read_text("utf-8"), re.DOTALL)
    assert body is not None
    found = re.findall(r"ACL_(?:FORMAT_)?(\w+) = (\d+)", body[1])
    return {name: int(number) for name, number in found}


TYPES = _numbers("aclDataType")
"""Every type of ``aclDataType`` by its name without prefix."""
FORMATS = _numbers("aclFormat")
"""Every format of ``aclFormat`` by its name without prefix."""
PRIVATE = frozenset(
    name for name in FORMATS if re.match(r"NC1HWC0|NDC1HWC0|FRACTAL_", name) is not None
)
"""Formats whose memory is not that of a view."""


@dataclass(frozen=True)
class Array:
    """A tensor.

    Attributes:
        shape: Its dimensions.
        dtype: Its data type.
        format: Its format.
        values: What it holds, in row-major order; None leaves that to the test.
        strides: Its strides in elements; None: dense.
    """

    shape: tuple[int, ...]
    dtype: str = F32
    format: str = "ND"
    values: tuple[float, ...] | None = None
    strides: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class Ints:
    """An ``aclIntArray``."""

    values: tuple[int, ...]


@dataclass(frozen=True)
class Bools:
    """An ``aclBoolArray``."""

    values: tuple[bool, ...]


@dataclass(frozen=True)
class Scalar:
    """An ``aclScalar``."""

    value: float
    dtype: str = F32


@dataclass(frozen=True)
class Dtype:
    """An ``aclDataType``."""

    name: str


Argument: TypeAlias = Array | Ints | Bools | Scalar | Dtype | bool | int | float | str | None


@dataclass(frozen=True)
class Changed:
    """The tensor of the sound call but for what stands here."""

    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    format: str | None = None
    strides: tuple[int, ...] | None = None

    @property
    def aspects(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if value is not None}


Changes: TypeAlias = Mapping[str, "Argument | Changed"]


def t(*shape: int, dtype: str = F32, form: str = "ND") -> Array:
    """A tensor of a shape."""
    return Array(shape, dtype, form)


def array(values: Any, dtype: str = F32) -> Array:
    """A tensor that holds these numbers."""
    found = np.array(values, np.float64)
    return Array(found.shape, dtype, values=tuple(found.ravel().tolist()))


def quantized(numbers: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """Numbers as a type holds them: the nearest ones, the largest for what is beyond it."""
    most = MOST[dtype]
    if dtype == I8:
        return np.clip(np.rint(numbers), -most - 1, most)
    kind = {E4M3: ml_dtypes.float8_e4m3fn, E5M2: ml_dtypes.float8_e5m2}[dtype]
    return np.clip(numbers, -most, most).astype(kind).astype(np.float64)


def apply(base: Mapping[str, Argument], *changes: Changes) -> dict[str, Argument]:
    """Change a call, step by step.

    Returns:
        Arguments in the order of the base, which must have every name.
    """
    made = dict(base)
    for step in changes:
        assert set(step) <= set(base), f"no parameters: {set(step) - set(base)}"
        for name, change in step.items():
            if isinstance(change, Changed):
                before = made[name]
                assert isinstance(before, Array), name
                # With another shape it contains other numbers.
                values = before.values if change.shape is None else None
                made[name] = replace(before, **{"values": values, **change.aspects})
            else:
                made[name] = change
    return made


def touching(one: Changes, other: Changes) -> bool:
    """Return whether two changes conflict in one call."""
    for name in set(one) & set(other):
        ours, theirs = one[name], other[name]
        if not (isinstance(ours, Changed) and isinstance(theirs, Changed)):
            return True
        if set(ours.aspects) & set(theirs.aspects):
            return True
    return False
