# SPDX-License-Identifier: Apache-2.0
"""The child process of ``pyaclnn smoke``: runs the cases and writes down each before it begins.

Run as ``python -m pyaclnn.health.child.smoke REQUEST.json``; see ``smoke_command``.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from pyaclnn.base.errors import AclError
from pyaclnn.base.limits import memory_error_message
from pyaclnn.cann.library import backend, select_backend
from pyaclnn.health.child.journal import Journal, arm, take_request
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Run the cases of a request.

    Args:
        arguments: The path of the request.

    Returns:
        0 if every case came to an end, or none could run; then the journal says why.
    """
    request, journal = take_request(arguments)
    os.chdir(request["folder"])
    try:
        _run(request, journal)
    except AclError as error:
        journal.facts["error"] = str(error)
    except Exception as error:
        told = memory_error_message(error)
        if told is None:
            raise
        journal.facts["error"] = told
    journal.write("the process ends", done=True)
    return 0


def _run(request: Mapping[str, Any], journal: Journal) -> None:
    def begin(step: str) -> None:
        journal.write(step)
        arm(request["patience"])

    begin("the libraries load")
    if request["backend"] is not None:
        select_backend(request["backend"])
    loaded = backend()
    begin(f"device {request['device']} opens")
    outcomes: list[dict[str, object]] = []
    with Device(request["device"]) as device:
        journal.facts.update(
            backend=loaded.name,
            directory=str(loaded.directory),
            soc_name=device.soc_name,
            outcomes=outcomes,
        )
        operators, dtypes = request["steps"], request["dtypes"]
        for case in smoke.cases(device):
            if operators and case.operator not in operators:
                continue
            if dtypes and str(case.dtype) not in dtypes:
                continue
            begin(f"{case.operator} {case.dtype} {'x'.join(map(str, case.shape))}")
            outcomes += [outcome.as_dict() for outcome in smoke.run(case, device)]
        begin(f"device {request['device']} is given back")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
