/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with streams of their own, which wait in every way while the recorder waits as well.
 *
 *     threads ROUNDS SEED [fault]
 *
 * Prints the waits that failed. Without a fault every result is checked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "tensors.h"

enum { THREADS = 4, LARGEST = 1 << 16, MOST_ADDITIONS = 20, FIRST_OF_WORK = 500000 };

static long rounds, seed;
static bool faulty;
static atomic_int failures;
static pthread_mutex_t graphs = PTHREAD_MUTEX_INITIALIZER; /* none while the device is waited for */

static void add(int64_t count, void *from, void *to, aclrtStream stream)
{
    float one = 1;
    uint64_t size = 0;
    aclOpExecutor *executor;
    aclTensor *x = tensor_of(count, from), *y = tensor_of(count, to);
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    OK(aclnnAddGetWorkspaceSize(x, x, alpha, y, &size, &executor));
    OK(aclnnAdd(NULL, 0, executor, stream));
    OK(aclDestroyTensor(x));
    OK(aclDestroyTensor(y));
    OK(aclDestroyScalar(alpha));
}

static int await(aclrtStream stream, unsigned how)
{
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    switch (how % 4) {
    case 0:
        return aclrtSynchronizeStream(stream);
    case 1:
        return aclrtSynchronizeStreamWithTimeout(stream, 60000);
    case 2: {
        pthread_mutex_lock(&graphs);
        const int status_of_device = aclrtSynchronizeDevice();
        pthread_mutex_unlock(&graphs);
        return status_of_device;
    }
    default:
        while (status != ACL_STREAM_STATUS_COMPLETE) {
            const int error = aclrtStreamQuery(stream, &status);
            if (error != 0) {
                return error;
            }
        }
        return 0;
    }
}

static void run(aclrtStream stream, int64_t count, unsigned additions, unsigned how, bool graph)
{
    const size_t bytes = (size_t)count * sizeof(float);
    float *host = malloc(bytes), expected = (float)(1u << additions);
    void *places[2];
    aclmdlRI model = NULL;
    for (int64_t i = 0; i < count; i++) {
        host[i] = 1;
    }
    for (int i = 0; i < 2; i++) {
        OK(aclrtMalloc(&places[i], bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    OK(aclrtMemcpy(places[0], bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
    if (graph) {
        pthread_mutex_lock(&graphs);
        OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    }
    for (unsigned i = 0; i < additions; i++) {
        add(count, places[i % 2], places[(i + 1) % 2], stream);
    }
    if (graph) {
        OK(aclmdlRICaptureEnd(stream, &model));
        pthread_mutex_unlock(&graphs);
        OK(aclmdlRIExecuteAsync(model, stream));
    }
    const int status = await(stream, how);
    if (status >= FIRST_OF_WORK) {
        failures++;
    } else {
        OK(status);
    }
    OK(aclrtMemcpy(host, bytes, places[additions % 2], bytes, ACL_MEMCPY_DEVICE_TO_HOST));
    if (!faulty && (host[0] != expected || host[count - 1] != expected)) {
        fprintf(stderr, "%g instead of %g\n", (double)host[0], (double)expected);
        exit(1);
    }
    if (graph) {
        OK(aclmdlRIDestroy(model));
    }
    for (int i = 0; i < 2; i++) {
        OK(aclrtFree(places[i]));
    }
    free(host);
}

static void *work(void *pointer)
{
    unsigned state = (unsigned)seed * THREADS + *(unsigned *)pointer;
    OK(aclrtSetDevice(0));
    for (long round = 0; round < rounds; round++) {
        aclrtStream stream;
        OK(aclrtCreateStream(&stream));
        for (int turns = rand_r(&state) % 3; turns >= 0; turns--) {
            const int64_t count = LARGEST >> rand_r(&state) % 8;
            const unsigned additions = 1 + (unsigned)rand_r(&state) % MOST_ADDITIONS;
            const unsigned how = (unsigned)rand_r(&state);
            run(stream, count, additions, how, !faulty && rand_r(&state) % 6 == 0);
        }
        OK(aclrtDestroyStream(stream));
    }
    OK(aclrtResetDevice(0));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    rounds = argc > 1 ? atol(argv[1]) : 8;
    seed = argc > 2 ? atol(argv[2]) : 1;
    faulty = argc > 3;
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    printf("%d\n", failures);
    return 0;
}
