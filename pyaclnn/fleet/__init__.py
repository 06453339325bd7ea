# SPDX-License-Identifier: Apache-2.0
"""Every NPU of a Ray cluster: examined, or put to work on parts of one batch.

Needs the extra ``pyaclnn[ray]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.lazy import public_names

if TYPE_CHECKING:
    from pyaclnn.fleet.examination import NoNpuError, examine
    from pyaclnn.fleet.gradients import (
        ShardedGradients,
        layer_norm_backward,
        rms_norm_grad,
    )
    from pyaclnn.fleet.npu import FleetError
    from pyaclnn.fleet.shards import ShardLostError
    from pyaclnn.fleet.survey import Stopped

__all__ = [
    "FleetError",
    "NoNpuError",
    "ShardLostError",
    "ShardedGradients",
    "Stopped",
    "examine",
    "layer_norm_backward",
    "rms_norm_grad",
]

_HOMES = ("npu", "survey", "examination", "shards", "gradients")

__getattr__, __dir__ = public_names(__name__, __all__, _HOMES)
