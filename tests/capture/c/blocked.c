/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is blocked, or fails, while the recorder has copies on their way.
 *
 *     blocked CASE
 *
 * Prints how many seconds the longest call of the case took. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"
#include "tensors.h"

enum { COUNT = 1024, MANY = 600, MOMENT = 50000 }; /* more additions than the recorder lets pass */
static const size_t BYTES = COUNT * sizeof(float);

static atomic_bool free_to_go;
static aclrtStream stream;
static void *from, *to;
static int failed;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void add(int times)
{
    float one = 1;
    for (; times > 0; times--) {
        uint64_t size = 0;
        aclOpExecutor *executor;
        aclTensor *x = tensor_of(COUNT, from), *y = tensor_of(COUNT, to);
        aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
        OK(aclnnAddGetWorkspaceSize(x, x, alpha, y, &size, &executor));
        failed += aclnnAdd(NULL, 0, executor, stream) != 0;
        OK(aclDestroyTensor(x));
        OK(aclDestroyTensor(y));
        OK(aclDestroyScalar(alpha));
    }
}

static void wait_until_free(void *unused)
{
    (void)unused;
    while (!free_to_go) {
        usleep(1000);
    }
}

/* Let what is queued from now on wait for `free_to_go`. */
static void block(void)
{
    int (*launch)(aclrtStream, void (*)(void *), void *);
    *(void **)&launch = dlsym(RTLD_DEFAULT, "aclrtLaunchHostFunc");
    free_to_go = false;
    OK(launch(stream, wait_until_free, NULL));
}

static void *destroy(void *unused)
{
    OK(aclrtSetDevice(0));
    OK(aclrtDestroyStream(stream));
    return unused;
}

static void fail(void)
{
    uint32_t count;
    failed += aclrtGetDeviceCount(&count) != 0;
}

static void *fail_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    fail();
    pthread_testcancel();
    return unused;
}

static void draw(void)
{
    aclrtStream other;
    aclmdlRI model;
    OK(aclrtCreateStream(&other));
    OK(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    OK(aclmdlRICaptureEnd(other, &model));
    OK(aclmdlRIDestroy(model));
    OK(aclrtDestroyStream(other));
}

static void reset_other(void)
{
    OK(aclrtSetDevice(1));
    OK(aclrtResetDevice(1));
}

/* What a thread does while another waits for blocked work. */
static double do_meanwhile(const char *what)
{
    const double begin = seconds();
    if (strcmp(what, "exit") == 0) {
        exit(0);
    } else if (strcmp(what, "draw") == 0) {
        draw();
    } else if (strcmp(what, "reset") == 0) {
        reset_other();
        OK(aclrtSetDevice(0));
    } else if (strcmp(what, "drop") == 0) {
        OK(aclrtDestroyStreamForce(stream));
        OK(aclrtCreateStream(&stream));
    }
    return seconds() - begin;
}

static void run(const char *what)
{
    pthread_t thread;
    if (strncmp(what, "destroy-", 8) == 0) { /* the program itself waits, in another thread */
        block();
        add(1);
        pthread_create(&thread, NULL, destroy, NULL);
        usleep(MOMENT);
        printf("%.3f\n", do_meanwhile(what + 8));
        free_to_go = true;
        pthread_join(thread, NULL);
    } else if (strncmp(what, "drain-", 6) == 0) { /* a thread of the recorder waits */
        block();
        add(MANY);
        usleep(MOMENT);
        printf("%.3f\n", do_meanwhile(what + 6));
        free_to_go = true;
        OK(aclrtDestroyStream(stream));
    } else if (strcmp(what, "fail") == 0) {
        for (int i = 0; i < 5; i++) {
            add(MANY);
            OK(aclrtSynchronizeStream(stream));
        }
        printf("%d\n", failed);
    } else if (strcmp(what, "keep") == 0) { /* a thread of the recorder waits first, and gets the failure */
        aclrtStream other;
        OK(aclrtCreateStream(&other));
        add(MANY);
        usleep(10 * MOMENT);
        const int of_other = aclrtSynchronizeStream(other), of_this = aclrtSynchronizeStream(stream);
        const char *text = aclGetRecentErrMsg();
        printf("%d %d %s %d\n", of_other, of_this, text == NULL ? "silent" : "told",
               aclrtSynchronizeStream(stream));
        OK(aclrtDestroyStream(other));
    } else if (strcmp(what, "abort") == 0) {
        add(20);
        OK(aclrtSynchronizeStream(stream));
        abort();
    } else if (strcmp(what, "end early") == 0) { /* a failed call is written at once, with those before */
        block();
        add(MANY);
        struct rlimit limit = {4096, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        OK(aclrtMemcpy(to, BYTES, to, BYTES, ACL_MEMCPY_HOST_TO_DEVICE) == 0);
        limit.rlim_cur = RLIM_INFINITY; /* the simulated NPU has a file as well */
        setrlimit(RLIMIT_FSIZE, &limit);
        free_to_go = true;
        OK(aclrtDestroyStream(stream));
    } else {
        pthread_create(&thread, NULL, fail_cancelled, NULL);
        pthread_join(thread, NULL);
        fail();
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        return 2;
    }
    OK(aclInit(NULL));
    OK(aclrtSetDevice(0));
    OK(aclrtCreateStream(&stream));
    OK(aclrtMalloc(&from, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMalloc(&to, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    run(argv[1]);
    OK(aclrtFree(from));
    OK(aclrtFree(to));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    return 0;
}
