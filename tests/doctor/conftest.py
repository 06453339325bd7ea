# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the doctor's tests: libraries for installations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from . import parts as kit_parts

if TYPE_CHECKING:
    from .parts import Parts


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Return the vendor's libraries, compiled once."""
    return kit_parts.build(tmp_path_factory.mktemp("parts"))
