# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN in Python's spelling: ``pyaclnn.aclnn.add`` is ``pyaclnn.op("aclnnAdd")``.

``dir`` lists those of the installation; of the table of all operators where it has no headers.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pyaclnn.calling.by_name import closest_operators, op, operators_by_snake_name
from pyaclnn.runtime.array import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        known = operators_by_snake_name()
        if name in known:
            # The next access finds the function in the module, as fast as any attribute.
            return globals().setdefault(name, op(known[name]))
        hint = _instead(name, known)
        raise AttributeError(f"no header declares an operator {name!r}; {hint}", name=name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _instead(name: str, known: Mapping[str, str]) -> str:
    """Return what is likely meant by a name that no operator has."""
    from pyaclnn.calling import array_api  # noqa: PLC0415  # only errors need it

    by_c_name = {c_name: found for found, c_name in known.items()}
    in_place = f"inplace_{name.removesuffix('_')}"  # PyTorch's add_
    if name.endswith("_") and in_place in known:
        return f"did you mean {in_place!r}?"
    package = sys.modules[__name__.rpartition(".")[0]]
    for prefix, owner in (("", package), ("array_api.", array_api)):
        if name in dir(owner):
            return f"did you mean {package.__name__}.{prefix}{name}()?"
    if hasattr(DeviceArray, name):
        return f"a DeviceArray has .{name}()."
    return closest_operators(by_c_name.get(name, name), known)


def __dir__() -> list[str]:
    return sorted(operators_by_snake_name())
