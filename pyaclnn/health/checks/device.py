# SPDX-License-Identifier: Apache-2.0
"""Id of the check of a child's own end."""

from __future__ import annotations

from typing import Final

__all__ = ["THE_END"]

THE_END: Final = "DEV-111"
"""The check of a child's own end, which the parent observes from outside."""
