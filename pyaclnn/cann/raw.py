# SPDX-License-Identifier: Apache-2.0
"""The C interface as it is: ``ffi``, every constant, and every C function under its C name.

Nothing is checked here: statuses are returned, pointers are yours to free. Functions are resolved
on first access; constants need no backend.

    from pyaclnn import raw
    count = raw.ffi.new("uint32_t *")
    status = raw.aclrtGetDeviceCount(count)

Types are relaxed in this module and nowhere else: the functions are generated from the headers, so
their names and types are not known to a type checker.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from pyaclnn._binding import ffi, lib
from pyaclnn.base.spelling import did_you_mean
from pyaclnn.cann.library import declaration, function
from pyaclnn.cann.signatures import signatures
from pyaclnn.cann.trace import traced, tracing
from pyaclnn.facts.interface import constants, functions

__all__ = ["NULL", "Pointer", "address_of", "ffi", "is_pointer", "pointer_to"]

Pointer: TypeAlias = Any
"""A C pointer, opaque to Python."""

NULL: Pointer = ffi.NULL
_CONSTANTS = ("ACL", "UCE", "BINDING_")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):  # an import looks for __path__ here, and no header declares such
        raise _nothing(name)
    value = _constant(name) if name.startswith(_CONSTANTS) else _function(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    ours = (n for n in (*dir(lib), *constants()) if n.startswith("ACL"))
    return sorted({*__all__, *signatures(), *functions(), *ours})


def _function(name: str) -> Any:
    declared = declaration(name)
    if declared is None:
        raise _nothing(name)
    found = function(name)
    # Python calls it by its address, without the binding.
    return traced(declared, found) if tracing() and not hasattr(lib, name) else found


def _constant(name: str) -> Any:
    if name in dir(lib):
        return getattr(lib, name)
    if name in constants():
        return constants()[name]
    raise _nothing(name)


def _nothing(name: str) -> AttributeError:
    hint = "" if name.startswith("_") else did_you_mean(name, __dir__(), lead="; ", likeness=0.8)
    message = f"no header of this binding declares a constant or a function named {name!r}{hint}"
    return AttributeError(message)


def pointer_to(address: int) -> Pointer:
    """Turn an address into a ``void *``."""
    return ffi.cast("void *", address)


def is_pointer(value: object) -> bool:
    """Return whether a value is a C pointer, or other C data, and not a Python number."""
    return isinstance(value, ffi.CData)


def address_of(pointer: Pointer) -> int:
    """Turn a pointer into the address that it holds; 0 for NULL."""
    return int(ffi.cast("uintptr_t", pointer))
