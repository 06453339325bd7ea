# SPDX-License-Identifier: Apache-2.0
"""Records of the doctor.

A `Report` holds one `CheckResult` for each check; results of numeric checks carry a `Number` for
each output that was compared, those of measurements a `Figure` for each. The types of the fields
are the rules by which a reader checks a file, and the schema is derived from them. The records know
neither the checks nor the formats in which they are shown.
"""

from __future__ import annotations

import json
import math
import sys
from datetime import datetime, timezone
from enum import Enum
from importlib.metadata import version
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct
from msgspec.structs import asdict

from pyaclnn.health.report.codec import SCHEMA, json_lines, json_text, read

__all__ = [
    "ERROR_EDGES",
    "Better",
    "CheckResult",
    "Code",
    "Evidence",
    "Exit",
    "ExitStatus",
    "Figure",
    "Number",
    "Report",
    "Seconds",
    "Severity",
    "Status",
    "Unit",
    "check_of",
    "device_of",
    "host_name",
]

_LARGEST: Final = sys.float_info.max

Finite: TypeAlias = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=_LARGEST)]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Measured: TypeAlias = Annotated[Finite | None, Meta(description="null if there is no such figure")]
Edge: TypeAlias = Annotated[Finite | None, Meta(description="null: no upper edge")]
EvidenceKind: TypeAlias = Literal["function", "path", "log", "value", "traceback", "command"]
Code: TypeAlias = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]

Unit: TypeAlias = Literal["GB/s", "TFLOP/s", "1/s", "ratio", "s", "count", "bytes", "°C", "MHz",
                          "count/million", "bytes/million"]  # fmt: skip
"""``G`` is 1e9 and ``T`` is 1e12; ``/million`` counts for each million of launches."""
Better: TypeAlias = Literal["more", "less", "neither"]
"""Direction of a figure: which values are better; with ``neither`` no device is at fault."""


class Exit:
    """Exit statuses of the doctor.

    Attributes:
        PASSED: Everything that could be checked passed.
        BROKEN: Something failed, hung or crashed.
        INCONCLUSIVE: The doctor came to no conclusion, or the report could not be written.
        NOTHING_HERE: There is no CANN, or no device.
        SIGNALLED: A signal ended it, whose number is added to this.
        INTERRUPTED: Somebody pressed Ctrl-C.
    """

    PASSED: Final = 0
    BROKEN: Final = 1
    INCONCLUSIVE: Final = 3
    NOTHING_HERE: Final = 4
    SIGNALLED: Final = 128
    INTERRUPTED: Final = 130


ExitStatus: TypeAlias = Annotated[
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


class Severity(str, Enum):
    """Request of a finding to whoever schedules work.

    Attributes:
        NONE: Nothing.
        MONITOR: The device, or the machine if the finding is of no device, may be used, but should
            be looked at again.
        DRAIN: It should be given no new work until somebody has seen to it.
    """

    NONE = "NONE"
    MONITOR = "MONITOR"
    DRAIN = "DRAIN"

    @property
    def asks(self) -> str:
        """The request in words; empty for NONE."""
        words = {Severity.MONITOR: "look at it again", Severity.DRAIN: "give it no new work"}
        return words.get(self, "")


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


class Figure(Struct, frozen=True, forbid_unknown_fields=True):
    """One measurement.

    Attributes:
        name: The measured quantity, e.g. ``host_to_device_pinned``; the same on every device.
        value: The value in ``unit``.
        unit: One of `Unit`.
        better: One of `Better`.
    """

    name: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]*$(?!\n)")]
    value: Finite
    unit: Unit
    better: Better = "more"

    def __str__(self) -> str:
        """Return name, value and unit, e.g. ``host_to_device_pinned 24.1 GB/s``."""
        return f"{self.name} {self.value:.4g} {self.unit}"


ERROR_EDGES: Final = (*(float(f"{10 ** (exponent / 2):.3g}") for exponent in range(-8, 5)), None)
"""Upper edges of the bins of an error histogram: half decades of |error| / tolerance."""


class Number(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Comparison of one output of one operator with float64.

    Attributes:
        operator: The public function, e.g. ``layer_norm``.
        output: The output, e.g. ``grad_weight``; ``-`` if the call itself failed.
        dtype: The dtype of the input.
        shape: The shape of the input.
        passed: True if the output satisfies CANN's accuracy standard.
        max_abs_error: The error of the element that decides, which is the largest in terms of what
            is allowed; None if there is none.
        limit: The error that is allowed there, likewise.
        matched_ratio: The share of elements within the tolerance.
        seconds: Duration of the call and its synchronize; None if unknown.
        error_histogram: Pairs of (upper edge, count) over |error| / tolerance, see `ERROR_EDGES`;
            empty bins are left out. Tolerance is ``atol + rtol * |golden|``.
        verdict: The comparison in one line, or the error of the call.
        code: CANN's status code, if the call failed with one.
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
    code: Code | None = None

    @property
    def case(self) -> str:
        """The dtype and the shape in words, e.g. ``float16 4x64``."""
        return f"{self.dtype} {'x'.join(map(str, self.shape)) or 'scalar'}"

    @property
    def error_ratio(self) -> float:
        """The largest error as a share of what is allowed; infinite if there is no result."""
        if self.max_abs_error is None:
            return math.inf
        if self.limit:
            return self.max_abs_error / self.limit
        return math.inf if self.max_abs_error else 0.0


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


def check_of(result: CheckResult) -> str:
    """Return the stable name of a result's check, without the device that it was made on."""
    return result.id.partition("@")[0]


def device_of(result: CheckResult) -> str:
    """Return the device in a result's id; empty if it is of none."""
    return result.id.partition("@")[2]


class Report(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One run of the doctor on one machine.

    Attributes:
        schema: The version of this layout.
        version: The version of pyaclnn.
        started: The moment, in UTC, as ISO 8601.
        seconds: Duration.
        host: ``name``, ``id`` (which differs between machines of one name), ``os``, ``kernel``,
            ``machine``, ``python``, ``cpu_count``, ``in_container``.
        backend: ``cann``, ``mock`` or ``none``.
        simulated: True if the backend is the simulated NPU: then nothing here is about hardware.
        directory: The folder of the runtime library.
        soc_name: The chip.
        cann_version: The version of CANN, as its own files name it.
        level: ``quick``, ``medium`` or ``long``.
        environment: The variables that matter, and only those.
        results: The results in the order in which the checks ran.
        exit_status: The exit status of the command.
    """

    schema: Literal[4] = SCHEMA
    version: str
    started: Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
    seconds: Seconds
    host: dict[str, str | int | bool]
    backend: Literal["cann", "mock", "none"]
    simulated: bool
    directory: str | None
    soc_name: str | None
    cann_version: str | None
    level: Literal["quick", "medium", "long"]
    environment: dict[str, str]
    results: tuple[CheckResult, ...]
    exit_status: ExitStatus

    def __post_init__(self) -> None:
        """Refuse a start without a moment.

        Raises:
            ValueError: ``started`` is no moment with an offset from UTC.
        """
        if self.moment is None:
            raise ValueError("started is no moment like 2026-05-21T08:30:00+00:00")

    @classmethod
    def absent(
        cls,
        name: str,
        results: tuple[CheckResult, ...],
        *,
        seconds: float = 0.0,
        level: str = "medium",
        exit_status: ExitStatus = Exit.INCONCLUSIVE,
    ) -> Report:
        """Build the report about a machine that gave none.

        Args:
            name: The machine.
            results: Results that give the reason.
            seconds: Seconds that were spent on it.
            level: The level of the run that it is part of.
            exit_status: Its exit status.
        """
        return cls(
            version=version("pyaclnn"),
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            seconds=seconds,
            host={"name": name},
            backend="none",
            simulated=False,
            directory=None,
            soc_name=None,
            cann_version=None,
            level=level,  # type: ignore[arg-type]  # one of these
            environment={},
            results=results,
            exit_status=exit_status,
        )

    @property
    def moment(self) -> datetime | None:
        """The moment of the start; None for a text that is no moment."""
        try:
            found = datetime.fromisoformat(self.started.replace("Z", "+00:00"))
        except ValueError:
            return None
        return found if found.tzinfo is not None else None

    def to_text(self) -> str:
        """Return the report as JSON text."""
        return "".join(json_lines(asdict(self).items()))

    @classmethod
    def from_text(cls, text: str) -> Report:
        """Read the text that `to_text` returned.

        Raises:
            ValueError: The schema is of another version, or a key is missing, unknown, or has a
                value that it cannot have.
        """
        return read(cls, text)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types; a figure that does not exist is None."""
        data: dict[str, Any] = json.loads(json_text(self))
        return data

    @classmethod
    def from_json(cls, data: Any) -> Report:
        """Read what `to_json` returned; raises as `from_text` does."""
        return read(cls, data)


def host_name(report: Report) -> str:
    """Return the name of the machine that a report is about."""
    return str(report.host.get("name") or "unnamed")
