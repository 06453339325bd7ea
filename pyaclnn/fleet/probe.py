# SPDX-License-Identifier: Apache-2.0
"""What runs in a process on an NPU of the cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyaclnn.doctor.checks.options import Level, Options
from pyaclnn.doctor.command.run import run

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Probe", "Wanted"]


@dataclass(frozen=True)
class Wanted:
    """What is to be examined.

    Attributes:
        level: ``quick``, ``medium`` or ``long``.
        backend: As for the doctor.
        only: Ids or families of checks to run.
        skip: Ids or families to leave out.
        fail_on_warn: Whether a warning counts as a failure.
        deadline: No step may take longer.
        environment: Variables for the process.
    """

    level: str = "medium"
    backend: str | None = None
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    fail_on_warn: bool = False
    deadline: float | None = None
    environment: tuple[tuple[str, str], ...] = ()


class Probe:
    """A process that holds one NPU, which it sees as device 0; a crash is its own."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin, with more variables than the node has."""
        os.environ.update(environment)

    def holds(self) -> list[str]:
        """Return the physical ids of the NPUs that the process was given."""
        import ray  # noqa: PLC0415  # an extra

        return [str(one) for one in ray.get_runtime_context().get_accelerator_ids()["NPU"]]

    def examine(self, wanted: Wanted) -> str:
        """Examine the NPU as ``pyaclnn doctor`` does, and return the report as JSON text.

        Args:
            wanted: What is to be examined.
        """
        options = Options(
            level=Level[wanted.level.upper()],
            backend=wanted.backend,
            devices=(0,),
            only=wanted.only,
            skip=wanted.skip,
            fail_on_warn=wanted.fail_on_warn,
            deadline=wanted.deadline,
        )
        return run(options).to_text()
