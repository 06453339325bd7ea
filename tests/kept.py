# SPDX-License-Identifier: Apache-2.0
"""Folders for what tests build, kept for the runs to come as long as it would be built the same."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

__all__ = ["Keep", "keeper"]

_UNUSED = 3 * 24 * 3600.0
"""Seconds without a run that wanted it, after which a folder goes."""


class Keep(Protocol):
    """Gives a folder for what is built of something."""

    def __call__(self, name: str, *origin: str | bytes) -> Path:
        """Give the same folder for the same origin.

        Args:
            name: What is built.
            origin: All that what is built follows from, and that its builder does not look at.
        """


def keeper(config: pytest.Config, factory: pytest.TempPathFactory) -> Keep:
    """Keep folders in pytest's cache; without one, for all workers of this run.

    Args:
        config: Knows the cache.
        factory: Where the folders of this run come from.
    """
    cache = getattr(config, "cache", None)
    if cache is not None:
        return partial(_kept, cast("Path", cache.mkdir("built")))
    base = factory.getbasetemp()
    # The workers of one run have folders of their own in one folder.
    return partial(_kept, base.parent if "PYTEST_XDIST_WORKER" in os.environ else base)


def _kept(base: Path, name: str, *origin: str | bytes) -> Path:
    digest = hashlib.sha256()
    for part in origin:
        digest.update(hashlib.sha256(part if isinstance(part, bytes) else part.encode()).digest())
    folder = base / f"{name}-{digest.hexdigest()[:16]}"
    folder.mkdir(mode=0o700, exist_ok=True)
    os.utime(folder)
    for other in base.glob(f"{name}-*"):
        if time.time() - other.stat().st_mtime > _UNUSED:
            shutil.rmtree(other, ignore_errors=True)
    return folder
