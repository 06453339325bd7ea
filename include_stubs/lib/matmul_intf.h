/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matmul: products of whole matrices, block by block in the tiling's order. Products of a step are
 * added in float, or in int64_t, and rounded once.
 */
#pragma once

#include <optional>
#include <vector>

#include "ascendc/block.h"
#include "ascendc/matrix.h"
#include "ascendc/pipe.h"
#include "kernel_tiling/kernel_tiling.h"

enum class CubeFormat : uint8_t { ND = 0, NZ, ZN, ZZ, NN, ND_ALIGN, SCALAR, VECTOR };
enum class BatchMode : uint8_t {
    NONE = 0, BATCH_LESS_THAN_L1, BATCH_LARGE_THAN_L1, SINGLE_LARGE_THAN_L1
};
enum class LayoutMode : uint8_t { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };

struct MatmulConfig {
    bool doNorm = false, doMultiDataLoad = false, doBasicBlock = false;
};
inline constexpr MatmulConfig CFG_NORM{true, false, false}, CFG_MDL{false, true, false};
inline constexpr MatmulConfig CFG_IBSHARE_NORM = CFG_NORM;

/* Configurations with flags of how the product is computed, none of which changes it. */
template <typename... Flags> constexpr MatmulConfig GetNormalConfig(Flags...)
{
    static_assert(((std::is_same_v<Flags, bool> || std::is_same_v<Flags, BatchMode>) && ...),
                  "only flags are simulated");
    return CFG_NORM;
}
template <typename... Flags> constexpr MatmulConfig GetIBShareNormConfig(Flags... flags)
{
    return GetNormalConfig(flags...);
}
template <typename... Flags> constexpr MatmulConfig GetMDLConfig(Flags...)
{
    static_assert((std::is_same_v<Flags, bool> && ...), "only flags are simulated");
    return CFG_MDL;
}

namespace AscendC {

using ::BatchMode;
using ::CubeFormat;
using ::LayoutMode;

template <TPosition position, CubeFormat format_, typename Element, bool transposed = false,
          LayoutMode layout_ = LayoutMode::NONE, bool shared = false>
struct MatmulType {
    using T = Element;
    static constexpr TPosition pos = position;
    static constexpr CubeFormat format = format_;
    static constexpr bool isTrans = transposed;
    static constexpr LayoutMode layout = layout_;
};

namespace emulation {

/* A matrix in memory, row by row or in fractals. */
template <typename T> struct Matrix {
    std::optional<GlobalTensor<T>> global;
    std::optional<LocalTensor<T>> local;
    bool transposed = false;
    uint64_t first = 0, step = 0; /* of a batch: its first element, and from row to row */

    T Load(const Call &call, const char *name, uint64_t index) const
    {
        if (local) {
            const pipe_t reader = PlaceOf(local->GetPosition()).consumer;
            return Operand<T>(call, name, *local, reader).ByScalar().Load(index);
        }
        if (!global) {
            call.Fail(rule::Tiling, Text("%s was never set", name));
        }
        T value;
        std::memcpy(&value, global->Read(call, name, index * sizeof(T), sizeof(T)), sizeof(T));
        return value;
    }

    /* The first rows and columns of a matrix that has so many in memory. */
    template <typename Sum>
    std::vector<Sum> Read(const Call &call, const char *name, CubeFormat format, uint64_t rows,
                          uint64_t columns, uint64_t all_rows, uint64_t all_columns) const
    {
        std::vector<Sum> values(rows * columns);
        constexpr uint64_t width = BlockBytes / sizeof(T);
        for (uint64_t i = 0; i < values.size(); i++) {
            uint64_t row = i / columns, column = i % columns, high = all_rows, wide = all_columns;
            if (transposed) {
                std::swap(row, column);
                std::swap(high, wide);
            }
            values[i] = static_cast<Sum>(
                Load(call, name,
                     first + (format == CubeFormat::NZ
                                  ? column / width * AlignUp(high, 16) * width + row * width +
                                        column % width
                                  : row * (step != 0 ? step : wide) + column)));
        }
        return values;
    }
};

/* Places matrix i of a batch: one behind the other, or rows of all of them side by side. */
template <LayoutMode layout, typename T>
void PlaceMatrix(const Call &call, Matrix<T> &matrix, uint64_t i, uint64_t elements, int32_t heads,
                 int32_t groups, int32_t rows, int32_t width)
{
    if constexpr (layout == LayoutMode::NORMAL || layout == LayoutMode::NONE) {
        matrix.first = i * elements;
        return;
    }
    if (heads <= 0 || groups <= 0 || rows <= 0 || width <= 0) {
        call.Fail(rule::Tiling, "the tiling has no layout of a batch: SetALayout, SetBLayout and "
                                "SetCLayout are missing");
    }
    const auto s = static_cast<uint64_t>(rows), d = static_cast<uint64_t>(width);
    const uint64_t inner = static_cast<uint64_t>(heads) * static_cast<uint64_t>(groups);
    const uint64_t outer = i / inner;
    if (layout == LayoutMode::BSNGD) {
        matrix.first = outer * s * inner * d + i % inner * d;
        matrix.step = inner * d;
    } else if (layout == LayoutMode::BNGS1S2) {
        matrix.first = i * s * d;
    } else {
        call.Fail(rule::Dtype, "a batch of layout SBNGD is not simulated: use BSNGD or NORMAL");
    }
}

}  // namespace emulation

template <typename A, typename B, typename C, typename Bias = C,
          const MatmulConfig &config = CFG_NORM, typename... More>
class Matmul {
    using Sum = std::conditional_t<std::is_integral_v<typename A::T>, int64_t, float>;

 public:
    void Init(const TCubeTiling *tiling, TPipe * = nullptr)
    {
        tiling_ = *tiling;
        SetTail(tiling->singleCoreM, tiling->singleCoreN, tiling->singleCoreK);
    }
    void SetSubBlockIdx(uint8_t) {}
    void SetWorkspace(const GlobalTensor<uint8_t> &) {}
    void SetWorkspace(__gm__ const uint8_t *, int = 0) {}
    void SetLocalWorkspace(const LocalTensor<uint8_t> &) {}
    void SetHF32(bool, int32_t = 0) {}
    void SetQuantScalar(uint64_t scale) { scale_ = scale; }
    void SetOrgShape(int m, int n, int k) { SetOrgShape(m, n, k, k); }
    void SetOrgShape(int m, int n, int ka, int kb, int = 0)
    {
        tiling_.M = m;
        tiling_.N = n;
        tiling_.Ka = ka;
        tiling_.Kb = kb;
    }
    void SetSingleShape(int m, int n, int k) { SetTail(m, n, k); }
    void SetTail(int m = -1, int n = -1, int k = -1)
    {
        m_ = m >= 0 ? static_cast<uint64_t>(m) : m_;
        n_ = n >= 0 ? static_cast<uint64_t>(n) : n_;
        k_ = k >= 0 ? static_cast<uint64_t>(k) : k_;
        step_ = 0;
    }
    void SetTensorA(const GlobalTensor<typename A::T> &a, bool isTransposeA = A::isTrans)
    {
        Set(a_, {a, {}, isTransposeA});
    }
    void SetTensorA(const LocalTensor<typename A::T> &a, bool isTransposeA = A::isTrans)
    {
        Set(a_, {{}, a, isTransposeA});
    }
    void SetTensorB(const GlobalTensor<typename B::T> &b, bool isTransposeB = B::isTrans)
    {
        Set(b_, {b, {}, isTransposeB});
    }
    void SetTensorB(const LocalTensor<typename B::T> &b, bool isTransposeB = B::isTrans)
    {
        Set(b_, {{}, b, isTransposeB});
    }
    void SetBias(const GlobalTensor<typename Bias::T> &bias) { Set(bias_, {bias, {}, false}); }
    void SetBias(const LocalTensor<typename Bias::T> &bias) { Set(bias_, {{}, bias, false}); }
    void ClearBias() { Set(bias_, {}); }
    void DisableBias() { ClearBias(); }

    /* Computes the next block; false when there is none. */
    template <bool sync = true>
    bool Iterate(bool enPartialSum = false, emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("Matmul::Iterate", site);
        const uint64_t high = Step(call, tiling_.baseM, "baseM");
        const uint64_t wide = Step(call, tiling_.baseN, "baseN");
        const uint64_t down = DivCeil(m_, high), across = DivCeil(n_, wide);
        if (step_ == down * across) {
            return false;
        }
        if (step_ == 0) {
            Load(call, enPartialSum);
        }
        const bool rows_first = tiling_.iterateOrder == 0;
        row_ = (rows_first ? step_ % down : step_ / across) * high;
        column_ = (rows_first ? step_ / down : step_ % across) * wide;
        step_++;
        return true;
    }

    template <bool sync = true>
    void GetTensorC(const GlobalTensor<typename C::T> &c, uint8_t enAtomic = 0,
                    bool enSequentialWrite = false, emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("Matmul::GetTensorC", site);
        const auto how = enAtomic == 0 ? emulation::Core::Current().atomic
                                       : static_cast<emulation::Atomic>(enAtomic);
        Block(enSequentialWrite, C::format, static_cast<uint64_t>(tiling_.N),
              [&](uint64_t at, typename C::T value) {
                  emulation::PutOut(call, c, c_.first + at, value, how);
              });
    }

    template <bool sync = true>
    void GetTensorC(const LocalTensor<typename C::T> &c, uint8_t = 0, bool = true,
                    emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("Matmul::GetTensorC", site);
        const emulation::Operand<typename C::T> to(call, "co2Local", c);
        Block(true, C::format, 0,
              [&](uint64_t at, typename C::T value) { to.Store(at, value); });
    }

    template <bool sync = true, typename Tensor>
    void IterateAll(const Tensor &c, uint8_t enAtomic = 0, bool enSequentialWrite = false,
                    bool = false, bool = false, emulation::Site site = emulation::Site::Here())
    {
        step_ = 0;
        while (Iterate(false, site)) {
            GetTensorC(c, enAtomic, enSequentialWrite, site);
        }
    }
    /*
     * Products of matrices that lie in memory by the layout of their types. The smaller batch is
     * repeated: each of its matrices for consecutive ones of the larger.
     */
    template <bool sync = true, bool waitIterateBatch = false>
    void IterateBatch(const GlobalTensor<typename C::T> &c, uint32_t batchA, uint32_t batchB,
                      bool enSequentialWrite, uint32_t matrixStrideA = 0,
                      uint32_t matrixStrideB = 0, uint32_t matrixStrideC = 0,
                      bool enPartialSum = false, uint8_t enAtomic = 0,
                      emulation::Site site = emulation::Site::Here())
    {
        const emulation::Call call("Matmul::IterateBatch", site);
        const uint32_t batch = std::max(batchA, batchB), least = std::min(batchA, batchB);
        if (least == 0 || batch % least != 0) {
            call.Fail(emulation::rule::Bounds,
                      emulation::Text("batchA is %u and batchB %u; one must be a multiple of the "
                                      "other",
                                      batchA, batchB));
        }
        if (matrixStrideA + matrixStrideB + matrixStrideC != 0 || enPartialSum ||
            enSequentialWrite) {
            call.Fail(emulation::rule::Dtype, "strides between matrices, partial sums and "
                                              "sequential writes are not simulated: leave them 0");
        }
        const bool biased = bias_.global || bias_.local;
        const auto m = static_cast<uint64_t>(tiling_.M), n = static_cast<uint64_t>(tiling_.N);
        for (uint32_t i = 0; i < batch; i++) {
            emulation::PlaceMatrix<A::layout>(call, a_, uint64_t{i} * batchA / batch,
                                              m * static_cast<uint64_t>(tiling_.Ka),
                                              tiling_.ALayoutInfoN, tiling_.ALayoutInfoG,
                                              tiling_.ALayoutInfoS, tiling_.ALayoutInfoD);
            emulation::PlaceMatrix<B::layout>(call, b_, uint64_t{i} * batchB / batch,
                                              static_cast<uint64_t>(tiling_.Kb) * n,
                                              tiling_.BLayoutInfoN, tiling_.BLayoutInfoG,
                                              tiling_.BLayoutInfoS, tiling_.BLayoutInfoD);
            emulation::PlaceMatrix<C::layout>(call, c_, i, m * n, tiling_.CLayoutInfoN,
                                              tiling_.CLayoutInfoG, tiling_.CLayoutInfoS1,
                                              tiling_.CLayoutInfoS2);
            bias_.first = biased ? i * n : 0;
            IterateAll(c, enAtomic, false, false, false, site);
        }
        a_.first = b_.first = c_.first = bias_.first = a_.step = b_.step = c_.step = 0;
    }

    void WaitIterateBatch() {}
    void WaitIterateAll() {}
    void End() {}

 private:
    template <typename M> void Set(M &matrix, const M &value)
    {
        matrix = value;
        step_ = 0;
    }

    static uint64_t Step(const emulation::Call &call, int32_t value, const char *name)
    {
        if (value <= 0) {
            call.Fail(emulation::rule::Tiling,
                      emulation::Text("%s of the tiling is %d; it must be positive", name, value));
        }
        return static_cast<uint64_t>(value);
    }

    /* The whole product of this core. */
    void Load(const emulation::Call &call, bool adds)
    {
        const auto rows = static_cast<uint64_t>(tiling_.M);
        const auto columns = static_cast<uint64_t>(tiling_.N);
        const auto a = a_.template Read<Sum>(call, "A", A::format, m_, k_, rows,
                                             static_cast<uint64_t>(tiling_.Ka));
        const auto b = b_.template Read<Sum>(call, "B", B::format, k_, n_,
                                             static_cast<uint64_t>(tiling_.Kb), columns);
        if (!adds || sums_.size() != m_ * n_) {
            sums_.assign(m_ * n_, Sum(0));
        }
        for (uint64_t i = 0; i < sums_.size(); i++) {
            Sum sum = sums_[i];
            for (uint64_t k = 0; k < k_; k++) {
                sum += a[i / n_ * k_ + k] * b[k * n_ + i % n_];
            }
            if (bias_.global || bias_.local) {
                sum += static_cast<Sum>(bias_.Load(call, "bias", bias_.first + i % n_));
            }
            sums_[i] = sum;
        }
    }

    /* Calls store(place, value) for the block of the last Iterate. */
    template <typename F> void Block(bool sequential, CubeFormat format, uint64_t columns, F store)
    {
        const auto base_m = static_cast<uint64_t>(tiling_.baseM);
        const auto base_n = static_cast<uint64_t>(tiling_.baseN);
        const uint64_t high = std::min(base_m, m_ - row_), wide = std::min(base_n, n_ - column_);
        constexpr uint64_t Width = emulation::BlockBytes / sizeof(typename C::T);
        const QuantMode_t mode = scale_ != 0 ? DEQF16 : NoQuant;
        for (uint64_t i = 0; i < high * wide; i++) {
            const uint64_t row = i / wide, column = i % wide;
            const uint64_t r = sequential ? row : row_ + row;
            const uint64_t c = sequential ? column : column_ + column;
            const uint64_t length = sequential   ? AlignUp(wide, Width)
                                    : c_.step != 0 ? c_.step
                                                   : columns;
            const uint64_t rows =
                sequential ? AlignUp(high, 16) : static_cast<uint64_t>(tiling_.M);
            store(format == CubeFormat::NZ ? c / 16 * AlignUp(rows, 16) * 16 + r * 16 + c % 16
                                           : r * length + c,
                  emulation::FixpipeValue<typename C::T>(
                      sums_[(row_ + row) * n_ + column_ + column], mode, scale_, false));
        }
    }

    TCubeTiling tiling_;
    emulation::Matrix<typename A::T> a_;
    emulation::Matrix<typename B::T> b_;
    emulation::Matrix<typename Bias::T> bias_;
    emulation::Matrix<typename C::T> c_; /* where it lies */
    std::vector<Sum> sums_;
    uint64_t m_ = 0, n_ = 0, k_ = 0, step_ = 0, row_ = 0, column_ = 0, scale_ = 0;
};

template <typename A, typename B, typename C, typename Bias = C,
          const MatmulConfig &config = CFG_NORM, typename... More>
using MatmulImpl = Matmul<A, B, C, Bias, config, More...>;

namespace emulation {

inline void InitObjects(TPipe *) {}
template <typename Object, typename Tiling, typename... Rest>
void InitObjects(TPipe *pipe, Object &object, Tiling *tiling, Rest &&...rest)
{
    if (tiling != nullptr) {
        object.Init(tiling, pipe);
    }
    InitObjects(pipe, rest...);
}

}  // namespace emulation

}  // namespace AscendC

namespace matmul {
using AscendC::Matmul;
using AscendC::MatmulImpl;
using AscendC::MatmulType;
}  // namespace matmul

using namespace AscendC;

/* Where vector cores have a cube core, it works for them, and its own program ends here. */
#define REGIST_MATMUL_OBJ(pipe, workspace, ...)                                                    \
    static_cast<void>(workspace);                                                                  \
    if (AscendC::emulation::Core::Current().cube &&                                                \
        AscendC::emulation::Core::Current().mixed != 0) {                                          \
        return;                                                                                    \
    }                                                                                              \
    AscendC::emulation::InitObjects(pipe, __VA_ARGS__)
