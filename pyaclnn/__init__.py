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

if TYPE_CHECKING:  # said so that type checkers let these names be imported from here
    import pyaclnn.accuracy
    import pyaclnn.aclnn
    import pyaclnn.mock
    import pyaclnn.ops
    import pyaclnn.raw
    import pyaclnn.reference  # noqa: F401  # as attributes of the package
    from pyaclnn.calling.by_name import op as op
    from pyaclnn.calling.empty import Empty as Empty
    from pyaclnn.calling.inference import shape_rule as shape_rule
    from pyaclnn.calling.plan import Plan as Plan, plan as plan
    from pyaclnn.cann.library import (
        Backend as Backend,
        backend as backend,
        select_backend as select_backend,
    )
    from pyaclnn.configuration import show_config as show_config
    from pyaclnn.errors import (
        AclError as AclError,
        BackendNotFoundError as BackendNotFoundError,
        CleanupWarning as CleanupWarning,
        ContextError as ContextError,
        DeadlineError as DeadlineError,
        DeviceLostError as DeviceLostError,
        InvalidArgumentError as InvalidArgumentError,
        KernelError as KernelError,
        MissingSymbolError as MissingSymbolError,
        OutOfMemoryError as OutOfMemoryError,
        UnsupportedError as UnsupportedError,
    )
    from pyaclnn.ops import *
    from pyaclnn.runtime.array import DeviceArray as DeviceArray
    from pyaclnn.runtime.buffer import Buffer as Buffer
    from pyaclnn.runtime.creation import (
        empty_like as empty_like,
        from_dlpack as from_dlpack,
        full as full,
        ones as ones,
        to_device as to_device,
        zeros as zeros,
    )
    from pyaclnn.runtime.device import (
        Device as Device,
        MemoryInfo as MemoryInfo,
        device_count as device_count,
    )
    from pyaclnn.runtime.event import Event as Event
    from pyaclnn.runtime.foreign import StreamLike as StreamLike
    from pyaclnn.runtime.guest import borrowed as borrowed
    from pyaclnn.runtime.handle import live_handles as live_handles
    from pyaclnn.runtime.pinned import pinned_empty as pinned_empty
    from pyaclnn.runtime.stream import Stream as Stream
    from pyaclnn.trust import UntrustedPathWarning as UntrustedPathWarning

_NAMES = [
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
    "Empty",
    "Event",
    "InvalidArgumentError",
    "KernelError",
    "MemoryInfo",
    "MissingSymbolError",
    "OutOfMemoryError",
    "Plan",
    "Stream",
    "StreamLike",
    "UnsupportedError",
    "UntrustedPathWarning",
    "__version__",
    "backend",
    "borrowed",
    "device_count",
    "empty_like",
    "from_dlpack",
    "full",
    "live_handles",
    "ones",
    "op",
    "pinned_empty",
    "plan",
    "select_backend",
    "shape_rule",
    "show_config",
    "to_device",
    "zeros",
]

# The modules that have public names.
_HOMES = (
    "errors",
    "cann.library",
    "runtime.device",
    "runtime.foreign",
    "runtime.stream",
    "runtime.event",
    "runtime.buffer",
    "runtime.pinned",
    "runtime.array",
    "runtime.creation",
    "runtime.guest",
    "runtime.handle",
    "calling.empty",
    "calling.inference",
    "calling.plan",
    "calling.by_name",
    "configuration",
    "trust",
)
# Modules that are there as attributes of the package without an import of their own.
_MODULES = ("accuracy", "aclnn", "mock", "ops", "raw", "reference")
__all__: list[str]  # these names, and every described operator
__version__: str


class _NothingCompiled:
    """Asked for a module when nobody else has it; says why what is compiled is not there."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name in (f"{__name__}._binding", f"{__name__}.reference.arithmetic._narrow_floats"):
            raise ImportError(
                f"{sys.modules[__name__].__path__[0]} is the source tree of pyaclnn, which lacks "
                "what is compiled when pyaclnn is installed. Run Python in another folder if it is "
                "installed, or install it with 'pip install .'; README.md says how to work on the "
                "source tree itself.",
                name=name,
            )


sys.meta_path.append(_NothingCompiled)


_load, _listing = public_names(__name__, _NAMES, _HOMES)


def _operators() -> list[str]:
    names: list[str] = importlib.import_module(f"{__name__}.operators").all_operators()
    return list(names)


def _attribute(name: str) -> object:
    if name == "__version__":
        value: object = importlib.import_module("importlib.metadata").version("pyaclnn")
    elif name == "__all__":
        value = sorted([*_NAMES, *_operators()])
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{name}")
    elif name in _NAMES or name.startswith("_") or name not in _operators():
        return _load(name)
    else:
        value = getattr(importlib.import_module(f"{__name__}.ops"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_listing(), *_MODULES, *_operators()})


if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__ = _attribute
