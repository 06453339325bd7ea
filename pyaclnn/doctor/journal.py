# SPDX-License-Identifier: Apache-2.0
"""What a child writes down for its parent: where it is, and what came of the steps before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from pyaclnn.doctor.record import CheckResult

__all__ = ["Journal"]


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
            "results": [result.to_json() for result in self.results],
        }
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(content), encoding="utf-8")
        fresh.replace(self.path)
