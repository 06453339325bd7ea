/* SPDX-License-Identifier: Apache-2.0 */
/* A vendor's runtime as the doctor may meet it: the simulated one, with faults chosen by the
 * environment variable KIT_FAULT. Everything that is not here comes from the library behind it. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "acl/acl.h"

#include "files.h"

static bool fault(const char *name)
{
    const char *chosen = getenv("KIT_FAULT");
    return chosen != NULL && strcmp(chosen, name) == 0;
}

static void *behind(const char *symbol)
{
    static void *library;
    if (library == NULL) {
        library = dlopen("libvendorrt.so", RTLD_NOW | RTLD_NOLOAD);
    }
    void *found = library == NULL ? NULL : dlsym(library, symbol);
    if (found == NULL) {
        fprintf(stderr, "kit: no %s behind the runtime\n", symbol);
        abort();
    }
    return found;
}

#define BEHIND(name) ((__typeof__(&name))behind(#name))

static void hang(void)
{
    for (;;) {
        pause();
    }
}

static void crash(void)
{
    raise(SIGSEGV);
}

/* Start a process, which has become another program on return: one that still has the caller's name
 * is not known by its own, and one that still has its group would be ended with that. To get away it
 * is of a session of its own, its parent ended, without variables. */
static void starts(char *name, bool away)
{
    int ends[2]; /* the other one is closed when the process becomes the new program */
    if (pipe2(ends, O_CLOEXEC) != 0) {
        abort();
    }
    if (fork() != 0) {
        char none;
        close(ends[1]);
        if (read(ends[0], &none, 1) != 0) {
            abort();
        }
        close(ends[0]);
        return;
    }
    if (away) {
        setsid();
        if (fork() != 0) {
            _exit(0);
        }
    }
    char *const arguments[] = {name, "60", NULL};
    char *const none[] = {NULL};
    if (chdir("/") == 0) {
        execve("/bin/sleep", arguments, away ? none : environ);
    }
    _exit(1);
}

/* Wait until the doctor has looked: the test says so through a pipe, once somebody can read there. */
static void wait_to_be_seen(void)
{
    char seen;
    const char *pipe = getenv("KIT_SEEN");
    const int end = pipe == NULL ? -1 : open(pipe, O_RDWR | O_CLOEXEC);
    if (end < 0 || read(end, &seen, 1) != 1) {
        abort();
    }
}

static void at_the_end(void)
{
    if (fault("daemon-at-the-end")) {
        starts("kit-daemon", true);
    }
    if (fault("helper-at-the-end")) {
        starts("kit-helper", false);
    }
    if (fault("end-crash")) {
        crash();
    }
    if (fault("end-hang")) {
        hang();
    }
}

__attribute__((constructor)) static void loading(void)
{
    if (fault("load-crash")) {
        crash();
    }
}

/* The nodes, which only a strict kit opens: those of others are files that nothing reads. */
static bool no_node(const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "dev/%s", name);
    const int node = getenv("KIT_ROOT") == NULL ? 0 : kit_open("KIT_ROOT", path, O_RDWR);
    if (node > 0) {
        close(node);
    }
    return node < 0;
}

ACL_FUNC_VISIBILITY aclError aclInit(const char *config)
{
    atexit(at_the_end);
    if (getenv("KIT_ROOT") != NULL &&
        !kit_has("KIT_CHIPS", "Ascend910B3.ini", '[', '\n')) {
        return ACL_ERROR_INTERNAL_ERROR;
    }
    if (fault("init-segv")) {
        crash();
    }
    if (fault("init-abort")) {
        fprintf(stderr, "[ERROR] RUNTIME: no memory pool, giving up\n");
        abort();
    }
    if (fault("init-exit")) {
        _exit(0);
    }
    if (fault("init-exit-3")) {
        _exit(3);
    }
    if (fault("init-hang")) {
        hang();
    }
    if (fault("init-507008")) {
        return ACL_ERROR_RT_SOC_VERSION;
    }
    if (fault("init-100002")) { /* this process has initialised nothing */
        BEHIND(aclInit)(config);
        return ACL_ERROR_REPEAT_INITIALIZE;
    }
    const char *log = getenv("ASCEND_PROCESS_LOG_PATH");
    if (fault("init-500000") && log != NULL) {
        char path[4096];
        snprintf(path, sizeof path, "%s/plog-%d.log", log, (int)getpid());
        FILE *file = fopen(path, "w");
        if (file != NULL) {
            fputs("[INFO] starting\n[ERROR] DRV: drvMngGetChipName failed, 7\n", file);
            fclose(file);
        }
        return ACL_ERROR_INTERNAL_ERROR;
    }
    return BEHIND(aclInit)(config);
}

ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total)
{
    const aclError status = BEHIND(aclrtGetMemInfo)(attr, free, total);
    if (fault("daemon") || fault("daemon-and-crash")) {
        starts("kit-daemon", true);
    }
    if (fault("daemon-and-crash")) {
        wait_to_be_seen();
        crash();
    }
    if (fault("little-memory")) {
        *free = 20 << 20;
    }
    return status;
}

ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void)
{
    return fault("no-soc-name") ? NULL : BEHIND(aclrtGetSocName)();
}

ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t *count)
{
    if (fault("count-507899") || no_node("davinci_manager") || no_node("devmm_svm") ||
        no_node("hisi_hdc") || no_node("davinci0")) {
        return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
    }
    const aclError status = BEHIND(aclrtGetDeviceCount)(count);
    if (fault("count-0")) {
        *count = 0;
    }
    if (fault("count-fewer")) {
        *count -= 1;
    }
    return status;
}

ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t device)
{
    if (fault("open-hang")) {
        hang();
    }
    for (volatile int turns = 0; fault("open-spin");) {
        turns = turns + 1;
    }
    if (fault("open-hang-deaf")) {
        signal(SIGTERM, SIG_IGN);
        hang();
    }
    if (fault("open-hang-with-child")) {
        if (fork() == 0) {
            hang();
        }
        hang();
    }
    if (fault("open-507033") || (fault("open-507033-of-1") && device == 1)) {
        return ACL_ERROR_RT_DEV_SETUP_ERROR;
    }
    return BEHIND(aclrtSetDevice)(device);
}

ACL_FUNC_VISIBILITY aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy)
{
    if (fault("malloc-107002")) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    if (fault("malloc-207001")) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    if (fault("malloc-null")) {
        *address = NULL;
        return ACL_SUCCESS;
    }
    static void *first;
    if (fault("malloc-same") && first != NULL) {
        *address = first;
        return ACL_SUCCESS;
    }
    const aclError status = BEHIND(aclrtMalloc)(address, size, policy);
    first = *address;
    return status;
}

/* ---- work that is reported as done before it is -------------------------------------------- */

static aclrtStream unfinished;
static double until;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool returns_early(aclrtStream stream)
{
    if (!fault("late") || stream == NULL) {
        return false;
    }
    unfinished = stream;
    until = now() + 0.1;
    return true;
}

ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return returns_early(stream) ? ACL_SUCCESS : BEHIND(aclrtSynchronizeStream)(stream);
}

ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    return returns_early(stream) ? ACL_SUCCESS
                                 : BEHIND(aclrtSynchronizeStreamWithTimeout)(stream, timeout);
}

ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream)
{
    if (stream == unfinished) {
        unfinished = NULL;
    }
    return BEHIND(aclrtDestroyStream)(stream);
}

ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void *target, size_t most, const void *source, size_t size,
                                         aclrtMemcpyKind kind)
{
    if (unfinished != NULL && now() > until) {
        BEHIND(aclrtSynchronizeStream)(unfinished);
        unfinished = NULL;
    }
    const aclError status = BEHIND(aclrtMemcpy)(target, most, source, size, kind);
    if (fault("memory-flip") && kind == ACL_MEMCPY_DEVICE_TO_HOST && size > 1000) {
        ((unsigned char *)target)[size / 2] ^= 0x10;
    }
    return status;
}

ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback function, void *data,
                                                 aclrtCallbackBlockType block, aclrtStream stream)
{
    if (fault("callback-lost")) {
        return ACL_SUCCESS;
    }
    return BEHIND(aclrtLaunchCallback)(function, data, block, stream);
}
