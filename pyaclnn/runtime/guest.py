# SPDX-License-Identifier: Apache-2.0
"""Being a guest on a device for a while: what was taken for the work there is given back."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pyaclnn.base.errors import ContextError
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.progress import leave_stream
from pyaclnn.runtime.timelines import borrowed_timelines, release_idle, timelines_in

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["borrowed"]


@contextlib.contextmanager
def borrowed() -> Iterator[Device]:
    """Use the device that is current on this thread, and give everything back in the end.

    Pools and workspaces go back to CANN with the end of the ``with`` statement, also those of
    streams that are still open; what queued work uses goes when that is over. Arrays stay, as they
    are the caller's. Without this, closing the last object on a borrowed device releases all.

    Yields:
        The device, which the host may have opened; it is neither reset nor closed.

    Raises:
        ContextError: No context is current on this thread.

    Examples:
        >>> with pyaclnn.Device(0):  # stands for the host's
        ...     with pyaclnn.borrowed() as device:
        ...         y = pyaclnn.layer_norm(pyaclnn.ones((2, 4), device=device), 4).out
    """
    device = Device.current()
    if device is None:
        message = (
            "borrowed(): no device is current on this thread.\nHint: the host opens it first, or "
            "makes its context current; Device(0) opens one for this library."
        )
        raise ContextError(message, routine="borrowed")
    try:
        yield device
    finally:
        for timeline in borrowed_timelines(device._context):
            leave_stream(timeline, device._held)
        for timeline in timelines_in(device._context):
            timeline.trim()
        release_idle(device._context)
