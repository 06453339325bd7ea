# SPDX-License-Identifier: Apache-2.0
"""Arguments of an operator without description, checked against its signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.mock.operators.limits import Checked, check_limits, is_nullable
from pyaclnn.mock.operators.operator import Parameter, RefusalError
from pyaclnn.mock.protocol.status import Status
from pyaclnn.mock.protocol.values import (
    BoolArray,
    FloatArray,
    IntArray,
    Scalar,
    ScalarList,
    Tensor,
    TensorList,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.chips import Chip
    from pyaclnn.mock.protocol.values import Value
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["Signature", "check_arguments", "signature_of"]

_CLASSES: dict[str, type] = {
    "t": Tensor,
    "T": TensorList,
    "a": Scalar,
    "A": ScalarList,
    "I": IntArray,
    "F": FloatArray,
    "B": BoolArray,
    "s": str,
    "b": bool,
    "d": float,
    "f": float,
}
_TENSORS = (Tensor, TensorList)


class Signature(NamedTuple):
    """Facts about an operator without a description.

    Attributes:
        name: Its C name.
        parameters: Its parameters.
        types: Those of them that are numbers of ``aclDataType``.
        read: Those of them that are read.
        written: Those of them that are written.
    """

    name: str
    parameters: tuple[Parameter, ...]
    types: frozenset[str]
    read: tuple[str, ...]
    written: tuple[str, ...]


def signature_of(
    name: str, kernel: Kernel | None, types: tuple[tuple[str, type], ...] = ()
) -> Signature | None:
    """Find the signature of an operator: in the table, else from what it is called with.

    An operator that no table has writes the tensors that its kernel does not name, and reads and
    writes those whose names end in ``Ref``.

    Args:
        name: The C name of the operator.
        kernel: Its kernel, if there is one.
        types: The names and types of its arguments, for one that no table has.

    Returns:
        The signature; None for an operator that no table has, and no kernel.
    """
    entry = catalogue().get(name)
    if entry is not None:
        return Signature(
            entry.name,
            tuple(
                Parameter(p.name, _CLASSES.get(p.kind, int), pointer=p.kind in "tTaAIFBs")
                for p in entry.parameters
            ),
            frozenset(p.name for p in entry.parameters if p.kind == "y"),
            tuple(p.name for p in entry.parameters if p.read),
            tuple(p.name for p in entry.parameters if p.written),
        )
    if kernel is None:
        return None
    named = [argument for argument, _ in types if kernel.parameter_for(argument) is not None]
    return Signature(
        name,
        tuple(Parameter(argument, kind) for argument, kind in types),
        frozenset(),
        tuple(named),
        tuple(
            argument
            for argument, kind in types
            if kind in _TENSORS and (argument not in named or argument.endswith("Ref"))
        ),
    )


def check_arguments(
    signature: Signature, values: dict[str, Value], chip: Chip, kernel: Kernel | None = None
) -> None:
    """Check arguments against a signature and the rules of the operator's calls.

    The operator's rules state which parameters may be NULL. One that the table lacks needs those
    that it reads, its only result, and those that its kernel names, unless their names end in
    ``Optional`` or the kernel does without them. No element of a list may be NULL, and the lists
    of an operator on lists are equally long.

    Args:
        signature: The signature.
        values: The arguments by their C names.
        chip: The chip.
        kernel: The kernel, if there is one.

    Raises:
        RefusalError: With 161001 for what is missing, with 161002 for what is wrong.
    """
    for place, parameter in enumerate(signature.parameters):
        name, value = parameter.name, values[parameter.name]
        if value is None and parameter.pointer and not _may_be_null(signature, place, kernel):
            _refuse(Status.PARAM_NULLPTR, signature, f"{name} is NULL; it is not optional")
        if isinstance(value, (TensorList, ScalarList)) and None in value.items:
            absent = value.items.index(None)
            _refuse(Status.PARAM_NULLPTR, signature, f"element {absent} of {name} is NULL")
    check_limits(
        Checked(signature.name, values, signature.written, chip, computed=kernel is not None)
    )
    if signature.name.startswith("aclnnForeach"):
        _check_lengths(signature, dict(_lengths(values)))


def _may_be_null(signature: Signature, place: int, kernel: Kernel | None) -> bool:
    known = is_nullable(signature.name, place)
    if known is not None:
        return known
    name = signature.parameters[place].name
    named = kernel is not None and kernel.parameter_for(name) is not None
    if not (name in signature.read or signature.written == (name,) or named):
        return True
    lacked = kernel is not None and kernel.may_lack(name) and signature.written != (name,)
    return "Optional" in name or lacked


def _lengths(values: dict[str, Any]) -> Iterator[tuple[str, int]]:
    for name, value in values.items():
        if isinstance(value, (TensorList, ScalarList)):
            yield name, len(value.items)


def _check_lengths(signature: Signature, lengths: dict[str, int]) -> None:
    first = next(iter(lengths), "")
    for name, length in lengths.items():
        if length != lengths[first]:
            text = f"{name} has {length} elements; it must have {lengths[first]}, as {first} has"
            _refuse(Status.PARAM_INVALID, signature, text)


def _refuse(status: Status, signature: Signature, text: str) -> None:
    raise RefusalError(status, f"{signature.name}: {text}.")
