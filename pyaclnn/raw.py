# SPDX-License-Identifier: Apache-2.0
"""The C interface as it is, under its C names: the public name of `pyaclnn.cann.raw`."""

from __future__ import annotations

from typing import Any

from pyaclnn.cann import raw
from pyaclnn.cann.raw import NULL, address_of, ffi, is_pointer, pointer_to

__all__ = ["NULL", "address_of", "ffi", "is_pointer", "pointer_to"]


def __getattr__(name: str) -> Any:
    return getattr(raw, name)


def __dir__() -> list[str]:
    return dir(raw)
