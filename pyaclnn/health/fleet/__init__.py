# SPDX-License-Identifier: Apache-2.0
"""Every NPU of a Ray cluster: examined, or put to work on parts of one batch.

Needs the extra ``pyaclnn[ray]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.health.fleet.batches import (
        ShardedBatchNorm,
        ShardedGradients,
        layer_norm_backward,
        rms_norm_grad,
        sync_batch_norm,
        sync_batch_norm_backward,
    )
    from pyaclnn.health.fleet.examination import NoNpuError, examine
    from pyaclnn.health.fleet.shards import ShardLostError
    from pyaclnn.health.fleet.survey import FleetError, Stopped

__all__ = [
    "FleetError",
    "NoNpuError",
    "ShardLostError",
    "ShardedBatchNorm",
    "ShardedGradients",
    "Stopped",
    "examine",
    "layer_norm_backward",
    "rms_norm_grad",
    "sync_batch_norm",
    "sync_batch_norm_backward",
]

_HOMES = ("survey", "examination", "shards", "batches")

if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
