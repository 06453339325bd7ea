/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiling of the normalization interfaces: what the host computes for them, field by field in
 * CANN's order, so that its bytes can be handed over as they are. Sizes are in elements of float
 * unless they are lengths of axes.
 */
#pragma once

#include <cstdint>

/* Tiling of LayerNorm with mean and variance. */
struct LayerNormTiling {
    uint32_t bLength = 0;
    uint32_t sLength = 0;
    uint32_t hLength = 0;
    uint32_t originalHLength = 0;
    uint32_t inputXSize = 0;
    uint32_t meanVarSize = 0;
    uint32_t numberOfTmpBuf = 0;
    uint32_t meanTmpTensorPos = 0;
    uint32_t meanTmpTensorSize = 0;
    uint32_t varianceTmpTensorPos = 0;
    uint32_t varianceTmpTensorSize = 0;
    uint32_t tmpBufSize = 0;
    uint32_t oneTmpSize = 0;
    uint32_t firstTmpStartPos = 0;
    uint32_t secondTmpStartPos = 0;
    uint32_t thirdTmpStartPos = 0;
    uint32_t loopRound = 0;
    uint32_t inputRoundSize = 0;
    uint32_t inputTailSize = 0;
    uint32_t inputTailPos = 0;
    uint32_t meanVarRoundSize = 0;
    uint32_t meanVarTailSize = 0;
    uint32_t meanVarTailPos = 0;
    uint32_t bshCurLength = 0;
    uint32_t bsCurLength = 0;
    float lastDimValueBack = 0;
};
static_assert(sizeof(LayerNormTiling) == 26 * 4);

/* Tiling of LayerNorm with mean and 1/standard deviation. */
struct LayerNormSeparateTiling {
    uint32_t aLength = 0;
    uint32_t rLength = 0;
    uint32_t halfAddRepeatTimes = 0;
    uint32_t rHeadLength = 0;
    float k2Rec = 0;
    float k2RRec = 0;
    uint32_t inputXSize = 0;
    uint32_t meanVarSize = 0;
    uint32_t numberOfTmpBuf = 0;
    uint32_t varianceTmpTensorPos = 0;
    uint32_t varianceTmpTensorSize = 0;
    uint32_t tmpBufSize = 0;
    uint32_t oneTmpSize = 0;
    uint32_t firstTmpStartPos = 0;
    uint32_t secondTmpStartPos = 0;
    uint32_t thirdTmpStartPos = 0;
    uint32_t loopRound = 0;
    uint32_t inputRoundSize = 0;
    uint32_t inputTailSize = 0;
    uint32_t inputTailPos = 0;
    uint32_t meanVarRoundSize = 0;
    uint32_t meanVarTailSize = 0;
    uint32_t meanVarTailPos = 0;
    uint32_t arCurLength = 0;
    uint32_t aCurLength = 0;
    float rValueBack = 0;
};
static_assert(sizeof(LayerNormSeparateTiling) == 26 * 4);

/* The last two are the bits of floats. */
struct LayerNormGradTiling {
    uint32_t stackBufferSize = 0;
    uint32_t bLength = 0;
    uint32_t sLength = 0;
    uint32_t hLength = 0;
    uint32_t originalHLength = 0;
    uint32_t oneCalSize = 0;
    uint32_t nohCalSize = 0;
    uint32_t loopNum = 0;
    uint32_t tailSize = 0;
    uint32_t nohTailSize = 0;
    uint32_t tmpTensorBSHPos = 0;
    uint32_t tmpTensorBSHSize = 0;
    uint32_t pdVarTensorPos = 0;
    uint32_t pdVarTensorSize = 0;
    uint32_t pdMeanTensorPos = 0;
    uint32_t pdMeanTensorSize = 0;
    uint32_t x1TensorPos = 0;
    uint32_t x1TensorSize = 0;
    uint32_t x2TensorPos = 0;
    uint32_t x2TensorSize = 0;
    uint32_t x3TensorPos = 0;
    uint32_t x3TensorSize = 0;
    uint32_t tmpTensorPos = 0;
    uint32_t tmpTensorSize = 0;
    uint32_t tmpTensor1Pos = 0;
    uint32_t tmpTensor1Size = 0;
    uint32_t tmpTensor2Pos = 0;
    uint32_t tmpTensor2Size = 0;
    uint32_t lastDimValueBack = 0;
    uint32_t lastDimValueBackMulTwo = 0;
};
static_assert(sizeof(LayerNormGradTiling) == 30 * 4);

struct LayerNormGradBetaTiling {
    uint32_t stackBufferSize = 0;
    uint32_t bLength = 0;
    uint32_t sLength = 0;
    uint32_t hLength = 0;
    uint32_t originalHLength = 0;
    uint32_t bshLength = 0;
    uint32_t bsLength = 0;
    uint32_t oneCalSize = 0;
    uint32_t numberOfTmpBuf = 0;
    uint32_t loopRound = 0;
    uint32_t inputTailSize = 0;
    uint32_t inputTailPos = 0;
    uint32_t bsTailSize = 0;
    uint32_t bshCurLength = 0;
    uint32_t bsCurLength = 0;
    uint32_t gammaTempTensorPos = 0;
    uint32_t betaTempTensorPos = 0;
    uint32_t inputDyTmpTensorPos = 0;
    uint32_t resForGammaTmpTensorPos = 0;
    uint32_t reserved = 0;
};
static_assert(sizeof(LayerNormGradBetaTiling) == 20 * 4);

/* Tilings that say nothing which the emulation computes by: sizes of steps and places of memory. */
#define ASCENDC_TILING(Name, fields)                                                               \
    struct Name {                                                                                  \
        uint32_t values[fields] = {};                                                              \
    };
ASCENDC_TILING(TopkTiling, 44)
#undef ASCENDC_TILING

namespace AscendC {
enum class TopKMode : uint8_t { TOPK_NORMAL = 0, TOPK_NSMALL };
}

/* Those that begin with the shapes; sizes of steps and places of memory follow. */
#define ASCENDC_UNPAD_FIELDS(X) X(srcHeight) X(srcWidth)
#define ASCENDC_PAD_FIELDS(X) ASCENDC_UNPAD_FIELDS(X) X(srcOriWidth)
#define ASCENDC_PAD_FIELD(name) uint32_t name = 0;
struct PadTiling {
    ASCENDC_PAD_FIELDS(ASCENDC_PAD_FIELD)
    uint32_t rest[19] = {};
};
struct UnPadTiling {
    ASCENDC_UNPAD_FIELDS(ASCENDC_PAD_FIELD)
    uint32_t rest[6] = {};
};
#undef ASCENDC_PAD_FIELD
/* Samples, channels, height times width, groups, channels of a group. */
struct GroupNormTiling {
    uint32_t n = 0, c = 0, hw = 0, g = 0, d = 0, rest[25] = {};
};

/* Tiling of SoftMax and its like: rows and their lengths, in all, in a step and in the last one. */
#define ASCENDC_SOFTMAX_FIELDS(X)                                                                  \
    X(srcM) X(srcK) X(srcSize) X(outMaxM) X(outMaxK) X(outMaxSize) X(splitM) X(splitK)             \
    X(splitSize) X(reduceM) X(reduceK) X(reduceSize) X(rangeM) X(tailM) X(tailSplitSize)           \
    X(tailReduceSize)
#define ASCENDC_SOFTMAX_FIELD(name) uint32_t name = 0;
struct SoftMaxTiling {
    ASCENDC_SOFTMAX_FIELDS(ASCENDC_SOFTMAX_FIELD)
};
struct LogSoftMaxTiling {
    ASCENDC_SOFTMAX_FIELDS(ASCENDC_SOFTMAX_FIELD)
};
#undef ASCENDC_SOFTMAX_FIELD
static_assert(sizeof(SoftMaxTiling) == 16 * 4);

/* Tiling of RmsNorm. */
struct RmsNormTiling {
    uint32_t bLength = 0, sLength = 0, hLength = 0, originalHLength = 0;
    float reciprocalOfHLength = 0;
    uint32_t mainBshLength = 0, mainBsLength = 0, mainBsLengthAlign = 0, loopRound = 0;
    uint32_t inputTailPos = 0, tailBshLength = 0, tailBsLength = 0;
};

/* Tiling of Matmul: the shapes of everything, of a core and of a step. */
#define ASCENDC_CUBE_FIELDS(X)                                                                     \
    X(usedCoreNum) X(M) X(N) X(Ka) X(Kb) X(singleCoreM) X(singleCoreN) X(singleCoreK) X(baseM)     \
    X(baseN) X(baseK) X(depthA1) X(depthB1) X(stepM) X(stepN) X(isBias) X(transLength)             \
    X(iterateOrder) X(shareMode) X(shareL1Size) X(shareL0CSize) X(shareUbSize) X(batchM) X(batchN) \
    X(singleBatchM) X(singleBatchN) X(stepKa) X(stepKb) X(depthAL1CacheUB) X(depthBL1CacheUB)      \
    X(dbL0A) X(dbL0B) X(dbL0C) X(ALayoutInfoB) X(ALayoutInfoS) X(ALayoutInfoN) X(ALayoutInfoG)     \
    X(ALayoutInfoD) X(BLayoutInfoB) X(BLayoutInfoS) X(BLayoutInfoN) X(BLayoutInfoG)                \
    X(BLayoutInfoD) X(CLayoutInfoB) X(CLayoutInfoS1) X(CLayoutInfoN) X(CLayoutInfoG)               \
    X(CLayoutInfoS2) X(BatchNum) X(reserved)
#define ASCENDC_CUBE_FIELD(name) int32_t name = 0;
struct TCubeTiling {
    ASCENDC_CUBE_FIELDS(ASCENDC_CUBE_FIELD)
};
#undef ASCENDC_CUBE_FIELD
static_assert(sizeof(TCubeTiling) == 50 * 4);
