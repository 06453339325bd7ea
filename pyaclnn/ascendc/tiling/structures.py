# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: N815  # the fields are C's, and so are their names
"""Tiling structures that a host function fills and a kernel reads.

Field for field those of CANN's `TILING_DATA` definitions (CANN: asc-devkit adv_api/normalization),
in the same order and under the same names, without padding. Positions and sizes count floats.
A field that the host function never sets is 0.
"""

from __future__ import annotations

import struct
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

from pyaclnn.ascendc.tiling.arithmetic import float32, uint32
from pyaclnn.base.spelling import with_article

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "LayerNormGradBetaTiling",
    "LayerNormGradTiling",
    "LayerNormSeparateTiling",
    "LayerNormTiling",
    "TilingStructure",
]


@dataclass(frozen=True, kw_only=True)
class TilingStructure:
    """Base of the four structures: conversion to and from the bytes of a kernel.

    A field annotated `int` is a `uint32_t`, one annotated `float` is a C float and holds what a C
    float can hold.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "float":
                # A frozen dataclass has no other way to round what it was given.
                object.__setattr__(self, field.name, float32(value))
            else:
                uint32(f"{field.name} of {type(self).__name__}", value)

    @classmethod
    def _packing(cls) -> struct.Struct:
        codes = ("f" if field.type == "float" else "I" for field in fields(cls))
        return struct.Struct("<" + "".join(codes))

    @classmethod
    def byte_size(cls) -> int:
        """Return the size of the C structure."""
        return cls._packing().size

    def to_bytes(self) -> bytes:
        """Pack the fields as the C structure has them, little-endian."""
        return self._packing().pack(*astuple(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read a C structure.

        Args:
            data: Exactly the structure's bytes.

        Raises:
            ValueError: There are more or fewer bytes than the structure has.
        """
        packing = cls._packing()
        if len(data) != packing.size:
            made = with_article(cls.__name__)
            raise ValueError(f"data has {len(data)} bytes; {made} has exactly {packing.size}")
        names = (field.name for field in fields(cls))
        return cls(**dict(zip(names, packing.unpack(data), strict=True)))

    def as_dict(self) -> dict[str, int | float]:
        """Return the fields by name, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, kw_only=True)
class LayerNormTiling(TilingStructure):
    """Tiling of LayerNorm with mean and variance."""

    bLength: int = 0
    sLength: int = 0
    hLength: int = 0
    originalHLength: int = 0
    inputXSize: int = 0
    meanVarSize: int = 0
    numberOfTmpBuf: int = 0
    meanTmpTensorPos: int = 0
    meanTmpTensorSize: int = 0
    varianceTmpTensorPos: int = 0
    varianceTmpTensorSize: int = 0
    tmpBufSize: int = 0
    oneTmpSize: int = 0
    firstTmpStartPos: int = 0
    secondTmpStartPos: int = 0
    thirdTmpStartPos: int = 0
    loopRound: int = 0
    inputRoundSize: int = 0
    inputTailSize: int = 0
    inputTailPos: int = 0
    meanVarRoundSize: int = 0
    meanVarTailSize: int = 0
    meanVarTailPos: int = 0
    bshCurLength: int = 0
    bsCurLength: int = 0
    lastDimValueBack: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LayerNormSeparateTiling(TilingStructure):
    """Tiling of LayerNorm with mean and reciprocal standard deviation.

    On Ascend 950 `oneTmpSize` holds the binary logarithm of `rHeadLength`.
    """

    aLength: int = 0
    rLength: int = 0
    halfAddRepeatTimes: int = 0
    rHeadLength: int = 0
    k2Rec: float = 0.0
    k2RRec: float = 0.0
    inputXSize: int = 0
    meanVarSize: int = 0
    numberOfTmpBuf: int = 0
    varianceTmpTensorPos: int = 0
    varianceTmpTensorSize: int = 0
    tmpBufSize: int = 0
    oneTmpSize: int = 0
    firstTmpStartPos: int = 0
    secondTmpStartPos: int = 0
    thirdTmpStartPos: int = 0
    loopRound: int = 0
    inputRoundSize: int = 0
    inputTailSize: int = 0
    inputTailPos: int = 0
    meanVarRoundSize: int = 0
    meanVarTailSize: int = 0
    meanVarTailPos: int = 0
    arCurLength: int = 0
    aCurLength: int = 0
    rValueBack: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LayerNormGradTiling(TilingStructure):
    """Tiling of LayerNormGrad.

    `stackBufferSize` counts floats. The last two fields hold the bits of C floats.
    """

    stackBufferSize: int = 0
    bLength: int = 0
    sLength: int = 0
    hLength: int = 0
    originalHLength: int = 0
    oneCalSize: int = 0
    nohCalSize: int = 0
    loopNum: int = 0
    tailSize: int = 0
    nohTailSize: int = 0
    tmpTensorBSHPos: int = 0
    tmpTensorBSHSize: int = 0
    pdVarTensorPos: int = 0
    pdVarTensorSize: int = 0
    pdMeanTensorPos: int = 0
    pdMeanTensorSize: int = 0
    x1TensorPos: int = 0
    x1TensorSize: int = 0
    x2TensorPos: int = 0
    x2TensorSize: int = 0
    x3TensorPos: int = 0
    x3TensorSize: int = 0
    tmpTensorPos: int = 0
    tmpTensorSize: int = 0
    tmpTensor1Pos: int = 0
    tmpTensor1Size: int = 0
    tmpTensor2Pos: int = 0
    tmpTensor2Size: int = 0
    lastDimValueBack: int = 0
    lastDimValueBackMulTwo: int = 0


@dataclass(frozen=True, kw_only=True)
class LayerNormGradBetaTiling(TilingStructure):
    """Tiling of LayerNormGradBeta. `stackBufferSize` counts floats."""

    stackBufferSize: int = 0
    bLength: int = 0
    sLength: int = 0
    hLength: int = 0
    originalHLength: int = 0
    bshLength: int = 0
    bsLength: int = 0
    oneCalSize: int = 0
    numberOfTmpBuf: int = 0
    loopRound: int = 0
    inputTailSize: int = 0
    inputTailPos: int = 0
    bsTailSize: int = 0
    bshCurLength: int = 0
    bsCurLength: int = 0
    gammaTempTensorPos: int = 0
    betaTempTensorPos: int = 0
    inputDyTmpTensorPos: int = 0
    resForGammaTmpTensorPos: int = 0
    reserved: int = 0
