# SPDX-License-Identifier: Apache-2.0
"""Writer of the typed stubs of ``ops``, ``aclnn``, ``reference``: ``python -m pyaclnn.ops.stub``.

Type checkers read the source tree, also of an editable installation; so the stubs are there.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.signatures import PHASE_1, signature
from pyaclnn.facts.operators import all_operators, module_of
from pyaclnn.facts.operators.catalogue import catalogue
from pyaclnn.facts.operators.parameters import REQUIRED, Kind, Option
from pyaclnn.ops.reference_stub import reference_stub
from pyaclnn.ops.typed_stub import module_stub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyaclnn.facts.operators import Operator

__all__ = ["STUBS"]

_ACLNN_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by "python -m pyaclnn.ops.stub" from pyaclnn/facts/operators/catalogue.txt.
"""
_REFERENCE_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by "python -m pyaclnn.ops.stub" from the definitions in pyaclnn.reference.
"""
_HEAD = """\
# SPDX-License-Identifier: Apache-2.0
# Written by "python -m pyaclnn.ops.stub" from the descriptions in pyaclnn.facts.operators.
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.dlpack import SupportsDLPack
from pyaclnn.runtime.foreign import StreamLike

_A = TypeVar("_A")
_Array: TypeAlias = NDArray[Any]
_Host: TypeAlias = NDArray[Any] | SupportsDLPack
_MaybeNone: TypeAlias = Any  # None where a mask or an option leaves the result out
_Real: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""

_PUBLIC = ("torch.nn.", "torch.linalg.", "torch.norm(")
_KEPT = "\0"  # a space at which no line ends
_WRAPPER = textwrap.TextWrapper(
    100,
    initial_indent="    ",
    subsequent_indent="    ",
    break_on_hyphens=False,
    break_long_words=False,
)

_TYPES = {
    Kind.REAL: "_Real",
    Kind.SCALAR: "_Real",
    Kind.INTEGER: "int",
    Kind.FLAG: "bool",
    Kind.LENGTHS: "int | Sequence[int]",
    Kind.AXES: "int | Sequence[int] | None",
    Kind.DTYPE: "DTypeLike | None",
    Kind.STRING: "str",
}


def _ops_stub() -> str:
    operators = all_operators().values()
    results = {op.result_type: op for op in operators if len(op.outputs) > 1}
    names = sorted({*results, *all_operators()})
    lines = [_HEAD, "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    for name in sorted(results):
        lines += ["", *_result(results[name])]
    lines.append("")
    for operator in operators:
        lines += _function(operator)
    return "\n".join(lines) + "\n"


def _result(operator: Operator) -> Iterator[str]:
    yield f"class {operator.result_type}(NamedTuple, Generic[_A]):"
    for tensor in operator.outputs:
        optional = " | _MaybeNone" if tensor.when is not None or tensor.on_request else ""
        yield f"    {tensor.name}: _A{optional}"


def _function(operator: Operator) -> Iterator[str]:
    masks = [False, True] if operator.mask else [False]
    yield from _overloads(operator, masks, _parameters)
    names = [parameter.name for parameter in operator.torch.parameters] if operator.torch else []
    if str(operator.torch).startswith(_PUBLIC) and names != [*operator.positional]:
        yield from _overloads(operator, [False], _torch_parameters)


def _overloads(
    operator: Operator, masks: list[bool], parameters: Callable[..., Iterator[str]]
) -> Iterator[str]:
    origin = f"{module_of(operator.name).removeprefix('pyaclnn.').replace('.', '/')}.py"
    for mask in masks:
        for array, made in (("DeviceArray", "DeviceArray"), ("_Host", "_Array")):
            yield "@overload"
            alone = len(operator.returned) == 1
            found = f"{made} | _MaybeNone" if mask else made
            yield f"def {operator.name}(  # {origin}"
            # Lines are full: a line for each parameter would be three times as many.
            given = [text.replace(" ", _KEPT) for text in parameters(operator, array, mask=mask)]
            yield _WRAPPER.fill(", ".join(given)).replace(_KEPT, " ")
            single = f"tuple[{made}, ...]" if operator.lists else made
            yield f") -> {single if alone else f'{operator.result_type}[{found}]'}: ..."


def _parameters(operator: Operator, array: str, *, mask: bool) -> Iterator[str]:
    for name in operator.positional:
        yield _parameter(operator, name, array)
    yield "*"
    for name in operator.keywords:
        if operator.mask is None or name != operator.mask.name:
            yield _parameter(operator, name, array)
        elif mask:
            flags = ", ".join(["bool"] * len(operator.mask.results))
            yield f"{name}: tuple[{flags}] | list[bool]"
    for other, name in operator.synonyms.items():
        parameter = operator.by_name[name]
        if isinstance(parameter, Option):  # checkers cannot express two names of a tensor
            yield f"{other}: {_TYPES[parameter.kind]} | None = None"
    if operator.saved:
        result = all_operators()[operator.saved[0]].result_type
        kind = "_Array" if array == "_Host" else array
        yield f"saved: {result}[{kind}] | Mapping[str, {array}] | None = None"
    yield from _further(operator, array)


def _further(operator: Operator, array: str) -> Iterator[str]:
    yield "stream: StreamLike | None = None"
    if operator.outputs:
        alone = len(operator.returned) == 1 and not operator.lists
        one = f"{array} | " if alone else ""
        yield f"out: {one}Sequence[{array} | None] | None = None"


def _torch_parameters(operator: Operator, array: str, *, mask: bool) -> Iterator[str]:
    """Yield the parameters of PyTorch's function; all after its first tensor may be left out."""
    del mask  # no public function of PyTorch has one
    for place, torch in enumerate(operator.torch.parameters if operator.torch else ()):
        own = operator.by_name.get(torch.own)
        kind = _TYPES[Kind.LENGTHS] if torch.shape_of else "None"
        if isinstance(own, Option):
            kind = _TYPES[own.kind]
        elif own is not None:
            kind = array
        elif torch.fixed is not None:
            kind = _TYPES[Kind.FLAG if isinstance(torch.fixed, bool) else Kind.REAL]
        kind += " | str" if torch.word not in {"", "None"} else ""
        optional = "" if kind.endswith("None") else " | None"
        if torch.name != "out":
            yield f"{torch.name}: {kind}" + (f"{optional} = ..." if place else "")
    yield "*"
    yield from _further(operator, array)


def _parameter(operator: Operator, name: str, array: str) -> str:
    parameter = operator.by_name[name]
    if isinstance(parameter, Option):
        text = isinstance(parameter.default, str)
        default = f' = "{parameter.default}"' if text else f" = {parameter.default!r}"
        default = "" if parameter.default is REQUIRED else default
        return f"{name}: {_TYPES[parameter.kind]}{default}"
    array = f"Sequence[{array}]" if operator.lists else array
    return f"{name}: {array} | None = None" if parameter.optional else f"{name}: {array}"


def _aclnn_stub() -> str:
    declared = {name: signature(f"{name}{PHASE_1}") for name in sorted(catalogue())}
    return _ACLNN_HEAD + module_stub(
        {name: found for name, found in declared.items() if found is not None}
    )


STUBS: Final[Mapping[Path, Callable[[], str]]] = {
    Path(__file__).with_name("__init__.pyi"): _ops_stub,
    Path(__file__).parents[1] / "aclnn.pyi": _aclnn_stub,
    Path(__file__).parents[1] / "reference" / "operators.pyi": (
        lambda: _REFERENCE_HEAD + reference_stub()
    ),
}
"""The paths of the stubs, and what returns the text of each."""

if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text(), encoding="utf-8")
