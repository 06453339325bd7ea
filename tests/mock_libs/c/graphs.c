/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that each capture work on three streams, and run it again and again on changing data. */
#include <pthread.h>
#include <stdbool.h>

#include "expect.h"

enum { THREADS = 4, STREAMS = 3, ROUNDS = 50, BYTES = 512 };

static aclrtContext context;

struct work {
    aclrtStream streams[STREAMS];
    aclrtEvent fork, joins[STREAMS];
    unsigned char *input, *output; /* pinned; a third of each belongs to a stream */
    char *device;
};

static void wait_for(aclrtStream later, aclrtEvent event, aclrtStream earlier)
{
    OK(aclrtRecordEvent(event, earlier));
    OK(aclrtStreamWaitEvent(later, event));
}

/* Stream 0 brings the data, each stream copies its part to and fro, stream 0 collects them. */
static void submit(struct work *work)
{
    const size_t all = STREAMS * BYTES;
    char *copy = work->device + all;
    OK(aclrtMemcpyAsync(work->device, all, work->input, all, ACL_MEMCPY_HOST_TO_DEVICE,
                        work->streams[0]));
    OK(aclrtRecordEvent(work->fork, work->streams[0]));
    for (int i = 1; i < STREAMS; i++) {
        OK(aclrtStreamWaitEvent(work->streams[i], work->fork));
    }
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtMemcpyAsync(copy + i * BYTES, BYTES, work->device + i * BYTES, BYTES,
                            ACL_MEMCPY_DEVICE_TO_DEVICE, work->streams[i]));
        OK(aclrtMemsetAsync(copy + i * BYTES, 1, 100 + i, 1, work->streams[i]));
    }
    for (int i = 1; i < STREAMS; i++) {
        wait_for(work->streams[0], work->joins[i], work->streams[i]);
    }
    OK(aclrtMemcpyAsync(work->output, all, copy, all, ACL_MEMCPY_DEVICE_TO_HOST,
                        work->streams[0]));
}

static aclmdlRI capture(struct work *work)
{
    aclmdlRI graph, seen;
    aclmdlRICaptureStatus status;
    OK(aclmdlRICaptureBegin(work->streams[0], ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    submit(work);
    OK(aclmdlRICaptureGetInfo(work->streams[1], &status, &seen));
    EXPECT(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE, status);
    OK(aclmdlRICaptureEnd(work->streams[0], &graph));
    EXPECT(true, graph == seen);
    OK(aclmdlRICaptureGetInfo(work->streams[1], &status, &seen));
    EXPECT(ACL_MODEL_RI_CAPTURE_STATUS_NONE, status);
    return graph;
}

static void check(const struct work *work, int round)
{
    for (int i = 0; i < STREAMS; i++) {
        EXPECT(100 + i, work->output[i * BYTES]);
        EXPECT((unsigned char)(round + i), work->output[i * BYTES + 1]);
        EXPECT((unsigned char)(round + i), work->output[(i + 1) * BYTES - 1]);
    }
}

static void run(struct work *work, aclmdlRI graph, int round)
{
    aclrtStream stream = work->streams[round % STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        memset(work->input + i * BYTES, round + i, BYTES);
    }
    OK(aclmdlRIExecuteAsync(graph, stream));
    if (round % 2 == 0) {
        OK(aclmdlRIExecuteAsync(graph, stream)); /* nobody notices */
    }
    OK(aclrtSynchronizeStream(stream));
    check(work, round);
}

static void *work(void *unused)
{
    struct work work;
    (void)unused;
    OK(aclrtSetCurrentContext(context));
    OK(aclrtCreateEvent(&work.fork));
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtCreateStream(&work.streams[i]));
        OK(aclrtCreateEvent(&work.joins[i]));
    }
    OK(aclrtMallocHost((void **)&work.input, STREAMS * BYTES));
    OK(aclrtMallocHost((void **)&work.output, STREAMS * BYTES));
    OK(aclrtMalloc((void **)&work.device, 2 * STREAMS * BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    aclmdlRI graph = capture(&work);
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtDestroyEvent(work.joins[i])); /* a graph does without them */
    }
    for (int round = 0; round < ROUNDS; round++) {
        run(&work, graph, round);
    }
    OK(aclmdlRIDestroy(graph));
    OK(aclrtDestroyEvent(work.fork));
    for (int i = 0; i < STREAMS; i++) {
        OK(aclrtDestroyStream(work.streams[i]));
    }
    OK(aclrtFreeHost(work.input));
    OK(aclrtFreeHost(work.output));
    OK(aclrtFree(work.device));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    OK(aclrtSetDevice(0));
    OK(aclrtGetCurrentContext(&context));
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_create(&threads[i], NULL, work, NULL));
    }
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(threads[i], NULL));
    }
    OK(aclrtResetDevice(0));
    return 0;
}
