# SPDX-License-Identifier: Apache-2.0
"""Signature of PyTorch's function for an operator, and its parameters in the operator's terms."""

from __future__ import annotations

import re
from ast import literal_eval
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pyaclnn.facts.operators.words import Dims

__all__ = ["TorchParameter", "TorchSignature"]

_WORD = (
    r"(?P<name>\w+)(==(?P<fixed>\S+)|(=(?P<own>\w+)(?P<shape>\.shape(\[(?P<axes>\d+:?)\])?)?)?"
    r"(\|(?P<word>\w+):(?P<meant>\S+))?)"
)


class TorchParameter(NamedTuple):
    """A parameter of PyTorch's function.

    Attributes:
        name: Its name in PyTorch.
        own: The Python name of the operator's parameter; empty if the operator has none for it.
        shape_of: The Python name of the tensor whose lengths it repeats.
        axes: These lengths: a number for one, a number and a colon for the product from there on,
            nothing for all.
        fixed: The only value that the operator can follow; an ellipsis stands for any.
        word: PyTorch's default, where the operator has another; as text.
        meant: The operator's value for that.
    """

    name: str
    own: str = ""
    shape_of: str = ""
    axes: str = ""
    fixed: Any = None
    word: str = ""
    meant: Any = None

    @classmethod
    def of(cls, text: str) -> TorchParameter:
        """Read a parameter; see `TorchSignature.of`."""
        found = re.fullmatch(_WORD, text)
        if found is None:
            raise ValueError(f"{text!r} is no parameter of PyTorch")
        name, own, fixed = found["name"], found["own"] or "", found["fixed"]
        if fixed:
            return cls(name, fixed=literal_eval(fixed))
        if found["shape"]:
            return cls(name, shape_of=own, axes=found["axes"] or "")
        meant = found["meant"] and literal_eval(found["meant"])
        return cls(name, own or name, word=found["word"] or "", meant=meant)

    def lengths(self, dims: Dims) -> int | Dims:
        """Return the value that it must have, where the tensor has some shape."""
        if not self.axes:
            return dims
        first = int(self.axes.rstrip(":"))
        return prod(dims[first:]) if self.axes.endswith(":") else dims[first]


class TorchSignature(NamedTuple):
    """Signature of PyTorch's function for an operator.

    Attributes:
        function: Its name, e.g. ``torch.nn.functional.rms_norm``.
        parameters: Its parameters in PyTorch's order.
    """

    function: str
    parameters: tuple[TorchParameter, ...]

    @classmethod
    def of(cls, text: str) -> TorchSignature:
        """Read a signature: a function, a colon, and words for its parameters in order.

        ``eps``: the operator has the same parameter. ``weight=gamma``: by another name.
        ``N=input.shape[0]``: it repeats lengths of a tensor. ``dtype==None``: this value alone can
        be followed; any if it is an ellipsis. ``p|fro:2.0``: PyTorch's default, and its meaning.
        """
        function, _, words = text.partition(": ")
        return cls(function, tuple(map(TorchParameter.of, words.split())))

    def __str__(self) -> str:
        """Return the call as PyTorch's documents write it, without defaults."""
        return f"{self.function}({', '.join(p.name for p in self.parameters)})"
