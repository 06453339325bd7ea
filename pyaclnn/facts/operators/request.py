# SPDX-License-Identifier: Apache-2.0
"""A call as phase 1 sees it, and the hooks of an operator that see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["Chip", "Given", "Hooks", "Request", "shape_text"]


class Chip(Protocol):
    """The chip that a call is made on."""

    @property
    def family(self) -> str:
        """910b, 910_93, 950, 310p, 910 or 310b."""

    @property
    def soc_name(self) -> str:
        """Its full name."""

    @property
    def kernel_cores(self) -> int:
        """Number of cores that a vector kernel can use."""


class Given(Protocol):
    """A tensor that was given."""

    @property
    def dims(self) -> Dims:
        """Its shape."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def type(self) -> str:
        """Its data type, a word of :mod:`pyaclnn.facts.operators.types`."""

    @property
    def format_name(self) -> str:
        """Its format, such as ``"NCHW"``."""


class Request(Protocol):
    """A call."""

    @property
    def chip(self) -> Chip:
        """The chip."""

    @property
    def deterministic(self) -> bool:
        """True if results must be the same in every run."""

    @property
    def tensors(self) -> Mapping[str, Any]:
        """The arguments, each a `Given`, by Python names; None for NULL."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The same, and the options as plain values."""

    @property
    def types(self) -> Mapping[str, str]:
        """The words of the types of tensors and scalars, by Python names."""

    def c_name(self, name: str) -> str:
        """The C name of what is called so in Python, for messages."""

    @property
    def squeezed(self) -> Collection[str]:
        """The tensors whose first axis is ignored, by Python names."""

    @property
    def known(self) -> Lengths:
        """The lengths of axes and groups of axes, as far as shapes have been looked at."""


def shape_text(dims: Dims) -> str:
    """Write a shape for a message, for example ``[2,3]``."""
    return f"[{','.join(map(str, dims))}]"


class Hooks(NamedTuple):
    """Functions of a call for what CANN's code of an operator does and no check states.

    Attributes:
        passes_null: Families whose kernels take NULL for an optional tensor, so that no tensor
            stands in for it.
        squeezed: Returns the Python names of tensors whose first axis, of one element, is ignored.
        takes_empty: Returns whether the tiling accepts tensors without elements.
        fills: Returns the numbers that outputs are filled with, by Python names, instead of being
            computed.
        unwritten: Returns the Python names of outputs that are silently not written.
        kernel_types: Returns the types in which outputs leave the kernel, by Python names, where
            they are not those of the description.
        read_as: Returns the shapes in which inputs are read, by Python names, where they are not
            their own.
        scratch: Returns the bytes of workspace that the kernel uses beside those of all kernels.
    """

    passes_null: Collection[str] = ()
    squeezed: Callable[[Request], Collection[str]] = lambda _: ()
    takes_empty: Callable[[Request], bool] = lambda _: False
    fills: Callable[[Request], dict[str, float]] = lambda _: {}
    unwritten: Callable[[Request], Collection[str]] = lambda _: ()
    kernel_types: Callable[[Request], Mapping[str, str]] = lambda _: {}
    read_as: Callable[[Request], Mapping[str, Dims]] = lambda _: {}
    scratch: Callable[[Request], int] = lambda _: 0
