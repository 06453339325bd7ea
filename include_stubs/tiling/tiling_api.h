/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tilings that the host computes. Those of Matmul, which are here, cover the problem within the
 * limits that are set; CANN may divide it otherwise.
 */
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/normalization/layernorm_tiling.h"
#include "tiling/pad/pad_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/softmax/softmax_tiling.h"
#include "tiling/tmp_sizes.h"

namespace optiling {

/* A structure of the kernel, as host code fills it. */
#define ASCENDC_HOST_TILING(Name, FIELDS, FIELD)                                                   \
    struct Name : ::Name {                                                                         \
        size_t GetDataSize() const { return sizeof(::Name); }                                      \
        void SaveToBuffer(void *target, size_t capacity) const                                     \
        {                                                                                          \
            std::memcpy(target, static_cast<const ::Name *>(this),                                 \
                        std::min(capacity, GetDataSize()));                                        \
        }                                                                                          \
        FIELDS(FIELD)                                                                              \
    };
#define ASCENDC_CUBE_FIELD(name)                                                                   \
    int32_t get_##name() const { return name; }                                                    \
    void set_##name(int32_t value) { name = value; }
#define ASCENDC_SOFTMAX_FIELD(name)                                                                \
    uint32_t get_##name() const { return name; }                                                   \
    void set_##name(uint32_t value) { name = value; }
ASCENDC_HOST_TILING(TCubeTiling, ASCENDC_CUBE_FIELDS, ASCENDC_CUBE_FIELD)
ASCENDC_HOST_TILING(SoftMaxTiling, ASCENDC_SOFTMAX_FIELDS, ASCENDC_SOFTMAX_FIELD)
ASCENDC_HOST_TILING(LogSoftMaxTiling, ASCENDC_SOFTMAX_FIELDS, ASCENDC_SOFTMAX_FIELD)
ASCENDC_HOST_TILING(PadTiling, ASCENDC_PAD_FIELDS, ASCENDC_SOFTMAX_FIELD)
ASCENDC_HOST_TILING(UnPadTiling, ASCENDC_UNPAD_FIELDS, ASCENDC_SOFTMAX_FIELD)
#define ASCENDC_NO_FIELDS(X)
ASCENDC_HOST_TILING(LayerNormTiling, ASCENDC_NO_FIELDS, )
ASCENDC_HOST_TILING(LayerNormSeparateTiling, ASCENDC_NO_FIELDS, )
ASCENDC_HOST_TILING(LayerNormGradTiling, ASCENDC_NO_FIELDS, )
ASCENDC_HOST_TILING(LayerNormGradBetaTiling, ASCENDC_NO_FIELDS, )
ASCENDC_HOST_TILING(TopkTiling, ASCENDC_NO_FIELDS, )
#undef ASCENDC_NO_FIELDS
#undef ASCENDC_SOFTMAX_FIELD
#undef ASCENDC_CUBE_FIELD
#undef ASCENDC_HOST_TILING

}  // namespace optiling

/* The names of newer releases. */
namespace AscendC::tiling {
using ::LayerNormGradBetaTiling;
using ::LayerNormGradTiling;
using ::LayerNormSeparateTiling;
using ::LayerNormTiling;
using ::LogSoftMaxTiling;
using ::SoftMaxTiling;
using ::TCubeTiling;
using ::TopkTiling;
}  // namespace AscendC::tiling

namespace matmul_tiling {

enum class TPosition { GM, A1, A2, B1, B2, C1, C2, CO1, CO2, VECIN, VECOUT, VECCALC, TSCM };
enum class CubeFormat { ND = 0, NZ, ZN, ZZ, NN };
enum class DataType {
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_BFLOAT16 = 27,
    DT_BF16 = DT_BFLOAT16
};
enum class MatrixTraverse { NOSET = 0, FIRSTM, FIRSTN };
enum class DequantType { SCALAR = 0, TENSOR };

class MatmulApiTilingBase {
 public:
    MatmulApiTilingBase() = default;
    explicit MatmulApiTilingBase(const platform_ascendc::PlatformAscendC &) {}

#define ASCENDC_TYPE(Name, field)                                                                  \
    int32_t Set##Name(TPosition, CubeFormat, DataType type, bool = false)                          \
    {                                                                                              \
        field = type;                                                                              \
        return 0;                                                                                  \
    }
    ASCENDC_TYPE(AType, a_)
    ASCENDC_TYPE(BType, b_)
    ASCENDC_TYPE(CType, c_)
    ASCENDC_TYPE(BiasType, bias_)
#undef ASCENDC_TYPE

    int32_t SetDequantType(DequantType) { return 0; }
    int32_t SetShape(int32_t m, int32_t n, int32_t k) { return Set({m, n, k}, shape_); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t k) { return SetOrgShape(m, n, k, k); }
    int32_t SetOrgShape(int32_t m, int32_t n, int32_t ka, int32_t kb)
    {
        inner_of_b_ = kb;
        return Set({m, n, ka}, whole_);
    }
    /* Blocks of a step; -1 leaves a length to the function. */
    int32_t SetFixSplit(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        return Set({m, n, k}, fixed_);
    }
    int32_t SetBufferSpace(int32_t = -1, int32_t = -1, int32_t = -1, int32_t = -1) { return 0; }
    int32_t SetTraverse(MatrixTraverse order)
    {
        tiling_.iterateOrder = order == MatrixTraverse::FIRSTN ? 1 : 0;
        return 0;
    }
    int32_t EnableBias(bool has) { return SetBias(has); }
    int32_t SetBias(bool has)
    {
        tiling_.isBias = has ? 1 : 0;
        return 0;
    }
    int32_t GetBaseM() const { return tiling_.baseM; }
    int32_t GetBaseN() const { return tiling_.baseN; }
    int32_t GetBaseK() const { return tiling_.baseK; }

    /* Returns -1 if there is no tiling. */
    int64_t GetTiling(optiling::TCubeTiling &target)
    {
        /* The shape is the whole one, unless one is given. */
        const Lengths &whole = whole_[0] > 0 ? whole_ : shape_;
        const Lengths &shape = shape_[0] > 0 ? shape_ : whole_;
        if (*std::min_element(whole.begin(), whole.end()) <= 0 ||
            *std::min_element(shape.begin(), shape.end()) <= 0) {
            return -1;
        }
        ::TCubeTiling &t = tiling_;
        const Lengths piece = Split(shape);
        if (t.usedCoreNum == 0) {
            return -1; /* the pieces that were set need more cores */
        }
        t.M = whole[0];
        t.N = whole[1];
        t.Ka = whole[2];
        t.Kb = inner_of_b_ > 0 ? inner_of_b_ : whole[2];
        t.singleCoreM = piece[0];
        t.singleCoreN = piece[1];
        t.singleCoreK = piece[2];
        const int32_t most[] = {128, 128, a_ == DataType::DT_FLOAT ? 32 : 64};
        int32_t base[3];
        for (size_t axis = 0; axis < 3; axis++) {
            base[axis] = fixed_[axis] > 0 ? fixed_[axis]
                                          : std::min(most[axis], (piece[axis] + 15) / 16 * 16);
            if (base[axis] % 16 != 0) {
                return -1;
            }
        }
        t.baseM = base[0];
        t.baseN = base[1];
        t.baseK = base[2];
        t.depthA1 = t.depthB1 = t.stepM = t.stepN = t.stepKa = t.stepKb = t.dbL0C = 1;
        t.dbL0A = t.dbL0B = 2;
        t.shareL0CSize = t.baseM * t.baseN * 4;
        t.transLength = t.shareL0CSize;
        static_cast<::TCubeTiling &>(target) = t;
        return 0;
    }

 protected:
    using Lengths = std::array<int32_t, 3>; /* m, n, k */

    static int32_t Set(const Lengths &values, Lengths &lengths)
    {
        lengths = values;
        return 0;
    }

    /* Cores divide rows first, then columns, in steps of 16. Returns the piece of one. */
    Lengths Split(const Lengths &shape)
    {
        const auto pieces = [](int32_t length, int32_t piece) {
            return (length + piece - 1) / piece;
        };
        Lengths best = shape;
        tiling_.usedCoreNum = 0;
        for (int32_t down = 1; down <= cores_; down++) {
            const int32_t across = cores_ / down;
            const int32_t high =
                single_[0] > 0 ? single_[0] : (pieces(shape[0], down) + 15) / 16 * 16;
            const int32_t wide =
                single_[1] > 0 ? single_[1] : (pieces(shape[1], across) + 15) / 16 * 16;
            const int32_t used = pieces(shape[0], high) * pieces(shape[1], wide);
            if (used <= cores_ && used >= tiling_.usedCoreNum) {
                tiling_.usedCoreNum = used;
                best = {std::min(high, shape[0]), std::min(wide, shape[1]), shape[2]};
            }
        }
        return best;
    }

    int32_t cores_ = 1;
    Lengths single_{-1, -1, -1}; /* of a core, where that is set */
    ::TCubeTiling tiling_;
    Lengths whole_{-1, -1, -1}, shape_{-1, -1, -1}, fixed_{-1, -1, -1};
    int32_t inner_of_b_ = -1;
    DataType a_ = DataType::DT_FLOAT16, b_ = DataType::DT_FLOAT16, c_ = DataType::DT_FLOAT;
    DataType bias_ = DataType::DT_FLOAT;
    friend class MultiCoreMatmulTiling;
};

/* For one core. */
class MatmulApiTiling : public MatmulApiTilingBase {
 public:
    using MatmulApiTilingBase::MatmulApiTilingBase;
};

/* For several. */
class MultiCoreMatmulTiling : public MatmulApiTilingBase {
 public:
    using MatmulApiTilingBase::MatmulApiTilingBase;

    int32_t SetDim(int32_t cores)
    {
        cores_ = cores;
        return cores > 0 ? 0 : -1;
    }
    int32_t SetSingleShape(int32_t m = -1, int32_t n = -1, int32_t k = -1)
    {
        return Set({m, n, k}, single_);
    }
    int32_t GetCoreNum(int32_t &dim, int32_t &mDim, int32_t &nDim) const
    {
        const ::TCubeTiling &t = tiling_;
        if (t.usedCoreNum <= 0) {
            return -1;
        }
        dim = t.usedCoreNum;
        mDim = (t.M + t.singleCoreM - 1) / t.singleCoreM;
        nDim = dim / mDim;
        return 0;
    }
    int32_t GetSingleShape(int32_t &m, int32_t &n, int32_t &k) const
    {
        m = tiling_.singleCoreM;
        n = tiling_.singleCoreN;
        k = tiling_.singleCoreK;
        return 0;
    }
};

}  // namespace matmul_tiling
