# SPDX-License-Identifier: Apache-2.0
"""Kernels that follow from another operator's: in-place forms, and forms on lists of tensors.

``InplaceX`` is ``X`` whose result is its first tensor. ``ForeachXList`` and the like are ``X`` of
each element of their lists; a scalar, or a tensor in place of one, counts for all elements.
"""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.facts.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pyaclnn.facts.operators.catalogue import Parameter
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["form_of", "kernel_of_form"]

_FOREACH: Final = re.compile(
    r"aclnnForeach([A-Z][a-z0-9]+?)(List|ScalarAndTensor|ScalarList|Scalar)?(V2|Inplace)?"
)
_PLAIN: Final = ("", "TensorTensor", "Tensor")
_SWAPPED: Final = "ScalarTensor"


def form_of(name: str, computed: Collection[str]) -> str | None:
    """Return the operator that another one is a form of.

    Args:
        name: The C name of the form.
        computed: The C names of operators that have kernels.
    """
    if name not in catalogue():
        return None
    if name.startswith("aclnnInplace"):
        names = [f"aclnn{name.removeprefix('aclnnInplace')}"]
        fits = _fits_in_place
    elif match := _FOREACH.fullmatch(name):
        endings = (_SWAPPED,) if match[2] == "ScalarAndTensor" else _PLAIN
        names = [f"aclnn{match[1]}{ending}" for ending in endings]
        fits = _fits_each
    else:
        return None
    return next((found for found in names if found in computed and fits(name, found)), None)


def kernel_of_form(name: str, plain: Kernel) -> Kernel:
    """Return the kernel of a form.

    Args:
        name: The C name of the form.
        plain: The kernel of the operator it is a form of.
    """
    made = _in_place if name.startswith("aclnnInplace") else _each
    read, needed = _of(name)[0], _of(plain.name)[0]
    seen = [plain.parameter_for(each.name) is not None for each in needed]
    named = [p.name for p, is_seen in zip(read, [True, *seen[1:]], strict=False) if is_seen]
    function = _taking(read, named, made(plain, read))
    return replace(plain, name=name, function=function, shrinks=False)


def _of(name: str) -> tuple[Sequence[Parameter], Sequence[Parameter]]:
    """Return the parameters of an operator that are read, and those that are only written."""
    parameters = catalogue()[name].parameters
    return [p for p in parameters if p.read], [p for p in parameters if not p.read]


def _fits_in_place(name: str, plain: str) -> bool:
    (read, written), (needed, results) = _of(name), _of(plain)
    same = [p.kind for p in read] == [p.kind for p in needed]
    return same and read[0].written and not written and len(results) == 1


def _fits_each(name: str, plain: str) -> bool:
    (read, written), (needed, results) = _of(name), _of(plain)
    tensors = sum(p.kind == "t" for p in needed)
    lists = sum(p.kind == "T" for p in read)
    enough = len(read) == len(needed) or [p.name for p in needed[len(read) :]] == ["alpha"]
    return (
        enough and 0 < lists <= tensors + 1 and len(written) + read[0].written == len(results) == 1
    )


def _taking(
    parameters: Sequence[Parameter], named: Sequence[str], function: Callable[..., Any]
) -> Callable[..., Any]:
    kind = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in named])
    names = [each.name for each in parameters]

    def compute(into: Any = None, **given: Any) -> Any:
        return function([given.get(name) for name in names], into)

    vars(compute)["__signature__"] = signature
    return compute


def _calling(plain: Kernel) -> Callable[[Any, Sequence[Any], Any], Any]:
    """Return what calls a kernel, with the tensor of its result, what it reads, and memory for it.

    Its inputs come in C's order; ``alpha`` is 1 if it is not there.
    """
    needed, results = _of(plain.name)
    names = [plain.parameter_for(p.name) for p in needed]
    written = [name for p in results if (name := plain.parameter_for(p.name))]
    ones = [1] * len(names)

    def call(target: Any, values: Sequence[Any], into: Any) -> Any:
        given: dict[Any, Any] = dict(zip(names, [*values, *ones]))  # noqa: B905  # ones are left
        given.pop(None, None)  # what the kernel does not name
        for name in written:
            given[name] = target
        return plain.function(**given) if into is None else plain.function(into=into, **given)

    return call


def _in_place(plain: Kernel, _read: Sequence[Parameter]) -> Callable[..., Any]:
    call = _calling(plain)
    return lambda values, into: call(values[0], values, into)


def _each(plain: Kernel, read: Sequence[Parameter]) -> Callable[..., Any]:
    kinds = [p.kind for p in read]
    first = kinds.index("T")
    call = _calling(plain)

    def compute(values: Sequence[Any], into: Any) -> Any:
        count = len(values[first])
        lists = [_listed(v, kind, count) for v, kind in zip(values, kinds, strict=True)]
        places = [None] * count if into is None else into
        rows = zip(*lists, strict=True)
        return [call(row[first], row, place) for row, place in zip(rows, places, strict=True)]

    return functools.wraps(plain.function)(compute)


def _listed(value: Any, kind: str, count: int) -> Sequence[Any]:
    """Return what each element of the lists is computed with."""
    if kind in "TA":
        return list(value)
    if not isinstance(value, np.ndarray):
        return [value] * count
    return [value.reshape(-1)[i % value.size].item() for i in range(count)]
