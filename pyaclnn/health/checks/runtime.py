# SPDX-License-Identifier: Apache-2.0
"""What a first child process tries: load the libraries, initialise, count. Opens no device."""

from __future__ import annotations

import functools
from typing import Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.options import Level

__all__ = ["CHECKS"]

_check = functools.partial(Check, category="runtime", group="host", level=Level.MEDIUM)
CHECKS: Final = (
    _check(
        "DEV-101",
        "loading of the libraries",
        "Loads the libraries in a process of their own, as a program would.",
        needs=("MOCK-001", "HW-001", "HW-002", "HW-003", "LIB-001", "LIB-002", "LIB-003"),
    ),
    _check(
        "DEV-102",
        "initialisation of the runtime",
        "Calls aclInit and asks for the chip's name. This is where a driver that cannot be reached "
        "shows: 507008 or 500000.",
        needs=("DEV-101",),
        seconds=60,
    ),
    _check(
        "DEV-103",
        "count of the devices",
        "Calls aclrtGetDeviceCount and compares the answer with ASCEND_RT_VISIBLE_DEVICES and the "
        "device nodes. 507899 stands for a node that cannot be opened, 207004 for no device.",
        needs=("DEV-102",),
    ),
)
