# SPDX-License-Identifier: Apache-2.0
"""This room runs the product in processes of its own, and leaves nothing behind either."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@pytest.fixture(autouse=True)
def _nothing_is_left(leak_check: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    with leak_check():
        yield
