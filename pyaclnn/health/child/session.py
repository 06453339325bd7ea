# SPDX-License-Identifier: Apache-2.0
"""State that the steps of one child share: the task, the device, and what the parent learns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.cann.library import backend, select_backend
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.cann.library import Backend
    from pyaclnn.health.child.journal import ChildTask

__all__ = ["Session"]


class Session:
    """State that the steps of one child share.

    Attributes:
        task: The task of the child.
        facts: Facts for the parent besides the results.
        step: The check that is under way.
        begin: Announces that the step begins again, with its whole time.
    """

    def __init__(self, task: ChildTask) -> None:
        self.task = task
        self.facts: dict[str, Any] = {}
        self.step = ""
        self.begin: Callable[[], None] = lambda: None
        self._device: Device | None = None

    @property
    def device_id(self) -> int:
        """The id of the device; steps that open none must not ask for it."""
        assert self.task.device is not None  # noqa: S101  # the parent's promise
        return self.task.device

    @property
    def stand_in(self) -> int | None:
        """The simulated device that computes in full for this one, which has its kernels."""
        first = min(self.task.peers, default=self.task.device)
        return first if self.task.simulated and first != self.task.device else None

    @property
    def device(self) -> Device:
        """The device, opened on first use."""
        if self._device is None:
            self.load()
            self._device = Device(self.device_id)
        return self._device

    def load(self) -> Backend:
        """Load the backend of the task; more than once does no harm."""
        return backend() if self.task.backend is None else select_backend(self.task.backend)

    def close(self) -> None:
        """Close the device."""
        if self._device is not None:
            self._device.close()
            self._device = None
