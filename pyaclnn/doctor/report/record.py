# SPDX-License-Identifier: Apache-2.0
"""What the doctor found, as plain data that goes to JSON and comes back unchanged.

A `Report` holds one `CheckResult` for each check; results of numeric checks carry a `Number` for
each output that was compared. Nothing here knows how a finding was made or how it is shown.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMA", "CheckResult", "Evidence", "Number", "Report", "Status"]

SCHEMA: Final = 1
"""The version of the JSON layout."""

EVIDENCE_KINDS: Final = ("function", "path", "log", "value", "traceback", "command")


class Status(str, Enum):
    """What became of a check.

    PASS, WARN and FAIL are findings about the machine. SKIP: does not apply, or was not asked for.
    TIMEOUT: a step exceeded its deadline. CRASH: the vendor's code ended the process. ERROR: the
    doctor itself could not tell. NOT_RUN: something that the check builds on did not pass.
    """

    PASS = "PASS"  # noqa: S105  # a status, not a password
    WARN = "WARN"
    FAIL = "FAIL"
    SKIP = "SKIP"
    TIMEOUT = "TIMEOUT"
    CRASH = "CRASH"
    ERROR = "ERROR"
    NOT_RUN = "NOT_RUN"

    @property
    def broken(self) -> bool:
        """Whether this status says that the machine does not work."""
        return self in {Status.FAIL, Status.TIMEOUT, Status.CRASH}

    @property
    def passed(self) -> bool:
        """Whether a check that builds on this one may run."""
        return self in {Status.PASS, Status.WARN}


@dataclass(frozen=True)
class Evidence:
    """One observation behind a result.

    Attributes:
        kind: ``function``, ``path``, ``log``, ``value``, ``traceback`` or ``command``.
        label: What it is, e.g. the function's or the variable's name.
        text: What was seen, possibly several lines.
    """

    kind: str
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
            the last of them infinite. Tolerance is ``atol + rtol * |golden|``.
        verdict: The comparison in one line.
    """

    operator: str
    output: str
    dtype: str
    shape: tuple[int, ...]
    passed: bool
    max_abs_error: float
    limit: float
    matched_ratio: float
    seconds: float
    error_histogram: tuple[tuple[float, int], ...]
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
    """

    id: str
    title: str
    category: str
    status: Status
    seconds: float
    summary: str
    evidence: tuple[Evidence, ...] = ()
    causes: tuple[str, ...] = ()
    next_step: str | None = None
    code: int | None = None
    code_name: str | None = None
    numbers: tuple[Number, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON's own types."""
        plain: dict[str, Any] = _plain(self)
        return plain

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CheckResult:
        """Read what `to_json` returned.

        Raises:
            ValueError: A key is missing, unknown, or has a value that it cannot have.
        """
        known = _keys(cls, data)
        known["status"] = Status(known["status"])
        known["evidence"] = tuple(Evidence(**_keys(Evidence, e)) for e in known["evidence"])
        known["causes"] = tuple(known["causes"])
        known["numbers"] = tuple(_number(number) for number in known["numbers"])
        return cls(**known)


@dataclass(frozen=True)
class Report:
    """One run of the doctor on one machine.

    Attributes:
        version: The version of pyaclnn.
        started: When, in UTC, as ISO 8601.
        seconds: How long it took.
        host: ``name``, ``os``, ``kernel``, ``machine``, ``python``, ``cpu_count``,
            ``in_container``.
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
    started: str
    seconds: float
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
    schema: int = field(default=SCHEMA)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON's own types; a figure that does not exist is None."""
        return {"schema": self.schema, **_plain(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """Read what `to_json` returned.

        Raises:
            ValueError: The schema is another one, or a key is missing, unknown, or has a value that
                it cannot have.
        """
        if data.get("schema") != SCHEMA:
            raise ValueError(f"schema is {data.get('schema')!r}; this version reads {SCHEMA}")
        known = _keys(cls, data)
        known["results"] = tuple(CheckResult.from_json(result) for result in known["results"])
        known["host"], known["environment"] = dict(known["host"]), dict(known["environment"])
        return cls(**known)

    def to_text(self) -> str:
        """Return the report as JSON text."""
        return json.dumps(self.to_json(), indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Report:
        """Read what `to_text` returned; raises what `from_json` does."""
        data = json.loads(text)
        if not isinstance(data, dict):
            raise ValueError(f"a report is a JSON object; this is a {type(data).__name__}")  # noqa: TRY004  # one kind of error for everything that is not a report
        return cls.from_json(data)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "__dataclass_fields__"):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        # JSON has neither infinities nor NaN. A histogram's last edge and a figure that does not
        # exist become null; the reader knows from the place which of the two it was.
        return None
    return value


def _keys(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise ValueError(f"a {kind.__name__} is a JSON object; this is a {type(data).__name__}")  # noqa: TRY004  # as in from_text
    names = {item.name for item in fields(kind)}
    unknown, missing = sorted(set(data) - names), sorted(names - set(data))
    if unknown:
        raise ValueError(f"{kind.__name__} has unknown keys: {', '.join(unknown)}")
    if missing:
        raise ValueError(f"{kind.__name__} lacks the keys: {', '.join(missing)}")
    return dict(data)


def _number(data: Mapping[str, Any]) -> Number:
    known = _keys(Number, data)
    known["shape"] = tuple(known["shape"])
    for name in ("max_abs_error", "limit", "matched_ratio", "seconds"):
        known[name] = math.nan if known[name] is None else float(known[name])
    known["error_histogram"] = tuple(
        (math.inf if edge is None else float(edge), int(count))
        for edge, count in known["error_histogram"]
    )
    return Number(**known)
