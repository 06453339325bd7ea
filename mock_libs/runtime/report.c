/* SPDX-License-Identifier: Apache-2.0 */
/* The lock, error texts and last errors. */
#include "state.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress;

/* One text is filled while the other one, already fetched, stays valid for its reader. */
static _Thread_local char texts[2][TEXT_BYTES];
static _Thread_local int filling;
static _Thread_local aclError last_error;

static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* In a child, what another thread of the parent held would stay locked for ever. */
static pthread_mutex_t *const LOCKS[] = {&lock, &mock_gate_lock, &mock_fault_lock,
                                         &mock_violation_lock};
enum { LOCK_COUNT = sizeof LOCKS / sizeof LOCKS[0] };

static void before_fork(void)
{
    for (int i = 0; i < LOCK_COUNT; i++) {
        pthread_mutex_lock(LOCKS[i]);
    }
}

static void after_fork(void)
{
    for (int i = LOCK_COUNT - 1; i >= 0; i--) {
        pthread_mutex_unlock(LOCKS[i]);
    }
}

static void after_fork_in_child(void)
{
    make_condition(); /* the threads that wait on the old one exist in the parent only */
    mock_process_forked();
    mock_forget_alive();
    after_fork();
}

__attribute__((constructor)) static void set_up(void)
{
    make_condition();
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

void mock_enter(void)
{
    pthread_mutex_lock(&lock);
}

void mock_leave(void)
{
    aclrtExceptionInfoCallback callback;
    mock_run_eagerly();
    struct rtExceptionInfo *exceptions = mock_exception_take(&callback);
    pthread_mutex_unlock(&lock);
    mock_exception_deliver(exceptions, callback);
}

void mock_progress(void)
{
    pthread_cond_broadcast(&progress);
}

static void set_deadline(struct timespec *deadline, int64_t milliseconds)
{
    clock_gettime(CLOCK_MONOTONIC, deadline);
    deadline->tv_sec += (time_t)(milliseconds / 1000);
    deadline->tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (deadline->tv_nsec >= 1000000000L) {
        deadline->tv_sec += 1;
        deadline->tv_nsec -= 1000000000L;
    }
}

aclError mock_limit(int32_t milliseconds, aclError refusal, struct timespec *deadline,
                    const struct timespec **limit)
{
    if (milliseconds == 0 || milliseconds < -1) {
        return mock_fail(refusal, "timeout is %d ms; it must be -1 (for ever) or above 0",
                         milliseconds);
    }
    set_deadline(deadline, milliseconds);
    *limit = milliseconds == -1 ? NULL : deadline;
    return ACL_SUCCESS;
}

static bool is_earlier(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec < other->tv_sec ||
           (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

bool mock_wait_progress(const struct timespec *deadline)
{
    struct timespec pause;
    set_deadline(&pause, 100);
    if (deadline == NULL || is_earlier(&pause, deadline)) {
        pthread_cond_timedwait(&progress, &lock, &pause);
        return true;
    }
    return pthread_cond_timedwait(&progress, &lock, deadline) != ETIMEDOUT;
}

/* Codes of the ACL layer (1000xx, 2000xx, 5000xx) and of aclnn are not runtime errors. */
static bool is_runtime_code(aclError code)
{
    return code / 1000 % 100 == 7;
}

static const char *message_code(aclError code)
{
    if (is_runtime_code(code)) {
        return "EE1001";
    }
    return code == ACL_ERROR_INVALID_PARAM ? "EH0001" : "EZ9999";
}

/* "EZ1001: ": two capitals, four digits. */
enum { CODE_BYTES = 8 };

static bool has_message_code(const char *text)
{
    for (int i = 0; i < CODE_BYTES; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool fits = i < 2   ? isupper(byte) != 0
                          : i < 6 ? isdigit(byte) != 0
                                  : byte == ": "[i - 6];
        if (!fits) {
            return false;
        }
    }
    return true;
}

aclError mock_fail(aclError code, const char *format, ...)
{
    char *text = texts[filling];
    time_t now = time(NULL);
    struct tm local;
    char stamp[32] = "";
    if (localtime_r(&now, &local) != NULL) {
        strftime(stamp, sizeof stamp, "%Y-%m-%d-%H:%M:%S", &local);
    }
    char plain[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(plain, sizeof plain, format, arguments);
    va_end(arguments);
    /* A text of the device begins with a code of its own. */
    const bool coded = has_message_code(plain);
    snprintf(text, TEXT_BYTES, "%.6s: [PID: %ld] %s simulated NPU: %.3900s",
             coded ? plain : message_code(code), (long)getpid(), stamp,
             coded ? plain + CODE_BYTES : plain);
    if (is_runtime_code(code)) {
        last_error = code;
    }
    return code;
}

int mock_unimplemented(const char *function)
{
    return mock_fail(MOCK_NOT_IMPLEMENTED,
                     "%s is declared by CANN but not implemented by the simulated NPU", function);
}

const char *aclGetRecentErrMsg(void)
{
    char *text = texts[filling];
    if (text[0] == '\0') {
        return NULL;
    }
    filling = 1 - filling;
    texts[filling][0] = '\0';
    return text;
}

static aclError check_level(const char *function, aclrtLastErrLevel level)
{
    if (level != ACL_RT_THREAD_LEVEL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "%s: level is %d; only ACL_RT_THREAD_LEVEL (0) exists", function,
                         (int)level);
    }
    return ACL_SUCCESS;
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level)
{
    const aclError refused = check_level("aclrtPeekAtLastError", level);
    return refused != ACL_SUCCESS ? refused : last_error;
}

aclError aclrtGetLastError(aclrtLastErrLevel level)
{
    const aclError refused = check_level("aclrtGetLastError", level);
    if (refused != ACL_SUCCESS) {
        return refused;
    }
    const aclError code = last_error;
    last_error = ACL_SUCCESS;
    return code;
}
