# SPDX-License-Identifier: Apache-2.0
"""Child's side of the pipe to its parent: the task it reads, and the messages it writes."""

from __future__ import annotations

import faulthandler
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.faults import note_faults
from pyaclnn.health.child.descendants import below
from pyaclnn.health.child.location import note_calls
from pyaclnn.health.child.task import CALLS, FAULTS, ChildTask
from pyaclnn.health.child.termination import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Journal", "take_task"]

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
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(self._pipe, line) :]
