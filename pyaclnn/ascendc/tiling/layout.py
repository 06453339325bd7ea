# SPDX-License-Identifier: Apache-2.0
"""Layout of the temporary buffer of a tiling."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

from pyaclnn.ascendc.tiling.arithmetic import FLOAT_BYTES
from pyaclnn.ascendc.tiling.structures import (
    LayerNormGradBetaTiling,
    LayerNormGradTiling,
    LayerNormSeparateTiling,
    LayerNormTiling,
    TilingStructure,
)
from pyaclnn.base.spelling import with_article

__all__ = ["Buffer", "addressed_bytes", "buffer_map"]


class Buffer(NamedTuple):
    """One of the parts of a temporary buffer.

    Attributes:
        name: Its name in the fields of the structure.
        start: Its first byte.
        size: Its size in bytes.
    """

    name: str
    start: int
    size: int

    @property
    def end(self) -> int:
        """Return the first byte behind it."""
        return self.start + self.size


def buffer_map(tiling: TilingStructure) -> tuple[Buffer, ...]:
    """List the parts of the temporary buffer that a kernel works in.

    Parts that a structure has fields for but the kernel keeps elsewhere, such as those of a kernel
    that reuses its source, are left out.

    Args:
        tiling: Any of the four structures.

    Returns:
        The parts in the order of their starts. None if the kernel arranges its buffer itself, as
        those of LayerNorm with rstd and of LayerNormGrad do on Ascend 950.
    """
    return tuple(
        Buffer(name, start * FLOAT_BYTES, size * FLOAT_BYTES) for name, start, size in _map(tiling)
    )


def addressed_bytes(tiling: TilingStructure) -> int:
    """Return the size of the temporary buffer that a layout fits into, in bytes.

    Args:
        tiling: Any of the four structures.

    Returns:
        The first byte behind all parts; 0 if the kernel arranges its buffer itself.
    """
    return max((buffer.end for buffer in buffer_map(tiling)), default=0)


@singledispatch
def _map(tiling: TilingStructure) -> list[tuple[str, int, int]]:
    given = with_article(type(tiling).__name__)
    raise TypeError(f"tiling is {given}; it must be a tiling structure")


@_map.register
def _layer_norm(tiling: LayerNormTiling) -> list[tuple[str, int, int]]:
    statistics = [
        ("meanTmpTensor", tiling.meanTmpTensorPos, tiling.meanTmpTensorSize),
        ("varianceTmpTensor", tiling.varianceTmpTensorPos, tiling.varianceTmpTensorSize),
    ]
    starts = (tiling.firstTmpStartPos, tiling.secondTmpStartPos, tiling.thirdTmpStartPos)
    rows = [
        (name, start, tiling.oneTmpSize)
        for name, start in zip(("firstTmp", "secondTmp", "thirdTmp"), starts, strict=True)
    ]
    # Only a half kernel's rows start behind room for mean and variance.
    return (statistics if tiling.firstTmpStartPos else []) + rows[: tiling.numberOfTmpBuf]


@_map.register
def _layer_norm_rstd(tiling: LayerNormSeparateTiling) -> list[tuple[str, int, int]]:
    if tiling.rHeadLength:
        return []
    return [
        ("varianceTmpTensor", tiling.varianceTmpTensorPos, tiling.varianceTmpTensorSize),
        ("firstTmp", tiling.firstTmpStartPos, tiling.oneTmpSize),
        ("secondTmp", tiling.secondTmpStartPos, tiling.oneTmpSize),
    ]


@_map.register
def _layer_norm_grad(tiling: LayerNormGradTiling) -> list[tuple[str, int, int]]:
    if tiling.nohCalSize == 1:
        return []
    parts = [
        ("tmpTensorBSH", tiling.tmpTensorBSHPos, tiling.tmpTensorBSHSize),
        ("pdVarTensor", tiling.pdVarTensorPos, tiling.pdVarTensorSize),
        ("pdMeanTensor", tiling.pdMeanTensorPos, tiling.pdMeanTensorSize),
        ("x1Tensor", tiling.x1TensorPos, tiling.x1TensorSize),
        ("x2Tensor", tiling.x2TensorPos, tiling.x2TensorSize),
        ("x3Tensor", tiling.x3TensorPos, tiling.x3TensorSize),
        ("tmpTensor", tiling.tmpTensorPos, tiling.tmpTensorSize),
        ("tmpTensor1", tiling.tmpTensor1Pos, tiling.tmpTensor1Size),
        ("tmpTensor2", tiling.tmpTensor2Pos, tiling.tmpTensor2Size),
    ]
    # Position 0 is the first one's; for the others it means elsewhere or nowhere.
    return parts[:1] + [part for part in parts[1:] if part[1]]


@_map.register
def _layer_norm_grad_beta(tiling: LayerNormGradBetaTiling) -> list[tuple[str, int, int]]:
    h, one = tiling.hLength, tiling.oneCalSize
    if tiling.numberOfTmpBuf == 1:
        return [("resForGammaTmpTensor", tiling.resForGammaTmpTensorPos, one)]
    return [
        ("gammaTempTensor", tiling.gammaTempTensorPos, h),
        ("betaTempTensor", tiling.betaTempTensorPos, h),
        ("inputDyTmpTensor", tiling.inputDyTmpTensorPos, one),
        ("resForGammaTmpTensor", tiling.resForGammaTmpTensorPos, one),
    ]
