# SPDX-License-Identifier: Apache-2.0
"""What a cluster consists of, and how the examination of an NPU ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.health.report.record import Report, Status

__all__ = ["Ended", "FleetError", "Node"]


class FleetError(RuntimeError):
    """There is no cluster to work on; the message says why, and what to do."""


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, as its engine knows it.

    Attributes:
        id: What the engine calls it.
        name: What people call it.
        npus: How many NPUs it has.
        free: How many of them nobody used at first.
    """

    id: str
    name: str
    npus: int
    free: int


@dataclass(frozen=True)
class Ended:
    """How the examination of one NPU ended.

    Attributes:
        node: Where.
        npu: The physical id of the NPU; None if none was to be had.
        status: ``PASS`` with a report; ``TIMEOUT``, ``CRASH`` or ``FAIL`` for what is broken, and
            ``ERROR`` for what could not be found out.
        reason: What happened, in a sentence, if there is no report.
        report: What was found.
        seconds: How long it took.
    """

    node: Node
    npu: str | None
    status: Status
    reason: str = ""
    report: Report | None = None
    seconds: float = 0.0
