# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster, and the end of the examination of an NPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.health.report.record import Report, Status

__all__ = ["Ended", "FleetError", "Node"]


class FleetError(RuntimeError):
    """No cluster is available; the message has the reason and the next step."""


@dataclass(frozen=True)
class Node:
    """A machine of a cluster, as its engine knows it.

    Attributes:
        id: The engine's id.
        name: The name for people.
        npus: Number of NPUs.
        free: Number of NPUs that were unused at first.
    """

    id: str
    name: str
    npus: int
    free: int


@dataclass(frozen=True)
class Ended:
    """End of the examination of one NPU.

    Attributes:
        node: The node.
        npu: The physical id of the NPU; None if none was to be had.
        status: ``PASS`` with a report; ``TIMEOUT``, ``CRASH`` or ``FAIL`` for what is broken, and
            ``ERROR`` for no conclusion.
        reason: The reason, in a sentence, if there is no report.
        report: The report.
        seconds: Duration.
    """

    node: Node
    npu: str | None
    status: Status
    reason: str = ""
    report: Report | None = None
    seconds: float = 0.0
