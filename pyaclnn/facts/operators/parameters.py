# SPDX-License-Identifier: Apache-2.0
"""What is said of the parameters of an operator: tensors with their roles, and options."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pyaclnn.facts.operators.words import NO_AXES, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyaclnn.facts.operators.words import Dims

    Rule: TypeAlias = Callable[[Mapping[str, Any]], Any]

__all__ = [
    "REQUIRED",
    "Kind",
    "Option",
    "Parameter",
    "Role",
    "Tensor",
    "absent",
    "axes",
    "dtype",
    "flag",
    "given",
    "integer",
    "lengths",
    "mask",
    "real",
    "result",
    "scalar",
    "string",
    "updated",
]

REQUIRED: Final = object()
"""Stands for the default of an option that has none."""


class Role(Enum):
    """What an operator does with a tensor."""

    GIVEN = "read"
    RESULT = "written"
    UPDATED = "read and written"


class Kind(Enum):
    """What an option is to C."""

    REAL = "double"
    INTEGER = "int64_t"
    FLAG = "bool"
    LENGTHS = "aclIntArray: lengths of axes"
    AXES = "aclIntArray: numbers of axes"
    MASK = "aclBoolArray"
    SCALAR = "aclScalar"
    DTYPE = "aclDataType"
    STRING = "char *"
    ABSENT = "aclTensor: always NULL"


class Tensor(NamedTuple):
    """A tensor.

    Attributes:
        c_name: Its C name.
        name: Its Python name.
        says: What it is, in words for the documentation.
        role: What the operator does with it.
        type: Its type in words, see :mod:`pyaclnn.facts.operators.types`.
        shape: Its shape in words.
        optional: Whether the caller may leave it out, which is NULL in C.
        when: Tells by the values of options and by which optional tensors are there whether a
            result is wanted; None if it always is.
        placeholder: Whether C wants a tensor also where the result is not wanted.
        infer: Finds the shape of a result that words do not say.
        loose: What CANN does not compare although it must be so: ``type``, which has to be one that
            it knows, or ``untyped``, which has not; ``shape``; with ``count`` it compares numbers
            of elements instead of shapes; ``late`` is what only the kernels compare.
        positive: Whether its values are positive numbers.
        large: What its values in samples are multiplied by.
        indexes: The axis, by its word, whose indices it holds.
        made_by: Which operator returns it, and as which result: it is made by that in samples.
        exact_as: The word of types that its values are only as exact as.
        unwritten: The chip families that never write it, though it must be there.
        packed: The type in which it holds eight numbers of 4 bits an element, along the last axis.
        asked: Whether it is written only where the caller has an array for it.
        fill: What CANN fills it with where the leading tensor is empty; None for nothing.
    """

    c_name: str = ""
    name: str = ""
    says: str = ""
    role: Role = Role.GIVEN
    type: str = ""
    shape: Shape = NO_AXES
    optional: bool = False
    when: Rule | None = None
    placeholder: bool = False
    infer: Callable[[Mapping[str, Any]], Dims] | None = None
    loose: str = ""
    positive: bool = False
    large: float = 1.0
    indexes: str = ""
    made_by: tuple[str, str] | None = None
    exact_as: str = ""
    unwritten: str = ""
    packed: str = ""
    asked: bool = False
    fill: float | None = None

    @property
    def read(self) -> bool:
        """Whether the operator reads it."""
        return self.role is not Role.RESULT

    @property
    def written(self) -> bool:
        """Whether the operator writes it."""
        return self.role is not Role.GIVEN


class Option(NamedTuple):
    """A parameter that is no tensor.

    Attributes:
        c_name: Its C name.
        name: Its Python name.
        says: What it is, in words for the documentation.
        kind: What it is to C.
        default: Its default in Python.
        least: The least value it may have.
        above: The value it must be above.
        most: The greatest value it may have.
        derived: Finds its value where the caller does not give it.
        shape: With `Kind.LENGTHS`, the axes whose lengths it gives.
        results: With `Kind.MASK`, the results it selects, by their C names.
        word: With `Kind.DTYPE`, the word of types it decides; with `Kind.SCALAR`, the type that it
            must have, a word of :mod:`pyaclnn.facts.operators.types`, several with ``/`` between,
            that which callers' numbers get first, or nothing if any will do.
        choices: With `Kind.STRING`, what it may be.
        sample: Its value in samples, by the lengths that are known, if not the default.
        loose: Whether CANN takes any value, although it must be as said here.
        null: Whether C may get NULL for it, though its name does not say so.
    """

    c_name: str = ""
    name: str = ""
    says: str = ""
    kind: Kind = Kind.REAL
    default: Any = REQUIRED
    least: float | None = None
    above: float | None = None
    most: float | None = None
    derived: Rule | None = None
    shape: Shape = NO_AXES
    results: tuple[str, ...] = ()
    word: str = ""
    choices: tuple[str, ...] = ()
    sample: Rule | None = None
    loose: bool = False
    null: bool = False


Parameter: TypeAlias = Tensor | Option
"""A parameter of the C signature."""


def given(spec: str, says: str = "", **more: Any) -> Parameter:
    """A tensor that is read: its type and its shape, as in ``"T rows* norm*"``."""
    return _tensor(Role.GIVEN, spec, says, more)


def result(spec: str, says: str = "", **more: Any) -> Parameter:
    """A tensor that is written."""
    return _tensor(Role.RESULT, spec, says, more)


def updated(spec: str, says: str = "", **more: Any) -> Parameter:
    """A tensor that is read and written in place."""
    return _tensor(Role.UPDATED, spec, says, more)


def _tensor(role: Role, spec: str, says: str, more: dict[str, Any]) -> Tensor:
    kind, _, words = spec.partition(" ")
    return Tensor(says=says, role=role, type=kind, shape=Shape.of(words), **more)


def real(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """A number."""
    return Option(says=says, kind=Kind.REAL, default=default, **more)


def integer(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """A whole number."""
    return Option(says=says, kind=Kind.INTEGER, default=default, **more)


def flag(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """A choice of two."""
    return Option(says=says, kind=Kind.FLAG, default=default, **more)


def scalar(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """A number that C takes as an ``aclScalar``."""
    return Option(says=says, kind=Kind.SCALAR, default=default, **more)


def absent() -> Parameter:
    """A tensor that CANN has a place for and does not take."""
    return Option(kind=Kind.ABSENT, derived=lambda _: None)


def string(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """A name."""
    return Option(says=says, kind=Kind.STRING, default=default, **more)


def lengths(words: str, says: str = "", **more: Any) -> Parameter:
    """The lengths of a group of axes."""
    return Option(says=says, kind=Kind.LENGTHS, shape=Shape.of(words), **more)


def axes(default: Any = REQUIRED, says: str = "", **more: Any) -> Parameter:
    """Numbers of axes."""
    return Option(says=says, kind=Kind.AXES, default=default, **more)


def mask(results: str, says: str = "", **more: Any) -> Parameter:
    """Which results are wanted, all of them by default."""
    names = tuple(results.split())
    more.setdefault("default", (True,) * len(names))
    return Option(says=says, kind=Kind.MASK, results=names, **more)


def dtype(word: str, says: str = "", **more: Any) -> Parameter:
    """A data type that the caller may choose: the one a word of types has then."""
    return Option(says=says, kind=Kind.DTYPE, default=None, word=word, **more)
