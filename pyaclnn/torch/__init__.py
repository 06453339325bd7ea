# SPDX-License-Identifier: Apache-2.0
"""Differentiable norms for PyTorch on an NPU, on PyTorch's current stream and without copies.

They need PyTorch and torch-npu (``pip install 'pyaclnn[torch]'``), which are imported when a
function is called. Names and results are those of ``torch.nn.functional``.
"""

from __future__ import annotations

from typing import Any

from pyaclnn.base.lazy import no_attribute
from pyaclnn.torch import modules
from pyaclnn.torch.functions import add_rms_norm, group_norm, layer_norm, rms_norm

__all__ = ["add_rms_norm", "group_norm", "layer_norm", "rms_norm"]


def __getattr__(name: str) -> Any:
    if name not in modules.NAMES:
        raise no_attribute(__name__, name, (*__all__, *modules.NAMES))
    return getattr(modules, name)
