# SPDX-License-Identifier: Apache-2.0
"""Norm operators of Huawei's Ascend NPUs from Python, on CANN or on a simulated NPU.

The public names are loaded on first use: importing the package opens no library, and the parts
that need no binding (``pyaclnn.reference``, ``pyaclnn.mock``) work without it.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from pyaclnn.lazy import public_names

if TYPE_CHECKING:
    import pyaclnn.accuracy
    import pyaclnn.cann.raw
    import pyaclnn.mock
    import pyaclnn.ops
    import pyaclnn.reference  # noqa: F401  # as attributes of the package
    from pyaclnn.calling.plan import Plan, plan
    from pyaclnn.cann.library import Backend, backend, select_backend
    from pyaclnn.errors import (
        AclError,
        BackendNotFoundError,
        CleanupWarning,
        ContextError,
        DeadlineError,
        DeviceLostError,
        InvalidArgumentError,
        KernelError,
        MissingSymbolError,
        OutOfMemoryError,
        UnsupportedError,
    )
    from pyaclnn.ops import layer_norm, layer_norm_backward, rms_norm, rms_norm_grad
    from pyaclnn.runtime.array import DeviceArray, to_device
    from pyaclnn.runtime.buffer import Buffer
    from pyaclnn.runtime.device import Device, MemoryInfo, device_count
    from pyaclnn.runtime.event import Event
    from pyaclnn.runtime.handle import live_handles
    from pyaclnn.runtime.pinned import pinned_empty
    from pyaclnn.runtime.stream import Stream

__all__ = [
    "AclError",
    "Backend",
    "BackendNotFoundError",
    "Buffer",
    "CleanupWarning",
    "ContextError",
    "DeadlineError",
    "Device",
    "DeviceArray",
    "DeviceLostError",
    "Event",
    "InvalidArgumentError",
    "KernelError",
    "MemoryInfo",
    "MissingSymbolError",
    "OutOfMemoryError",
    "Plan",
    "Stream",
    "UnsupportedError",
    "__version__",
    "backend",
    "device_count",
    "layer_norm",
    "layer_norm_backward",
    "live_handles",
    "pinned_empty",
    "plan",
    "rms_norm",
    "rms_norm_grad",
    "select_backend",
    "to_device",
]

# The modules that have public names.
_HOMES = (
    "errors",
    "cann.library",
    "runtime.device",
    "runtime.stream",
    "runtime.event",
    "runtime.buffer",
    "runtime.pinned",
    "runtime.array",
    "runtime.handle",
    "calling.plan",
    "ops",
)
# Modules that are there as attributes of the package without an import of their own.
_MODULES = ("accuracy", "mock", "ops", "raw", "reference")
__version__: str


class _NothingCompiled:
    """Asked for a module when nobody else has it; says why what is compiled is not there."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name in (f"{__name__}._binding", f"{__name__}.reference.arithmetic._narrow_floats"):
            raise ImportError(
                f"{__path__[0]} is the source tree of pyaclnn, which lacks what is compiled when "
                "pyaclnn is installed. Run Python in another folder if it is installed, or install "
                "it with 'pip install .'; README.md says how to work on the source tree itself.",
                name=name,
            )


sys.meta_path.append(_NothingCompiled)


_load, _listing = public_names(__name__, __all__, _HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = importlib.import_module("importlib.metadata").version("pyaclnn")
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    else:
        return _load(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_listing(), *_MODULES})
