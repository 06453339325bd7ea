# SPDX-License-Identifier: Apache-2.0
"""Doctor: examination of this machine's CANN, with one next step for every problem.

The process that runs the checks never loads a vendor library; children that may hang or crash load
them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.figures import Baseline, read_baseline
    from pyaclnn.health.report.record import (
        CheckResult,
        Evidence,
        Figure,
        Number,
        Report,
        Severity,
        Status,
    )

__all__ = [
    "Baseline",
    "CheckResult",
    "Evidence",
    "Figure",
    "Number",
    "Report",
    "Severity",
    "Status",
    "examine",
    "read_baseline",
]

_HOMES = (".report.record", ".report.figures")

if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)


def examine(
    level: str = "medium",
    *,
    backend: str | None = None,
    devices: Sequence[int] | None = None,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    soak: float = 0.0,
    soak_threads: int = 4,
    soak_processes: int = 1,
    soak_faults: str = "",
    figure_bytes: int = 64 << 20,
    figure_seconds: float = 0.5,
    memory_share: float | None = None,
    memory_seconds: float = 300.0,
    expect: Baseline | None = None,
    fail_early: bool = False,
    expect_devices: int | None = None,
) -> Report:
    """Examine this machine as ``pyaclnn doctor`` does, and return what that writes with ``--json``.

    Child processes touch the devices; this one loads no library of CANN.

    Args:
        level: ``quick``, ``medium`` or ``long``.
        backend: ``cann``, ``mock`` or a folder of libraries; by default PYACLNN_BACKEND, then an
            installed CANN.
        devices: The ids of the devices to examine; all if None.
        only: Ids or families of checks to run, such as ``ENV`` or ``DEV-104``; all of the level if
            empty. ``pyaclnn doctor --list-checks`` has them.
        skip: Ids or families to leave out.
        soak: Seconds to repeat the operators for at the end.
        soak_threads: Number of threads of each process that do that.
        soak_processes: Number of processes.
        soak_faults: Faults that are injected meanwhile, in `pyaclnn.mock.GRAMMAR`; on the simulated
            NPU only.
        figure_bytes: Number of bytes of one measured copy.
        figure_seconds: For how long each figure is measured.
        memory_share: Share of the free memory that is tested with patterns; most of it if None, and
            four times ``figure_bytes`` of a simulated one.
        memory_seconds: After how long no further pattern is begun.
        expect: The expected figures: ``Baseline.of`` a report of a healthy machine, or the
            result of ``read_baseline``.
        fail_early: True if nothing more is begun once something is broken.
        expect_devices: Number of devices that are expected; if None, that of visible device nodes.

    Returns:
        The report; ``pyaclnn doctor merge`` reads its ``to_text``.

    Raises:
        ValueError: There is no such level or check, or nothing is left to check.
        KeyboardInterrupt: Ctrl-C was pressed; its ``report`` has what was found until then.
    """
    from pyaclnn.health.checks.context import Level, Options  # noqa: PLC0415
    from pyaclnn.health.command.run import run  # noqa: PLC0415

    levels = [member.name.lower() for member in Level]
    if level not in levels:
        raise ValueError(f"level is {level!r}; it must be one of {', '.join(levels)}")
    return run(
        Options(
            level=Level[level.upper()],
            backend=backend,
            devices=None if devices is None else tuple(devices),
            only=tuple(only),
            skip=tuple(skip),
            soak=soak,
            soak_threads=soak_threads,
            soak_processes=soak_processes,
            soak_faults=soak_faults,
            figure_bytes=figure_bytes,
            figure_seconds=figure_seconds,
            memory_share=memory_share,
            memory_seconds=memory_seconds,
            expected=expect,
            fail_early=fail_early,
            expected_devices=expect_devices,
        )
    )
