# SPDX-License-Identifier: Apache-2.0
"""Checks of operators without a description, by the rules of their calls.

First come NULLs, with 161001, then types, ranks, casts, broadcasting and formats, with 161002.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.facts.operators.call_rules import call_rules
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.limits import (
    CATEGORIES,
    category_of,
    rank_fault,
    scalar_fault,
    type_name,
)
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.types import ARRAYS
from pyaclnn.mock.operators.formats import is_private
from pyaclnn.mock.operators.operator import RefusalError
from pyaclnn.mock.protocol.dtypes import (
    DATA_TYPES,
    data_type_name,
    format_name,
    numpy_dtype,
    type_word,
)
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import Scalar, ScalarList, Tensor, TensorList
from pyaclnn.reference.kernels.promotion import common, with_category

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np

    from pyaclnn.facts.chips import Chip
    from pyaclnn.facts.operators.call_rules import CallRules, ParameterRule
    from pyaclnn.mock.protocol.values import Value

__all__ = ["Checked", "check_limits", "is_nullable", "items_of", "typed_items"]

_EXISTING = frozenset(DATA_TYPES.values()) - {DATA_TYPES["UNDEFINED"]}


class Checked(NamedTuple):
    """Call whose arguments are checked.

    Attributes:
        operator: The C name of the operator.
        values: Its arguments by their C names, in the order of C.
        written: The names of those that it writes.
        chip: The chip.
        computed: True if there is a kernel. Without one, what the documents alone state is not
            certain enough for a refusal, nor is a rule that needs the operator's arithmetic.
    """

    operator: str
    values: Mapping[str, Value]
    written: tuple[str, ...]
    chip: Chip
    computed: bool


def items_of(value: Value) -> tuple[Value, ...]:
    """Return the elements of a list, or a single argument as a tuple of one."""
    return value.items if isinstance(value, (TensorList, ScalarList)) else (value,)


def typed_items(values: Mapping[str, Value]) -> Iterator[tuple[str, Tensor | Scalar]]:
    """Yield each tensor and scalar, those of lists too, with the name of its parameter."""
    for name, value in values.items():
        for item in items_of(value):
            if isinstance(item, (Tensor, Scalar)):
                yield name, item


def is_nullable(operator: str, place: int) -> bool | None:
    """Report whether a parameter may be NULL; None if the table lacks the operator.

    Args:
        operator: The C name of the operator.
        place: The place of the parameter.
    """
    rules = call_rules(operator)
    return None if rules is None else rules.parameters[place].nullable


def check_limits(call: Checked) -> None:
    """Check types, ranks, casts, shapes that broadcast, and formats.

    An operator that the table lacks, such as one of a custom package, takes what its kernel takes,
    of data types that exist.

    Raises:
        RefusalError: With 161002 for what CANN refuses.
    """
    rules = call_rules(call.operator)
    wrong = next(_faults(call, rules), None)
    if wrong is not None:
        raise RefusalError(Status.PARAM_INVALID, f"{call.operator}: {wrong}.")


def _faults(call: Checked, rules: CallRules | None) -> Iterator[str]:
    results = [
        type_word(item.data_type)
        for name in call.written
        for item in items_of(call.values[name])
        if isinstance(item, Tensor)
    ]
    parameters = {} if rules is None else dict(zip(call.values, rules.parameters, strict=True))
    for name, item in typed_items(call.values):
        wrong = None
        if item.data_type not in _EXISTING:
            shown = data_type_name(item.data_type)
            wrong = f"{name} has the data type {shown}, which does not exist"
        elif call.operator not in catalogue():
            continue
        elif isinstance(item, Scalar):
            wrong = scalar_fault(call.operator, name, type_word(item.data_type), results)
        elif rules is None:
            wrong = rank_fault(name, item.rank)
        else:
            wrong = (
                None if _is_undefined(name, item) else _fault(call, name, item, parameters[name])
            )
        if wrong is not None:
            yield wrong
    if rules is not None:
        yield from _joint_faults(call, rules)


def _is_undefined(name: str, item: Tensor) -> bool:
    """Report whether an element of ``indices`` is undefined: of any type, without elements."""
    return name == "indices" and item.dims == (0,)


def _fault(call: Checked, name: str, tensor: Tensor, rule: ParameterRule) -> str | None:
    """Return the reason why a tensor is refused for itself, or None."""
    certain = call.computed or not rule.documented
    word = type_word(tensor.data_type)
    types = rule.types(call.chip.family, bfloat16=call.chip.bfloat16)
    if certain and types is not None and word not in types:
        must = " or ".join(map(type_name, sorted(types)))
        return f"{name} has data type {type_name(word)}; it must be {must}"
    wrong = rank_fault(name, tensor.rank, rule.axes)
    if wrong is None and call.computed and not rule.private and is_private(tensor.format):
        form = format_name(tensor.format)
        return f"{name} has format {form}; it must be one without a layout of its own"
    return wrong


def _joint_faults(call: Checked, rules: CallRules) -> Iterator[str]:
    """Return the reasons why arguments are refused together."""
    names, values = list(call.values), list(call.values.values())
    for place, rule in enumerate(rules.parameters):
        if rule.like is not None and (call.computed or not rule.like_documented):
            for tensor, other in _pairs(values[place], values[rule.like]):
                if tensor.data_type != other.data_type:
                    has, must = (type_name(type_word(t.data_type)) for t in (tensor, other))
                    other_name = names[rule.like]
                    yield f"{names[place]} is {has}; it must be {must}, as {other_name} is"
        if rule.cast and call.computed:
            yield from _cast_faults(names[place], values[place], rule.cast, values)
    if call.computed:
        yield from _broadcast_faults([(names[place], values[place]) for place in rules.broadcast])


def _pairs(value: Value, other: Value) -> Iterator[tuple[Tensor, Tensor]]:
    """Pair the tensors of a parameter with those of another one, or with its first."""
    ours, theirs = items_of(value), items_of(other)
    if len(ours) != len(theirs):
        theirs = theirs[:1] * len(ours)
    for one, two in zip(ours, theirs, strict=False):
        if isinstance(one, Tensor) and isinstance(two, Tensor):
            yield one, two


def _cast_faults(
    name: str, result: Value, source: tuple[int, ...] | str, values: list[Value]
) -> Iterator[str]:
    """Return the reason why a result would lose its category, such as its fraction."""
    if not isinstance(result, Tensor):
        return
    word = source if isinstance(source, str) else _promoted([values[place] for place in source])
    target = type_word(result.data_type)
    if word is None or target not in ARRAYS:
        return
    dtype = "float32" if word == "f" else word
    if CATEGORIES.index(category_of(dtype)) > CATEGORIES.index(category_of(target)):
        shown = type_name(target)
        yield f"{name} is {shown}; the result is {dtype}, which cannot be cast to {shown}"


def _promoted(operands: list[Value]) -> str | None:
    """Return NumPy's name of the common type of operands; None if it is not known."""
    found: np.dtype[np.generic] | None = None
    items = [item for value in operands for item in items_of(value)]
    codes = [item.data_type for item in items if isinstance(item, Tensor)]
    if not codes or not all(type_word(code) in ARRAYS for code in codes):
        return None
    try:
        for dtype in map(numpy_dtype, codes):
            found = dtype if found is None else common(found, dtype)
    except ValueError:
        return None
    assert found is not None  # noqa: S101  # as there are tensors
    for item in items:
        if isinstance(item, Scalar):
            found = with_category(found, category_of(type_word(item.data_type)))
    return str(found)


def _broadcast_faults(operands: list[tuple[str, Value]]) -> Iterator[str]:
    given = [(name, value) for name, value in operands if isinstance(value, Tensor)]
    turned = (value.dims[::-1] for _, value in given)
    if any(len({*lengths} - {1}) > 1 for lengths in zip_longest(*turned, fillvalue=1)):
        shapes = ", ".join(f"{name} has {shape_text(value.dims)}" for name, value in given)
        yield f"the shapes do not broadcast: {shapes}"
