# SPDX-License-Identifier: Apache-2.0
"""JSON Schema of the reports, derived from the types of the records."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import fields

from pyaclnn.health.report.fleet import GROUP_FIELDS
from pyaclnn.health.report.outliers import Outlier
from pyaclnn.health.report.record import REPORT_LAYOUT, CheckResult, Exit

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a report and of a fleet report."""
    result = {field.name: field.type for field in fields(CheckResult)}
    names = Annotated[tuple[str, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    group = {**{name: result[name] for name in GROUP_FIELDS}, "hosts": names, "simulated": bool}
    outlier = {field.name: field.type for field in fields(Outlier)}
    place = {"host": str, "device": str, "simulated": bool}
    group_kind, outlier_kind = _object("Group", group), _object("Outlier", {**place, **outlier})
    fleet = {
        "schema": Literal[3],
        "kind": Literal["fleet"],
        "exit_status": Exit,
        "groups": tuple[group_kind, ...],  # type: ignore[valid-type]
        "outliers": tuple[outlier_kind, ...],  # type: ignore[valid-type]
        "reports": tuple[REPORT_LAYOUT, ...],
    }
    either, known = msgspec.json.schema_components(
        [REPORT_LAYOUT, _object("Fleet", fleet)], ref_template="#/$defs/{name}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of pyaclnn doctor",
        "description": "The file that `pyaclnn doctor --json` writes about one machine, and "
        "`pyaclnn doctor merge --json` about several.",
        "oneOf": list(either),
        "$defs": known,
    }


def _object(name: str, types: dict[str, Any]) -> Any:
    return msgspec.defstruct(name, list(types.items()), forbid_unknown_fields=True)
