# SPDX-License-Identifier: Apache-2.0
"""The operators of the simulated NPU by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.mock.operators.layer_norm import LAYER_NORM, LAYER_NORM_WITH_IMPL_MODE
from pyaclnn.mock.operators.layer_norm_backward import LAYER_NORM_BACKWARD
from pyaclnn.mock.operators.rms_norm import RMS_NORM
from pyaclnn.mock.operators.rms_norm_grad import RMS_NORM_GRAD

if TYPE_CHECKING:
    from pyaclnn.mock.operators.operator import Operator

__all__ = ["OPERATORS"]

OPERATORS: dict[str, Operator[Any]] = {
    operator.name: operator
    for operator in (
        LAYER_NORM,
        LAYER_NORM_WITH_IMPL_MODE,
        LAYER_NORM_BACKWARD,
        RMS_NORM,
        RMS_NORM_GRAD,
    )
}
