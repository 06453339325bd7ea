# SPDX-License-Identifier: Apache-2.0
"""Every operator of CANN in Python's spelling: ``pyaclnn.aclnn.add`` is ``pyaclnn.op("aclnnAdd")``.

``dir`` lists those of the installation; of the table of all operators where it has no headers.
"""

from __future__ import annotations

from typing import Any

from pyaclnn.base.spelling import did_you_mean
from pyaclnn.calling.by_name import op, operators_by_snake_name

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if not name.startswith("_"):
        known = operators_by_snake_name()
        if name in known:
            # The next access finds the function in the module, as fast as any attribute.
            return globals().setdefault(name, op(known[name]))
        by_c_name = {c_name: found for found, c_name in known.items()}
        hint = did_you_mean(by_c_name.get(name, name), known, lead="; ")
        raise AttributeError(f"no header declares an operator {name!r}{hint}", name=name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(operators_by_snake_name())
