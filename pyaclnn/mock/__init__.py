# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU: where its libraries and headers are, what it has noticed, its faults."""

from __future__ import annotations

from .paths import cflags, environment, includedir, ldflags, libdir
from .report import Living, Violation, alive, calls, clear_violations, reset_calls, violations
from .steering import faults, mode, set_faults, set_mode
from .without import without

__all__ = [
    "Living",
    "Violation",
    "alive",
    "calls",
    "cflags",
    "clear_violations",
    "environment",
    "faults",
    "includedir",
    "ldflags",
    "libdir",
    "mode",
    "reset_calls",
    "set_faults",
    "set_mode",
    "violations",
    "without",
]
