# SPDX-License-Identifier: Apache-2.0
"""Capture of a program's CANN calls in a file, and their replay on another machine.

The module can be called: ``with pyaclnn.capture(path):`` is `pyaclnn.capture.session.capture`.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from contextlib import AbstractContextManager

__all__: list[str] = []


class _Callable(ModuleType):
    """Module that captures when it is called; what it needs is imported then."""

    def __call__(
        self, path: str | os.PathLike[str], *, contents: str = "hash"
    ) -> AbstractContextManager[None]:
        """Record the calls of this process; see ``pyaclnn.capture.session.capture``."""
        from pyaclnn.capture.session import capture  # noqa: PLC0415

        return capture(path, contents=contents)


sys.modules[__name__].__class__ = _Callable
