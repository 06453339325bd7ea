# SPDX-License-Identifier: Apache-2.0
"""Files of users' kernels.

The environment variable ``PYACLNN_MOCK_OPERATORS`` names such files, separated by colons. The
device process loads them with its first operator, so every program on the simulated NPU has the
kernels, in whatever language it is written:

    import pyaclnn.mock

    @pyaclnn.mock.operator("aclnnLerp")
    def lerp(self, end, weight):
        return self + weight * (end - self)
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from pyaclnn.base.files import open_file

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

__all__ = ["VARIABLE", "load_file"]

VARIABLE = "PYACLNN_MOCK_OPERATORS"
"""The environment variable that names files of kernels."""


def load_file(path: Path, name: str) -> ModuleType:
    """Load a Python file as a module with a unique name.

    Raises:
        Exception: Any exception of the file's code; `OSError` if the file does not exist, or
            is no ordinary file of an acceptable size.
    """
    try:
        open_file(path, "a file of kernels").close()
    except FileNotFoundError:
        raise FileNotFoundError(f"{VARIABLE} names {path}, which does not exist") from None
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no file of Python")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
