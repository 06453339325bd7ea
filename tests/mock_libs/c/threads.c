/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads with streams, events and callbacks of their own, and one event they share. */
#include <pthread.h>

#include "expect.h"

enum { THREADS = 8, STREAMS = 4, ROUNDS = 200, BYTES = 4096 };

static aclrtEvent shared;
static aclrtContext context;

static void called(void *data)
{
    ++*(int *)data;
}

static void *work(void *unused)
{
    aclrtStream streams[STREAMS];
    aclrtEvent event;
    void *device, *host;
    int calls = 0;
    (void)unused;
    OK(aclrtSetCurrentContext(context));
    OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    OK(aclrtMallocHost(&host, BYTES));
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&streams[i]));
    }
    OK(aclrtSubscribeReport((uint64_t)pthread_self(), streams[0]));
    for (int round = 0; round < ROUNDS; round++) {
        OK(aclrtMalloc(&device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
        for (int i = 0; i < STREAMS; i++) {
            OK(aclrtMemsetAsync(device, BYTES, i, BYTES, streams[i]));
            OK(aclrtRecordEvent(event, streams[i]));
            OK(aclrtStreamWaitEvent(streams[(i + 1) % STREAMS], event));
            OK(aclrtStreamWaitEvent(streams[i], shared));
            OK(aclrtRecordEvent(shared, streams[i]));
        }
        const aclrtCallbackBlockType block =
            round % 2 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK;
        OK(aclrtLaunchCallback(called, &calls, block, streams[0]));
        OK(aclrtProcessReport(20000));
        OK(aclrtMemcpyAsync(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST, streams[0]));
        OK(aclrtSynchronizeStream(streams[round % STREAMS]));
        OK(aclrtSynchronizeStream(streams[0]));
        EXPECT(STREAMS - 1, ((char *)host)[BYTES - 1]);
        OK(aclrtFree(device));
    }
    EXPECT(ROUNDS, calls);
    OK(aclrtUnSubscribeReport((uint64_t)pthread_self(), streams[0]));
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtDestroyStream(streams[i]));
    }
    OK(aclrtDestroyEvent(event));
    OK(aclrtFreeHost(host));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&context));
    OK(aclrtCreateEventExWithFlag(&shared, ACL_EVENT_SYNC));
    OK(aclrtRecordEvent(shared, NULL));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_create(&threads[i], NULL, work, NULL));
    }
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(threads[i], NULL));
    }
    OK(aclrtDestroyEvent(shared));
    OK(aclrtResetDevice(0));
    return 0;
}
