# SPDX-License-Identifier: Apache-2.0
"""Norm operators of Huawei's Ascend NPUs from Python, on CANN or on a simulated NPU.

The public names are loaded on first use: importing the package opens no library, and the parts
that need no binding (``pyaclnn.reference``, ``pyaclnn.mock``) work without it.

Examples in docstrings assume ``import numpy as np``, ``import pyaclnn`` and, without an NPU,
``pyaclnn.select_backend("mock")``.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import sys
from typing import TYPE_CHECKING, Any


def _use_installed_package() -> None:
    """In a source tree that was not built, load the modules of the installed package.

    Python in the checkout finds the source tree first. An editable install has a finder of its own
    for compiled modules, and is not affected.
    """
    module = sys.modules[__name__]
    path = module.__path__
    if not os.path.exists(f"{path[0]}/../meson.build"):  # noqa: PTH110  # pathlib takes 5 ms
        return
    if any(finder.find_spec(f"{__name__}._binding", path) for finder in sys.meta_path):
        return
    here = os.path.realpath(path[0])
    elsewhere = [
        entry for entry in sys.path if os.path.realpath(f"{entry or '.'}/{__name__}") != here
    ]
    spec = importlib.machinery.PathFinder.find_spec(__name__, elsewhere)
    # A folder of that name without a package has no origin.
    if spec is not None and spec.origin is not None and spec.submodule_search_locations is not None:
        path[:] = spec.submodule_search_locations
        # importlib.resources finds headers and data by these.
        module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin


_use_installed_package()

from pyaclnn.base.lazy import no_attribute, provide, public_names  # noqa: E402

if TYPE_CHECKING:  # type checkers let these names be imported from here
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from pyaclnn import aclnn as aclnn, mock as mock, ops as ops, reference as reference
    from pyaclnn.aclnn import op as op
    from pyaclnn.ascendc import tiling as tiling
    from pyaclnn.base.errors import (
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
    from pyaclnn.base.path_security import UntrustedPathWarning as UntrustedPathWarning
    from pyaclnn.calling import array_api as array_api
    from pyaclnn.calling.empty import Empty as Empty
    from pyaclnn.calling.inference import shape_rule as shape_rule
    from pyaclnn.calling.plan import Plan as Plan, plan as plan
    from pyaclnn.cann import raw as raw
    from pyaclnn.cann.library import (
        Backend as Backend,
        backend as backend,
        select_backend as select_backend,
    )
    from pyaclnn.capture.session import capture as capture
    from pyaclnn.facts import accuracy as accuracy
    from pyaclnn.health import doctor as doctor, fleet as fleet
    from pyaclnn.ops import *
    from pyaclnn.runtime.array import DeviceArray as DeviceArray
    from pyaclnn.runtime.buffer import Buffer as Buffer
    from pyaclnn.runtime.configuration import show_config as show_config
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
    from pyaclnn.runtime.dlpack import SupportsDLPack as SupportsDLPack
    from pyaclnn.runtime.event import Event as Event
    from pyaclnn.runtime.foreign import StreamLike as StreamLike
    from pyaclnn.runtime.guest import borrowed as borrowed
    from pyaclnn.runtime.handle import live_handles as live_handles
    from pyaclnn.runtime.pinned import pinned_empty as pinned_empty
    from pyaclnn.runtime.stream import Stream as Stream

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
    "SupportsDLPack",
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
    "base.errors",
    "cann.library",
    "runtime.device",
    "runtime.dlpack",
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
    "runtime.configuration",
    "base.path_security",
)
# Public modules by their public names, and where they are.
_MODULES = {
    "accuracy": "facts.accuracy",
    "aclnn": "aclnn",
    "array_api": "calling.array_api",
    "capture": "capture",
    "doctor": "health.doctor",
    "fleet": "health.fleet",
    "mock": "mock",
    "ops": "ops",
    "raw": "cann.raw",
    "reference": "reference",
    "tiling": "ascendc.tiling",
}
__all__: list[str]  # these names, and every described operator
__version__: str


class _PublicName:
    """Loader of a public module: its name stands for the module in the room that it belongs to."""

    def create_module(self, _spec: ModuleSpec) -> None:
        """Leave it to the import system to make a module, which is replaced."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module itself in the place of the new one."""
        target = _MODULES[module.__name__.rpartition(".")[2]]
        sys.modules[module.__name__] = importlib.import_module(f"{__name__}.{target}")


class _LastFinder:
    """Finder for what no other finder has: public modules, and compiled ones that are missing."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in (f"{__name__}._binding", f"{__name__}.reference.arithmetic._narrow_floats"):
            raise ImportError(
                f"{sys.modules[__name__].__path__[0]} is the source tree of pyaclnn, without its "
                "compiled modules, and no installed pyaclnn was found. Install it with "
                "'pip install .'; CONTRIBUTING.md describes how to work on the source tree.",
                name=name,
            )
        package, _, module = name.rpartition(".")
        if package == __name__ and module in _MODULES:
            loader: Any = _PublicName()  # importlib.abc takes long to import
            return importlib.machinery.ModuleSpec(name, loader)
        return None


sys.meta_path.append(_LastFinder)


_load, _listing = public_names(__name__, _NAMES, _HOMES)
# Arrays convert and write elements by operators, which are two rooms above them.
provide(
    f"{__name__}.runtime.elements.ElementOperators",
    lambda: importlib.import_module(f"{__name__}.calling.elements").OPERATORS,
)
provide(
    f"{__name__}.runtime.arithmetic.ArrayFunctions",
    lambda: importlib.import_module(f"{__name__}.calling.array_functions").FUNCTIONS,
)
provide(
    f"{__name__}.runtime.arithmetic.ArrayNamespace",
    lambda: importlib.import_module(f"{__name__}.calling.array_api"),
)


def _operators() -> Mapping[str, Any]:
    found: Mapping[str, Any] = importlib.import_module(
        f"{__name__}.facts.operators"
    ).all_operators()
    return found


def _instead(name: str) -> str:
    """Return what to use instead of a name of another library, or of an operator in ``aclnn``."""
    instead = importlib.import_module(f"{__name__}.base.spelling").of_other_libraries(name)
    catalogue = importlib.import_module(f"{__name__}.facts.operators.catalogue").catalogue()
    described = {operator.c_name for operator in _operators().values()}
    c_names = {c_name.lower() for c_name in catalogue.keys() - described}
    if not instead and f"aclnn{name.replace('_', '')}" in c_names:
        return f"did you mean {__name__}.aclnn.{name}()?"
    return str(instead)


def _attribute(name: str) -> object:
    if name == "__version__":
        value: object = importlib.import_module("importlib.metadata").version("pyaclnn")
    elif name == "__all__":
        value = sorted([*_NAMES, *_operators()])
    elif name in _MODULES:
        value = importlib.import_module(f"{__name__}.{_MODULES[name]}")
    elif name in _NAMES or name.startswith("_"):
        return _load(name)
    elif name not in _operators():
        raise no_attribute(__name__, name, __dir__(), _instead(name))
    else:
        value = getattr(importlib.import_module(f"{__name__}.ops"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_listing(), *_MODULES, *_operators()})


if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__ = _attribute
