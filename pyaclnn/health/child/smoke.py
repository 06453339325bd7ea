# SPDX-License-Identifier: Apache-2.0
"""Program of the child of ``pyaclnn smoke``: runs the cases, and announces each of them.

Run as ``python -m pyaclnn.health.child.smoke TASK.json PIPE PARENT`` by `isolation`.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from pyaclnn.base.errors import AclError, text_of
from pyaclnn.base.limits import memory_error_message
from pyaclnn.health.child.journal import Journal, take_task
from pyaclnn.health.child.session import Session
from pyaclnn.health.smoke import cases as smoke

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.child.journal import ChildTask

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Run the cases of a task.

    Args:
        arguments: As `take_task` expects them.

    Returns:
        0 if every case completed, or none could run; then the facts have the error.
    """
    task, journal = take_task(arguments)
    os.chdir(task.folder or ".")
    try:
        _run(task, journal)
    except Exception as error:
        text = text_of(error) if isinstance(error, AclError) else memory_error_message(error)
        if text is None:
            raise
        journal.write(facts={"error": text})
    journal.begin("the process ends", task.patience)
    journal.write(done=True)
    return 0


def _run(task: ChildTask, journal: Journal) -> None:
    session, patience = Session(task), task.patience
    journal.begin("the libraries load", patience)
    loaded = session.load()
    journal.begin(f"device {task.device} opens", patience)
    device = session.device
    facts = {"backend": loaded.name, "directory": str(loaded.directory)}
    journal.write(facts={**facts, "soc_name": device.soc_name})
    try:
        for case in smoke.cases(device, names=task.steps):
            if task.dtypes and str(case.dtype) not in task.dtypes:
                continue
            shape = "x".join(map(str, case.shape))
            begin = partial(journal.begin, f"{case.operator} {case.dtype} {shape}", patience)
            begin()
            for outcome in smoke.run(case, device, iterations=task.iterations, begin=begin):
                journal.write(result=outcome)
        journal.begin(f"device {task.device} is given back", patience)
    finally:
        session.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
