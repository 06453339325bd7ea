# SPDX-License-Identifier: Apache-2.0
"""The child's first and last steps: load, initialise, count; and the end."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.cann.gate import OUT, fetch, text
from pyaclnn.cann.library import backend
from pyaclnn.health.checks.finding import Finding, fail, ok, value
from pyaclnn.health.report.record import Evidence
from pyaclnn.runtime.initialization import ensure_runtime

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.health.child.session import Session

__all__ = ["STEPS"]


def _loads(session: Session) -> Finding:
    session.load()
    info = backend()
    refusals = {path: _refusal(path) for path in info.files["operators"]}
    broken = [Evidence("path", str(path), text) for path, text in refusals.items() if text]
    if broken:
        return fail(
            f"{Path(broken[0].label).name} cannot be loaded: {broken[0].text}",
            *broken,
            causes=(
                "a library that it needs lacks a function: libraries of two versions are mixed",
                "LD_LIBRARY_PATH lacks a folder of CANN or of the driver",
            ),
            next_step="source the set_env.sh of CANN in a new shell",
        )
    files = [Evidence("path", group, str(paths[0])) for group, paths in info.files.items()]
    return ok(f"loaded from {info.directory}", *files)


def _refusal(path: Path) -> str | None:
    """Load a library that would otherwise be loaded when its first function is called."""
    try:
        ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_GLOBAL)
    except OSError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


def _initialises(session: Session) -> Finding:
    session.load()
    ensure_runtime()
    soc_name = text("aclrtGetSocName")
    session.facts["soc_name"] = soc_name
    if not soc_name:
        return fail(
            "the runtime initialises, but cannot tell the name of the chip",
            Evidence("function", "aclrtGetSocName", "returned NULL"),
            causes=("the driver cannot be reached", "this user may not open the devices"),
            next_step="npu-smi info",
        )
    return ok(f"aclInit succeeds; the chip is {soc_name}", value("aclrtGetSocName", soc_name))


def _counts(session: Session) -> Finding:
    session.load()
    ensure_runtime()
    count = int(fetch("aclrtGetDeviceCount", OUT))
    session.facts["devices"] = count
    expected = session.task.expected_devices
    seen = (value("aclrtGetDeviceCount", count), value("expected", expected))
    if count == 0:
        return fail(
            "there is no device to use: aclrtGetDeviceCount says 0",
            *seen,
            causes=(
                "the device nodes are not visible to this process",
                "ASCEND_RT_VISIBLE_DEVICES leaves none",
            ),
            next_step="ls -l /dev/davinci* ; echo $ASCEND_RT_VISIBLE_DEVICES",
            absent=True,
        )
    if expected is not None and count < expected:
        return fail(
            f"CANN counts {count} devices; by the device nodes and ASCEND_RT_VISIBLE_DEVICES, or "
            f"by --expect-devices, there should be {expected}",
            *seen,
            causes=(
                "one of the devices is held by another container or is not healthy",
                "ASCEND_RT_VISIBLE_DEVICES has an entry that CANN does not accept",
            ),
            next_step="npu-smi info",
        )
    return ok(f"{count} device{'s' * (count != 1)} can be used", *seen)


STEPS: Final[dict[str, Callable[[Session], Finding | None]]] = {
    "DEV-101": _loads,
    "DEV-102": _initialises,
    "DEV-103": _counts,
}
"""The function of each check."""
