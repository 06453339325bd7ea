# SPDX-License-Identifier: Apache-2.0
"""Typed stub of the definitions of operators, for editors and type checkers."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any, Final

from pyaclnn import reference
from pyaclnn.facts.operators import all_operators
from pyaclnn.facts.operators.parameters import Tensor
from pyaclnn.reference.documentation.annotations import type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.facts.operators import Operator

__all__ = ["reference_stub"]

_HEAD: Final = """\
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from numpy.typing import ArrayLike, DTypeLike, NDArray

_Array: TypeAlias = NDArray[Any]
_MaybeNone: TypeAlias = Any  # None where a mask or an option leaves the result out
"""
_KEPT: Final = "\0"  # a space at which no line ends
_WRAPPER: Final = textwrap.TextWrapper(
    100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
)


def reference_stub() -> str:
    """Return the text of the stub ``pyaclnn.reference.operators`` without its head."""
    operators = {operator.definition: operator for operator in all_operators().values()}
    operators |= all_operators()
    kinds: dict[type | None, Operator] = {}
    functions: list[str] = []
    for name, operator in sorted(operators.items()):
        definition = vars(reference.definition(name))
        kinds.setdefault(definition["kind"], operator)
        functions += _function(name, operator)
    lines = [line for kind, operator in kinds.items() for line in _results(kind, operator)]
    return "\n".join([_HEAD, *lines, *functions]) + "\n"


def _results(kind: type | None, operator: Operator) -> Iterator[str]:
    if kind is None:
        return
    yield f"class {kind.__name__}(NamedTuple):"
    masked = operator.mask.results if operator.mask else ()
    for name in getattr(kind, "_fields", ()):
        tensor = operator.by_name[name]
        assert isinstance(tensor, Tensor)  # noqa: S101  # options are no results
        absent = tensor.when is not None or tensor.optional or tensor.c_name in masked
        yield f"    {name}: _Array{' | _MaybeNone' if absent else ''}"
    yield ""


def _function(name: str, operator: Operator) -> Iterator[str]:
    signature = inspect.signature(reference.definition(name))
    texts, named = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not named:
            texts.append("*")
            named = True
        default = (
            "" if parameter.default is parameter.empty else f" = {_written(parameter.default)}"
        )
        kind = type_of(operator, parameter.name, may_lack=parameter.default is None)
        texts.append(f"{parameter.name}: {kind}{default}")
    yield f"def {name}("
    yield _WRAPPER.fill(", ".join(text.replace(" ", _KEPT) for text in texts)).replace(_KEPT, " ")
    result = signature.return_annotation.replace("NDArray[Any]", "_Array")
    yield f") -> {result}: ..."


def _written(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
