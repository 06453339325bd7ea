# SPDX-License-Identifier: Apache-2.0
"""The operators, as functions on NumPy arrays or device arrays.

Each is made of its description in `pyaclnn.facts.operators` when it is first used. Editors and type
checkers see ``__init__.pyi``, which ``python -m pyaclnn.ops.stub`` writes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyaclnn.base.lazy import no_attribute
from pyaclnn.facts.operators import all_operators

if TYPE_CHECKING:
    from pyaclnn.facts.operators import Operator

__all__: list[str]  # every described operator, and what they return


def _results() -> dict[str, Operator]:
    """The operators that return several results, by the name of what holds these."""
    several = (operator for operator in all_operators().values() if len(operator.outputs) > 1)
    return {operator.result_type: operator for operator in reversed([*several])}


def _names() -> list[str]:
    return sorted({*all_operators(), *_results()})


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return _names()
    operator = all_operators().get(name)
    if name.startswith("_") or (operator is None and name not in _results()):
        raise no_attribute(__name__, name, _names())
    # The compiled part first: its error names it if it is missing.
    import_module("pyaclnn.cann.library")
    from pyaclnn.calling.described_function import described_function, result_class  # noqa: PLC0415

    if operator is None:
        value: Any = result_class(_results()[name])
    else:
        make = result_class(operator)
        if len(operator.returned) > 1:  # several operators may return the same
            make = globals().setdefault(operator.result_type, make)
        value = described_function(operator, make)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return _names()
