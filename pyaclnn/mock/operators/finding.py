# SPDX-License-Identifier: Apache-2.0
"""Lookup of the operator of a call: a user's kernel first, then the simulated NPU's own.

An operator without description comes last: see :mod:`pyaclnn.mock.operators.undescribed`.

``PYACLNN_MOCK_OPERATORS`` names files of kernels; ``ASCEND_CUSTOM_OPP_PATH`` names folders of
packages, as it does for CANN. A package for the simulated NPU has a Python module
``mock/operators.py`` with a list ``OPERATORS``; other packages have none and are passed over.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.operators.kernel_files import VARIABLE, load_file
from pyaclnn.reference import Strength, implementation
from pyaclnn.reference.kernels.kernel import kernels_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.protocol.values import Call
    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["PREFIX", "computes", "find_operator"]

PREFIX = "ge:"
"""Beginning of the names of single operators, by their names in graphs."""
_PACKAGES = "ASCEND_CUSTOM_OPP_PATH"


def find_operator(call: Call, release: str) -> Operator[Any] | None:
    """Find the operator of a call.

    Args:
        call: The call; its arguments are the parameters of an operator that no table has.
        release: The release of CANN that is simulated, in short.

    Returns:
        The operator; None if nothing is known of it.

    Raises:
        Exception: Whatever a file of kernels or a package's module raises when it is loaded.
    """
    name = call.operator
    if name.startswith(PREFIX):
        from pyaclnn.mock.operators.single_operator import find_single_operator  # noqa: PLC0415

        return find_single_operator(call, _users_kernels().get(name))
    kernel = _users_kernels().get(name)
    if kernel is None:
        known = operators_of(release).get(name) or _custom_operators().get(name)
        if known is not None:
            return known
    # Imported on demand, as most of this module's is: most calls are of described operators, and
    # the process has to start soon.
    from pyaclnn.mock.operators.undescribed import find_undescribed  # noqa: PLC0415

    return find_undescribed(call, kernel)


def computes(name: str, release: str) -> bool:
    """Return whether an operator has a kernel, built in or of the user's.

    Args:
        name: The operator.
        release: The release of CANN that is simulated, in short.
    """
    known = (_users_kernels(), operators_of(release), _custom_operators())
    if any(name in table for table in known):
        return True
    found = implementation(name)
    return found is not None and found.strength is Strength.KERNEL


def _named(variable: str) -> list[Path]:
    """Return the absolute paths that a variable names; others are ignored with a warning."""
    if not os.environ.get(variable):
        return []
    from pyaclnn.base.path_security import absolute_folders  # noqa: PLC0415

    return absolute_folders(variable, os.environ)


def _loaded(path: Path, name: str) -> ModuleType:
    from pyaclnn.base.path_security import warn_of_writers  # noqa: PLC0415  # as above

    warn_of_writers(path)
    return load_file(path, name)


@functools.cache
def _users_kernels() -> Mapping[str, Kernel]:
    return {
        kernel.name: kernel
        for number, path in enumerate(_named(VARIABLE))
        for kernel in kernels_of(_loaded(path, f"pyaclnn_mock_operators_{number}"))
    }


@functools.cache
def _custom_operators() -> dict[str, Operator[Any]]:
    found: dict[str, Operator[Any]] = {}
    for number, package in enumerate(_named(_PACKAGES)):
        path = package / "mock" / "operators.py"
        if path.is_file():
            for operator in _operators_in(path, f"pyaclnn_custom_operators_{number}"):
                found.setdefault(operator.name, operator)
    return found


def _operators_in(path: Path, name: str) -> list[Operator[Any]]:
    """Load a package's module and return its operators; errors name the file."""
    from pyaclnn.base.errors import text_of, type_name  # noqa: PLC0415  # few programs need it
    from pyaclnn.mock.operators.operator import Operator  # noqa: PLC0415  # as above

    try:
        operators = getattr(_loaded(path, name), "OPERATORS", None)
    except BaseException as error:  # noqa: BLE001  # foreign code may also exit
        message = f"{path} cannot be loaded: {type_name(error)}: {text_of(error)}"
        raise ImportError(message) from None
    if not isinstance(operators, (list, tuple)):
        kind = type(operators).__name__
        raise TypeError(f"{path}: OPERATORS is a {kind}; it must be a list of operators")
    for place, operator in enumerate(operators):
        if not isinstance(operator, Operator):
            kind = type(operator).__name__
            raise TypeError(f"{path}: OPERATORS[{place}] is a {kind}; it must be an Operator")
    return list(operators)
