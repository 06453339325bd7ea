# SPDX-License-Identifier: Apache-2.0
"""Inspection of the array API's namespace: its capabilities, devices and dtypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.calling import array_dtypes
from pyaclnn.runtime.device import Device, default_device, device_count

if TYPE_CHECKING:
    import numpy as np

__all__ = ["NamespaceInfo"]

_EXTENSIONS = ("bfloat16", "float16")  # dtypes that the standard does not have


class NamespaceInfo:
    """Inspection functions of the standard, as ``__array_namespace_info__`` returns them."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional features: no indices of bools, no shapes that depend on data."""
        return {
            "boolean indexing": False,
            "data-dependent shapes": False,
            "max dimensions": 25,
        }

    def default_device(self) -> Device:
        """Return the device of arrays that are made without one."""
        return default_device()

    def devices(self) -> list[Device]:
        """Return the devices, which this opens."""
        return [Device(number) for number in range(device_count())]

    def default_dtypes(self, *, device: Device | None = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of arrays that are made of numbers."""
        del device  # the same everywhere
        names = {"real floating": "float32", "complex floating": "complex64"}
        names |= {"integral": "int64", "indexing": "int64"}
        return {kind: getattr(array_dtypes, name) for kind, name in names.items()}

    def dtypes(
        self, *, device: Device | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of the standard by name.

        Args:
            device: The device; all have the same dtypes.
            kind: A kind, or several, of those that `isdtype` takes; all if None.
        """
        del device
        named = {name: getattr(array_dtypes, name) for name in array_dtypes.__all__}
        return {
            name: dtype
            for name, dtype in named.items()
            if hasattr(dtype, "itemsize") and name not in _EXTENSIONS
            if kind is None or array_dtypes.isdtype(dtype, kind)
        }
