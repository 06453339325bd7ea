# SPDX-License-Identifier: Apache-2.0
"""Trace that several files read, and the end of the process that runs their commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .captured import PROGRAM, capture
from .command_server import end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session", autouse=True)
def _end_of_the_commands() -> Iterator[None]:
    yield
    end()


@pytest.fixture(scope="session")
def trace(_end_of_the_commands: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the trace of `PROGRAM`, with all contents."""
    return capture(tmp_path_factory.mktemp("trace") / "run.trace", PROGRAM, "--contents", "full")
