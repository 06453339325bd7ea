# SPDX-License-Identifier: Apache-2.0
"""The NumPy oracle: what the operators compute, as pure functions of arrays.

Every function here states an operator's arithmetic and nothing else: no device, no rules of a chip,
no status codes. The simulated NPU computes with it, and results of a real NPU are compared with it.

A module here is an area of operators, such as ``layer_norm``: a *definition* each, written to be
read. The operators that are called most are there once more in ``fast``, strip by strip and held
against the definitions. This package offers an operator by its name, the fast one if there is one;
`definition` gives the other. Nothing is listed by hand: what a module defines is here, and loaded
when it is asked for. Type checkers see ``operators.pyi``, which ``python -m pyaclnn.ops.stub``
writes.

Only NumPy and ml_dtypes are imported. Two things are left to a compiled module instead: the
conversion of float16 and bfloat16, and the programs of ``fast.strips``.

Arithmetic runs in float32 for float16, bfloat16 and float32 tensors, as it does on the NPU, and in
float64 for float64 tensors, which no NPU takes and which serve as golden values. A result is
rounded to its tensor's type once. Where a family of chips rounds in between as well, or gives
something else, a function takes ``family``: a family as in ``chips.json``, such as ``"910b"``;
None asks for the ideal arithmetic. Infinities and NaNs follow IEEE arithmetic and raise no Python
warning.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from pyaclnn.base.lazy import no_attribute
from pyaclnn.reference import fast
from pyaclnn.reference.arithmetic.definition import definitions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyaclnn.reference.kernels.kernel import Kernel
    from pyaclnn.reference.operators import *  # noqa: F403  # a stub, of the definitions

__all__: list[str]


def modules_in(path: Iterable[str]) -> list[str]:
    return [module.name for module in pkgutil.iter_modules(path) if not module.ispkg]


AREAS = modules_in(__path__)  # noqa: F405
FAST_AREAS = modules_in(fast.__path__)


@functools.cache
def find(name: str) -> tuple[Any, Any] | None:
    """Load a public name: as it is defined, and as it is offered."""
    # Most operators are in the area whose name is the longest part of theirs.
    for area in sorted(AREAS, key=lambda area: (area not in name, -len(area))):
        found = _definitions(area).get(name)
        if found is not None:
            return found, _fast(area, name, found)
    return None


def _definitions(area: str) -> Mapping[str, Any]:
    """Return the definitions of an area and what they return, by their names."""
    return definitions_of(importlib.import_module(f"{__name__}.{area}"))


def _fast(area: str, name: str, defined: Any) -> Any:
    """Return the fast version of a definition, in strips or in blocks, or the definition itself."""
    tiled = _definitions(f"fast.{area}") if area in FAST_AREAS else {}
    if name in tiled and defined is not tiled[name]:
        return tiled[name]
    from pyaclnn.reference.fast.blocks import in_blocks  # noqa: PLC0415  # NumPy
    from pyaclnn.reference.fast.cuts import CUTS  # noqa: PLC0415  # NumPy

    return in_blocks(CUTS[name])(defined) if name in CUTS else defined


def definition(name: str) -> Callable[..., Any]:
    """Find an operator's definition, also if there is a fast version.

    Args:
        name: The operator's name here, such as ``"layer_norm"``.

    Returns:
        The function. It takes and returns what the one that this package offers does.

    Raises:
        KeyError: There is no such operator.
    """
    found = find(name)
    if found is None:
        raise KeyError(name)
    _complete_docstrings(*found)
    function: Callable[..., Any] = found[0]
    return function


def _complete_docstrings(defined: Any, offered: Any) -> None:
    """Add the sections and types that follow from a description.

    This happens when a name is looked up here. A device process looks up C names, and needs none.
    """
    from pyaclnn.reference.documentation import complete  # noqa: PLC0415  # descriptions

    complete(defined, offered)


class Strength(Enum):
    """Kinds of implementations, the strongest first.

    Attributes:
        DEFINITION: A definition of this package; the operator has a description.
        KERNEL: A NumPy function of the C parameters.
    """

    DEFINITION = 2
    KERNEL = 1


class Implementation(NamedTuple):
    """The computation of an operator.

    Attributes:
        c_name: The C name of the operator.
        strength: The kind of the implementation.
        load: Loads its kernel.
    """

    c_name: str
    strength: Strength
    load: Callable[[], Kernel]

    @property
    def kernel(self) -> Kernel:
        """The function, with what is known of its parameters and results."""
        return self.load()


def implementation(c_name: str) -> Implementation | None:
    """Find the strongest implementation of an operator.

    Args:
        c_name: The C name of the operator, such as ``"aclnnAdd"``.

    Returns:
        Its definition, else its NumPy kernel; None if it has none.
    """
    from pyaclnn.facts.operators import by_c_name  # noqa: PLC0415  # definitions need none

    if c_name in by_c_name():
        return Implementation(c_name, Strength.DEFINITION, functools.partial(_defined, c_name))
    from pyaclnn.reference.kernels import built_in  # noqa: PLC0415  # NumPy

    if c_name in built_in():
        return Implementation(c_name, Strength.KERNEL, lambda: built_in()[c_name])
    return None


def _defined(c_name: str) -> Kernel:
    """Load the definition of a described operator, or its fast version."""
    from pyaclnn.facts.operators import by_c_name  # noqa: PLC0415  # as above
    from pyaclnn.reference.kernels.kernel import Kernel  # noqa: PLC0415

    name = by_c_name()[c_name].definition
    found = find(name)
    if found is None:
        raise KeyError(name)
    return Kernel(c_name, found[1])


class Operators(ModuleType):
    """This package. A module that is loaded does not take the place of the operator of its name."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in AREAS):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        found = None if name.startswith("_") else find(name)
        if found is None:
            raise no_attribute(self.__name__, name, dir(self))
        _complete_docstrings(*found)
        setattr(self, name, found[1])
        return found[1]

    @property
    def __all__(self) -> list[str]:
        own = ["Implementation", "Strength", "definition", "implementation"]
        return [*own, *(name for area in AREAS for name in sorted(_definitions(area)))]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


sys.modules[__name__].__class__ = Operators
