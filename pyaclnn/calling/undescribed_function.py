# SPDX-License-Identifier: Apache-2.0
"""Python functions of operators whose declaration alone is known."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyaclnn.calling.declared import snake_name
from pyaclnn.calling.documentation import signature_in_words
from pyaclnn.calling.empty import LeftOut
from pyaclnn.calling.front import Front, function_of
from pyaclnn.calling.inference import on_new_rule
from pyaclnn.calling.source import Form, Slot
from pyaclnn.calling.undescribed import Undescribed, interface_of, refuse_others

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyaclnn.calling.call import Call
    from pyaclnn.calling.declared import Declared
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["ANNOTATIONS", "NUMBER", "OperatorFunction", "undescribed_function"]

_ARRAY: Final = "NDArray[Any] | DeviceArray"
NUMBER: Final = "complex | np.number[Any] | np.bool_"
"""The Python types of an aclScalar."""
ANNOTATIONS: Final[Mapping[str, str]] = {
    "t": _ARRAY,
    "T": f"Sequence[{_ARRAY} | None]",
    "I": "int | Sequence[int]",
    "F": "float | Sequence[float]",
    "B": "bool | Sequence[bool]",
    "a": NUMBER,
    "A": f"Sequence[{NUMBER}]",
    "s": "str",
    "b": "bool",
    "d": "float",
    "f": "float",
    "c": "int",
    "i": "int",
    "q": "int",
    "Q": "int",
    "y": "DTypeLike | int",
}
"""The Python types of each kind of parameter; pointers take None as well, for NULL."""
_POINTERS: Final = "tTIFBaAs"


class OperatorFunction(Protocol):
    """The function of an operator by its C name; ``pyaclnn.aclnn`` types the parameters of each.

    Attributes:
        declared: Its declaration.
    """

    declared: Declared

    def __call__(self, *arguments: Any, stream: StreamLike | None = None, **by_name: Any) -> Any:
        """Call the operator; see ``op``."""

    def prepare(self, *arguments: Any, stream: StreamLike | None = None, **by_name: Any) -> Call:
        """Check the arguments of a call, and do not launch it."""


def undescribed_function(declared: Declared) -> OperatorFunction:
    """Write the Python function of an operator from its declaration alone.

    Args:
        declared: The operator.

    Returns:
        The function; its attribute ``prepare`` checks a call and does not launch it, its attribute
        ``declared`` is the declaration.
    """
    checks, leader = Undescribed(declared, interface_of(declared)), _leader(declared)
    front = Front(checks, recognises_calls=bool(leader))
    on_new_rule(declared.name, front.forget)
    given = ", ".join(f"{name!r}: {name}" for name in declared.names)
    texts = {LeftOut.REQUIRED: "=required_", LeftOut.RESULT: "=made_", None: "=None"}
    pairs = zip(declared.names, _defaults(declared), strict=True)
    parameters = [f"{name}{texts.get(default, '=required_')}" for name, default in pairs]
    form = Form(
        name=snake_name(declared.name),
        room="aclnn",
        origin=declared.signature.header,
        slots=tuple(
            Slot(name, kind, place in declared.results)
            for place, (name, kind) in enumerate(zip(declared.names, declared.kinds, strict=True))
        ),
        parameters=", ".join([*parameters, "*rest_", "stream=None", "**others_"]),
        preamble=(f"if rest_ or others_: refuse_others_(declared_, {{{given}}}, rest_, others_)",),
        arguments=declared.names,
        out="",
        leader=leader,
        returned=_returned(declared),
    )
    space = {
        "declared_": declared,
        "refuse_others_": refuse_others,
        "required_": LeftOut.REQUIRED,
        "made_": LeftOut.RESULT,
    }
    function = function_of(form, front, space, signature_in_words(declared))
    function.__signature__ = function.prepare.__signature__ = _signature(declared)
    function.declared = declared
    found: OperatorFunction = function
    return found


def _leader(declared: Declared) -> str:
    """Return the array by which a call is recognised; empty if its calls are not recognised."""
    if {*"TAF"} & {*declared.kinds}:
        return ""  # they change with every call, and equal ones may differ: 0.0 and -0.0
    if declared.found_later:
        return ""
    tensors = [place for place in declared.tensors if place not in declared.optional]
    tensors.sort(key=lambda place: place in declared.results)
    return declared.names[tensors[0]] if tensors else ""


def _returned(declared: Declared) -> str:
    found = [
        f"results_[{declared.results.index(place)}]"
        if place in declared.results
        else declared.names[place]
        for place in declared.written
    ]
    return found[0] if len(found) == 1 else f"({''.join(f'{name}, ' for name in found)})"


def _defaults(declared: Declared) -> Iterator[Any]:
    """Yield the default of each parameter; ``Parameter.empty`` for one that must be given."""
    begun = False
    for place in range(len(declared.names)):
        if place in declared.optional and place not in declared.results:
            yield None
            begun = True
        elif place in declared.results:
            yield LeftOut.RESULT
            begun = True
        else:
            # Python wants a default after one that has one.
            yield LeftOut.REQUIRED if begun else inspect.Parameter.empty


def _signature(declared: Declared) -> inspect.Signature:
    """Return the signature of the function of an operator, with annotations."""
    parameters = []
    rows = zip(declared.names, declared.kinds, _defaults(declared), strict=True)
    for place, (name, kind, default) in enumerate(rows):
        text = f"{ANNOTATIONS[kind]}{' | Empty' * (place in declared.results and kind == 't')}"
        text += " | None" * (kind in _POINTERS)
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters.append(inspect.Parameter(name, kinds, default=default, annotation=text))
    stream = inspect.Parameter(
        "stream", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="StreamLike | None"
    )
    return inspect.Signature([*parameters, stream])
