# SPDX-License-Identifier: Apache-2.0
"""Child's side of the pipe to its parent: the task it reads, and the messages it writes."""

from __future__ import annotations

import faulthandler
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.faults import note_faults
from pyaclnn.health.checks.context import Extent
from pyaclnn.health.child.processes import below, end_with_parent
from pyaclnn.health.child.traces import note_calls
from pyaclnn.health.report.codec import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CALLS", "FAULTS", "ChildTask", "Journal", "take_task"]

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
        simulated: True if the NPU is simulated.
        peers: The devices under examination.
        meeting: A folder where the children of all devices wait for each other, if they do.
        expected_devices: Number of devices that the parent expects to be visible, or None.
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


_MARGIN: Final = 0.75
"""The share of a deadline after which the child writes down where it is."""


def take_task(arguments: Sequence[str]) -> tuple[ChildTask, Journal]:
    """Begin as a child: read the task, and have ends and crashes recorded.

    Args:
        arguments: The path of the task, the descriptor of the pipe, and the parent's process id.

    Returns:
        The task and the journal.
    """
    path, pipe, parent = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    os.set_inheritable(pipe, False)
    end_with_parent(parent)
    faulthandler.enable()
    note_faults(path.with_name(FAULTS))
    note_calls(path.with_name(CALLS))
    return ChildTask(**json.loads(path.read_text(encoding="utf-8"))), Journal(pipe)


class Journal:
    """Messages of a child to its parent: JSON objects, one a line.

    Args:
        pipe: The file descriptor they are written to.
    """

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def begin(self, step: str | None, deadline: float) -> None:
        """Announce a step.

        Args:
            step: The step; None if there is no further one.
            deadline: Seconds after which the parent ends the child. Shortly before, the child
                writes the place of every thread into its output.
        """
        self.write(step=step, descendants=[*below(os.getpid()).items()])
        faulthandler.dump_traceback_later(deadline * _MARGIN, exit=False)

    def write(self, **message: object) -> None:
        """Write a message.

        Args:
            message: The parts of it: ``result``, ``facts``, ``done``.
        """
        line = json_text(message).encode() + b"\n"
        while line:
            line = line[os.write(self._pipe, line) :]
