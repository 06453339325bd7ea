# SPDX-License-Identifier: Apache-2.0
"""Binary layout of the four structures, as a kernel reads them."""

from __future__ import annotations

import dataclasses
import re
import struct

import pytest
from hypothesis import given, settings, strategies as st

from pyaclnn.ascendc.tiling import (
    LayerNormGradBetaTiling,
    LayerNormGradTiling,
    LayerNormSeparateTiling,
    LayerNormTiling,
    TilingError,
    TilingStructure,
)

# In C's order, floats marked with an f.
FIELDS: dict[type[TilingStructure], str] = {
    LayerNormTiling: """
        bLength sLength hLength originalHLength inputXSize meanVarSize numberOfTmpBuf
        meanTmpTensorPos meanTmpTensorSize varianceTmpTensorPos varianceTmpTensorSize tmpBufSize
        oneTmpSize firstTmpStartPos secondTmpStartPos thirdTmpStartPos loopRound inputRoundSize
        inputTailSize inputTailPos meanVarRoundSize meanVarTailSize meanVarTailPos bshCurLength
        bsCurLength f:lastDimValueBack
    """,
    LayerNormSeparateTiling: """
        aLength rLength halfAddRepeatTimes rHeadLength f:k2Rec f:k2RRec inputXSize meanVarSize
        numberOfTmpBuf varianceTmpTensorPos varianceTmpTensorSize tmpBufSize oneTmpSize
        firstTmpStartPos secondTmpStartPos thirdTmpStartPos loopRound inputRoundSize inputTailSize
        inputTailPos meanVarRoundSize meanVarTailSize meanVarTailPos arCurLength aCurLength
        f:rValueBack
    """,
    LayerNormGradTiling: """
        stackBufferSize bLength sLength hLength originalHLength oneCalSize nohCalSize loopNum
        tailSize nohTailSize tmpTensorBSHPos tmpTensorBSHSize pdVarTensorPos pdVarTensorSize
        pdMeanTensorPos pdMeanTensorSize x1TensorPos x1TensorSize x2TensorPos x2TensorSize
        x3TensorPos x3TensorSize tmpTensorPos tmpTensorSize tmpTensor1Pos tmpTensor1Size
        tmpTensor2Pos tmpTensor2Size lastDimValueBack lastDimValueBackMulTwo
    """,
    LayerNormGradBetaTiling: """
        stackBufferSize bLength sLength hLength originalHLength bshLength bsLength oneCalSize
        numberOfTmpBuf loopRound inputTailSize inputTailPos bsTailSize bshCurLength bsCurLength
        gammaTempTensorPos betaTempTensorPos inputDyTmpTensorPos resForGammaTmpTensorPos reserved
    """,
}
COUNTS = {
    LayerNormTiling: 26,
    LayerNormSeparateTiling: 26,
    LayerNormGradTiling: 30,
    LayerNormGradBetaTiling: 20,
}
EACH = pytest.mark.parametrize("structure", FIELDS, ids=lambda structure: structure.__name__)


def names(structure: type[TilingStructure]) -> list[str]:
    return [name.removeprefix("f:") for name in FIELDS[structure].split()]


@EACH
def test_has_exactly_the_documented_fields_in_order(structure: type[TilingStructure]) -> None:
    assert [field.name for field in dataclasses.fields(structure)] == names(structure)
    assert structure.byte_size() == 4 * COUNTS[structure]


@EACH
def test_a_field_that_is_not_set_is_zero(structure: type[TilingStructure]) -> None:
    assert structure().to_bytes() == bytes(4 * COUNTS[structure])


@EACH
def test_every_field_lies_four_bytes_behind_the_one_before(
    structure: type[TilingStructure],
) -> None:
    for index, entry in enumerate(FIELDS[structure].split()):
        name = entry.removeprefix("f:")
        packed = structure(**{name: 0.1 if entry != name else 0x01020304}).to_bytes()
        word = b"\xcd\xcc\xcc\x3d" if entry != name else b"\x04\x03\x02\x01"
        assert packed == bytes(4 * index) + word + bytes(4 * (COUNTS[structure] - index - 1))


@EACH
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_comes_back_from_its_bytes(structure: type[TilingStructure], data: st.DataObject) -> None:
    values = {
        entry.removeprefix("f:"): data.draw(
            st.floats(width=32, allow_nan=False)
            if entry.startswith("f:")
            else st.integers(0, 2**32 - 1)
        )
        for entry in FIELDS[structure].split()
    }
    tiling = structure(**values)
    assert structure.from_bytes(tiling.to_bytes()) == tiling
    assert tiling.as_dict() == values
    assert list(tiling.as_dict()) == names(structure)


def test_a_float_field_holds_what_a_c_float_holds() -> None:
    tiling = LayerNormTiling(lastDimValueBack=1 / 3)
    assert tiling.lastDimValueBack == struct.unpack("f", struct.pack("f", 1 / 3))[0]
    assert LayerNormTiling.from_bytes(tiling.to_bytes()) == tiling


@pytest.mark.parametrize("value", [-1, 2**32])
def test_a_number_beyond_32_bits_is_refused(value: int) -> None:
    message = re.escape(f"oneCalSize of LayerNormGradTiling is {value}; it must fit into 32 bits")
    with pytest.raises(TilingError, match=message):
        LayerNormGradTiling(oneCalSize=value)


def test_bytes_of_another_length_are_refused() -> None:
    message = "data has 119 bytes; a LayerNormGradTiling has exactly 120"
    with pytest.raises(ValueError, match=message):
        LayerNormGradTiling.from_bytes(bytes(119))


def test_is_immutable() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        LayerNormTiling().bLength = 1  # type: ignore[misc]  # which is the point
