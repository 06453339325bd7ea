/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a stream whose copies have become many, in a thread of the recorder, beside the program.
 *
 * If they become more nevertheless, the program waits as well. */
#include "drain.h"

#include <pthread.h>

#include "arrived.h"
#include "file.h"
#include "graphs.h"
#include "locks.h"
#include "threads.h"
#include "waits.h"

enum { MOST_VAIN_WAITS = 5, PATIENCE_AT_LIMIT_MS = 10 };
/* Copies on their way: to be waited for; by the program; at any price. */
static const struct capture_amount MANY = {512, 256 << 10}, MORE = {3072, 8 << 20},
                                   NEARLY_MOST = {3072, 128 << 20};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;
static struct capture_reach asked; /* the stream to be waited for next */
static uint64_t asked_until;       /* its last copy: those of a call that may yet fail are left */
static bool is_asked, is_running;
static _Thread_local size_t in_vain; /* copies on their way as this thread waited in vain, or 0 */
static _Thread_local unsigned vain_waits; /* of those, at the limit */

static void *wait_beside(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!is_asked) {
            pthread_cond_wait(&given, &lock);
        }
        const struct capture_reach reach = asked;
        const uint64_t until = asked_until;
        is_asked = false;
        pthread_mutex_unlock(&lock);
        capture_await_copies(&reach, until, CAPTURE_PATIENCE_MS);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

/* False: there is no thread. */
static bool ask(const struct capture_reach *reach)
{
    pthread_mutex_lock(&lock);
    is_running = is_running || capture_start_thread(wait_beside);
    asked = *reach;
    asked_until = capture_begun_pending();
    is_asked = is_running;
    const bool runs = is_running;
    pthread_cond_signal(&given);
    pthread_mutex_unlock(&lock);
    return runs;
}

/* Wait only for the stream of the program's own launch, and not while a graph is captured: that only the
 * program ends. Again after a wait in vain, as a program may wait for events alone; more rarely, as long
 * as there is room. */
void capture_drain(uint64_t stream)
{
    const bool full = capture_is_full();
    if (!(capture_is_pending(MANY) || full) || capture_graph_is_open()) {
        return;
    }
    const struct capture_reach reach = capture_of_stream(stream);
    if (!full && !capture_is_pending(MORE) && ask(&reach)) {
        return;
    }
    const size_t now = capture_pending_count();
    const bool at_limit = capture_is_pending(NEARLY_MOST), again = now > 4 * in_vain;
    if (again || at_limit) {
        const bool patient = again || vain_waits < MOST_VAIN_WAITS; /* a busy machine is slow */
        const uint64_t patience = patient ? CAPTURE_PATIENCE_MS : PATIENCE_AT_LIMIT_MS;
        in_vain = capture_await_copies(&reach, UINT64_MAX, patience) ? 0 : now;
        vain_waits = in_vain == 0 ? 0 : vain_waits + at_limit;
    }
    if (full) { /* the records of copies lie in the file of their call */
        capture_settle();
    }
}

void capture_forget_vain_waits(void)
{
    in_vain = 0;
}

/* A child of a fork has no other thread. */
static void forget_thread(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&given, NULL);
    is_asked = is_running = false;
}
CAPTURE_IN_CHILD(forget_thread)
