# SPDX-License-Identifier: Apache-2.0
"""Task of a child process, and the files in which the child leaves traces for its parent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.options import Extent

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CALLS", "FAULTS", "ChildTask"]

CALLS: Final = "call"
"""The file in which a child notes the C function that it calls."""
FAULTS: Final = "faults"
"""The file in which a child notes where it is when a signal ends it."""


@dataclass(frozen=True)
class ChildTask(Extent):
    """Task of a child process.

    Attributes:
        backend: The backend, as ``select_backend`` takes it; None for the environment's.
        device: The device; None for steps that open none.
        steps: The ids of the checks, in order; for the smoke test the operators, all if none.
        deadlines: Seconds for each of them.
        simulated: Whether the NPU is simulated.
        peers: The devices under examination.
        meeting: A folder where the children of all devices wait for each other, if they do.
        expected_devices: How many devices the parent expects to be visible, or None.
        dtypes: For the smoke test, the dtypes of inputs; all if none.
        patience: Seconds for a step without a deadline of its own.
        folder: The folder that relative paths start from; None for the child's own.
    """

    backend: str | None
    device: int | None
    steps: tuple[str, ...] = ()
    deadlines: Mapping[str, float] = field(default_factory=dict)
    simulated: bool = False
    peers: tuple[int, ...] = ()
    meeting: str = ""
    expected_devices: int | None = None
    dtypes: tuple[str, ...] = ()
    patience: float = 60.0
    folder: str | None = None
