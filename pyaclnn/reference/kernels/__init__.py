# SPDX-License-Identifier: Apache-2.0
"""NumPy kernels of operators without a description, one area per file.

A kernel is a function under `pyaclnn.mock.operator`; every module here is searched for them.
"""

from __future__ import annotations

import functools
import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING

from pyaclnn.reference.kernels.kernel import kernels_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.reference.kernels.kernel import Kernel

__all__ = ["built_in"]


@functools.cache
def built_in() -> Mapping[str, Kernel]:
    """Return the kernels by the C names of their operators."""
    return {
        kernel.name: kernel
        for module in pkgutil.iter_modules(__path__)
        for kernel in kernels_of(import_module(f"{__name__}.{module.name}"))
    }
