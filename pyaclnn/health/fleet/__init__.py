# SPDX-License-Identifier: Apache-2.0
"""Every NPU of a Ray cluster: examined, or put to work on parts of one batch.

Needs the extra ``pyaclnn[ray]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.base.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.health.fleet.batch import ShardedBatchNorm, sync_batch_norm
    from pyaclnn.health.fleet.batch_gradients import sync_batch_norm_backward
    from pyaclnn.health.fleet.examination import NoNpuError, examine
    from pyaclnn.health.fleet.gradients import ShardedGradients, layer_norm_backward, rms_norm_grad
    from pyaclnn.health.fleet.npu import FleetError
    from pyaclnn.health.fleet.shards import ShardLostError
    from pyaclnn.health.fleet.survey import Stopped

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

_HOMES = ("npu", "survey", "examination", "shards", "gradients", "batch", "batch_gradients")

if not TYPE_CHECKING:  # so that what is misspelt is no name to a type checker
    __getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
