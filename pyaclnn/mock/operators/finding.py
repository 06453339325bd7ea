# SPDX-License-Identifier: Apache-2.0
"""Which operator a call is of: a user's kernel first, then what the simulated NPU has itself.

PyTorch's kernels come last, if they are asked for.

``PYACLNN_MOCK_OPERATORS`` names files of kernels; ``ASCEND_CUSTOM_OPP_PATH`` names folders of
packages, as it does for CANN. A package for the simulated NPU has a Python module
``mock/operators.py`` with a list ``OPERATORS``; other packages have none and are passed over.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import TYPE_CHECKING, Any

from pyaclnn.mock.aten import KERNELS, aten_kernel, is_asked_for
from pyaclnn.mock.kernel import VARIABLE, kernels_of, load_file
from pyaclnn.mock.kernels import built_in
from pyaclnn.mock.operators import operators_of
from pyaclnn.mock.operators.arguments import signature_of
from pyaclnn.mock.operators.taught import operator_of_kernel, operator_without_kernel
from pyaclnn.operators.catalogue import catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from pyaclnn.mock.kernel import Kernel
    from pyaclnn.mock.operators.operator import Operator
    from pyaclnn.mock.values import Call

__all__ = ["computes", "find_operator"]

_PACKAGES = "ASCEND_CUSTOM_OPP_PATH"


def find_operator(call: Call, release: str) -> Operator[Any] | None:
    """Find the operator of a call.

    Args:
        call: The call; it tells the parameters of an operator that no table has.
        release: The release of CANN that is simulated, in short.

    Returns:
        The operator; None if nothing is known of it.

    Raises:
        Exception: Whatever a file of kernels or a package's module raises when it is loaded.
    """
    name = call.operator
    kernel = _users_kernels().get(name)
    if kernel is None:
        known = operators_of(release).get(name) or _custom_operators().get(name)
        if known is not None:
            return known
        kernel = built_in().get(name)
    why = ""
    if kernel is None and is_asked_for():
        try:
            kernel = aten_kernel(name)
        except ImportError as error:
            why = f"{KERNELS} asks for those of PyTorch, which {sys.executable} has not ({error})"
    types = () if name in catalogue() else tuple((n, type(v)) for n, v in call.arguments.items())
    return _taught(name, kernel, why, types)


@functools.lru_cache(maxsize=4096)
def _taught(
    name: str, kernel: Kernel | None, why: str, types: tuple[tuple[str, type], ...]
) -> Operator[Any] | None:
    """Make an operator without a description, once; types tell one that no table has."""
    signature = signature_of(name, kernel, types)
    if signature is None:
        return None
    if kernel is None:
        return operator_without_kernel(signature, why)
    return operator_of_kernel(signature, kernel)


def computes(name: str, release: str) -> bool:
    """Tell whether an operator has a kernel, built in or of the user's.

    Args:
        name: The operator.
        release: The release of CANN that is simulated, in short.
    """
    known = (_users_kernels(), operators_of(release), _custom_operators(), built_in())
    return any(name in table for table in known)


def _named(variable: str) -> list[Path]:
    """The absolute paths that a variable names; others are passed over and told of."""
    if not os.environ.get(variable):
        return []
    # Imported on demand: most programs name none, and the process has to start soon.
    from pyaclnn.trust import absolute_folders  # noqa: PLC0415

    return absolute_folders(variable, os.environ)


def _loaded(path: Path, name: str) -> ModuleType:
    from pyaclnn.trust import tell_of_writers  # noqa: PLC0415  # as above

    tell_of_writers(path)
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
            module = _loaded(path, f"pyaclnn_custom_operators_{number}")
            for operator in module.OPERATORS:
                found.setdefault(operator.name, operator)
    return found
