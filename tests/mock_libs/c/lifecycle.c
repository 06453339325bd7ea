/* SPDX-License-Identifier: Apache-2.0 */
/* Everything the runtime has, once, in the documented order. */
#include <pthread.h>

#include "expect.h"

static void memory(void)
{
    void *device, *host, *other;
    char plain[256];
    size_t free_bytes, total;
    aclrtPtrAttributes attributes;
    OK(aclrtMalloc(&device, sizeof plain, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocAlign32(&other, sizeof plain, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocHost(&host, sizeof plain));
    OK(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total));
    OK(aclrtPointerGetAttributes(device, &attributes));
    memset(plain, 7, sizeof plain);
    memset(host, 8, sizeof plain);
    OK(aclrtMemcpy(device, sizeof plain, plain, sizeof plain, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpyAsync(other, sizeof plain, host, sizeof plain, ACL_MEMCPY_HOST_TO_DEVICE, NULL));
    OK(aclrtMemcpyAsync(device, 128, other, 128, ACL_MEMCPY_DEVICE_TO_DEVICE, NULL));
    OK(aclrtMemcpyAsync(plain, sizeof plain, device, sizeof plain, ACL_MEMCPY_DEVICE_TO_HOST,
                        NULL));
    EXPECT(8, plain[127]);
    EXPECT(7, plain[128]);
    OK(aclrtMemcpy2d(plain, 16, device, 32, 16, 8, ACL_MEMCPY_DEVICE_TO_HOST));
    OK(aclrtMemsetAsync(device, sizeof plain, 3, sizeof plain, NULL));
    OK(aclrtMemcpy2dAsync(host, 16, device, 32, 16, 8, ACL_MEMCPY_DEVICE_TO_HOST, NULL));
    OK(aclrtSynchronizeStream(NULL));
    EXPECT(3, ((char *)host)[127]);
    OK(aclrtFreeHost(host));
    OK(aclrtFree(other));
    OK(aclrtFree(device));
    OK(aclrtMalloc(&device, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(device));
}

static void called(void *data)
{
    ++*(int *)data;
}

static void streams(uint64_t self)
{
    aclrtStream one, other;
    aclrtEvent start, end;
    float milliseconds;
    int calls = 0;
    OK(aclrtCreateStream(&one));
    OK(aclrtCreateStreamWithConfig(&other, 0, ACL_STREAM_FAST_LAUNCH));
    OK(aclrtCreateEventExWithFlag(&start, ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEvent(&end));
    OK(aclrtRecordEvent(start, one));
    OK(aclrtStreamWaitEvent(other, start));
    OK(aclrtSubscribeReport(self, other));
    OK(aclrtLaunchCallback(called, &calls, ACL_CALLBACK_BLOCK, other));
    OK(aclrtRecordEvent(end, other));
    OK(aclrtProcessReport(100000));
    EXPECT(1, calls);
    OK(aclrtSynchronizeEvent(end));
    OK(aclrtEventElapsedTime(&milliseconds, start, end));
    OK(aclrtUnSubscribeReport(self, other));
    OK(aclrtLaunchCallback(called, &calls, ACL_CALLBACK_NO_BLOCK, other) ==
       ACL_ERROR_RT_STREAM_NO_CB_REG ? 0 : 1);
    OK(aclrtDestroyEvent(start));
    OK(aclrtDestroyStream(one));
    OK(aclrtDestroyStreamForce(other));
    OK(aclrtDestroyEvent(end));
}

int main(void)
{
    aclrtContext context;
    aclrtStream stream;

    for (int round = 0; round < 2; round++) {
        OK(aclInit(NULL));
        OK(aclrtSetDevice(0));
        memory();
        OK(aclrtCreateContext(&context, 1));
        streams((uint64_t)pthread_self());
        OK(aclrtCreateStream(&stream)); /* left to the context */
        OK(aclrtDestroyContext(context));
        OK(aclrtSetDevice(0));
        OK(aclrtResetDevice(0));
        OK(aclrtResetDevice(0));
        OK(aclFinalize());
    }
    return 0;
}
