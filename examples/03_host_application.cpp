// SPDX-License-Identifier: Apache-2.0
// A host application in C++ that calls aclnnLayerNormBackward. It knows nothing of pyaclnn: the
// same source builds against CANN and against the simulated NPU.
//
//   c++ -std=c++17 03_host_application.cpp $(pyaclnn mock cflags) $(pyaclnn mock ldflags) -o host
//   ./host
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_layer_norm_backward.h"

namespace {

void check(int status, const char *what)
{
    if (status != 0) {
        const char *text = aclGetRecentErrMsg();
        std::fprintf(stderr, "%s: %d: %s\n", what, status, text == nullptr ? "" : text);
        std::exit(1);
    }
}

// Device memory and the tensor over it, given back together.
class DeviceTensor {
public:
    DeviceTensor(std::vector<int64_t> shape, const std::vector<float> &values)
        : count_(values.size())
    {
        check(aclrtMalloc(&memory_, bytes(), ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
        check(aclrtMemcpy(memory_, bytes(), values.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE),
              "aclrtMemcpy");
        tensor_ = aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                  shape.data(), shape.size(), memory_);
    }
    DeviceTensor(const DeviceTensor &) = delete;
    DeviceTensor &operator=(const DeviceTensor &) = delete;
    ~DeviceTensor()
    {
        aclDestroyTensor(tensor_);
        aclrtFree(memory_);
    }
    aclTensor *tensor() const { return tensor_; }
    std::vector<float> values() const
    {
        std::vector<float> host(count_);
        check(aclrtMemcpy(host.data(), bytes(), memory_, bytes(), ACL_MEMCPY_DEVICE_TO_HOST),
              "aclrtMemcpy");
        return host;
    }

private:
    size_t bytes() const { return count_ * sizeof(float); }
    size_t count_;
    void *memory_ = nullptr;
    aclTensor *tensor_ = nullptr;
};

void print(const char *name, const DeviceTensor &tensor)
{
    std::printf("%s:", name);
    for (float value : tensor.values()) {
        std::printf(" %g", value);
    }
    std::printf("\n");
}

void run(aclrtStream stream)
{
    const std::vector<float> nothing4(4), nothing2(2);
    DeviceTensor grad_out({2, 2}, {2, 3, 4, 5}), input({2, 2}, {2, 3, 4, 5});
    DeviceTensor mean({2, 1}, {2, 3}), rstd({2, 1}, {4, 5}), weight({2}, {1, 1});
    DeviceTensor grad_input({2, 2}, nothing4), grad_weight({2}, nothing2), grad_bias({2}, nothing2);
    const int64_t normalized[] = {2};
    const bool mask[] = {true, true, true};
    aclIntArray *normalized_shape = aclCreateIntArray(normalized, 1);
    aclBoolArray *output_mask = aclCreateBoolArray(mask, 3);

    uint64_t workspace_size = 0;
    aclOpExecutor *executor = nullptr;
    check(aclnnLayerNormBackwardGetWorkspaceSize(
              grad_out.tensor(), input.tensor(), normalized_shape, mean.tensor(), rstd.tensor(),
              weight.tensor(), nullptr, output_mask, grad_input.tensor(), grad_weight.tensor(),
              grad_bias.tensor(), &workspace_size, &executor),
          "aclnnLayerNormBackwardGetWorkspaceSize");
    void *workspace = nullptr;
    if (workspace_size > 0) {
        check(aclrtMalloc(&workspace, workspace_size, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    }
    check(aclnnLayerNormBackward(workspace, workspace_size, executor, stream),
          "aclnnLayerNormBackward");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");

    print("grad_input", grad_input);
    print("grad_weight", grad_weight);
    print("grad_bias", grad_bias);
    if (workspace != nullptr) {
        aclrtFree(workspace);
    }
    aclDestroyBoolArray(output_mask);
    aclDestroyIntArray(normalized_shape);
}

}  // namespace

int main()
{
    aclrtStream stream = nullptr;
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(0), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    std::printf("chip: %s\n", aclrtGetSocName());
    run(stream);
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(0), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
}
