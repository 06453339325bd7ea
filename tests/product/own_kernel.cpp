// SPDX-License-Identifier: Apache-2.0
// Calls an operator for which the simulated NPU has no kernel of its own.
#include <cstdio>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_softplus.h"

int main()
{
    const std::vector<float> given = {0.0f, 1.0f, 30.0f};
    const int64_t dims[] = {3};
    const size_t bytes = given.size() * sizeof(float);
    float number[] = {1.0f, 20.0f}, found[3] = {};
    void *x = nullptr, *y = nullptr, *workspace = nullptr;
    aclInit(nullptr);
    aclrtSetDevice(0);
    aclrtMalloc(&x, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&y, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpy(x, bytes, given.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE);
    aclTensor *self = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, x);
    aclTensor *out = aclCreateTensor(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, y);
    aclScalar *beta = aclCreateScalar(&number[0], ACL_FLOAT);
    aclScalar *threshold = aclCreateScalar(&number[1], ACL_FLOAT);
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    const aclnnStatus status =
        aclnnSoftplusGetWorkspaceSize(self, beta, threshold, out, &size, &executor);
    if (status != 0) {
        std::printf("%d %s\n", status, aclGetRecentErrMsg());
    } else {
        if (size > 0) {
            aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
        }
        aclnnSoftplus(workspace, size, executor, nullptr);
        aclrtSynchronizeStream(nullptr);
        aclrtMemcpy(found, bytes, y, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
        std::printf("%.4f %.4f %.4f\n", found[0], found[1], found[2]);
    }
    aclDestroyScalar(beta);
    aclDestroyScalar(threshold);
    aclDestroyTensor(self);
    aclDestroyTensor(out);
    aclrtFree(workspace);
    aclrtFree(x);
    aclrtFree(y);
    aclrtResetDevice(0);
    aclFinalize();
    return status != 0;
}
