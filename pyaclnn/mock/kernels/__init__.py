# SPDX-License-Identifier: Apache-2.0
"""Kernels of operators that are no norms, as NumPy functions, an area a file.

Every module is looked through for functions under `pyaclnn.mock.operator`.
"""

from __future__ import annotations

import functools
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pyaclnn.mock.kernel import kernels_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.mock.kernel import Kernel

__all__ = ["built_in"]


@functools.cache
def built_in() -> Mapping[str, Kernel]:
    """Return the simulated NPU's own kernels by the C names of their operators."""
    modules = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return {
        kernel.name: kernel
        for module in modules
        for kernel in kernels_of(import_module(f"{__name__}.{module}"))
    }
