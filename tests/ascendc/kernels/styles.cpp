/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels in styles of operator libraries: templates, lists of tensors, tiling keys, batches. */
#include "ascendc/host_api/tiling/template_argument.h"
#include "kernel_operator_list_tensor_intf.h"
#include "kernel_tpipe_impl.h"
#include "lib/matmul_intf.h"

ASCENDC_TPL_ARGS_DECL(Scaled, ASCENDC_TPL_UINT_DECL(dtype, 8, ASCENDC_TPL_UI_LIST, 0, 3));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(dtype, ASCENDC_TPL_UI_LIST, 0, 3)));

template <typename T>
__aicore__ inline void Scale(__gm__ T *x, __gm__ T *y, uint32_t n, T by)
{
    GlobalTensor<T> from, to;
    from.SetGlobalBuffer(x, n);
    to.SetGlobalBuffer(y, n);
    TPipe *pipe = GetTPipePtr();
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    pipe->InitBuffer(in, 1, n * sizeof(T));
    pipe->InitBuffer(out, 1, n * sizeof(T));
    const DataCopyExtParams row{1, static_cast<uint32_t>(n * sizeof(T)), 0, 0, 0};
    LocalTensor<T> a = in.template AllocTensor<T>();
    DataCopyPad(a, from, row, DataCopyPadExtParams<T>{false, 0, 0, 0});
    in.EnQue(a);
    a = in.template DeQue<T>();
    LocalTensor<T> b = out.template AllocTensor<T>();
    Muls(b, a, by, n);
    in.FreeTensor(a);
    out.EnQue(b);
    b = out.template DeQue<T>();
    DataCopyPad(to, b, row);
    out.FreeTensor(b);
    pipe->Reset();
}

template <uint32_t dtype>
__global__ __aicore__ void scaled(GM_ADDR x, GM_ADDR y, const uint32_t n)
{
    TPipe pipe;
    if constexpr (dtype == C_DT_FLOAT) {
        Scale<float>((__gm__ float *)x, (__gm__ float *)y, n, 2.0F);
    } else {
        Scale<int32_t>((__gm__ int32_t *)x, (__gm__ int32_t *)y, n, 3);
    }
}

struct ListTiling {
    uint32_t lengths[2], last;
};

extern "C" __global__ __aicore__ void scale_list(__gm__ uint8_t *__restrict__ x, GM_ADDR y,
                                                 GM_ADDR workspace, GM_ADDR tiling)
{
    TPipe pipe;
    const auto *list = reinterpret_cast<__gm__ uint64_t *>(x);
    ListTensorDesc results(reinterpret_cast<__gm__ void *>(y));
    GET_TILING_DATA_PTR_WITH_STRUCT(ListTiling, data, tiling);
    for (uint16_t i = 0; i < 2; i++) {
        auto *tensor = reinterpret_cast<__gm__ float *>(list[*list / 8 + i]);
        Scale<float>(tensor, results.GetDataPtr<float>(i), data->lengths[i], 2.0F);
    }
    results.GetDataPtr<float>(static_cast<uint16_t>(data->last));
}

struct KeyedTiling {
    uint32_t number;
};

extern "C" __global__ __aicore__ void keyed(GM_ADDR x)
{
    REGISTER_TILING_DEFAULT(ListTiling);
    REGISTER_TILING_FOR_TILINGKEY("TILING_KEY_VAR == 7", KeyedTiling);
    if (TILING_KEY_IS(7)) {
        GlobalTensor<float> to;
        to.SetGlobalBuffer((__gm__ float *)x, 1);
        to.SetValue(0, 7.0F);
    }
}

/* A scalar's write is ordered by the scalar unit's event, and by no other. */
extern "C" __global__ __aicore__ void set_value(GM_ADDR x, const uint32_t wrong)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    pipe.InitBuffer(memory, 32);
    LocalTensor<float> values = memory.Get<float>();
    GlobalTensor<float> to;
    to.SetGlobalBuffer((__gm__ float *)x, 1);
    if (wrong != 0) {
        Duplicate(values, 1.0F, 8);
    }
    if (wrong == 0) {
        values.SetValue(0, 5.0F);
    }
    TQueSync<PIPE_S, PIPE_MTE3> order;
    order.SetFlag(0);
    order.WaitFlag(0);
    DataCopyPad(to, values, DataCopyExtParams{1, 4, 0, 0, 0});
}

/* Products of heads that lie side by side; a matrix of B is shared by two of A. */
extern "C" __global__ __aicore__ void scores(GM_ADDR q, GM_ADDR k, GM_ADDR s, uint32_t batch_b,
                                             GM_ADDR workspace, GM_ADDR tiling)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_1);
    GET_TILING_DATA_WITH_STRUCT(TCubeTiling, cube, tiling);
    TPipe pipe;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half, false, LayoutMode::BSNGD>,
           MatmulType<TPosition::GM, CubeFormat::ND, half, true, LayoutMode::BSNGD>,
           MatmulType<TPosition::GM, CubeFormat::ND, float, false, LayoutMode::BNGS1S2>>
        product;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), product, &cube);
    GlobalTensor<half> a, b;
    GlobalTensor<float> c;
    a.SetGlobalBuffer((__gm__ half *)q);
    b.SetGlobalBuffer((__gm__ half *)k);
    c.SetGlobalBuffer((__gm__ float *)s);
    product.SetTensorA(a);
    product.SetTensorB(b, true);
    product.IterateBatch(c, 4, batch_b, false);
    product.End();
}
