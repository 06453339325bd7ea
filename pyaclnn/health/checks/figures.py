# SPDX-License-Identifier: Apache-2.0
"""How fast a device is, and whether its memory keeps what is written: what takes minutes.

Figures are measured on one device after the other, so that they say something of each.
"""

from __future__ import annotations

import functools
from typing import Final

from pyaclnn.health.checks.check import Check
from pyaclnn.health.checks.options import Level

__all__ = ["BESIDE_OTHERS", "CHECKS", "COMPARED", "EXPECTED", "IN_TURN", "TOGETHER"]

IN_TURN: Final = "figures"
"""The group of checks that are run on one device after the other."""
TOGETHER: Final = "together"
"""The group of checks that all devices begin at the same moment."""
COMPARED: Final = "compared"
"""The group of checks that compare what the others measured."""
BESIDE_OTHERS: Final = "FIG-201"
"""The check that compares the figures of the devices."""
EXPECTED: Final = "FIG-202"
"""The check that compares figures with what is expected."""


_check = functools.partial(
    Check,
    category="figures",
    group=IN_TURN,
    needs=("DEV-106", "DEV-107"),
    level=Level.LONG,
    seconds=180.0,
)
CHECKS: Final = (
    _check(
        "FIG-101",
        "bandwidth between host and device",
        "Copies pinned and pageable memory to the device and back, and looks whether what came "
        "back is what went. The best of many copies counts: whatever disturbs one makes it slower.",
    ),
    _check(
        "FIG-102",
        "bandwidth within the device",
        "Copies from one place of the device's memory to another.",
    ),
    _check(
        "FIG-103",
        "bandwidth to other devices",
        "Copies to each of the other devices that are examined, and looks whether it has arrived.",
    ),
    _check(
        "FIG-104",
        "copies beside computing",
        "Copies on one stream while a second one computes: 1 means that the shorter of the two "
        "costs no time at all, 0 that one waits for the other.",
    ),
    _check(
        "FIG-105",
        "launches",
        "How many small operators can be launched in a second: one by one, as a prepared plan, and "
        "on four streams in turn. The last results must be right.",
    ),
    _check(
        "FIG-106",
        "heat, memory errors and frequency",
        "Asks npu-smi for temperature, for errors of memory that were corrected or could not be, "
        "and for the frequency of the cores. What it does not tell is named as not read.",
        needs=("DEV-104",),
    ),
    _check(
        "FIG-107",
        "all devices side by side",
        "Copies to every device at the same time: what the devices share shows in this figure.",
        group=TOGETHER,
    ),
    _check(
        "MEM-101",
        "patterns in memory",
        "Writes patterns to most of the free memory, all of it before any of it is read: the "
        "address of each word, its inverse, random words, a single one that walks through the "
        "bits. Each error is told with its address and bit, and whether it is there when read "
        "once more.",
        group="memory",
        needs=("DEV-104",),
        seconds=900.0,
    ),
    _check(
        "FIG-201",
        "figures of the devices compared",
        "Holds each figure against the median of all devices of this machine. One is an outlier if "
        "it is worse by more than 15 % and by more than 3.5 times the usual deviation (MAD).",
        group=COMPARED,
        needs=(),
    ),
    _check(
        "FIG-202",
        "figures against the expected ones",
        "Holds each figure against the file given with --expect, which --save-baseline wrote on a "
        "machine that is as it should be.",
        group=COMPARED,
        needs=(),
    ),
)
