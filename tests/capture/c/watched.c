/* SPDX-License-Identifier: Apache-2.0 */
/* A program that watches what the recorder asks of libc, and answers in its place: it has the
 * functions that the loader finds first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_add.h"

void *__libc_malloc(size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_calloc(size_t count, size_t size);

static volatile long requests, fail_at, largest, compared; /* fail_at: the first that fails */
static volatile bool in_handler;
static volatile long room = -1, refusal;                /* bytes that the disk has yet; its errno */
static _Thread_local volatile int pause_at, clocks;     /* readings of the clock */
static volatile int pause_parser, parsing;

static bool is_recorder(const void *caller)
{
    Dl_info found;
    return dladdr(caller, &found) != 0 && strstr(found.dli_fname, "libpyaclnn_capture") != NULL;
}

static bool refuses(const void *caller, size_t size)
{
    if (!is_recorder(caller)) return false;
    if (in_handler) syscall(SYS_write, 2, "allocated\n", 10);
    if (largest < (long)size) largest = (long)size;
    return __atomic_add_fetch(&requests, 1, __ATOMIC_RELAXED) >= fail_at && fail_at != 0;
}
#define CALLER __builtin_return_address(0)

void *malloc(size_t size) { return refuses(CALLER, size) ? NULL : __libc_malloc(size); }
void *realloc(void *old, size_t size) { return refuses(CALLER, size) ? NULL : __libc_realloc(old, size); }
void *calloc(size_t n, size_t size) { return refuses(CALLER, n * size) ? NULL : __libc_calloc(n, size); }

int strcmp(const char *a, const char *b)
{
    compared += is_recorder(CALLER);
    while (*a != '\0' && *a == *b) { a++; b++; }
    return (unsigned char)*a - (unsigned char)*b;
}

static ssize_t put(const void *caller, int file, const void *data, size_t size, long at)
{
    if (room >= 0 && file > 2 && is_recorder(caller)) {
        if (room == 0) { errno = (int)refusal; return -1; }
        if ((long)size > room) size = (size_t)room;
        room -= (long)size;
    }
    return at < 0 ? syscall(SYS_write, file, data, size) : syscall(SYS_pwrite64, file, data, size, at);
}
ssize_t write(int file, const void *data, size_t size) { return put(CALLER, file, data, size, -1); }
ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return put(CALLER, file, data, size, at); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { return put(CALLER, file, data, size, at); }

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock == CLOCK_MONOTONIC && pause_at != 0 && is_recorder(CALLER) && ++clocks == pause_at) {
        usleep(300000);
    }
    return (int)syscall(SYS_clock_gettime, clock, now);
}

static unsigned long parse(const char *text, char **end)
{
    unsigned long value = 0;
    if (pause_parser != 0) { parsing = 1; usleep(300000); }
    while (*text >= '0' && *text <= '9') value = 10 * value + (unsigned long)(*text++ - '0');
    *end = (char *)(uintptr_t)text;
    return value;
}
unsigned long strtoul(const char *text, char **end, int base) { (void)base; return parse(text, end); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { (void)base; return parse(text, end); }

static int64_t dims[] = {8, 8}, strides[] = {8, 1};

static aclTensor *create(void *data)
{
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, data);
}

/* ---- the same address for two threads ----------------------------------------------------- */

static void *freed;

static void *end_and_pause(void *unused)
{
    pause_at = 2; /* between the real aclrtFree and what the recorder does then */
    aclrtFree(freed);
    pause_at = 0;
    return unused;
}

static int reuse(void)
{
    pthread_t other;
    void *again;
    aclrtMalloc(&freed, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    pthread_create(&other, NULL, end_and_pause, NULL);
    usleep(100000);
    aclrtMalloc(&again, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    pthread_join(other, NULL);
    aclrtSynchronizeDevice();
    aclrtMemset(again, 4096, 0, 64);
    printf("%s %lu\n", again == freed ? "same" : "other", (unsigned long)(uintptr_t)again);
    return (int)aclrtFree(again);
}

/* ---- what a few calls cost, and do when there is nothing left ------------------------------ */

static int add(void)
{
    float host[64], one = 1, expected;
    int64_t flat[] = {0, 0};
    void *a, *b;
    aclrtMalloc(&a, 4096, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMalloc(&b, 4 << 20, ACL_MEM_MALLOC_HUGE_FIRST);
    for (int i = 0; i < 64; i++) host[i] = 3;
    aclrtMemcpy(a, 4096, host, sizeof host, ACL_MEMCPY_HOST_TO_DEVICE);
    int64_t wide[] = {1024, 1024}, rows[] = {1024, 1};
    aclScalar *alpha = aclCreateScalar(&one, ACL_FLOAT);
    aclTensor *x = aclCreateTensor(wide, 2, ACL_FLOAT, flat, 0, ACL_FORMAT_ND, wide, 2, a);
    aclTensor *y = aclCreateTensor(wide, 2, ACL_FLOAT, rows, 0, ACL_FORMAT_ND, wide, 2, b);
    uint64_t size = 0;
    aclOpExecutor *executor;
    void *w = NULL;
    int status = aclnnAddGetWorkspaceSize(x, x, alpha, y, &size, &executor);
    if (size) aclrtMalloc(&w, size, ACL_MEM_MALLOC_HUGE_FIRST);
    status = status ? status : aclnnAdd(w, size, executor, NULL);
    aclrtSynchronizeStream(NULL);
    aclrtMemcpy(&expected, 4, b, 4, ACL_MEMCPY_DEVICE_TO_HOST);
    for (int i = 0; i < 3000; i++) aclDestroyTensor(create(a));
    if (w) aclrtFree(w);
    aclDestroyTensor(x); aclDestroyTensor(y); aclDestroyScalar(alpha);
    aclrtFree(a); aclrtFree(b);
    printf("%d %g\n", status, expected);
    return 0;
}

static void *one_call(void *unused)
{
    aclDestroyTensor(create(dims));
    return unused;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (fscanf(file, "%*d %ld", &pages) != 1) return -1;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int threads(void)
{
    long before = 0;
    for (int i = 0; i < 6000; i++) {
        pthread_t one;
        pthread_create(&one, NULL, one_call, NULL);
        pthread_join(one, NULL);
        if (i == 1000) before = resident();
    }
    printf("%ld kB\n", resident() - before);
    return 0;
}

/* ---- signals and forks -------------------------------------------------------------------- */

static int die(void)
{
    aclDestroyTensor(create(dims));
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 500; i++) create(dims); /* less than a block */
        in_handler = true;
        raise(SIGTERM);
    }
    int status;
    waitpid(child, &status, 0);
    return 0;
}

static void *first_call(void *unused)
{
    pause_parser = 1;
    aclDestroyTensor(create(dims));
    return unused;
}

static int split(void)
{
    pthread_t other;
    int status = 0;
    aclrtGetDeviceCount(&(uint32_t){0}); /* the table is there */
    pthread_create(&other, NULL, first_call, NULL);
    while (parsing == 0) usleep(1000);
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        pause_parser = 0;
        create(dims);
        _exit(0);
    }
    waitpid(child, &status, 0);
    pthread_join(other, NULL);
    printf("%s\n", WIFSIGNALED(status) ? "hung" : "went on");
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    const long number = argc > 2 ? atol(argv[2]) : 0;
    const bool needs_device = strstr("reuse add full limit scarce", what) != NULL;
    aclInit(NULL);
    if (needs_device) aclrtSetDevice(0);
    if (strcmp(what, "full") == 0) { room = number; refusal = atol(argv[3]); }
    if (strcmp(what, "limit") == 0) setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)number, (rlim_t)number});
    if (strcmp(what, "scarce") == 0) { requests = 0; fail_at = number; }
    if (strcmp(what, "reuse") == 0) reuse();
    else if (strcmp(what, "threads") == 0) threads();
    else if (strcmp(what, "die") == 0) die();
    else if (strcmp(what, "split") == 0) split();
    else if (strcmp(what, "fail") == 0) {
        aclrtSetDevice(99);
        aclGetRecentErrMsg();
        compared = 0;
        aclrtSetDevice(99);
        printf("%ld compared\n", compared);
    } else {
        largest = 0;
        add();
        if (strcmp(what, "add") == 0) printf("largest %ld\n", largest);
    }
    if (needs_device) aclrtResetDevice(0);
    aclFinalize();
    return 0;
}
