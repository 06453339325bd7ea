# SPDX-License-Identifier: Apache-2.0
"""What aclnnForeachNorm does beyond any rule (CANN: ops-nn foreach/foreach_norm)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["takes_empty"]


def takes_empty(_request: Request) -> bool:
    """The norm of no elements is 0."""
    return True
