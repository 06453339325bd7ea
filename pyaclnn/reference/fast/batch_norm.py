# SPDX-License-Identifier: Apache-2.0
"""BatchNorm in blocks of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.batch_norm import batch_norm as plain_batch_norm
from pyaclnn.reference.fast.blocks import Cut, in_blocks

__all__ = ["batch_norm"]


def channels(arguments: dict[str, Any]) -> Cut | None:
    tensor = np.asarray(arguments["input"])
    if tensor.ndim < 2:  # noqa: PLR2004
        return None
    count = tensor.shape[1]
    parameters = {
        name: np.asarray(value) for name, value in arguments.items() if np.shape(value) == (count,)
    }
    return Cut(parameters | {"input": tensor}, 1, count, ())


batch_norm = in_blocks(channels)(plain_batch_norm)
