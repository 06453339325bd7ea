/* SPDX-License-Identifier: Apache-2.0 */
/* Additions on one stream, whose input the host changes; with an argument by a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 3;
    int graph = argc > 2;
    aclInit(NULL);
    aclrtSetDevice(0);
    aclrtStream stream;
    aclrtCreateStream(&stream);
    void *a, *b, *c;
    aclrtMalloc(&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&b, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&c, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    float host[64];
    for (int i = 0; i < 64; i++) host[i] = (float)i;
    aclrtMemcpy(a, 4096, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    aclrtMemcpy(b, 4096, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    int64_t dims[] = {8, 8}, strides[] = {8, 1};
    float one = 1;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *ta = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, a);
    aclTensor *tb = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, b);
    aclTensor *tc = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, c);
    aclmdlRI model = NULL;
    for (long i = 0; i < rounds; i++) {
        uint64_t size = 0; aclOpExecutor *executor; void *w = NULL;
        host[0] = (float)i; /* the host writes between calls */
        if (!graph) aclrtMemcpyAsync(a, 4096, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE, stream);
        int s = aclnnAddGetWorkspaceSize(ta, tb, alpha, tc, &size, &executor);
        if (s) { printf("phase 1: %d\n", s); return 1; }
        if (size) aclrtMalloc(&w, size, ACL_MEM_MALLOC_HUGE_FIRST);
        if (graph && i == 0) aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
        s = aclnnAdd(w, size, executor, stream);
        if (s) { printf("phase 2: %d\n", s); return 1; }
        if (graph && i == 0) { aclmdlRICaptureEnd(stream, &model); aclmdlRIExecuteAsync(model, stream); }
        s = aclrtSynchronizeStream(stream);
        if (s) { printf("sync: %d %s\n", s, aclGetRecentErrMsg()); }
        if (w) aclrtFree(w);
        if (getenv("FORK") && i == 1 && fork() == 0) { aclrtStream x; aclrtCreateStream(&x); _exit(0); }
        if (getenv("CRASH") && i == 1) *(volatile int *)8 = 1;
    }
    aclrtMemcpy(host, sizeof host, c, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("%g %g\n", host[0], host[63]);
    if (model) aclmdlRIDestroy(model);
    aclDestroyTensor(ta); aclDestroyTensor(tb); aclDestroyTensor(tc); aclDestroyScalar(alpha);
    aclrtFree(a); aclrtFree(b); aclrtFree(c);
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
