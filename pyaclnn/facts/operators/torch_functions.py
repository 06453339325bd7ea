# SPDX-License-Identifier: Apache-2.0
"""PyTorch's functions for operators that have no description: names, orders and defaults."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["TorchFunction", "torch_functions"]

_FILE: Final = f"{__file__.rpartition('.')[0]}.tsv"


class TorchFunction(NamedTuple):
    """Function of PyTorch, by the schema of its operator.

    Attributes:
        name: Its name in PyTorch, such as ``topk``, or ``add_`` in place.
        parameters: Its parameters with their defaults, as a signature has them.
        renamed: CANN's name by PyTorch's, where it differs by more than spelling.
    """

    name: str
    parameters: tuple[str, ...]
    renamed: Mapping[str, str]

    def __str__(self) -> str:
        """Return the signature as documents write it."""
        return f"{self.name}({', '.join(self.parameters)})"


@functools.cache
def torch_functions() -> Mapping[str, TorchFunction]:
    """Read the table of functions, by the C names of their operators."""
    with open(_FILE, encoding="utf-8") as file:  # noqa: PTH123  # pathlib takes 5 ms
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return {f"aclnn{operator}": _function(name, text.split()) for operator, name, text in rows}


def _function(name: str, words: list[str]) -> TorchFunction:
    parameters, renamed = [], {}
    for word in words:
        own, equals, default = word.partition("=")
        torch, _, cann = own.partition("/")
        parameters.append(f"{torch}{equals}{default}")
        if cann:
            renamed[torch] = cann
    return TorchFunction(name, tuple(parameters), renamed)
