# SPDX-License-Identifier: Apache-2.0
"""A child's side of the bargain: the request it takes, and what it writes down for its parent."""

from __future__ import annotations

import faulthandler
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyaclnn.cann.faults import note_faults
from pyaclnn.health.child.descendants import below
from pyaclnn.health.child.isolation import CALLS, FAULTS, MARGIN
from pyaclnn.health.child.last_call import note_calls
from pyaclnn.health.child.termination import end_with_parent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.record import CheckResult

__all__ = ["Journal", "arm", "take_request"]


def take_request(arguments: Sequence[str]) -> tuple[dict[str, Any], Journal]:
    """Begin as a child: read the request, and see to it that neither end nor crash is lost.

    Args:
        arguments: The path of the request.

    Returns:
        The request and the journal that it names.
    """
    request: dict[str, Any] = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    end_with_parent(request["parent"])
    faulthandler.enable()
    result = Path(request["result"])
    note_faults(result.with_name(FAULTS))
    note_calls(result.with_name(CALLS))
    return request, Journal(result)


def arm(deadline: float) -> None:
    """Have the place of every thread written down shortly before the parent loses patience.

    Args:
        deadline: When it does, in seconds from now.
    """
    faulthandler.dump_traceback_later(deadline * MARGIN, exit=False)


class Journal:
    """The result file: replaced as a whole, so that a reader never sees half of it.

    Attributes:
        path: Where it is.
        results: The results so far.
        facts: What else the parent is to know.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: list[CheckResult] = []
        self.facts: dict[str, Any] = {}

    def write(self, running: str | None, *, done: bool = False) -> None:
        """Write everything known so far.

        Args:
            running: The step that begins now.
            done: Whether no step is left to begin.
        """
        content = {
            "running": running,
            "done": done,
            "facts": self.facts,
            "descendants": [*below(os.getpid()).items()],
            "results": [result.to_json() for result in self.results],
        }
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(content), encoding="utf-8")
        fresh.replace(self.path)
