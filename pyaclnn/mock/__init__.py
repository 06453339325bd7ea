# SPDX-License-Identifier: Apache-2.0
"""The simulated NPU: where its libraries and headers are, and its device process."""

from __future__ import annotations

from .paths import cflags, environment, includedir, ldflags, libdir

__all__ = ["cflags", "environment", "includedir", "ldflags", "libdir"]
