# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU: its libraries and headers, its reports, its faults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.cann.simulator import environment, ldflags, libdir
    from pyaclnn.mock.control.build_files import cmakedir, pkgconfigdir
    from pyaclnn.mock.control.home import build_home
    from pyaclnn.mock.control.include_folder import cflags, includedir
    from pyaclnn.mock.control.injection import Fault, faults, injected, mode, set_faults, set_mode
    from pyaclnn.mock.control.missing_symbols import without
    from pyaclnn.mock.control.report import (
        Living,
        Violation,
        alive,
        calls,
        clear_violations,
        reset_calls,
        violations,
    )
    from pyaclnn.reference.kernels.kernel import operator

__all__ = [
    "Fault",
    "Living",
    "Violation",
    "alive",
    "build_home",
    "calls",
    "cflags",
    "clear_violations",
    "cmakedir",
    "environment",
    "faults",
    "includedir",
    "injected",
    "ldflags",
    "libdir",
    "mode",
    "operator",
    "pkgconfigdir",
    "reset_calls",
    "set_faults",
    "set_mode",
    "violations",
    "without",
]

# The modules that have public names.
_HOMES = (
    ".cann.simulator",
    "control.include_folder",
    "control.build_files",
    "control.report",
    "control.injection",
    "control.missing_symbols",
    "control.home",
    ".reference.kernels.kernel",
)

# The device process, which starts with every device, needs none of them.
if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
