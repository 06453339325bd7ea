# SPDX-License-Identifier: Apache-2.0
"""Whole structures, each worked out by hand from the documented arithmetic."""

from __future__ import annotations

import pytest

from pyaclnn.ascendc.tiling import (
    LayerNormGradBetaTiling,
    LayerNormGradTiling,
    LayerNormSeparateTiling,
    LayerNormTiling,
    get_layer_norm_grad_beta_nd_tiling_info,
    get_layer_norm_grad_nd_tiling_info,
    get_layer_norm_nd_tiling_info,
    get_layer_norm_rstd_nd_tiling_info,
)

from .calls import A2, A5


class TestLayerNorm:
    def test_float(self) -> None:
        # 176 floats for three buffers of whole rows of 16: 48 each; 1024 = 21 * 48 + 16
        expected = LayerNormTiling(
            bLength=2,
            sLength=32,
            hLength=16,
            originalHLength=16,
            inputXSize=1024,
            meanVarSize=64,
            numberOfTmpBuf=3,
            meanTmpTensorPos=0,
            meanTmpTensorSize=64,
            varianceTmpTensorPos=64,
            varianceTmpTensorSize=64,
            tmpBufSize=176,
            oneTmpSize=48,
            firstTmpStartPos=0,
            secondTmpStartPos=48,
            thirdTmpStartPos=96,
            loopRound=21,
            inputRoundSize=48,
            inputTailSize=16,
            inputTailPos=1008,
            meanVarRoundSize=3,
            meanVarTailSize=1,
            meanVarTailPos=63,
            bshCurLength=48,
            bsCurLength=3,
            lastDimValueBack=0.0625,
        )
        for soc in (A2, A5):
            assert get_layer_norm_nd_tiling_info((2, 32, 16, 16), 704, 4, soc=soc) == expected

    def test_half_keeps_its_statistics_in_front(self) -> None:
        # 500 floats without 128; 372 / 3 is seven rows and a bit; 1024 = 9 * 112 + 16
        expected = LayerNormTiling(
            bLength=2,
            sLength=32,
            hLength=16,
            originalHLength=10,
            inputXSize=1024,
            meanVarSize=64,
            numberOfTmpBuf=3,
            meanTmpTensorPos=0,
            meanTmpTensorSize=64,
            varianceTmpTensorPos=64,
            varianceTmpTensorSize=64,
            tmpBufSize=500,
            oneTmpSize=112,
            firstTmpStartPos=128,
            secondTmpStartPos=240,
            thirdTmpStartPos=352,
            loopRound=9,
            inputRoundSize=112,
            inputTailSize=16,
            inputTailPos=1008,
            meanVarRoundSize=7,
            meanVarTailSize=1,
            meanVarTailPos=63,
            bshCurLength=112,
            bsCurLength=7,
            lastDimValueBack=0.1,
        )
        for reuse in (False, True):
            assert get_layer_norm_nd_tiling_info((2, 32, 16, 10), 2000, 2, reuse) == expected

    def test_reuse_takes_one_buffer_less_and_no_more_than_the_tensor(self) -> None:
        tiling = get_layer_norm_nd_tiling_info((1, 8, 8, 8), 832, 4, is_reuse_source=True)
        assert tiling.numberOfTmpBuf == 2
        assert tiling.tmpBufSize == 208
        assert tiling.oneTmpSize == 64
        assert (tiling.firstTmpStartPos, tiling.secondTmpStartPos) == (0, 64)
        assert (tiling.loopRound, tiling.inputTailSize, tiling.inputTailPos) == (1, 0, 64)
        assert (tiling.meanVarTailSize, tiling.meanVarTailPos) == (0, 8)


class TestLayerNormRstd:
    def test_float(self) -> None:
        # rows of 16; 40 floats without 8 for the variance; one row in each of two buffers
        assert get_layer_norm_rstd_nd_tiling_info((4, 10), 160, 4) == LayerNormSeparateTiling(
            aLength=4,
            rLength=10,
            inputXSize=64,
            meanVarSize=4,
            numberOfTmpBuf=2,
            varianceTmpTensorPos=0,
            varianceTmpTensorSize=8,
            tmpBufSize=40,
            oneTmpSize=16,
            firstTmpStartPos=8,
            secondTmpStartPos=24,
            loopRound=4,
            inputRoundSize=16,
            inputTailSize=0,
            inputTailPos=64,
            meanVarRoundSize=1,
            meanVarTailSize=0,
            meanVarTailPos=4,
            arCurLength=16,
            aCurLength=1,
            rValueBack=0.1,
        )

    def test_half_with_a_tail(self) -> None:
        # (125 - 8) / 2 is three rows of 16 and a bit; five rows are 3 + 2
        assert get_layer_norm_rstd_nd_tiling_info((5, 16), 500, 2) == LayerNormSeparateTiling(
            aLength=5,
            rLength=16,
            inputXSize=80,
            meanVarSize=5,
            numberOfTmpBuf=2,
            varianceTmpTensorSize=8,
            tmpBufSize=125,
            oneTmpSize=48,
            firstTmpStartPos=8,
            secondTmpStartPos=56,
            loopRound=1,
            inputRoundSize=48,
            inputTailSize=32,
            inputTailPos=48,
            meanVarRoundSize=3,
            meanVarTailSize=2,
            meanVarTailPos=3,
            arCurLength=48,
            aCurLength=3,
            rValueBack=0.0625,
        )

    @pytest.mark.parametrize(
        ("r", "head", "log_head", "k2_rec", "k2_r_rec"),
        [
            (1, 64, 6, 1 / 64, 64.0),
            (40, 64, 6, 1 / 64, 1.6),
            (64, 64, 6, 1 / 64, 1.0),
            (65, 64, 6, 1 / 128, 128 / 65),
            (100, 64, 6, 1 / 128, 1.28),
            (128, 128, 7, 1 / 128, 1.0),
            (129, 128, 7, 1 / 256, 256 / 129),
            (4096, 4096, 12, 1 / 4096, 1.0),
            (4099, 4096, 12, 1 / 8192, 8192 / 4099),
        ],
    )
    def test_ascend_950_folds(
        self, r: int, head: int, log_head: int, k2_rec: float, k2_r_rec: float
    ) -> None:
        for stack in (0, 8192):
            found = get_layer_norm_rstd_nd_tiling_info((16, r), stack, 4, soc=A5)
            assert found == LayerNormSeparateTiling(
                aLength=16,
                rLength=r,
                rHeadLength=head,
                k2Rec=k2_rec,
                k2RRec=k2_r_rec,
                oneTmpSize=log_head,
            )


class TestLayerNormGrad:
    def test_float(self) -> None:
        # 2048 / 6 is 21 rows and a bit, which become 24; 1024 = 2 * 384 + 256
        expected = LayerNormGradTiling(
            stackBufferSize=2048,
            bLength=2,
            sLength=32,
            hLength=16,
            originalHLength=16,
            oneCalSize=384,
            nohCalSize=24,
            loopNum=2,
            tailSize=256,
            nohTailSize=16,
            tmpTensorBSHPos=0,
            tmpTensorBSHSize=384,
            pdVarTensorPos=384,
            pdVarTensorSize=384,
            pdMeanTensorPos=768,
            pdMeanTensorSize=384,
            x1TensorPos=1152,
            x1TensorSize=384,
            x2TensorPos=1536,
            x2TensorSize=384,
            x3TensorPos=1920,
            x3TensorSize=384,
            tmpTensorSize=384,
            tmpTensor1Size=384,
            tmpTensor2Size=384,
            lastDimValueBack=0x3D800000,
            lastDimValueBackMulTwo=0x3E000000,
        )
        assert get_layer_norm_grad_nd_tiling_info((2, 32, 16, 16), 8192, 4) == expected

    def test_float_with_reuse_keeps_two_buffers_in_the_sources(self) -> None:
        tiling = get_layer_norm_grad_nd_tiling_info((2, 32, 16, 16), 4096, 4, is_reuse_source=True)
        assert (tiling.nohCalSize, tiling.oneCalSize, tiling.loopNum) == (16, 256, 4)
        assert (tiling.pdVarTensorPos, tiling.pdMeanTensorPos) == (256, 512)
        assert (tiling.x1TensorPos, tiling.x2TensorPos, tiling.x3TensorPos) == (0, 0, 768)

    @pytest.mark.parametrize("reuse", [False, True])
    def test_half_has_nine_buffers_and_rounds_to_sixteen_rows(self, reuse: bool) -> None:
        # 1200 / 9 is eight rows of 16 and a bit
        tiling = get_layer_norm_grad_nd_tiling_info((2, 32, 16, 16), 4800, 2, reuse)
        assert (tiling.nohCalSize, tiling.oneCalSize) == (16, 256)
        assert (tiling.loopNum, tiling.tailSize, tiling.nohTailSize) == (4, 0, 0)
        assert (tiling.x1TensorPos, tiling.x2TensorPos, tiling.x3TensorPos) == (768, 1024, 1280)
        assert tiling.tmpTensorPos == 1536
        assert tiling.tmpTensor1Pos == 1792
        assert tiling.tmpTensor2Pos == 2048

    def test_one_row_in_a_buffer_of_the_minimum(self) -> None:
        tiling = get_layer_norm_grad_nd_tiling_info((1, 1, 8, 8), 192, 4)
        assert (tiling.nohCalSize, tiling.oneCalSize) == (8, 64)
        assert (tiling.loopNum, tiling.tailSize, tiling.nohTailSize) == (0, 8, 1)
        assert tiling.x3TensorPos == 320

    def test_the_reciprocals_are_bits(self) -> None:
        tiling = get_layer_norm_grad_nd_tiling_info((1, 8, 16, 10), 24576, 4)
        assert tiling.lastDimValueBack == 0x3DCCCCCD  # 0.1f
        assert tiling.lastDimValueBackMulTwo == 0x3E4CCCCD  # 0.2f

    def test_ascend_950_has_no_rounds(self) -> None:
        for stack in (0, 8192):
            tiling = get_layer_norm_grad_nd_tiling_info((2, 32, 16, 16), stack, 4, soc=A5)
            assert (tiling.oneCalSize, tiling.nohCalSize) == (1, 1)
            assert (tiling.loopNum, tiling.tailSize, tiling.nohTailSize) == (1024, 0, 0)


class TestLayerNormGradBeta:
    def test_float(self) -> None:
        # 50 floats are three rows of 16 and a bit; 1024 = 21 * 48 + 16
        expected = LayerNormGradBetaTiling(
            stackBufferSize=50,
            bLength=2,
            sLength=32,
            hLength=16,
            originalHLength=16,
            bshLength=1024,
            bsLength=64,
            oneCalSize=48,
            numberOfTmpBuf=1,
            loopRound=21,
            inputTailSize=16,
            inputTailPos=1008,
            bsTailSize=1,
            bshCurLength=48,
            bsCurLength=3,
        )
        for soc in (A2, A5):
            for reuse in (False, True):
                found = get_layer_norm_grad_beta_nd_tiling_info(
                    (2, 32, 16, 16), 200, 4, reuse, soc=soc
                )
                assert found == expected

    def test_half(self) -> None:
        # 250 floats without two rows; 218 / 2 is six rows and a bit; 1024 = 10 * 96 + 64
        found = get_layer_norm_grad_beta_nd_tiling_info((2, 32, 16, 16), 1000, 2)
        assert found == LayerNormGradBetaTiling(
            stackBufferSize=250,
            bLength=2,
            sLength=32,
            hLength=16,
            originalHLength=16,
            bshLength=1024,
            bsLength=64,
            oneCalSize=96,
            numberOfTmpBuf=2,
            loopRound=10,
            inputTailSize=64,
            inputTailPos=960,
            bsTailSize=4,
            bshCurLength=96,
            bsCurLength=6,
            gammaTempTensorPos=0,
            betaTempTensorPos=16,
            inputDyTmpTensorPos=32,
            resForGammaTmpTensorPos=128,
        )

    def test_no_more_than_the_tensor(self) -> None:
        tiling = get_layer_norm_grad_beta_nd_tiling_info((1, 1, 8, 8), 8192, 4)
        assert (tiling.oneCalSize, tiling.loopRound, tiling.inputTailSize) == (8, 1, 0)
