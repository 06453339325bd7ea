/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of the custom operator. Blocks take rows in turn. A row of any length is padded with
 * zeros to whole blocks of 32 bytes on its way in, and cut on its way out.
 */
#include "kernel_operator.h"

struct AddLayerNormTiling {
    LayerNormTiling layerNorm; /* of one row */
    uint32_t rows;
    float epsilon;
};

class AddLayerNorm {
 public:
    __aicore__ inline AddLayerNorm(GM_ADDR x1, GM_ADDR x2, GM_ADDR gamma, GM_ADDR beta, GM_ADDR y,
                                   const AddLayerNormTiling &tiling)
        : tiling_(tiling), width_(tiling.layerNorm.originalHLength),
          padded_(tiling.layerNorm.hLength)
    {
        Open(x1_, x1, tiling.rows * width_);
        Open(x2_, x2, tiling.rows * width_);
        Open(y_, y, tiling.rows * width_);
        Open(gamma_, gamma, width_);
        Open(beta_, beta, width_);
        pipe_.InitBuffer(in1_, 2, padded_ * sizeof(float));
        pipe_.InitBuffer(in2_, 2, padded_ * sizeof(float));
        pipe_.InitBuffer(out_, 2, padded_ * sizeof(float));
        pipe_.InitBuffer(gammaQueue_, 1, padded_ * sizeof(float));
        pipe_.InitBuffer(betaQueue_, 1, padded_ * sizeof(float));
        pipe_.InitBuffer(statistics_, 64);
    }

    __aicore__ inline void Process()
    {
        AscendC::LocalTensor<float> gamma = Read(gammaQueue_, gamma_);
        AscendC::LocalTensor<float> beta = Read(betaQueue_, beta_);
        for (uint32_t row = AscendC::GetBlockIdx(); row < tiling_.rows;
             row += AscendC::GetBlockNum()) {
            AscendC::LocalTensor<float> x1 = Read(in1_, x1_[row * width_]);
            AscendC::LocalTensor<float> x2 = Read(in2_, x2_[row * width_]);
            AscendC::LocalTensor<float> y = out_.AllocTensor<float>();
            AscendC::LocalTensor<float> mean = statistics_.Get<float>(8);
            AscendC::LocalTensor<float> variance = statistics_.GetWithOffset<float>(8, 32);
            AscendC::Add(x1, x1, x2, padded_);
            AscendC::LayerNorm<float, false>(y, mean, variance, x1, gamma, beta, tiling_.epsilon,
                                             tiling_.layerNorm);
            in1_.FreeTensor(x1);
            in2_.FreeTensor(x2);
            out_.EnQue(y);
            Write(row);
        }
        gammaQueue_.FreeTensor(gamma);
        betaQueue_.FreeTensor(beta);
    }

 private:
    __aicore__ inline void Open(AscendC::GlobalTensor<float> &tensor, GM_ADDR address,
                                uint32_t size)
    {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(address), size);
    }

    template <typename Queue>
    __aicore__ inline AscendC::LocalTensor<float> Read(Queue &queue,
                                                       const AscendC::GlobalTensor<float> &from)
    {
        AscendC::LocalTensor<float> local = queue.template AllocTensor<float>();
        const AscendC::DataCopyExtParams row{1, width_ * static_cast<uint32_t>(sizeof(float)), 0,
                                             0, 0};
        const auto missing = static_cast<uint8_t>(padded_ - width_);
        AscendC::DataCopyPad(local, from, row,
                             AscendC::DataCopyPadExtParams<float>{true, 0, missing, 0.0F});
        queue.EnQue(local);
        return queue.template DeQue<float>();
    }

    __aicore__ inline void Write(uint32_t row)
    {
        AscendC::LocalTensor<float> y = out_.DeQue<float>();
        AscendC::DataCopyPad(y_[row * width_], y,
                             AscendC::DataCopyExtParams{
                                 1, width_ * static_cast<uint32_t>(sizeof(float)), 0, 0, 0});
        out_.FreeTensor(y);
    }

    AddLayerNormTiling tiling_;
    uint32_t width_, padded_;
    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> in1_, in2_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> gammaQueue_, betaQueue_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 2> out_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> statistics_;
    AscendC::GlobalTensor<float> x1_, x2_, gamma_, beta_, y_;
};

extern "C" __global__ __aicore__ void add_layer_norm_custom(GM_ADDR x1, GM_ADDR x2, GM_ADDR gamma,
                                                            GM_ADDR beta, GM_ADDR y,
                                                            GM_ADDR workspace, GM_ADDR tiling)
{
    static_cast<void>(workspace);
    GET_TILING_DATA_WITH_STRUCT(AddLayerNormTiling, data, tiling);
    AddLayerNorm kernel(x1, x2, gamma, beta, y, data);
    kernel.Process();
}
