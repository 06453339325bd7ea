# SPDX-License-Identifier: Apache-2.0
"""What is known about operators, once: a description each, from which all else follows.

C names, C types and their order stand in the headers, most of which the build makes of the table of
all operators (`catalogue`); a description adds what a header cannot say. The sources of the modules
of `pyaclnn.facts.operators.norm` are searched for ``NAME = describe("aclnnName"``: so describing an
operator is all it takes, and who calls one loads the descriptions of no other area.
"""

from __future__ import annotations

import functools
import pkgutil
import re
from importlib import import_module
from typing import TYPE_CHECKING

from pyaclnn.facts.operators import norm
from pyaclnn.facts.operators.description import snake_case
from pyaclnn.facts.operators.on_demand import MadeOnDemand
from pyaclnn.facts.operators.operator import Operator

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Operator", "all_operators", "by_c_name"]

_DESCRIPTION = re.compile(r'\n(\w+) = describe\(\s*"(aclnn\w+)"')


@functools.cache
def all_operators() -> Mapping[str, Operator]:
    """Return every described operator by the name of its public function, in the order of names.

    A description is loaded when it is looked at.
    """
    names = {snake_case(c_name.removeprefix("aclnn")): c_name for c_name in _places()}
    return MadeOnDemand(sorted(names), lambda name: by_c_name()[names[name]])


@functools.cache
def by_c_name() -> Mapping[str, Operator]:
    """Return every described operator by its C name; loaded when it is looked at."""
    return MadeOnDemand(_places(), _load)


@functools.cache
def _places() -> Mapping[str, tuple[str, str]]:
    """Where the descriptions stand: the module and its variable, by C names."""
    folder = f"{__file__.rpartition('/')[0]}/norm"
    found = {}
    for _, module, _ in pkgutil.iter_modules(norm.__path__):
        # A plain path: the device process has no need of pathlib, which costs it 5 ms.
        with open(f"{folder}/{module}.py", encoding="utf-8") as file:  # noqa: PTH123
            for variable, c_name in _DESCRIPTION.findall(file.read()):
                found[c_name] = module, variable
    return found


def _load(c_name: str) -> Operator:
    module, variable = _places()[c_name]
    found: Operator = getattr(import_module(f"{__name__}.norm.{module}"), variable)
    return found
