/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that each run the operator of a package, some calls of which are refused. */
#include <pthread.h>

#include "expect.h"
#include "package.cpp"

enum { THREADS = 4, ROUNDS = 25, STEP = 32, TENSORS = 7 };

static aclTensor *create(void *address)
{
    const int64_t dims[] = {2, 2}, strides[] = {2, 1};
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, address);
}

static void *run(void *context)
{
    aclrtStream stream;
    void *memory, *workspace = nullptr;
    const int64_t five_seven[] = {5, 7};
    char mode[] = "wide";
    OK(aclrtSetCurrentContext(context));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&memory, TENSORS * STEP, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(memory, TENSORS * STEP, 0, TENSORS * STEP));
    for (int i = 0; i < ROUNDS; i++) {
        aclTensor *all[TENSORS];
        for (int k = 0; k < TENSORS; k++) {
            all[k] = create(static_cast<char *>(memory) + k * STEP);
        }
        const aclTensorList *parts = aclCreateTensorList(all + 3, 2);
        const aclTensorList *copies = aclCreateTensorList(all + 5, 2);
        const aclIntArray *dims = aclCreateIntArray(five_seven, 2);
        uint64_t size = 0;
        aclOpExecutor *executor = nullptr;
        EXPECT(161001, aclnnBlendGetWorkspaceSize(nullptr, parts, all[1], 0.5, 3, true, mode, dims,
                                                  all[2], copies, &size, &executor));
        OK(aclnnBlendGetWorkspaceSize(all[0], parts, all[1], 0.5, 3, true, mode, dims, all[2],
                                      copies, &size, &executor));
        if (size > 0) {
            OK(aclrtMalloc(&workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        }
        OK(aclnnBlend(workspace, size, executor, stream));
        OK(aclrtSynchronizeStream(stream));
        if (size > 0) {
            OK(aclrtFree(workspace));
        }
        OK(aclDestroyTensorList(parts));
        OK(aclDestroyTensorList(copies));
        OK(aclDestroyIntArray(dims));
        for (int k = 0; k < 3; k++) {
            OK(aclDestroyTensor(all[k]));
        }
    }
    float state;
    OK(aclrtMemcpy(&state, sizeof state, static_cast<char *>(memory) + STEP, sizeof state,
                   ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(3 * ROUNDS, state);
    OK(aclrtFree(memory));
    OK(aclrtDestroyStream(stream));
    return nullptr;
}

int main()
{
    pthread_t threads[THREADS];
    aclrtContext context;
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&context));
    /* Generated code makes this space itself, and says nothing of two threads that are the first. */
    OK(NnopbaseCreateExecutorSpace(&space));
    for (pthread_t &thread : threads) {
        OK(pthread_create(&thread, nullptr, run, context));
    }
    for (const pthread_t thread : threads) {
        OK(pthread_join(thread, nullptr));
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
