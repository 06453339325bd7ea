# SPDX-License-Identifier: Apache-2.0
"""Environment variables: those with a few values, and values for a while."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyaclnn.base.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["choice", "variable_set"]


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


@contextmanager
def variable_set(name: str, value: str | None) -> Iterator[None]:
    """Set an environment variable for the duration of a block, and restore it after that.

    Args:
        name: The variable.
        value: Its value; None leaves it as it is.
    """
    before = os.environ.get(name)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        if before is not None:
            os.environ[name] = before
        else:
            os.environ.pop(name, None)
