/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of streams that a wait of the recorder was told of, until the program waits. */
#include "failures.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "locks.h"

enum { FIRST_OF_WORK = 500000 };

struct failure {
    struct failure *next;
    uint64_t stream;
    struct capture_place place;
    int32_t status;
    char *message;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct failure *failures; /* the last one first */
static _Thread_local char *given; /* the message of the last one that this thread took */

bool capture_is_of_work(int32_t status)
{
    return status >= FIRST_OF_WORK && status != CAPTURE_TIMED_OUT;
}

void capture_keep_failure(uint64_t stream, struct capture_place place, int32_t status)
{
    struct failure *made = capture_memory(NULL, sizeof *made);
    const char *text = capture_ask(CAPTURE_RECENT_MESSAGE);
    if (made != NULL) {
        *made = (struct failure){.stream = stream, .place = place, .status = status};
        made->message = text == NULL ? NULL : strdup(text);
        pthread_mutex_lock(&lock);
        made->next = failures;
        __atomic_store_n(&failures, made, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&lock);
    }
}

/* Take a failure off the list, or return NULL. */
static struct failure *take(const struct capture_reach *reach)
{
    if (__atomic_load_n(&failures, __ATOMIC_RELAXED) == NULL) { /* as nearly always */
        return NULL;
    }
    pthread_mutex_lock(&lock);
    struct failure **at = &failures;
    while (*at != NULL && !capture_is_within(reach, (*at)->stream, &(*at)->place)) {
        at = &(*at)->next;
    }
    struct failure *taken = *at;
    if (taken != NULL) {
        __atomic_store_n(at, taken->next, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

int32_t capture_take_failure(const struct capture_reach *reach, const char **message)
{
    struct failure *taken = take(reach);
    const int32_t status = taken == NULL ? 0 : taken->status;
    if (taken != NULL) {
        free(given);
        *message = given = taken->message;
    }
    free(taken);
    return status;
}

void capture_leave_failures(void)
{
    free(given);
    given = NULL;
}

void capture_drop_failures(const struct capture_reach *reach)
{
    for (struct failure *one = take(reach); one != NULL; one = take(reach)) {
        free(one->message);
        free(one);
    }
}

/* A child of a fork has no streams. */
static void forget_failures(void)
{
    pthread_mutex_init(&lock, NULL);
    failures = NULL;
}
CAPTURE_IN_CHILD(forget_failures)
