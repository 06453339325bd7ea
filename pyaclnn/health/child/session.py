# SPDX-License-Identifier: Apache-2.0
"""What the steps of one child share: the request, and the device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.cann.library import select_backend
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Session"]


class Session:
    """What the steps of one child share.

    Attributes:
        request: What the parent asked for.
        facts: What the parent is to be told besides the results.
    """

    def __init__(self, request: Mapping[str, Any], facts: dict[str, Any]) -> None:
        self.request = request
        self.facts = facts
        self._device: Device | None = None

    @property
    def device(self) -> Device:
        """The device, opened on first use."""
        if self._device is None:
            self.load()
            self._device = Device(self.request["device"])
        return self._device

    def load(self) -> None:
        """Load the backend; more than once does no harm."""
        select_backend(self.request["backend"])

    def close(self) -> None:
        """Give the device back."""
        if self._device is not None:
            self._device.close()
            self._device = None
