# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ``acl``, CANN's own Python module, on the simulated NPU.

``pyaclnn mock run`` and the ``set_env.sh`` of ``pyaclnn mock home`` put it on the path. As in CANN
a function's last result is its status, handles and addresses are integers, and what the module
does not have is an `AttributeError`.

Source: CANN: pyACL API (the functions' results and their order).
"""

from __future__ import annotations

from typing import Any

from . import host as util
from .function import function

__all__ = ["blas", "fv", "mdl", "op", "prof", "rt", "util"]


class _Area:
    """An area of pyACL, such as ``acl.mdl``."""

    def __init__(self, name: str) -> None:
        """Name the area as C does."""
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Return a function of the area."""
        return function(self._name, name)


blas, fv, mdl, op, prof, rt = map(_Area, ("blas", "fv", "mdl", "op", "prof", "rt"))


def __getattr__(name: str) -> Any:
    return function("", name)
