# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the reports, which is shipped with the package."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

__all__ = ["schema", "schema_text"]


def schema_text() -> str:
    """Return the JSON Schema (draft 2020-12) of a report and of a fleet report, as text."""
    return (resources.files("pyaclnn.doctor.report") / "report.schema.json").read_text(
        encoding="utf-8"
    )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a report and of a fleet report."""
    parsed: dict[str, Any] = json.loads(schema_text())
    return parsed
