# SPDX-License-Identifier: Apache-2.0
"""Operators of the user's own packages, found as CANN finds them: by ASCEND_CUSTOM_OPP_PATH.

The variable names folders, separated by colons. A package for the simulated NPU has a Python module
``mock/operators.py`` with a list ``OPERATORS``; other packages have none and are passed over.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators import OPERATORS

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator

__all__ = ["find_operator"]

_VARIABLE = "ASCEND_CUSTOM_OPP_PATH"


def find_operator(name: str) -> Operator[Any] | None:
    """Find an operator by its C name: of the simulated NPU itself, else of a custom package.

    Args:
        name: For example ``"aclnnRmsNorm"``.

    Raises:
        Exception: Whatever a package's module raises when it is loaded.
    """
    return OPERATORS.get(name) or _custom_operators().get(name)


@functools.cache
def _custom_operators() -> dict[str, Operator[Any]]:
    found: dict[str, Operator[Any]] = {}
    if not os.environ.get(_VARIABLE):
        return found
    # Imported on demand: most programs have no packages, and the process has to start soon.
    from pyaclnn.trust import absolute_folders, tell_of_writers  # noqa: PLC0415

    for number, package in enumerate(absolute_folders(_VARIABLE, os.environ)):
        path = package / "mock" / "operators.py"
        if not path.is_file():
            continue
        tell_of_writers(path)
        spec = importlib.util.spec_from_file_location(f"pyaclnn_custom_operators_{number}", path)
        if spec is None or spec.loader is None:
            continue
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for operator in module.OPERATORS:
            found.setdefault(operator.name, operator)
    return found
