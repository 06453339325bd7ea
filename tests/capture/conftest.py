# SPDX-License-Identifier: Apache-2.0
"""Trace that several files read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .captured import PROGRAM, capture

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of `PROGRAM`, with all contents."""
    return capture(tmp_path_factory.mktemp("trace") / "run.trace", PROGRAM, "--contents", "full")
