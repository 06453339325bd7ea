// SPDX-License-Identifier: Apache-2.0
// Calls norms of three kinds and prints what comes out: one that updates arguments in place, one
// with an activation and optional parameters, one whose results are quantized.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add_rms_norm_dynamic_quant.h"
#include "aclnnop/aclnn_batch_norm.h"
#include "aclnnop/aclnn_group_norm_silu.h"

namespace {

// A tensor of a type, with memory of its own.
template <typename T> class Tensor {
public:
    Tensor(aclDataType type, std::vector<int64_t> dims, std::vector<T> values)
        : dims_(std::move(dims)), values_(std::move(values))
    {
        const size_t bytes = values_.size() * sizeof(T);
        aclrtMalloc(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemcpy(memory_, bytes, values_.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
        tensor_ = aclCreateTensor(dims_.data(), dims_.size(), type, nullptr, 0, ACL_FORMAT_ND,
            dims_.data(), dims_.size(), memory_);
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    ~Tensor()
    {
        aclDestroyTensor(tensor_);
        aclrtFree(memory_);
    }
    operator aclTensor *() const { return tensor_; }
    void print(const char *name)
    {
        const size_t bytes = values_.size() * sizeof(T);
        aclrtMemcpy(values_.data(), bytes, memory_, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
        std::printf("%s:", name);
        for (const T value : values_) {
            std::printf(" %.9g", static_cast<double>(value));
        }
        std::printf("\n");
    }

private:
    std::vector<int64_t> dims_;
    std::vector<T> values_;
    void *memory_ = nullptr;
    aclTensor *tensor_ = nullptr;
};

using Phase2 = aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream);

// Runs phase 2 after a phase 1 that succeeded, and waits for it.
int finish(aclnnStatus status, Phase2 phase2, uint64_t size, aclOpExecutor *executor)
{
    void *workspace = nullptr;
    if (status == 0 && size > 0) {
        status = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    if (status == 0) {
        status = phase2(workspace, size, executor, nullptr);
    }
    if (status == 0) {
        status = aclrtSynchronizeStream(nullptr);
    }
    if (status != 0) {
        std::printf("%d %s\n", status, aclGetRecentErrMsg());
    }
    aclrtFree(workspace);
    return status;
}

int batch_norm()
{
    Tensor<float> x(ACL_FLOAT, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 9});
    Tensor<float> weight(ACL_FLOAT, {2}, {1, 2}), bias(ACL_FLOAT, {2}, {0, 1});
    Tensor<float> mean(ACL_FLOAT, {2}, {0.5f, 0.5f}), variance(ACL_FLOAT, {2}, {1, 2});
    Tensor<float> output(ACL_FLOAT, {2, 2, 2}, std::vector<float>(8));
    Tensor<float> saved(ACL_FLOAT, {2}, {0, 0}), spread(ACL_FLOAT, {2}, {0, 0});
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus status = aclnnBatchNormGetWorkspaceSize(x, weight, bias, mean, variance, true,
        0.1, 1e-5, output, saved, spread, &size, &executor);
    const int failed = finish(status, aclnnBatchNorm, size, executor);
    output.print("output");
    mean.print("runningMean");
    variance.print("runningVar");
    saved.print("saveMean");
    spread.print("saveInvstd");
    return failed;
}

int group_norm_silu()
{
    Tensor<float> x(ACL_FLOAT, {1, 4, 2}, {1, 2, 3, 4, 2, 0, -2, 0});
    Tensor<float> gamma(ACL_FLOAT, {4}, {1, 2, 1, 0.5f}), beta(ACL_FLOAT, {4}, {0, 0.5f, 0, -0.5f});
    Tensor<float> out(ACL_FLOAT, {1, 4, 2}, std::vector<float>(8));
    Tensor<float> mean(ACL_FLOAT, {1, 2}, {0, 0}), rstd(ACL_FLOAT, {1, 2}, {0, 0});
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus status = aclnnGroupNormSiluGetWorkspaceSize(
        x, gamma, beta, 2, 1e-5, out, mean, rstd, &size, &executor);
    const int failed = finish(status, aclnnGroupNormSilu, size, executor);
    out.print("out");
    mean.print("mean");
    rstd.print("rstd");
    return failed;
}

int add_rms_norm_dynamic_quant()
{
    // 1, 2, 3, 4 and 1, 0, -1, 2 in float16; gamma is 1, 2, 0.5, 1.
    Tensor<uint16_t> x1(ACL_FLOAT16, {1, 4}, {0x3C00, 0x4000, 0x4200, 0x4400});
    Tensor<uint16_t> x2(ACL_FLOAT16, {1, 4}, {0x3C00, 0x0000, 0xBC00, 0x4000});
    Tensor<uint16_t> gamma(ACL_FLOAT16, {4}, {0x3C00, 0x4000, 0x3800, 0x3C00});
    Tensor<int8_t> y1(ACL_INT8, {1, 4}, {0, 0, 0, 0}), y2(ACL_INT8, {1}, {0});
    Tensor<uint16_t> sum(ACL_FLOAT16, {1, 4}, {0, 0, 0, 0});
    Tensor<float> scale1(ACL_FLOAT, {1}, {0}), scale2(ACL_FLOAT, {1}, {0});
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus status = aclnnAddRmsNormDynamicQuantGetWorkspaceSize(x1, x2, gamma, nullptr,
        nullptr, 1e-6, y1, y2, sum, scale1, scale2, &size, &executor);
    const int failed = finish(status, aclnnAddRmsNormDynamicQuant, size, executor);
    y1.print("y1");
    scale1.print("scale1");
    return failed;
}

} // namespace

int main()
{
    aclInit(nullptr);
    aclrtSetDevice(0);
    const int failed = batch_norm() | group_norm_silu() | add_rms_norm_dynamic_quant();
    aclrtResetDevice(0);
    aclFinalize();
    return failed != 0;
}
