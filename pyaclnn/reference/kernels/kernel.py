# SPDX-License-Identifier: Apache-2.0
"""Kernels of operators: NumPy functions of the C parameters, marked with C names."""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pyaclnn.base.locks import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

__all__ = ["ElementError", "Kernel", "KernelLimitError", "kernels_of", "operator", "short_names"]

_ATTRIBUTE = "__aclnn__"
_ENDINGS = ("Ref", "Optional")

Function = TypeVar("Function", bound="Callable[..., Any]")


class KernelLimitError(Exception):
    """Call that a kernel of this project cannot compute, although CANN may."""


class ElementError(ValueError):
    """Element of a tensor of integers that is no place in another tensor."""

    def __init__(self, name: str, element: int, length: int) -> None:
        super().__init__(f"{name} has an element {element}; it must be in [0, {length - 1}]")


@dataclass(frozen=True)
class Kernel:
    """A kernel.

    Attributes:
        name: The C name of the operator.
        function: The function.
        shrinks: True if results may be shorter than the tensors they are written to: an operator
            whose shapes depend on the data.
        plain: True if it computes only: floats of 16 bits come to it as float32, and its results
            are cast to the tensors they are written to.
        any_scalars: True if a scalar counts in phase 1 by its category alone, if the tensors are
            floats: powers of integers differ.
        fills: True if the function takes ``into``, memory for its result or for each of a list. A
            result may lie there or elsewhere; all else is read before it is written.
    """

    name: str
    function: Callable[..., Any]
    shrinks: bool = False
    plain: bool = False
    any_scalars: bool = False
    fills: bool = False

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The parameters of the function."""
        return inspect.signature(self.function).parameters

    def may_lack(self, c_name: str) -> bool:
        """Report whether a parameter of C may be NULL: the function does without it.

        Args:
            c_name: The C name.
        """
        name = self.parameter_for(c_name)
        return name is not None and self.parameters[name].default is None

    def parameter_for(self, c_name: str) -> str | None:
        """Return the function's parameter for a parameter of C, or None if it has none.

        Args:
            c_name: The C name. Its ending ``Ref`` or ``Optional`` may be left out, and a name
                that is a keyword of Python ends in an underscore.
        """
        known = self._known
        if c_name not in known:
            found = (name for name in short_names(c_name) if name in self.parameters)
            known[c_name] = next(found, None)
        return known[c_name]

    @cached_property
    def _known(self) -> dict[str, str | None]:
        """The parameters by names of C that were asked for."""
        return {}


@functools.cache
def short_names(c_name: str) -> tuple[str, ...]:
    """Return the names that a kernel may have for a parameter of C, as it is there first."""
    return (c_name, f"{c_name}_", *(c_name.removesuffix(ending) for ending in _ENDINGS))


def operator(*names: str, shrinks: bool = False) -> Callable[[Function], Function]:
    """Make a function the kernel of an operator of the simulated NPU.

    The function takes what it needs of the operator's C parameters, by their names, and returns
    what the operator writes, in C's order: one array, or a tuple of them; a list of arrays for a
    list of tensors; None for what is left as it is. It gets tensors as arrays that it must not
    write to, lists as lists, scalars as Python's numbers, arrays as tuples, data types as those of
    NumPy, and None for NULL. A tensor that is only written, and is named all the same, comes as
    zeros of its shape and type. NULL comes where CANN allows it.

    Shapes and data types of results must be those of the tensors they go to: phase 1 calls the
    function with zeros to find out, and refuses what differs with 161002. A ``ValueError`` or
    ``TypeError`` that it raises there is a refusal, too. Instead of large tensors it gets small
    ones, from whose results the shapes of the real ones follow.

    Args:
        names: The C names of the operators, without ``GetWorkspaceSize``.
        shrinks: True if results may be shorter than the tensors they are written to, for an
            operator whose shapes depend on the data.

    Returns:
        A decorator that returns the function itself.
    """

    def mark(function: Function) -> Function:
        kernels = tuple(Kernel(name, function, shrinks) for name in names)
        setattr(function, _ATTRIBUTE, (*getattr(function, _ATTRIBUTE, ()), *kernels))
        return function

    return mark


def kernels_of(module: ModuleType) -> Iterator[Kernel]:
    """Return the kernels that are defined in a module."""
    for value in vars(module).values():
        found = getattr(value, _ATTRIBUTE, ()) if callable(value) else ()
        yield from (kernel for kernel in found if isinstance(kernel, Kernel))
