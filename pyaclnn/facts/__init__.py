# SPDX-License-Identifier: Apache-2.0
"""Facts about CANN, each stated once: chips, releases, operators, variables, codes, accuracy."""

from __future__ import annotations

__all__: list[str] = []
