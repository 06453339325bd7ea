/* SPDX-License-Identifier: Apache-2.0 */
/* aclnnRmsNormGrad through every way an executor can go, and its time. */
#include <time.h>

#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_rms_norm_grad.h"
#include "expect.h"

enum { ROWS = 64, COLUMNS = 512, TENSORS = 6 };

static void *memory[TENSORS];
static aclTensor *tensors[TENSORS];
static void *workspace;
static uint64_t workspace_bytes;

static aclOpExecutor *check(void)
{
    uint64_t size;
    aclOpExecutor *executor;
    OK(aclnnRmsNormGradGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], tensors[4],
                                        tensors[5], &size, &executor));
    if (workspace == NULL) {
        OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        workspace_bytes = size;
    }
    return executor;
}

static void launch(aclOpExecutor *executor)
{
    OK(aclnnRmsNormGrad(workspace, workspace_bytes, executor, NULL));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int count, char **arguments)
{
    const int rounds = count > 1 ? atoi(arguments[1]) : 20;
    const int64_t dims[TENSORS][2] = {{ROWS, COLUMNS}, {ROWS, COLUMNS}, {ROWS, 0},
                                      {COLUMNS, 0},    {ROWS, COLUMNS}, {COLUMNS, 0}};
    OK(aclrtSetDevice(0));
    for (int i = 0; i < TENSORS; i++) {
        const uint64_t rank = dims[i][1] == 0 ? 1 : 2;
        OK(aclrtMalloc(&memory[i], ROWS * COLUMNS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
        tensors[i] = aclCreateTensor(dims[i], rank, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims[i],
                                     rank, memory[i]);
    }
    aclrtEvent event;
    OK(aclrtCreateEvent(&event));
    aclOpExecutor *executor = check();
    OK(aclSetAclOpExecutorRepeatable(executor));
    launch(executor);
    void *elsewhere;
    OK(aclrtMalloc(&elsewhere, ROWS * COLUMNS * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclSetOutputTensorAddr(executor, 0, tensors[4], elsewhere));
    launch(executor);
    OK(aclDestroyAclOpExecutor(executor));
    OK(aclDestroyAclOpExecutor(check()));
    OK(aclrtSynchronizeStream(NULL));
    const double start = seconds();
    for (int i = 0; i < rounds; i++) {
        launch(check());
        OK(aclrtSynchronizeStream(NULL));
    }
    printf("%.0f us a launch\n", (seconds() - start) * 1e6 / rounds);
    launch(check()); /* outlives its tensors */
    for (int i = 0; i < TENSORS; i++) {
        OK(aclDestroyTensor(tensors[i]));
    }
    OK(aclrtSynchronizeStream(NULL));
    for (int i = 0; i < TENSORS; i++) {
        OK(aclrtFree(memory[i]));
    }
    OK(aclrtFree(elsewhere));
    OK(aclrtFree(workspace));
    OK(aclrtRecordEvent(event, NULL)); /* still queued at the reset, which waits */
    OK(aclrtDestroyEvent(event));
    OK(aclrtResetDevice(0));
    return 0;
}
