/* SPDX-License-Identifier: Apache-2.0 */
/* Eight threads call CANN some hundred thousand times: two devices, streams and events of their
 * own, copies, fills, operators. Every result is checked, and memory must not grow.
 *
 *     stress CALLS [leak] */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_rms_norm.h"

enum { THREADS = 8, BYTES = 1024, ROWS = 8, COLUMNS = 8, WARM = 4, MOST_GROWTH = 16 << 10 };
enum { LEAK_BYTES = 64, LEAK_CALLS = 10 };

static atomic_long calls;
static long wanted;
static bool leaking;
static _Thread_local unsigned own_calls;

/* With `leak`, what a library would do that forgets a little now and then. */
static void forget(void)
{
    static _Thread_local void **forgotten;
    if (leaking && ++own_calls % LEAK_CALLS == 0) {
        void **more = malloc(LEAK_BYTES);
        if (more != NULL) {
            *more = forgotten;
            forgotten = more;
        }
    }
}

#define OK(expression)                                                                      \
    do {                                                                                    \
        atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);                         \
        forget();                                                                           \
        const int status_ = (int)(expression);                                              \
        if (status_ != 0) {                                                                 \
            const char *text_ = aclGetRecentErrMsg();                                       \
            fprintf(stderr, "line %d: %s answered %d: %s\n", __LINE__, #expression, status_, \
                    text_ == NULL ? "" : text_);                                            \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

struct worker {
    pthread_t thread;
    int number;
    aclrtStream one, two;
    aclrtEvent event;
    void *device, *host, *workspace;
    uint64_t workspace_bytes;
};

/* Memory in use by malloc; the number of its pages depends on timing. */
static long bytes_in_use(void)
{
    const struct mallinfo2 now = mallinfo2();
    return (long)(now.uordblks + now.hblkhd);
}

/* Fills on one stream, copies out on the other: the event orders them. */
static void exchange(const struct worker *worker, int value)
{
    OK(aclrtMemsetAsync(worker->device, BYTES, value, BYTES, worker->one));
    OK(aclrtRecordEvent(worker->event, worker->one));
    OK(aclrtStreamWaitEvent(worker->two, worker->event));
    OK(aclrtMemcpyAsync(worker->host, BYTES, worker->device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST,
                        worker->two));
    OK(aclrtSynchronizeStream(worker->two));
    const unsigned char *bytes = worker->host;
    if (bytes[0] != (unsigned char)value || bytes[BYTES - 1] != (unsigned char)value) {
        fprintf(stderr, "thread %d read %d instead of %d\n", worker->number, bytes[0], value);
        exit(1);
    }
}

static void objects(void)
{
    const int64_t dims[] = {2, 3};
    float one = 1;
    void *memory;
    OK(aclrtMalloc(&memory, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    aclTensor *tensor =
        aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, memory);
    aclScalar *scalar = aclCreateScalar(&one, ACL_FLOAT);
    aclIntArray *array = aclCreateIntArray(dims, 2);
    OK(tensor == NULL || scalar == NULL || array == NULL);
    OK(aclDestroyTensor(tensor));
    OK(aclDestroyScalar(scalar));
    OK(aclDestroyIntArray(array));
    OK(aclrtFree(memory));
}

static aclTensor *view(int64_t columns, void *memory)
{
    const int64_t dims[] = {ROWS, columns};
    return aclCreateTensor(dims, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, dims, 2, memory);
}

static void launch(struct worker *worker)
{
    const int64_t columns[] = {COLUMNS};
    float result[ROWS * COLUMNS];
    void *memory[4];
    uint64_t size;
    aclOpExecutor *executor;
    for (int i = 0; i < 4; i++) {
        OK(aclrtMalloc(&memory[i], sizeof result, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        result[i] = 3;
    }
    OK(aclrtMemcpy(memory[0], sizeof result, result, sizeof result, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(memory[1], sizeof result, result, sizeof result, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *x = view(COLUMNS, memory[0]), *y = view(COLUMNS, memory[2]);
    aclTensor *rstd = view(1, memory[3]);
    aclTensor *gamma = aclCreateTensor(columns, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, columns, 1,
                                       memory[1]);
    OK(aclnnRmsNormGetWorkspaceSize(x, gamma, 0, y, rstd, &size, &executor));
    if (worker->workspace == NULL) {
        OK(aclrtMalloc(&worker->workspace, size, ACL_MEM_MALLOC_HUGE_FIRST));
        worker->workspace_bytes = size;
    }
    OK(aclnnRmsNorm(worker->workspace, worker->workspace_bytes, executor, worker->one));
    OK(aclDestroyTensor(x));
    OK(aclDestroyTensor(y));
    OK(aclDestroyTensor(rstd));
    OK(aclDestroyTensor(gamma));
    OK(aclrtSynchronizeStream(worker->one));
    OK(aclrtMemcpy(result, sizeof result, memory[2], sizeof result, ACL_MEMCPY_DEVICE_TO_HOST));
    if (result[0] < 2.999f || result[0] > 3.001f || result[ROWS * COLUMNS - 1] != result[0]) {
        fprintf(stderr, "thread %d computed %g\n", worker->number, (double)result[0]);
        exit(1);
    }
    for (int i = 0; i < 4; i++) {
        OK(aclrtFree(memory[i]));
    }
}

static void *work(void *pointer)
{
    struct worker *worker = pointer;
    OK(aclrtSetDevice(worker->number % 2));
    OK(aclrtCreateStream(&worker->one));
    OK(aclrtCreateStream(&worker->two));
    OK(aclrtCreateEvent(&worker->event));
    OK(aclrtMalloc(&worker->device, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMallocHost(&worker->host, BYTES));
    for (int round = 0; atomic_load(&calls) < wanted; round++) {
        exchange(worker, round % 256);
        objects();
        if (round % 64 == 0) {
            launch(worker);
        }
    }
    OK(aclrtDestroyStream(worker->one));
    OK(aclrtDestroyStream(worker->two));
    OK(aclrtDestroyEvent(worker->event));
    OK(aclrtFree(worker->device));
    OK(aclrtFreeHost(worker->host));
    if (worker->workspace != NULL) {
        OK(aclrtFree(worker->workspace));
    }
    OK(aclrtResetDevice(worker->number % 2));
    return NULL;
}

static void all_threads(void)
{
    static struct worker workers[THREADS];
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        OK(pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        OK(pthread_join(workers[i].thread, NULL));
    }
}

int main(int count, char **arguments)
{
    const long most = count > 1 ? atol(arguments[1]) : 40000;
    leaking = count > 2 && strcmp(arguments[2], "leak") == 0;
    mallopt(M_ARENA_MAX, 1); /* how many arenas eight threads get is a matter of timing */
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtSetDevice(1));
    wanted = most / WARM; /* until then caches and pools may grow */
    all_threads();
    const long before = bytes_in_use();
    wanted = most;
    all_threads();
    const long growth = bytes_in_use() - before;
    OK(aclrtResetDevice(0));
    OK(aclrtResetDevice(1));
    OK(aclFinalize());
    printf("%ld calls\n", atomic_load(&calls));
    if (growth > MOST_GROWTH) {
        fprintf(stderr, "memory grew by %ld bytes\n", growth);
        return 1;
    }
    return 0;
}
