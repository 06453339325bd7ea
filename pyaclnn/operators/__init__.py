# SPDX-License-Identifier: Apache-2.0
"""What is known about operators, once: a description each, from which all else follows.

C names, C types and their order stand in the headers, most of which the build makes of the table of
all operators (`catalogue`); a description adds what a header cannot say. Every module of
`pyaclnn.operators.norm` is looked through, so that describing an operator is all it takes.
"""

from __future__ import annotations

import functools
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Operator", "all_operators", "by_c_name"]


@functools.cache
def all_operators() -> Mapping[str, Operator]:
    """Return every described operator by the name of its public function, in the order of names."""
    modules = sorted(path.stem for path in (Path(__file__).parent / "norm").glob("[a-z]*.py"))
    found = (
        value
        for module in modules
        for value in vars(import_module(f"{__name__}.norm.{module}")).values()
        if isinstance(value, Operator)
    )
    return {operator.name: operator for operator in sorted(found, key=lambda found: found.name)}


@functools.cache
def by_c_name() -> Mapping[str, Operator]:
    """Return every described operator by its C name."""
    return {operator.c_name: operator for operator in all_operators().values()}
