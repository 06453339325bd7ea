# SPDX-License-Identifier: Apache-2.0
"""Where children wait for each other, so that they begin something at the same moment."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

__all__ = ["meet"]

_PATIENCE: Final = 30.0
_POLL: Final = 0.002


def meet(place: str, name: object, count: int, patience: float = _PATIENCE) -> int:
    """Wait until all are there.

    Args:
        place: A folder that all of them know.
        name: Who comes.
        count: How many are to come.
        patience: Seconds after which those who are there begin without the others.

    Returns:
        How many are there.
    """
    folder, until = Path(place), time.monotonic() + patience
    (folder / str(name)).touch()
    while (there := len(list(folder.iterdir()))) < count and time.monotonic() < until:
        time.sleep(_POLL)
    return there
