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
enum class LayoutMode : uint8_t { NONE = 0, BSNGD, SBNGD, BNGS1S2, NORMAL };

struct MatmulConfig {
    bool doNorm = false, doMultiDataLoad = false, doBasicBlock = false;
};
inline constexpr MatmulConfig CFG_NORM{true, false, false}, CFG_MDL{false, true, false};

/* Configurations with flags of how the product is computed, none of which changes it. */
template <typename... Flags> constexpr MatmulConfig GetNormalConfig(Flags...)
{
    static_assert((std::is_same_v<Flags, bool> && ...), "only flags are simulated");
    return CFG_NORM;
}
template <typename... Flags> constexpr MatmulConfig GetMDLConfig(Flags...)
{
    static_assert((std::is_same_v<Flags, bool> && ...), "only flags are simulated");
    return CFG_MDL;
}

namespace AscendC {

using ::CubeFormat;
using ::LayoutMode;

template <TPosition position, CubeFormat format_, typename Element, bool transposed = false,
          LayoutMode layout_ = LayoutMode::NONE, bool shared = false>
struct MatmulType {
    using T = Element;
    static constexpr TPosition pos = position;
    static constexpr CubeFormat format = format_;
    static constexpr bool isTrans = transposed;
};

namespace emulation {

/* A matrix in memory, row by row or in fractals. */
template <typename T> struct Matrix {
    std::optional<GlobalTensor<T>> global;
    std::optional<LocalTensor<T>> local;
    bool transposed = false;

    T Load(const Call &call, const char *name, uint64_t index) const
    {
        if (local) {
            const pipe_t reader = PlaceOf(local->GetPosition()).consumer;
            return Operand<T>(call, name, *local, reader).ReadByScalar().Load(index);
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
                     format == CubeFormat::NZ ? column / width * AlignUp(high, 16) * width +
                                                    row * width + column % width
                                              : row * wide + column));
        }
        return values;
    }
};

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
                  emulation::PutOut(call, c, at, value, how);
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
                sum += static_cast<Sum>(bias_.Load(call, "bias", i % n_));
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
            const uint64_t length = sequential ? AlignUp(wide, Width) : columns;
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
