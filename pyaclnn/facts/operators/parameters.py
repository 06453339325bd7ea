# SPDX-License-Identifier: Apache-2.0
"""Parameters of an operator: tensors with their roles, and options."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pyaclnn.facts.operators.words import NO_AXES, Shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypedDict

    from typing_extensions import Unpack

    from pyaclnn.facts.operators.words import Dims

    Rule: TypeAlias = Callable[[Mapping[str, Any]], Any]

    class TensorDetails(TypedDict, total=False):
        """Attributes of `Tensor` that few tensors have."""

        name: str
        optional: bool
        when: Rule
        placeholder: bool
        infer: Callable[[Mapping[str, Any]], Dims]
        unchecked: str
        ignored: bool
        positive: bool
        large: float
        indexes: str
        made_by: tuple[str, str]
        exact_as: str
        unwritten: str
        packed: str
        on_request: bool
        fill: float
        by_chip: tuple[tuple[str, str], ...]

    class OptionDetails(TypedDict, total=False):
        """Attributes of `Option` that few options have."""

        name: str
        least: float
        above: float
        most: float
        derived: Rule
        word: str
        choices: tuple[str, ...]
        sample: Rule
        unchecked: bool
        null: bool


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
    "inout",
    "input",
    "integer",
    "lengths",
    "mask",
    "output",
    "real",
    "scalar",
    "string",
]

REQUIRED: Final = object()
"""Stands for the default of an option that has none."""


class Role(Enum):
    """Direction of a tensor."""

    INPUT = "read"
    OUTPUT = "written"
    INOUT = "read and written"


class Kind(Enum):
    """C type of an option, and the meaning of its arrays."""

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
        doc: Its description in the documentation.
        role: True if the operator reads it, writes it, or both.
        type: Its type in words, see :mod:`pyaclnn.facts.operators.types`.
        shape: Its shape in words, see :mod:`pyaclnn.facts.operators.words`.
        optional: True if the caller may leave it out, which is NULL in C.
        when: Returns, from the values of options and the optional tensors that are there, whether
            an output is wanted; None if it always is.
        placeholder: True if C requires a tensor also where the output is not wanted.
        infer: Returns the shape of an output that words do not describe.
        unchecked: The properties that CANN does not compare although they must be right: ``type``,
            which has to be a known one, or ``untyped``, which has not; with ``masked`` its type
            where the mask leaves it out; ``shape``; with ``count`` it compares numbers of
            elements instead of shapes.
        ignored: True if no kernel reads it.
        positive: True if its values are positive numbers.
        large: The factor of its values in samples.
        indexes: The axis, by its word, whose indices it holds.
        made_by: The operator that returns it, and the name of that output: samples come from it.
        exact_as: The word of types whose precision its values have.
        unwritten: The chip families that never write it, though it must be there.
        packed: The type in which it holds eight numbers of 4 bits an element, along the last axis.
        on_request: True if it is written only where the caller has an array for it.
        fill: The number that CANN fills it with where the primary tensor is empty; None for none.
        by_chip: Pairs of a chip family, ``*`` for the others, and the word for its numbers there.
    """

    c_name: str = ""
    name: str = ""
    doc: str = ""
    role: Role = Role.INPUT
    type: str = ""
    shape: Shape = NO_AXES
    optional: bool = False
    when: Rule | None = None
    placeholder: bool = False
    infer: Callable[[Mapping[str, Any]], Dims] | None = None
    unchecked: str = ""
    ignored: bool = False
    positive: bool = False
    large: float = 1.0
    indexes: str = ""
    made_by: tuple[str, str] | None = None
    exact_as: str = ""
    unwritten: str = ""
    packed: str = ""
    on_request: bool = False
    fill: float | None = None
    by_chip: tuple[tuple[str, str], ...] = ()

    def meaning(self, family: str) -> str:
        """Return the word for its numbers on a chip family; its name if all chips agree."""
        words = dict(self.by_chip)
        return words.get(family, words.get("*", self.name))

    @property
    def read(self) -> bool:
        """Return whether the operator reads it."""
        return self.role is not Role.OUTPUT

    @property
    def written(self) -> bool:
        """Return whether the operator writes it."""
        return self.role is not Role.INPUT


class Option(NamedTuple):
    """A parameter other than a tensor.

    Attributes:
        c_name: Its C name.
        name: Its Python name.
        doc: Its description in the documentation.
        kind: Its C type, and the meaning of an array.
        default: Its default in Python.
        least: The least value it may have.
        above: The value it must be above.
        most: The greatest value it may have.
        derived: Returns its value, which the caller does not give, from known lengths.
        shape: With `Kind.LENGTHS`, the axes whose lengths it gives.
        results: With `Kind.MASK`, the outputs that it selects, by their C names.
        word: With `Kind.DTYPE`, the word of types that it decides; with `Kind.SCALAR`, its type, a
            word of :mod:`pyaclnn.facts.operators.types`, or several with ``/`` between, that which
            callers' numbers get first; nothing if CANN accepts any.
        choices: With `Kind.STRING`, the accepted values.
        sample: Its value in samples, by the lengths that are known, if not the default.
        unchecked: True if CANN accepts any value, although it must be in its range.
        null: True if C may get NULL for it, though its name does not end in ``Optional``.
    """

    c_name: str = ""
    name: str = ""
    doc: str = ""
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
    unchecked: bool = False
    null: bool = False


Parameter: TypeAlias = Tensor | Option
"""A parameter of the C signature."""


def input(spec: str, doc: str = "", **details: Unpack[TensorDetails]) -> Parameter:
    """Describe a tensor that is read: its type and its shape, as in ``"T rows* norm*"``."""
    return _tensor(Role.INPUT, spec, doc, details)


def output(spec: str, doc: str = "", **details: Unpack[TensorDetails]) -> Parameter:
    """Describe a tensor that is written."""
    return _tensor(Role.OUTPUT, spec, doc, details)


def inout(spec: str, doc: str = "", **details: Unpack[TensorDetails]) -> Parameter:
    """Describe a tensor that is read and written in place."""
    return _tensor(Role.INOUT, spec, doc, details)


def _tensor(role: Role, spec: str, doc: str, details: TensorDetails) -> Tensor:
    kind, _, words = spec.partition(" ")
    return Tensor(doc=doc, role=role, type=kind, shape=Shape.of(words), **details)


def real(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe a ``double``."""
    return Option(doc=doc, kind=Kind.REAL, default=default, **details)


def integer(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe an ``int64_t``."""
    return Option(doc=doc, kind=Kind.INTEGER, default=default, **details)


def flag(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe a ``bool``."""
    return Option(doc=doc, kind=Kind.FLAG, default=default, **details)


def scalar(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe a number that C takes as an ``aclScalar``."""
    return Option(doc=doc, kind=Kind.SCALAR, default=default, **details)


def string(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe a ``char *``."""
    return Option(doc=doc, kind=Kind.STRING, default=default, **details)


def absent() -> Parameter:
    """Describe a tensor of the C signature that must be NULL."""
    return Option(kind=Kind.ABSENT, derived=lambda _: None)


def lengths(words: str, doc: str = "") -> Parameter:
    """Describe an ``aclIntArray`` with the lengths of a group of axes."""
    return Option(doc=doc, kind=Kind.LENGTHS, shape=Shape.of(words))


def axes(default: Any = REQUIRED, doc: str = "", **details: Unpack[OptionDetails]) -> Parameter:
    """Describe an ``aclIntArray`` with numbers of axes."""
    return Option(doc=doc, kind=Kind.AXES, default=default, **details)


def mask(
    outputs: str, doc: str = "", *, default: Any = REQUIRED, **details: Unpack[OptionDetails]
) -> Parameter:
    """Describe the ``aclBoolArray`` that selects outputs, by default all of them."""
    names = tuple(outputs.split())
    chosen = (True,) * len(names) if default is REQUIRED else default
    return Option(doc=doc, kind=Kind.MASK, results=names, default=chosen, **details)


def dtype(word: str, doc: str = "") -> Parameter:
    """Describe the ``aclDataType`` that the caller may choose for a word of types."""
    return Option(doc=doc, kind=Kind.DTYPE, default=None, word=word)
