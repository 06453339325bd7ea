# SPDX-License-Identifier: Apache-2.0
"""The operators, as functions on NumPy arrays or device arrays.

Each is made of its description in `pyaclnn.operators` when it is first used. What editors and type
checkers see of them stands in ``__init__.pyi``, which ``python -m pyaclnn.ops.stub`` writes.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pyaclnn.operators import all_operators

__all__: list[str]  # every described operator, and what they return


def _names() -> list[str]:
    operators = all_operators().values()
    results = {operator.result_type for operator in operators if len(operator.results) > 1}
    return sorted({*all_operators(), *results})


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _names()
    if name.startswith("_") or name not in _names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # First of all what is compiled: it says so if it is not there.
    import_module("pyaclnn.cann.library")
    from pyaclnn.calling.function import public_function, result_class  # noqa: PLC0415

    operator = all_operators().get(name)
    if operator is None:
        operator = next(op for op in all_operators().values() if op.result_type == name)
        value: Any = result_class(operator)
    else:
        alone = len(operator.returned) == 1
        make = result_class(operator) if alone else __getattr__(operator.result_type)
        value = public_function(operator, make)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return _names()
