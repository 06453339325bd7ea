# SPDX-License-Identifier: Apache-2.0
"""Programs of their own for every test: what one breaks is not another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mock_libs.programs import Programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.kept import Keep


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory, keep: Keep) -> Programs:
    """Builds and runs programs in processes of their own."""
    return Programs(tmp_path_factory.mktemp("contract"), keep)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A file for PYACLNN_MOCK_REPORT."""
    return tmp_path / "report.jsonl"
