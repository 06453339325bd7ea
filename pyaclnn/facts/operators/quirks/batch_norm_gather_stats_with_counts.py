# SPDX-License-Identifier: Apache-2.0
"""What aclnnBatchNormGatherStatsWithCounts does beyond any rule.

CANN: ops-nn norm/sync_batch_norm_gather_stats_with_counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["unwritten"]


def unwritten(request: Request) -> tuple[str, ...]:
    """Without a running mean, the running variance is not given back either."""
    return ("running_var",) if request.tensors["running_mean"] is None else ()
