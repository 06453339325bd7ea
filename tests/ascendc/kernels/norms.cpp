/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels around the normalization interfaces. A block works on its share of the rows: the tiling is
 * that of one block. `shared` says how many bytes of temporary memory the kernel passes itself;
 * 0 leaves it to the framework.
 */
#include "kernel_operator.h"

namespace {

using AscendC::GlobalTensor;
using AscendC::LocalTensor;
using AscendC::TPosition;

/* One tensor of a kernel: its place in global memory and its queue. */
template <typename T, TPosition position> struct Port {
    GlobalTensor<T> global;
    AscendC::TQue<position, 1> queue;
    uint32_t size;

    __aicore__ inline void Open(AscendC::TPipe &pipe, GM_ADDR address, uint32_t elements,
                                bool per_block)
    {
        const uint64_t first =
            per_block ? static_cast<uint64_t>(AscendC::GetBlockIdx()) * elements : 0;
        global.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(address) + first, elements);
        pipe.InitBuffer(queue, 1, elements * sizeof(T));
        size = elements;
    }

    __aicore__ inline LocalTensor<T> Read()
    {
        LocalTensor<T> local = queue.template AllocTensor<T>();
        const AscendC::DataCopyExtParams whole{1, size * static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(local, global, whole, AscendC::DataCopyPadExtParams<T>{});
        queue.EnQue(local);
        return queue.template DeQue<T>();
    }

    __aicore__ inline void Write(const LocalTensor<T> &result)
    {
        queue.EnQue(result);
        LocalTensor<T> local = queue.template DeQue<T>();
        const AscendC::DataCopyExtParams whole{1, size * static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
        AscendC::DataCopyPad(global, local, whole);
        queue.FreeTensor(local);
    }
};

template <typename T> using Input = Port<T, TPosition::VECIN>;
template <typename T> using Output = Port<T, TPosition::VECOUT>;

template <typename T, bool reuse>
__aicore__ inline void LayerNormKernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                       GM_ADDR mean, GM_ADDR variance, float epsilon,
                                       uint32_t shared, int32_t wrong, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(LayerNormTiling, t, tiling);
    const uint32_t rows = t.bLength * t.sLength, h = t.hLength;
    AscendC::TPipe pipe;
    Input<T> x_in, gamma_in, beta_in;
    Output<T> y_out, mean_out, variance_out;
    x_in.Open(pipe, x, rows * h, true);
    gamma_in.Open(pipe, gamma, h, false);
    beta_in.Open(pipe, beta, h, false);
    y_out.Open(pipe, y, rows * h, true);
    mean_out.Open(pipe, mean, rows, true);
    variance_out.Open(pipe, variance, rows, true);
    auto xl = x_in.Read(), gl = gamma_in.Read(), bl = beta_in.Read();
    auto yl = y_out.queue.template AllocTensor<T>();
    auto ml = mean_out.queue.template AllocTensor<T>();
    auto vl = variance_out.queue.template AllocTensor<T>();
    const T eps = static_cast<T>(epsilon);
    if (shared != 0) {
        AscendC::TBuf<> buffer;
        pipe.InitBuffer(buffer, shared);
        AscendC::LayerNorm<T, reuse>(yl, ml, vl, xl, gl, bl, buffer.Get<uint8_t>(), eps, t); // shared_layer_norm
    } else {
        AscendC::LayerNorm<T, reuse>(yl, wrong == 1 ? vl : ml, vl, xl, gl, bl, eps, t); // layer_norm
    }
    if (wrong == 2) {
        AscendC::Add(yl, yl, xl, rows * h); // read_again
    }
    x_in.queue.FreeTensor(xl);
    gamma_in.queue.FreeTensor(gl);
    beta_in.queue.FreeTensor(bl);
    y_out.Write(yl);
    mean_out.Write(ml);
    variance_out.Write(vl);
}

constexpr AscendC::LayerNormConfig no_beta{true, false, false};
constexpr AscendC::LayerNormConfig no_gamma{false, true, false};
constexpr AscendC::LayerNormConfig only_output{false, false, true};

template <typename U, typename T, const AscendC::LayerNormConfig &config = AscendC::LNCFG_NORM>
__aicore__ inline void RstdKernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y, GM_ADDR mean,
                                  GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded,
                                  GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(LayerNormSeparateTiling, t, tiling);
    const uint32_t a = t.aLength;
    AscendC::TPipe pipe;
    Input<T> x_in;
    Input<U> gamma_in, beta_in;
    Output<T> y_out;
    Output<float> mean_out, rstd_out;
    x_in.Open(pipe, x, a * padded, true);
    gamma_in.Open(pipe, gamma, padded, false);
    beta_in.Open(pipe, beta, padded, false);
    y_out.Open(pipe, y, a * padded, true);
    mean_out.Open(pipe, mean, a, true);
    rstd_out.Open(pipe, rstd, a, true);
    auto xl = x_in.Read();
    auto gl = gamma_in.Read(), bl = beta_in.Read();
    auto yl = y_out.queue.template AllocTensor<T>();
    auto ml = mean_out.queue.template AllocTensor<float>();
    auto rl = rstd_out.queue.template AllocTensor<float>();
    const AscendC::LayerNormPara para{a, t.rLength, padded};
    if (shared != 0) {
        AscendC::TBuf<> buffer;
        pipe.InitBuffer(buffer, shared);
        AscendC::LayerNorm<U, T, false, config>(yl, ml, rl, xl, gl, bl, epsilon, // shared_rstd
                                                buffer.Get<uint8_t>(), para, t);
    } else {
        AscendC::LayerNorm<U, T, false, config>(yl, ml, rl, xl, gl, bl, epsilon, para, t); // rstd
    }
    x_in.queue.FreeTensor(xl);
    gamma_in.queue.FreeTensor(gl);
    beta_in.queue.FreeTensor(bl);
    y_out.Write(yl);
    mean_out.Write(ml);
    rstd_out.Write(rl);
}

template <typename T, bool reuse>
__aicore__ inline void GradKernel(GM_ADDR dy, GM_ADDR x, GM_ADDR variance, GM_ADDR mean,
                                  GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, float epsilon,
                                  uint32_t shared, GM_ADDR tiling, int32_t again = 0)
{
    GET_TILING_DATA_WITH_STRUCT(LayerNormGradTiling, t, tiling);
    const uint32_t rows = t.bLength * t.sLength, h = t.hLength;
    AscendC::TPipe pipe;
    Input<T> dy_in, x_in, variance_in, mean_in, gamma_in;
    Output<T> pd_x_out, res_out;
    dy_in.Open(pipe, dy, rows * h, true);
    x_in.Open(pipe, x, rows * h, true);
    variance_in.Open(pipe, variance, rows, true);
    mean_in.Open(pipe, mean, rows, true);
    gamma_in.Open(pipe, gamma, h, false);
    pd_x_out.Open(pipe, pd_x, rows * h, true);
    res_out.Open(pipe, res, rows * h, true);
    auto dl = dy_in.Read(), xl = x_in.Read(), vl = variance_in.Read(), ml = mean_in.Read();
    auto gl = gamma_in.Read();
    auto pl = pd_x_out.queue.template AllocTensor<T>();
    auto rl = res_out.queue.template AllocTensor<T>();
    const T eps = static_cast<T>(epsilon);
    if (shared != 0) {
        AscendC::TBuf<> buffer;
        pipe.InitBuffer(buffer, shared);
        auto bytes = buffer.Get<uint8_t>();
        AscendC::LayerNormGrad<T, reuse>(pl, rl, dl, xl, vl, ml, gl, bytes, eps, t); // shared_grad
    } else {
        AscendC::LayerNormGrad<T, reuse>(pl, rl, dl, xl, vl, ml, gl, eps, t, {DataFormat::ND}); // grad
    }
    if (again != 0) {
        AscendC::Add(pl, pl, again == 1 ? dl : xl, rows * h); // read_again_grad
    }
    dy_in.queue.FreeTensor(dl);
    x_in.queue.FreeTensor(xl);
    variance_in.queue.FreeTensor(vl);
    mean_in.queue.FreeTensor(ml);
    gamma_in.queue.FreeTensor(gl);
    pd_x_out.Write(pl);
    res_out.Write(rl);
}

/* Blocks sum their rows into the same gradients; the host has set those to zero. */
template <typename T, bool reuse>
__aicore__ inline void BetaKernel(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma, GM_ADDR pd_beta,
                                  uint32_t shared, GM_ADDR tiling, int32_t again = 0)
{
    GET_TILING_DATA_WITH_STRUCT(LayerNormGradBetaTiling, t, tiling);
    const uint32_t rows = t.bLength * t.sLength, h = t.hLength;
    AscendC::TPipe pipe;
    Input<T> res_in, dy_in;
    Output<T> gamma_out, beta_out;
    res_in.Open(pipe, res, rows * h, true);
    dy_in.Open(pipe, dy, rows * h, true);
    gamma_out.Open(pipe, pd_gamma, h, false);
    beta_out.Open(pipe, pd_beta, h, false);
    auto rl = res_in.Read(), dl = dy_in.Read();
    auto gl = gamma_out.queue.template AllocTensor<T>();
    auto bl = beta_out.queue.template AllocTensor<T>();
    if (shared != 0) {
        AscendC::TBuf<> buffer;
        pipe.InitBuffer(buffer, shared);
        AscendC::LayerNormGradBeta<T, reuse>(gl, bl, rl, dl, buffer.Get<uint8_t>(), t); // shared_beta
    } else {
        AscendC::LayerNormGradBeta<T, reuse>(gl, bl, rl, dl, t); // beta
    }
    if (again != 0) {
        AscendC::Add(gl, gl, again == 1 ? rl : dl, h); // read_again_beta
    }
    res_in.queue.FreeTensor(rl);
    dy_in.queue.FreeTensor(dl);
    AscendC::SetAtomicAdd<T>();
    gamma_out.Write(gl);
    beta_out.Write(bl);
    AscendC::SetAtomicNone();
}

}  // namespace

extern "C" __global__ __aicore__ void layer_norm_half(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta,
    GM_ADDR y, GM_ADDR mean, GM_ADDR variance, float epsilon, uint32_t shared, int32_t wrong,
    GM_ADDR tiling)
{
    LayerNormKernel<half, false>(x, gamma, beta, y, mean, variance, epsilon, shared, wrong,
        tiling);
}

extern "C" __global__ __aicore__ void layer_norm_float(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta,
    GM_ADDR y, GM_ADDR mean, GM_ADDR variance, float epsilon, uint32_t shared, int32_t wrong,
    GM_ADDR tiling)
{
    LayerNormKernel<float, false>(x, gamma, beta, y, mean, variance, epsilon, shared, wrong,
        tiling);
}

extern "C" __global__ __aicore__ void layer_norm_float_reuse(GM_ADDR x, GM_ADDR gamma, GM_ADDR
    beta, GM_ADDR y, GM_ADDR mean, GM_ADDR variance, float epsilon, uint32_t shared, int32_t
    wrong, GM_ADDR tiling)
{
    LayerNormKernel<float, true>(x, gamma, beta, y, mean, variance, epsilon, shared, wrong,
        tiling);
}

extern "C" __global__ __aicore__ void layer_norm_half_reuse(GM_ADDR x, GM_ADDR gamma, GM_ADDR
    beta, GM_ADDR y, GM_ADDR mean, GM_ADDR variance, float epsilon, uint32_t shared, int32_t
    wrong, GM_ADDR tiling)
{
    LayerNormKernel<half, true>(x, gamma, beta, y, mean, variance, epsilon, shared, wrong,
        tiling);
}

extern "C" __global__ __aicore__ void rstd_half(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
    GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded, GM_ADDR tiling)
{
    RstdKernel<half, half>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded, tiling);
}

extern "C" __global__ __aicore__ void rstd_mixed(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR
    y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded, GM_ADDR
    tiling)
{
    RstdKernel<float, half>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded, tiling);
}

extern "C" __global__ __aicore__ void rstd_float(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR
    y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded, GM_ADDR
    tiling)
{
    RstdKernel<float, float>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded, tiling);
}

extern "C" __global__ __aicore__ void rstd_no_beta(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR
    y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded, GM_ADDR
    tiling)
{
    RstdKernel<float, float, no_beta>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded,
        tiling);
}

extern "C" __global__ __aicore__ void rstd_no_gamma(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta,
    GM_ADDR y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded,
    GM_ADDR tiling)
{
    RstdKernel<float, float, no_gamma>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded,
        tiling);
}

extern "C" __global__ __aicore__ void rstd_narrow(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR
    y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded, GM_ADDR
    tiling)
{
    RstdKernel<half, float>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded, tiling);
}

extern "C" __global__ __aicore__ void rstd_only_output(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta,
    GM_ADDR y, GM_ADDR mean, GM_ADDR rstd, float epsilon, uint32_t shared, uint32_t padded,
    GM_ADDR tiling)
{
    RstdKernel<float, float, only_output>(x, gamma, beta, y, mean, rstd, epsilon, shared, padded,
        tiling);
}

extern "C" __global__ __aicore__ void grad_half(GM_ADDR dy, GM_ADDR x, GM_ADDR variance, GM_ADDR
    mean, GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, float epsilon, uint32_t shared, GM_ADDR
    tiling)
{
    GradKernel<half, false>(dy, x, variance, mean, gamma, pd_x, res, epsilon, shared, tiling);
}

extern "C" __global__ __aicore__ void grad_float(GM_ADDR dy, GM_ADDR x, GM_ADDR variance, GM_ADDR
    mean, GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, float epsilon, uint32_t shared, GM_ADDR
    tiling)
{
    GradKernel<float, false>(dy, x, variance, mean, gamma, pd_x, res, epsilon, shared, tiling);
}

extern "C" __global__ __aicore__ void grad_float_reuse(GM_ADDR dy, GM_ADDR x, GM_ADDR variance,
    GM_ADDR mean, GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, float epsilon, uint32_t shared,
    GM_ADDR tiling)
{
    GradKernel<float, true>(dy, x, variance, mean, gamma, pd_x, res, epsilon, shared, tiling);
}

extern "C" __global__ __aicore__ void grad_half_reuse(GM_ADDR dy, GM_ADDR x, GM_ADDR variance,
    GM_ADDR mean, GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, float epsilon, uint32_t shared,
    GM_ADDR tiling)
{
    GradKernel<half, true>(dy, x, variance, mean, gamma, pd_x, res, epsilon, shared, tiling);
}

extern "C" __global__ __aicore__ void beta_half(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma, GM_ADDR
    pd_beta, uint32_t shared, GM_ADDR tiling)
{
    BetaKernel<half, false>(res, dy, pd_gamma, pd_beta, shared, tiling);
}

extern "C" __global__ __aicore__ void beta_float(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma,
    GM_ADDR pd_beta, uint32_t shared, GM_ADDR tiling)
{
    BetaKernel<float, false>(res, dy, pd_gamma, pd_beta, shared, tiling);
}

extern "C" __global__ __aicore__ void beta_float_reuse(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma,
    GM_ADDR pd_beta, uint32_t shared, GM_ADDR tiling)
{
    BetaKernel<float, true>(res, dy, pd_gamma, pd_beta, shared, tiling);
}

extern "C" __global__ __aicore__ void beta_half_reuse(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma,
    GM_ADDR pd_beta, uint32_t shared, GM_ADDR tiling)
{
    BetaKernel<half, true>(res, dy, pd_gamma, pd_beta, shared, tiling);
}

/* `again` reads a source once more after the call: 1 the first one, 2 the second. */
extern "C" __global__ __aicore__ void grad_again(GM_ADDR dy, GM_ADDR x, GM_ADDR variance, GM_ADDR
    mean, GM_ADDR gamma, GM_ADDR pd_x, GM_ADDR res, int32_t reuse, int32_t again, GM_ADDR tiling)
{
    if (reuse != 0) {
        GradKernel<float, true>(dy, x, variance, mean, gamma, pd_x, res, 1e-3F, 0, tiling, again);
    } else {
        GradKernel<float, false>(dy, x, variance, mean, gamma, pd_x, res, 1e-3F, 0, tiling, again);
    }
}

extern "C" __global__ __aicore__ void beta_again(GM_ADDR res, GM_ADDR dy, GM_ADDR pd_gamma, GM_ADDR
    pd_beta, int32_t reuse, int32_t again, GM_ADDR tiling)
{
    if (reuse != 0) {
        BetaKernel<float, true>(res, dy, pd_gamma, pd_beta, 0, tiling, again);
    } else {
        BetaKernel<float, false>(res, dy, pd_gamma, pd_beta, 0, tiling, again);
    }
}
