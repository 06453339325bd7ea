/* SPDX-License-Identifier: Apache-2.0 */
/* An addition whose result is read too early, and memory that is never freed. */
#include <stdio.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"

enum { ELEMENTS = 64, BYTES = 4 * ELEMENTS };

int main(void)
{
    aclInit(NULL);
    aclrtSetDevice(0);
    void *data[3], *workspace = NULL, *pinned;
    aclTensor *tensors[3];
    int64_t dims[] = {ELEMENTS};
    for (int i = 0; i < 3; i++) {
        aclrtMalloc(&data[i], BYTES, ACL_MEM_MALLOC_HUGE_FIRST);
        aclrtMemset(data[i], BYTES, 0, BYTES);
        tensors[i] = aclCreateTensor(dims, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 1, data[i]);
    }
    aclrtMallocHost(&pinned, BYTES);
    float one = 1, host[ELEMENTS];
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    uint64_t size = 0;
    aclOpExecutor *executor;
    int status = aclnnAddGetWorkspaceSize(tensors[0], tensors[1], alpha, tensors[2], &size, &executor);
    if (status == 0 && size != 0) status = aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST);
    if (status == 0) status = aclnnAdd(workspace, size, executor, NULL);
    aclrtMemcpy(host, BYTES, data[2], BYTES, ACL_MEMCPY_DEVICE_TO_HOST);
    aclrtSynchronizeStream(NULL);
    aclrtFree(data[0]);
    aclrtFree(data[0]);
    printf("%d\n", status);
    aclFinalize();
    return 0;
}
