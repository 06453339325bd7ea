# SPDX-License-Identifier: Apache-2.0
"""Records of the doctor: plain data that goes to JSON and comes back unchanged.

A `Report` holds one `CheckResult` for each check; results of numeric checks carry a `Number` for
each output that was compared, those of measurements a `Figure` for each. The records know neither
the checks nor the formats in which they are shown.
"""

from __future__ import annotations

import json
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from pyaclnn.health.report.figure import Figure, Severity
from pyaclnn.health.report.layout import (
    Count,
    Histogram,
    Measured,
    Seconds,
    json_text,
    layout_of,
    plain,
    read,
    rows_of,
    table,
    table_layout,
)

__all__ = [
    "REPORT_LAYOUT",
    "SCHEMA",
    "CheckResult",
    "Evidence",
    "Exit",
    "Number",
    "Report",
    "Status",
    "check_of",
    "device_of",
    "host_name",
]

SCHEMA: Final = 3
"""Version of the JSON layout."""

EvidenceKind: TypeAlias = Literal["function", "path", "log", "value", "traceback", "command"]
Code: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Exit: TypeAlias = Annotated[
    Literal[0, 1, 2, 3, 4, 129, 130, 143],
    Meta(
        description="0 all passed, 1 something is broken, 3 inconclusive, 4 no CANN or no "
        "device; 129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM",
    ),
]


class Status(str, Enum):
    """Outcome of a check.

    Attributes:
        PASS: The examined thing is as it must be.
        WARN: It works, with something to be known.
        FAIL: It does not work.
        SKIP: The check does not apply, or was not asked for.
        TIMEOUT: A step exceeded its deadline.
        CRASH: The vendor's code ended the process.
        ERROR: The doctor itself failed to decide.
        NOT_RUN: Something that the check builds on did not pass.
    """

    PASS = "PASS"  # noqa: S105  # a status, not a password
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    ERROR = "ERROR"
    NOT_RUN = "NOT_RUN"

    __hash__ = str.__hash__  # Enum's own is written in Python, and a fleet has millions of results

    @property
    def broken(self) -> bool:
        """Return whether this status means that the machine does not work."""
        return self in _BROKEN

    @property
    def passed(self) -> bool:
        """Return whether a dependent check may run."""
        return self is Status.PASS or self is Status.WARN


_BROKEN: Final = frozenset({Status.FAIL, Status.TIMEOUT, Status.CRASH})


class Evidence(Struct, frozen=True, forbid_unknown_fields=True):
    """One observation behind a result.

    Attributes:
        kind: ``function``, ``path``, ``log``, ``value``, ``traceback`` or ``command``.
        label: Its name, e.g. of the function or the variable.
        text: The observation, possibly several lines.
    """

    kind: EvidenceKind
    label: str
    text: str


class Number(Struct, frozen=True, forbid_unknown_fields=True):
    """Comparison of one output of one operator with float64.

    Attributes:
        operator: The public function, e.g. ``layer_norm``.
        output: The output, e.g. ``grad_weight``; ``-`` if the call itself failed.
        dtype: The dtype of the input.
        shape: The shape of the input.
        passed: Whether the output satisfies CANN's accuracy standard.
        max_abs_error: The largest error; NaN if there is none.
        limit: The error that the worst element may have.
        matched_ratio: The share of elements within the tolerance.
        seconds: How long the call and its synchronize took.
        error_histogram: Pairs of (upper edge, count) over |error| / tolerance: log-spaced edges,
            the last of them infinite; empty bins are left out. Tolerance is
            ``atol + rtol * |golden|``.
        verdict: The comparison in one line.
    """

    operator: str
    output: str
    dtype: str
    shape: tuple[Count, ...]
    passed: bool
    max_abs_error: Measured
    limit: Measured
    matched_ratio: Measured
    seconds: Measured
    error_histogram: Histogram
    verdict: str


class CheckResult(Struct, frozen=True, forbid_unknown_fields=True):
    """Finding of one check.

    Attributes:
        id: The check's stable name, e.g. ``ENV-001``; ``DEV-103@1`` for the one on device 1.
        title: The subject of the check.
        category: The family it belongs to.
        status: The finding.
        seconds: Duration.
        summary: The finding in one line.
        evidence: The observations behind the finding.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next, if there is one.
        code: CANN's status code, if one is the reason.
        code_name: The code's name.
        numbers: The comparisons, for numeric checks.
        severity: Its request to whoever schedules work.
        figures: The measurements, for checks that measure.
    """

    id: Annotated[str, Meta(pattern=r"^[A-Z]+-([0-9]+|[a-z][a-z0-9_]*)(@[0-9]+)?$(?!\n)")]
    title: str
    category: str
    status: Status
    seconds: Seconds
    summary: str
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    code: Code | None = None
    code_name: str | None = None
    numbers: tuple[Number, ...] = ()
    severity: Severity = Severity.NONE
    figures: tuple[Figure, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON's own types, with tables of numbers and figures."""
        texts = plain(replace(self, numbers=(), figures=()))
        return {**texts, "numbers": table(self.numbers), "figures": table(self.figures)}

    @classmethod
    def from_json(cls, data: Any) -> CheckResult:
        """Read the result that `to_json` returned.

        Raises:
            ValueError: A key is missing, unknown, or has a value that it cannot have.
        """
        return _result(read(_RESULT_LAYOUT, data), "")


_RESULT_LAYOUT: Final = layout_of(
    CheckResult, numbers=table_layout(Number) | None, figures=table_layout(Figure) | None
)


def _result(given: Any, place: str) -> CheckResult:
    """Return the result that a layout describes, of which no key is missing."""
    values = asdict(given)
    values["numbers"] = rows_of(Number, values["numbers"], f"{place}numbers")
    values["figures"] = rows_of(Figure, values["figures"], f"{place}figures")
    return CheckResult(**values)


def check_of(result: CheckResult) -> str:
    """Return the stable name of a result's check, without the device that it was made on."""
    return result.id.partition("@")[0]


def device_of(result: CheckResult) -> str:
    """Return the device in a result's id; empty if it is of none."""
    return result.id.partition("@")[2]


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """One run of the doctor on one machine.

    Attributes:
        version: The version of pyaclnn.
        started: The moment, in UTC, as ISO 8601.
        seconds: Duration.
        host: ``name``, ``id`` (which differs between machines of one name), ``os``, ``kernel``,
            ``machine``, ``python``, ``cpu_count``, ``in_container``.
        backend: ``cann``, ``mock`` or ``none``.
        simulated: Whether the backend is the simulated NPU: then nothing here is about hardware.
        directory: The folder of the runtime library.
        soc_name: The chip.
        cann_version: The version of CANN, as its own files name it.
        level: ``quick``, ``medium`` or ``long``.
        environment: The variables that matter, and only those.
        results: The results in the order in which the checks ran.
        exit_status: The exit status of the command.
        schema: The version of this layout.
    """

    version: str
    started: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    seconds: Seconds
    host: dict[str, str | int | bool]
    backend: str
    simulated: bool
    directory: str | None
    soc_name: str | None
    cann_version: str | None
    level: str
    environment: dict[str, str]
    results: tuple[CheckResult, ...]
    exit_status: int
    schema: int = SCHEMA

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types; a figure that does not exist is None."""
        results = [result.to_json() for result in self.results]
        return {"schema": self.schema, **plain(replace(self, results=())), "results": results}

    @classmethod
    def from_json(cls, data: Any) -> Report:
        """Read the report that `to_json` returned.

        Raises:
            ValueError: The schema is of another version, or a key is missing, unknown, or has a
                value that it cannot have.
        """
        if isinstance(data, dict) and data.get("schema") != SCHEMA:
            found = f"{data.get('schema')!r:.60}"
            raise ValueError(f"schema is {found}; this version reads {SCHEMA}")
        values = asdict(read(REPORT_LAYOUT, data))
        if not _is_moment(values["started"]):
            raise ValueError("started is no moment like 2026-05-21T08:30:00+00:00")
        results = enumerate(values.pop("results"))
        return cls(**values, results=tuple(_result(one, f"results[{n}].") for n, one in results))

    def to_text(self) -> str:
        """Return the report as JSON text."""
        return json_text(self.to_json())

    @classmethod
    def from_text(cls, text: str) -> Report:
        """Read the text that `to_text` returned; raises as `from_json` does."""
        return cls.from_json(json.loads(text))


REPORT_LAYOUT: Final = layout_of(
    Report,
    backend=Literal["cann", "mock", "none"],
    level=Literal["quick", "medium", "long"],
    results=tuple[_RESULT_LAYOUT, ...],  # type: ignore[valid-type]
    exit_status=Exit,
    schema=Literal[3],
)
"""Type of a report's JSON."""


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False


def host_name(report: Report) -> str:
    """Return the name of the machine that a report is about."""
    return str(report.host.get("name") or "unnamed")
