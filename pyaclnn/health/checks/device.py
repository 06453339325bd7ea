# SPDX-License-Identifier: Apache-2.0
"""What a child process tries on each device: open it, and use all that is not an operator."""

from __future__ import annotations

import functools
from typing import Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.options import Level

__all__ = ["CHECKS", "THE_END"]

THE_END: Final = "DEV-111"
"""The check of a child's own end, which the parent sees from outside."""


_check = functools.partial(
    Check, category="device", group="device", level=Level.MEDIUM, seconds=20.0
)
CHECKS: Final = (
    _check(
        "DEV-104",
        "opening of the device",
        "Calls aclrtSetDevice, the first call that needs the NPU itself; it may take several "
        "seconds. 507033 says that the device could not be started.",
        needs=("DEV-103",),
        seconds=90.0,
    ),
    _check(
        "DEV-105",
        "contexts",
        "Creates a context, makes it current, and destroys it; the one of the device comes back.",
        needs=("DEV-104",),
    ),
    _check(
        "DEV-106",
        "streams",
        "Creates, queries, waits for and destroys streams.",
        needs=("DEV-104",),
    ),
    _check(
        "DEV-107",
        "memory",
        "Writes patterns to device memory and reads them back, in several sizes and at odd "
        "offsets, and looks whether the bytes before and behind stay as they were.",
        needs=("DEV-104",),
        seconds=60.0,
    ),
    _check(
        "DEV-108",
        "events",
        "Records two events on a stream, waits for them, lets a second stream wait, and takes the "
        "time between them.",
        needs=("DEV-106", "DEV-107"),
    ),
    _check(
        "DEV-109",
        "asynchronous copies",
        "Copies pinned memory to the device and back on a stream, and fills memory on a stream.",
        needs=("DEV-106", "DEV-107"),
    ),
    _check(
        "DEV-110",
        "host callbacks",
        "Lets a stream call back into this process between two pieces of work.",
        needs=("DEV-106",),
    ),
    _check(
        "DEV-111",
        "end of the process",
        "Gives everything back and ends the process. Hanging or crashing here, after the work is "
        "done, is how mistakes in the order of shutting down show.",
        needs=("DEV-104",),
    ),
)
