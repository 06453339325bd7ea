# SPDX-License-Identifier: Apache-2.0
"""The operators that are called most, in pieces and on all processors; same results, sooner."""

from __future__ import annotations

__all__: list[str] = []
