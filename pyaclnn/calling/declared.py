# SPDX-License-Identifier: Apache-2.0
"""An operator as its header declares it: what it takes, and what it does with that."""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import UnsupportedError, text_of
from pyaclnn.base.locks import cached_property
from pyaclnn.calling.operator import Operator, kind_of, operator
from pyaclnn.cann.library import declaration
from pyaclnn.cann.signatures import PHASE_1
from pyaclnn.facts.operators.directions import Directions, directions_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.cann.signatures import Signature

__all__ = ["Declared", "python_name", "snake_name"]

_FOUND_LATER: Final = frozenset(
    f"aclnn{name}"
    for name in (
        "MaskedSelect",
        "Nonzero",
        "NonzeroV2",
        "Unique",
        "Unique2",
        "UniqueConsecutive",
        "UniqueDim",
    )
)
"""Operators whose results have a size that is known only after the run (op-plugin: those that it
calls with EXEC_NPU_CMD_SYNC; Unique by inference)."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def snake_name(operator: str) -> str:
    """Return the name of an operator in Python's spelling: ``foo_bar_v2`` for ``aclnnFooBarV2``."""
    return _WORD.sub("_", re.sub("^acl(nn)?", "", operator)).lower()


def python_name(parameter: str) -> str:
    """Return the name of a parameter in Python, which is that of C unless Python reserves it."""
    return f"{parameter}_" if keyword.iskeyword(parameter) else parameter


@dataclass(frozen=True)
class Declared:
    """An operator, by the declaration of its first phase.

    Attributes:
        name: The C name of its second phase.
        signature: The declaration.
        directions: Read and write directions of its parameters.
        kinds: C type of each, a letter of ``C_TYPES``.
    """

    name: str
    signature: Signature
    directions: Directions
    kinds: str

    @classmethod
    def of(cls, name: str) -> Declared | None:
        """Find an operator in the headers of the backend, or else in the table of all operators.

        Raises:
            UnsupportedError: It takes what no operator of CANN takes.
        """
        found = declaration(f"{text_of(name)}{PHASE_1}")
        if found is None:
            return None
        names, types = found.parameters[:-2], found.types[:-2]
        kinds = [kind_of(c_type) for c_type in types]
        if not all(kinds):
            pairs = zip(names, types, kinds, strict=True)
            odd = ", ".join(f"{c_type} {n}" for n, c_type, kind in pairs if not kind)
            message = f"{name} takes {odd}.\nHint: call its functions through pyaclnn.cann.raw."
            raise UnsupportedError(message, routine=name)
        return cls(name, found, directions_of(name, names, types), "".join(kinds))

    @property
    def c_names(self) -> tuple[str, ...]:
        """The names of its parameters in C."""
        return self.signature.parameters[:-2]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of its parameters in Python."""
        return tuple(map(python_name, self.c_names))

    @cached_property
    def tensors(self) -> tuple[int, ...]:
        """The places of tensors and lists of them."""
        return tuple(place for place, kind in enumerate(self.kinds) if kind in "tT")

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The places of what it writes, in C order."""
        return tuple(sorted(self.directions.written))

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The places of what it writes and does not read, in C order."""
        return tuple(sorted(self.directions.results))

    @cached_property
    def optional(self) -> frozenset[int]:
        """The places of what may be left out, which is NULL then."""
        places = enumerate(zip(self.c_names, self.signature.types, strict=False))
        return frozenset(
            place for place, (name, c_type) in places if "Optional" in name and "*" in c_type
        )

    @property
    def by_name(self) -> Mapping[str, int]:
        """The places by Python's names."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def found_later(self) -> bool:
        """Return whether the shapes of its results are known only after the run."""
        return self.name in _FOUND_LATER

    @cached_property
    def operator(self) -> Operator:
        """The operator, ready to be launched.

        Raises:
            MissingSymbolError: The loaded libraries do not have it.
        """
        return operator(self.name, self.directions.written)
