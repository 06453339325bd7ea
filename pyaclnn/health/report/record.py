# SPDX-License-Identifier: Apache-2.0
"""What the doctor found, as plain data that goes to JSON and comes back unchanged.

A `Report` holds one `CheckResult` for each check; results of numeric checks carry a `Number` for
each output that was compared, those of measurements a `Figure` for each. Nothing here knows how a
finding was made or how it is shown.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

from pyaclnn.health.report.fields import Rule, json_text, plain
from pyaclnn.health.report.figure import Figure, Severity
from pyaclnn.health.report.reader import read
from pyaclnn.health.report.schema_migration import upgraded

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SCHEMA",
    "CheckResult",
    "Evidence",
    "Exit",
    "Number",
    "Report",
    "Seconds",
    "Status",
    "check_of",
    "device_of",
    "host_name",
]

SCHEMA: Final = 3
"""The version of the JSON layout."""

EVIDENCE_KINDS: Final = ("function", "path", "log", "value", "traceback", "command")

Seconds: TypeAlias = Annotated[float, Rule(minimum=0)]
Count: TypeAlias = Annotated[int, Rule(minimum=0)]
Code: TypeAlias = Annotated[int, Rule(minimum=-(2**31), maximum=2**31 - 1)]
Measured: TypeAlias = Annotated[
    float, Rule(absent=math.nan, description="null if there is no such figure")
]
Edge: TypeAlias = Annotated[float, Rule(absent=math.inf, description="null: no upper edge")]
Exit: TypeAlias = Annotated[
    int,
    Rule(
        enum=(0, 1, 2, 3, 4, 129, 130, 143),
        description="0 all passed, 1 something is broken, 3 inconclusive, 4 no CANN or no "
        "device; 129, 130, 143 ended by SIGHUP, Ctrl-C, SIGTERM",
    ),
]


class Status(str, Enum):
    """What became of a check.

    Attributes:
        PASS: What was looked at is as it must be.
        WARN: It works, with something to be known.
        FAIL: It does not work.
        SKIP: The check does not apply, or was not asked for.
        TIMEOUT: A step exceeded its deadline.
        CRASH: The vendor's code ended the process.
        ERROR: The doctor itself could not tell.
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
        """Whether this status says that the machine does not work."""
        return self in _BROKEN

    @property
    def passed(self) -> bool:
        """Whether a check that builds on this one may run."""
        return self is Status.PASS or self is Status.WARN


_BROKEN: Final = frozenset({Status.FAIL, Status.TIMEOUT, Status.CRASH})


@dataclass(frozen=True)
class Evidence:
    """One observation behind a result.

    Attributes:
        kind: ``function``, ``path``, ``log``, ``value``, ``traceback`` or ``command``.
        label: What it is, e.g. the function's or the variable's name.
        text: What was seen, possibly several lines.
    """

    kind: Annotated[str, Rule(enum=EVIDENCE_KINDS)]
    label: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in EVIDENCE_KINDS:
            raise ValueError(f"kind is {self.kind!r}; it must be one of {EVIDENCE_KINDS}")


@dataclass(frozen=True)
class Number:
    """How one output of one operator compared with float64.

    Attributes:
        operator: The public function, e.g. ``layer_norm``.
        output: The output, e.g. ``grad_weight``; ``-`` if the call itself failed.
        dtype: The dtype of the input.
        shape: The shape of the input.
        passed: Whether the output satisfies CANN's accuracy standard.
        max_abs_error: The largest error; NaN if there is none to tell.
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
    error_histogram: tuple[tuple[Edge, Count], ...]
    verdict: str


@dataclass(frozen=True)
class CheckResult:
    """What one check found.

    Attributes:
        id: The check's stable name, e.g. ``ENV-001``; ``DEV-103@1`` for the one on device 1.
        title: What the check is about.
        category: The family it belongs to.
        status: The finding.
        seconds: How long it took.
        summary: The finding in one line.
        evidence: What it rests on.
        causes: Likely causes, the likeliest first.
        next_step: The one thing to do next, if there is one.
        code: CANN's status code, if one is behind it.
        code_name: The code's name.
        numbers: The comparisons, for numeric checks.
        severity: What it asks of who hands out work.
        figures: The measurements, for checks that measure.
    """

    id: Annotated[str, Rule(pattern=r"^[A-Z]+-([0-9]+|[a-z][a-z0-9_]*)(@[0-9]+)?$")]
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
    numbers: Annotated[tuple[Number, ...], Rule(table=True)] = ()
    severity: Severity = Severity.NONE
    figures: Annotated[tuple[Figure, ...], Rule(table=True)] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON's own types."""
        told: dict[str, Any] = plain(self)
        return told

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CheckResult:
        """Read what `to_json` returned.

        Raises:
            ValueError: A key is missing, unknown, or has a value that it cannot have.
        """
        result: CheckResult = read(cls, data)
        return result


def check_of(result: CheckResult) -> str:
    """Return the stable name of a result's check, without the device that it was made on."""
    return result.id.partition("@")[0]


def device_of(result: CheckResult) -> str:
    """Return the device that a result was made on, as its id tells it; nothing if on none."""
    return result.id.partition("@")[2]


@dataclass(frozen=True)
class Report:
    """One run of the doctor on one machine.

    Attributes:
        version: The version of pyaclnn.
        started: When, in UTC, as ISO 8601.
        seconds: How long it took.
        host: ``name``, ``id`` (which tells machines of one name apart), ``os``, ``kernel``,
            ``machine``, ``python``, ``cpu_count``, ``in_container``.
        backend: ``cann``, ``mock`` or ``none``.
        simulated: Whether the backend is the simulated NPU: then nothing here is about hardware.
        directory: Where the runtime library lies.
        soc_name: The chip.
        cann_version: The version of CANN, as its own files tell it.
        level: ``quick``, ``medium`` or ``long``.
        environment: The variables that matter, and only those.
        results: The results in the order in which the checks ran.
        exit_status: What the command exits with.
        schema: The version of this layout.
    """

    version: str
    started: Annotated[str, Rule(format="date-time")]
    seconds: Seconds
    host: dict[str, str | int | bool]
    backend: Annotated[str, Rule(enum=("cann", "mock", "none"))]
    simulated: bool
    directory: str | None
    soc_name: str | None
    cann_version: str | None
    level: Annotated[str, Rule(enum=("quick", "medium", "long"))]
    environment: dict[str, str]
    results: tuple[CheckResult, ...]
    exit_status: Exit
    schema: Annotated[int, Rule(enum=(SCHEMA,))] = SCHEMA

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types; a figure that does not exist is None."""
        return {"schema": self.schema, **plain(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Read what `to_json` returned, of this version or a former one.

        Raises:
            ValueError: The schema is a later one, or a key is missing, unknown, or has a value that
                it cannot have.
        """
        if isinstance(data, dict):
            data = upgraded(data)
            if data.get("schema") != SCHEMA:
                known = f"this version reads 1 to {SCHEMA}"
                raise ValueError(f"schema is {data.get('schema')!r:.60}; {known}")
        report: Report = read(cls, data)
        return report

    def to_text(self) -> str:
        """Return the report as JSON text."""
        return json_text(self.to_json())

    @classmethod
    def from_text(cls, text: str) -> Report:
        """Read what `to_text` returned; raises what `from_json` does."""
        return cls.from_json(json.loads(text))


def host_name(report: Report) -> str:
    """Return the name of the machine that a report is about."""
    return str(report.host.get("name") or "unnamed")
