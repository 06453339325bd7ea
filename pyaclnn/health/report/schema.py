# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of the reports, derived from the records."""

from __future__ import annotations

from typing import Any

from pyaclnn.health.report.fields import described
from pyaclnn.health.report.fleet import TOLD
from pyaclnn.health.report.outliers import Outlier
from pyaclnn.health.report.reading import FLEET
from pyaclnn.health.report.record import SCHEMA, Report

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a report and of a fleet report."""
    known: dict[str, Any] = {}
    described(Report, known)
    result = known["result"]["properties"]
    names = {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True}
    told = {name: result[name] for name in TOLD}
    known["group"] = _object({**told, "hosts": names, "simulated": {"type": "boolean"}})
    described(Outlier, known)
    text = {"type": "string"}
    worse = known["outlier"]["properties"]
    known["outlier"] = _object(
        {"host": text, "device": text, "simulated": {"type": "boolean"}, **worse}
    )
    known["fleet"] = _object(
        {
            "schema": {"const": SCHEMA},
            "kind": {"const": FLEET},
            "exit_status": known["report"]["properties"]["exit_status"],
            "groups": {"type": "array", "items": {"$ref": "#/$defs/group"}},
            "outliers": {"type": "array", "items": {"$ref": "#/$defs/outlier"}},
            "reports": {"type": "array", "items": {"$ref": "#/$defs/report"}},
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of pyaclnn doctor",
        "description": "What `pyaclnn doctor --json` writes about one machine, and "
        "`pyaclnn doctor merge --json` about several.",
        "oneOf": [{"$ref": "#/$defs/report"}, {"$ref": "#/$defs/fleet"}],
        "$defs": known,
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
