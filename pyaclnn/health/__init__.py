# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of CANN installations: doctor, smoke test, fleet, inventory of what is installed."""

from __future__ import annotations

__all__: list[str] = []
