# SPDX-License-Identifier: Apache-2.0
"""A call as phase 1 sees it, and the hooks of an operator that see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyaclnn.facts.operators.words import Dims, Lengths

__all__ = ["Chip", "Given", "Quirks", "Request", "shape_text"]


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
        """How many cores a vector kernel can be spread over."""


class Given(Protocol):
    """A tensor that was given."""

    @property
    def dims(self) -> Dims:
        """Its shape."""

    @property
    def size(self) -> int:
        """How many elements it has."""

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
        """Whether results must be the same in every run."""

    @property
    def tensors(self) -> Mapping[str, Any]:
        """What was given, each a `Given`, by Python names; None for NULL."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The same, and the options as plain values."""

    @property
    def types(self) -> Mapping[str, str]:
        """The words of the types of tensors and scalars, by Python names."""

    def c_name(self, name: str) -> str:
        """The C name of what is called so in Python, for messages."""

    @property
    def dropped(self) -> Collection[str]:
        """The tensors of which the first axis is not looked at, by Python names."""

    @property
    def known(self) -> Lengths:
        """The lengths of axes and groups of axes, as far as shapes have been looked at."""


def shape_text(dims: Dims) -> str:
    """Write a shape for a message, for example ``[2,3]``."""
    return f"[{','.join(map(str, dims))}]"


class Quirks(NamedTuple):
    """What CANN's own code does for an operator beyond any rule; by default nothing.

    A module of `pyaclnn.facts.operators.quirks` has some of these names. The functions get a
    `Request`; those that say what is wrong give None if nothing is.

    Attributes:
        FITS: What is wrong with a shape, by Python names, in place of comparing it with the words.
        IGNORED: Python names of tensors that no kernel reads.
        PASSES_NULL: Families whose kernels take NULL for an optional tensor, so that nothing stands
            in for it.
        drops: The Python names of tensors whose first axis, of one element, is not looked at.
        nulls: What must not be NULL, or must be, because of what else was given.
        refuse: What is wrong that the description's own words do not say.
        idle: Whether nothing is launched although nothing is wrong.
        types: What is wrong with data types, in place of the comparison with rows.
        beyond: What is wrong with shapes after they have been compared.
        takes_empty: Whether an individual operator's tiling accepts tensors without elements.
        fills: What results are filled with, by Python names, instead of being computed.
        breaks: Why the graph of kernels cannot be built, so that phase 1 fails inside.
        failure: Why phase 2 fails although phase 1 succeeds.
        unwritten: The Python names of results that are silently not written.
        kernel_types: Types in which results leave the kernel, by Python names, where they are not
            those that the words say.
        scratch: The bytes of workspace that the kernel wants beside what all kernels want.
    """

    FITS: Mapping[str, Callable[[Request], str | None]] = {}
    IGNORED: Collection[str] = ()
    PASSES_NULL: Collection[str] = ()
    drops: Callable[[Request], Collection[str]] = lambda _: ()
    nulls: Callable[[Request], str | None] = lambda _: None
    refuse: Callable[[Request], str | None] = lambda _: None
    idle: Callable[[Request], bool] = lambda _: False
    types: Callable[[Request], str | None] | None = None
    beyond: Callable[[Request], str | None] = lambda _: None
    takes_empty: Callable[[Request], bool] = lambda _: False
    fills: Callable[[Request], dict[str, float]] = lambda _: {}
    breaks: Callable[[Request], str | None] = lambda _: None
    failure: Callable[[Request], str | None] = lambda _: None
    unwritten: Callable[[Request], Collection[str]] = lambda _: ()
    kernel_types: Callable[[Request], Mapping[str, str]] = lambda _: {}
    scratch: Callable[[Request], int] = lambda _: 0
