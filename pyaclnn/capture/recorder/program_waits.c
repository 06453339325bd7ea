/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the program: what they bring, and what they are told of. */
#include "program_waits.h"

#include <pthread.h>
#include <string.h>

#include "arrived.h"
#include "drain.h"
#include "failures.h"
#include "wait_list.h"

enum { COMPLETE = 0 };

static _Thread_local struct capture_wait own;
static pthread_key_t leaving; /* set in a thread while it waits */
static _Thread_local uint64_t awaited; /* the last copy before the wait */

/* A thread that is cancelled waits no longer. */
static void leave(void *wait)
{
    capture_end_wait(wait);
}

__attribute__((constructor)) static void start(void)
{
    pthread_key_create(&leaving, leave);
}

/* True if the work is over: a status of the wait itself, such as that of a wrong handle, says nothing. */
static bool is_over(const struct capture_function *function, const union mock_word *words, int32_t status)
{
    int32_t queried = COMPLETE;
    if (function->hook == CAPTURE_QUERY && status == 0) {
        memcpy(&queried, words[1].pointer, sizeof queried);
    }
    return (status == 0 || capture_is_of_work(status)) && queried == COMPLETE;
}

/* A stream, or the device of its context. */
void capture_await(const struct capture_function *function, const union mock_word *words)
{
    const bool of_device = function->hook == CAPTURE_SYNCHRONIZE_DEVICE;
    struct capture_reach of = capture_of_stream(of_device ? 0 : words[0].bits);
    of.kind = of_device ? CAPTURE_OF_CONTEXT : CAPTURE_OF_STREAM;
    awaited = capture_begun_pending();
    capture_begin_program_wait(&own, &of);
    pthread_setspecific(leaving, &own);
}

int32_t capture_kept_failure(const struct capture_function *function, const union mock_word *words,
                             const char **message)
{
    if (!is_over(function, words, 0)) {
        return 0;
    }
    capture_return_from_wait(&own);
    return capture_take_failure(&own.of, message);
}

void capture_arrived(const struct capture_function *function, const union mock_word *words, int32_t status)
{
    const bool known = own.of.kind == CAPTURE_OF_STREAM || own.of.context != 0;
    if (is_over(function, words, status) && known) {
        capture_forget_vain_waits();
        capture_finish(capture_take_waited(&own, awaited, status != 0), status != 0);
    }
    pthread_setspecific(leaving, NULL);
    capture_end_wait(&own);
}
