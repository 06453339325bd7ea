# SPDX-License-Identifier: Apache-2.0
"""Making foreign texts harmless: logs may hold anything, and a terminal obeys escape sequences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.doctor.report.record import Report

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["cleaned", "each_text"]

# Control characters but tab and newline, lone surrogates, and what XML 1.0 cannot contain.
_HARMFUL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ESCAPES: Final = re.compile("\x1b\\[[0-9;?]*[ -/]*[@-~]")


def cleaned(report: Report) -> Report:
    """Return the report with texts that can be shown anywhere.

    Escape sequences go; other control characters become U+FFFD.

    Args:
        report: The report of one machine.
    """
    return Report.from_json(
        each_text(report.to_json(), lambda text: _HARMFUL.sub("\ufffd", _ESCAPES.sub("", text)))
    )


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return plain data with every text changed, those that are keys included.

    Args:
        value: JSON's own types.
        change: What is done to a text.
    """
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(key): each_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [each_text(item, change) for item in value]
    return value
