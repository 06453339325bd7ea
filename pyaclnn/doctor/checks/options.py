# SPDX-License-Identifier: Apache-2.0
"""What a run of the doctor is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Level", "Options"]


class Level(IntEnum):
    """How far a run goes; each level includes the ones before it."""

    QUICK = 0
    MEDIUM = 1
    LONG = 2


@dataclass(frozen=True)
class Options:
    """What to do.

    Attributes:
        level: How far to go.
        backend: ``cann``, ``mock`` or a folder; None for PYACLNN_BACKEND, then ``cann``.
        devices: The devices to examine, as the process numbers them; None for every visible one.
        only: Ids or families to run, with what they build on; empty for all of the level.
        skip: Ids or families to leave out.
        fail_on_warn: Whether a warning makes the run fail.
        soak: For how many seconds the operators are repeated at the end; 0 for not at all.
        soak_threads: How many threads of each process do that.
        soak_processes: How many processes.
        soak_faults: What goes wrong meanwhile, as `pyaclnn.mock.GRAMMAR` says; on the simulated NPU
            only.
        deadline: No step in a child but the soak may take longer; None for each step's own.
        grace: How long a child may take to end after each signal.
    """

    level: Level = Level.MEDIUM
    backend: str | None = None
    devices: tuple[int, ...] | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    fail_on_warn: bool = False
    soak: float = 0.0
    soak_threads: int = 4
    soak_processes: int = 1
    soak_faults: str = ""
    deadline: float | None = None
    grace: float = 3.0
