/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks, a process each: the sum of both, and an addition to it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>
#include "acl/acl.h"
#include "hccl/hccl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
static int rank_main(int rank, int pipes[2])
{
    HcclRootInfo info;
    HcclComm comm;
    aclrtStream stream;
    aclInit(NULL);
    aclrtSetDevice(rank);
    aclrtCreateStream(&stream);
    if (rank == 0) {
        HcclGetRootInfo(&info);
        if (write(pipes[1], &info, sizeof info) < 0) return 9;
    } else if (read(pipes[0], &info, sizeof info) < 0) return 9;
    int s = HcclCommInitRootInfo(2, &info, (unsigned)rank, &comm);
    if (s) { printf("init %d\n", s); return 1; }
    float host[16];
    for (int i = 0; i < 16; i++) host[i] = (float)(i + 100 * rank);
    void *a, *b, *c;
    aclrtMalloc(&a, 4096, 0); aclrtMalloc(&b, 4096, 0); aclrtMalloc(&c, 4096, 0);
    aclrtMemcpy(a, 4096, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    s = HcclAllReduce(a, b, 16, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, stream);
    if (s) { printf("reduce %d\n", s); return 1; }
    int64_t dims[] = {4, 4};
    float one = 1; uint64_t size; aclOpExecutor *executor;
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *ta = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, a);
    aclTensor *tb = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, b);
    aclTensor *tc = aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, c);
    s = aclnnAddGetWorkspaceSize(ta, tb, alpha, tc, &size, &executor);
    if (!s) s = aclnnAdd(NULL, 0, executor, stream);
    if (s) { printf("add %d\n", s); return 1; }
    s = aclrtSynchronizeStream(stream);
    aclrtMemcpy(host, sizeof host, c, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    printf("rank %d: %d %g\n", rank, s, host[15]);
    aclDestroyTensor(ta); aclDestroyTensor(tb); aclDestroyTensor(tc); aclDestroyScalar(alpha);
    HcclCommDestroy(comm);
    aclrtFree(a); aclrtFree(b); aclrtFree(c);
    aclrtDestroyStream(stream); aclrtResetDevice(rank); aclFinalize();
    return s;
}
int main(void)
{
    int pipes[2], status = 0;
    if (pipe(pipes)) return 9;
    pid_t child = fork();
    if (child == 0) exit(rank_main(1, pipes));
    int own = rank_main(0, pipes);
    waitpid(child, &status, 0);
    return own || status;
}
