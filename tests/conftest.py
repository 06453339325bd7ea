# SPDX-License-Identifier: Apache-2.0
"""What holds for the whole suite."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def _neutral_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run everything in an empty folder.

    Python puts the current folder first on its path when it runs ``-c`` or ``-m``. In the root of
    the project that would be the sources, in place of the package that was installed.
    """
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("neutral"))
    yield
    os.chdir(before)
