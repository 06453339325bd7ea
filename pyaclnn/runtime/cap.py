# SPDX-License-Identifier: Apache-2.0
"""The most bytes that a pool or a workspace may hold."""

from __future__ import annotations

from pyaclnn.base.errors import InvalidArgumentError, repr_of
from pyaclnn.runtime.shapes import count_of

__all__ = ["cap_of"]


def cap_of(nbytes: int | None, routine: str) -> int | None:
    """Check the most bytes that a pool or a workspace may hold.

    Args:
        nbytes: The caller's argument; None for no limit.
        routine: Name of the setting, for the message.

    Returns:
        The same, as a plain integer.

    Raises:
        InvalidArgumentError: It is no number of bytes.
    """
    cap = None if nbytes is None else count_of(nbytes)
    if nbytes is not None and cap is None:
        expected = "a number of bytes, 0 or more, or None for no limit"
        raise InvalidArgumentError.of(routine, "cap", repr_of(nbytes), expected)
    return cap
