# SPDX-License-Identifier: Apache-2.0
"""Environment variables with a few values."""

from __future__ import annotations

import os

from pyaclnn.base.errors import InvalidArgumentError

__all__ = ["choice"]


def choice(name: str, *allowed: str) -> str:
    """Return the value of an environment variable; empty if it is not set.

    Args:
        name: The variable.
        allowed: The values that it may have.

    Raises:
        InvalidArgumentError: It has another.
    """
    value = os.environ.get(name, "")
    if value and value not in allowed:
        known = " or ".join(map(repr, allowed))
        raise InvalidArgumentError(f"{name} is {value!r}; it must be {known}, or not set at all.")
    return value
