# SPDX-License-Identifier: Apache-2.0
"""Data types in words: which combinations an operator takes, on which chips.

``"T=f32 W=f32 | T=f16 W=f32,f16"`` are two rows: with ``T`` float32 the word ``W`` is float32,
with ``T`` float16 it is float32 or float16. ``*`` stands for all words that a row does not name. A
tensor is of a word of such rows or of a type itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ARRAYS", "PAIRED", "TYPES", "Row", "Type", "Types", "acl_name"]


class Type(NamedTuple):
    """A data type: NumPy's name (or that of ml_dtypes) and the constant of CANN."""

    numpy: str
    acl: str


TYPES = {
    "f32": Type("float32", "ACL_FLOAT"),
    "f16": Type("float16", "ACL_FLOAT16"),
    "bf16": Type("bfloat16", "ACL_BF16"),
    "f64": Type("float64", "ACL_DOUBLE"),
    "i8": Type("int8", "ACL_INT8"),
    "i16": Type("int16", "ACL_INT16"),
    "i32": Type("int32", "ACL_INT32"),
    "i64": Type("int64", "ACL_INT64"),
    "u8": Type("uint8", "ACL_UINT8"),
    "u16": Type("uint16", "ACL_UINT16"),
    "u32": Type("uint32", "ACL_UINT32"),
    "u64": Type("uint64", "ACL_UINT64"),
    "bool": Type("bool", "ACL_BOOL"),
    "c64": Type("complex64", "ACL_COMPLEX64"),
    "c128": Type("complex128", "ACL_COMPLEX128"),
}
"""The words for the types that most operators compute with."""

FLOAT8 = {
    "e4m3": Type("float8_e4m3fn", "ACL_FLOAT8_E4M3FN"),
    "e5m2": Type("float8_e5m2", "ACL_FLOAT8_E5M2"),
    "e8m0": Type("float8_e8m0fnu", "ACL_FLOAT8_E8M0"),
}
"""The words for types of one byte that few operators have, all of ml_dtypes; e8m0 are scales."""

ARRAYS = {**TYPES, **FLOAT8}
"""The words for all types that arrays of public functions may have."""

PAIRED = {
    "i4": Type("int4", "ACL_INT4"),
    "e2m1": Type("float4_e2m1fn", "ACL_FLOAT4_E2M1"),
}
"""The words for types of 4 bits, of which a byte holds two, the first one lowest."""

_NAMES = {word: kind for table in (ARRAYS, PAIRED) for word, kind in table.items()}


def acl_name(word: str) -> str:
    """Return the name that CANN has for a type, without prefix; a word that is none as it is."""
    return _NAMES[word].acl.removeprefix("ACL_") if word in _NAMES else word


Row: TypeAlias = "Mapping[str, tuple[str, ...]]"
"""One row: the types that each word may have."""


class Types(NamedTuple):
    """The combinations that an operator takes.

    Attributes:
        families: Rows by the chip family that has them; a family that is absent has no kernels.
        rows: All rows, each once.
    """

    families: Mapping[str, tuple[Row, ...]]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, text: Mapping[str, str]) -> Types:
        """Read rows, given for one or more chip families at a time."""
        families = {
            family: tuple(map(_row, rows.split("|")))
            for names, rows in text.items()
            for family in names.split()
        }
        rows: list[Row] = []
        for found in families.values():
            rows += [row for row in found if row not in rows]
        return cls(families, tuple(rows))

    def allowed(
        self, written: str, bound: Mapping[str, str], rows: tuple[Row, ...] | None = None
    ) -> tuple[str, ...]:
        """List the types that a tensor may have, those that come first preferred.

        Args:
            written: Its type in words: a word of rows or a type, or several with ``/`` between.
            bound: The types that words are known to have.
            rows: The rows to look at; all of them if None.
        """
        found: dict[str, None] = {}
        for word in written.split("/"):
            if word in ARRAYS:
                found[word] = None
            elif word in bound:
                found[bound[word]] = None
            else:
                for row in self.rows if rows is None else rows:
                    if fits(row, bound):
                        found.update(dict.fromkeys(of(row, word)))
        return tuple(found)


def fits(row: Row, bound: Mapping[str, str]) -> bool:
    """Return whether a row has the types that words are known to have.

    A choice of types, with ``/`` between, is no word of rows.
    """
    return all(kind in of(row, word) for word, kind in bound.items() if "/" not in word)


def of(row: Row, word: str) -> tuple[str, ...]:
    """Return the types that a word may have in a row."""
    return row.get(word) or row.get("*", ())


def _row(text: str) -> Row:
    pairs = (pair.split("=") for pair in text.split())
    return {word: tuple(kinds.split(",")) for word, kinds in pairs}
