# SPDX-License-Identifier: Apache-2.0
"""A kernel for an operator that the simulated NPU has none for: attention, of one layout only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.mock import operator

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["attention"]


@operator("aclnnFusedInferAttentionScoreV2")
def attention(
    query: NDArray[Any],
    key: list[NDArray[Any]],
    value: list[NDArray[Any]],
    scaleValue: float,  # noqa: N803  # the names are those of C
    inputLayout: str,  # noqa: N803
) -> tuple[NDArray[Any], None]:
    """Weigh values by how well their keys answer queries (batch, head, sequence, channel)."""
    if inputLayout != "BNSD":
        raise ValueError(f"inputLayout is {inputLayout!r}; this kernel knows 'BNSD'")
    scores = scaleValue * (query @ key[0].swapaxes(-1, -2))
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ value[0]).astype(query.dtype), None
