/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer norm kernel: every block normalizes its share of the rows in one call of
 * AscendC::LayerNorm, with temporary memory of the framework's. The tiling is that of one block.
 */
#include "kernel_operator.h"

struct KernelTiling {
    LayerNormTiling layerNorm;
    float epsilon;
};

class LayerNormKernel {
 public:
    __aicore__ inline LayerNormKernel(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                      GM_ADDR mean, GM_ADDR variance, const KernelTiling &tiling)
        : tiling_(tiling), rows_(tiling.layerNorm.bLength * tiling.layerNorm.sLength),
          h_(tiling.layerNorm.hLength)
    {
        const uint32_t block = AscendC::GetBlockIdx();
        x_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x) + block * rows_ * h_, rows_ * h_);
        y_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(y) + block * rows_ * h_, rows_ * h_);
        gamma_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(gamma), h_);
        beta_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(beta), h_);
        mean_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(mean) + block * rows_, rows_);
        variance_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(variance) + block * rows_,
                                  rows_);
        pipe_.InitBuffer(xQueue_, 1, rows_ * h_ * sizeof(float));
        pipe_.InitBuffer(weightQueue_, 1, 2 * h_ * sizeof(float));
        pipe_.InitBuffer(yQueue_, 1, rows_ * h_ * sizeof(float));
        pipe_.InitBuffer(meanQueue_, 1, rows_ * sizeof(float));
        pipe_.InitBuffer(varianceQueue_, 1, rows_ * sizeof(float));
    }

    __aicore__ inline void Process()
    {
        CopyIn();
        Compute();
        CopyOut();
    }

 private:
    __aicore__ inline void CopyIn()
    {
        AscendC::LocalTensor<float> x = xQueue_.AllocTensor<float>();
        AscendC::LocalTensor<float> weights = weightQueue_.AllocTensor<float>();
        AscendC::DataCopy(x, x_, rows_ * h_);
        AscendC::DataCopy(weights, gamma_, h_);
        AscendC::DataCopy(weights[h_], beta_, h_);
        xQueue_.EnQue(x);
        weightQueue_.EnQue(weights);
    }

    __aicore__ inline void Compute()
    {
        AscendC::LocalTensor<float> x = xQueue_.DeQue<float>();
        AscendC::LocalTensor<float> weights = weightQueue_.DeQue<float>();
        AscendC::LocalTensor<float> y = yQueue_.AllocTensor<float>();
        AscendC::LocalTensor<float> mean = meanQueue_.AllocTensor<float>();
        AscendC::LocalTensor<float> variance = varianceQueue_.AllocTensor<float>();
        AscendC::LayerNorm<float, false>(y, mean, variance, x, weights, weights[h_],
                                         tiling_.epsilon, tiling_.layerNorm);
        yQueue_.EnQue(y);
        meanQueue_.EnQue(mean);
        varianceQueue_.EnQue(variance);
        xQueue_.FreeTensor(x);
#ifndef FORGET
        weightQueue_.FreeTensor(weights);
#endif
    }

    __aicore__ inline void CopyOut()
    {
        AscendC::LocalTensor<float> y = yQueue_.DeQue<float>();
        AscendC::LocalTensor<float> mean = meanQueue_.DeQue<float>();
        AscendC::LocalTensor<float> variance = varianceQueue_.DeQue<float>();
        AscendC::DataCopy(y_, y, rows_ * h_);
        AscendC::DataCopy(mean_, mean, rows_);
        AscendC::DataCopy(variance_, variance, rows_);
        yQueue_.FreeTensor(y);
        meanQueue_.FreeTensor(mean);
        varianceQueue_.FreeTensor(variance);
    }

    KernelTiling tiling_;
    uint32_t rows_, h_;
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> xQueue_, weightQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> yQueue_, meanQueue_, varianceQueue_;
    AscendC::GlobalTensor<float> x_, y_, gamma_, beta_, mean_, variance_;
};

extern "C" __global__ __aicore__ void layer_norm(GM_ADDR x, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                                 GM_ADDR mean, GM_ADDR variance, GM_ADDR tiling)
{
    GET_TILING_DATA_WITH_STRUCT(KernelTiling, data, tiling);
    LayerNormKernel kernel(x, gamma, beta, y, mean, variance, data);
    kernel.Process();
}
