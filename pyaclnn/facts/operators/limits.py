# SPDX-License-Identifier: Apache-2.0
"""Limits that hold for every operator: ranks, data types, and categories of scalars.

A scalar converts to the type that the operator computes in, if that keeps its category: a complex
number is not made real, and a fraction not whole. (CANN: the checks of data types and of promotion
of the operators in ops-math and ops-nn, and their documents.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.facts.operators.types import TYPES, acl_name

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["CATEGORIES", "MOST_AXES", "category_of", "rank_fault", "scalar_fault", "type_name"]

CATEGORIES: Final = "bifc"
"""Categories of data types, from bool over integers and floats to complex numbers."""
_NOUNS: Final = {"b": "a bool", "i": "an integer", "f": "a real number", "c": "a number"}
MOST_AXES: Final = 8
"""Largest number of axes of most tensors."""


def _names(text: str) -> frozenset[str]:
    return frozenset(f"aclnn{name}" for name in text.split())


_COMPLEX: Final = _names("""
    Add.alpha Adds.other Adds.alpha ConstantPadNd.value DivMods.other Divs.other EqScalar.other
    InplaceAdd.alpha InplaceDivMods.other InplaceDivs.other InplaceEqScalar.other
    InplaceFillScalar.value InplaceMuls.other InplaceNeScalar.other
    InplacePowTensorScalar.exponent InplaceScatterValue.value InplaceSub.alpha InplaceSubs.alpha
    InplaceSubs.other Muls.other NeScalar.other PowScalarTensor.self PowTensorScalar.exponent
    Rsub.alpha Rsubs.alpha Rsubs.other ScatterValue.value Sub.alpha Subs.alpha Subs.other
""")
"""The scalars that may be complex; all others are real."""
_WHOLE: Final = _names("""
    BitwiseAndScalar.other BitwiseOrScalar.other BitwiseXorScalar.other Cumprod.dim
    ForeachRoundOffNumberV2.roundMode InplaceBitwiseAndScalar.other InplaceBitwiseOrScalar.other
    InplaceBitwiseXorScalar.other InplaceCumprod.dim LeftShifts.shiftBits
    QuantizedBatchNorm.inputZeroPoint QuantizedBatchNorm.outputZeroPoint
""")
"""The scalars that may not have a fraction."""
_COMPARING: Final = _names("EqScalar InplaceEqScalar InplaceNeScalar NeScalar")
"""The operators that promote real tensors to a complex scalar, because their result is a bool."""


def category_of(word: str) -> str:
    """Return the category of a data type, a letter of `CATEGORIES`.

    Args:
        word: The type as a word of `pyaclnn.facts.operators.types`, or its name in CANN.
    """
    lowered = word.lower()
    if lowered == "bool":
        return "b"
    return {"c": "c", "i": "i", "u": "i"}.get(lowered[0], "f")


def rank_fault(parameter: str, rank: int, most: int = MOST_AXES) -> str | None:
    """Return the reason why a tensor has too many axes, or None.

    Args:
        parameter: The C name of the tensor.
        rank: The number of its axes.
        most: The largest number that it may have.
    """
    if rank <= most:
        return None
    return f"{parameter} has {rank} dimensions; it must have at most {most}"


def scalar_fault(operator: str, parameter: str, word: str, results: Collection[str]) -> str | None:
    """Return the reason why a scalar cannot be converted, or None.

    Args:
        operator: The C name of the operator.
        parameter: The C name of its scalar.
        word: The scalar's data type, a word of `pyaclnn.facts.operators.types` or CANN's name.
        results: The data types of the tensors that the operator writes.
    """
    name, has = f"{operator}.{parameter}", category_of(word)
    most = "c" if name in _COMPLEX else "i" if name in _WHOLE else "f"
    if word not in TYPES or CATEGORIES.index(has) > CATEGORIES.index(most):
        return f"{parameter} has data type {type_name(word)}; it must be {_NOUNS[most]}"
    real = results and "c" not in map(category_of, results)
    if has == "c" and real and operator not in _COMPARING:
        return (
            f"{parameter} has data type {type_name(word)}; it must be a real number, because the "
            f"result is {' and '.join(sorted(set(map(type_name, results))))}"
        )
    return None


def type_name(word: str) -> str:
    """Return NumPy's name of a data type, or CANN's if NumPy has none.

    Args:
        word: A word of `pyaclnn.facts.operators.types`, or the name in CANN.
    """
    return TYPES[word].numpy if word in TYPES else acl_name(word)
