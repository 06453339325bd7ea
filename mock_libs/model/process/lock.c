/* SPDX-License-Identifier: Apache-2.0 */
/* The lock and its condition. One of the waiting threads polls the sockets of the devices; a
 * descriptor wakes it, the condition the others. */
#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PAUSE_MILLISECONDS = 100, MAX_DESCRIPTORS = 128, SPIN_NANOSECONDS = 150000, MOST_SKIPPED = 255 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress;
static int wake = -1; /* an eventfd; without one the thread that looks sees the pauses end */
static bool looking;  /* a thread is */
static unsigned awaited; /* devices, as long as which there is the eventfd */

__attribute__((constructor)) static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress, &attributes);
    pthread_condattr_destroy(&attributes);
}

void mock_lock(void)
{
    pthread_mutex_lock(&lock);
}

void mock_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void mock_lock_forked(void)
{
    make_condition();
    looking = false;
    awaited = 1;
    mock_lock_disable_polling(); /* the parent's */
}

void mock_lock_enable_polling(void)
{
    if (awaited++ == 0) {
        wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
}

void mock_lock_disable_polling(void)
{
    if (--awaited == 0 && wake >= 0) {
        close(wake);
        wake = -1;
    }
}

void mock_signal_progress(void)
{
    const uint64_t one = 1;
    pthread_cond_broadcast(&progress);
    if (looking && wake >= 0 && write(wake, &one, sizeof one) < 0) {
        return; /* full of wake-ups already */
    }
}

struct timespec mock_deadline(int64_t milliseconds)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(milliseconds / 1000);
    deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000L;
    }
    return deadline;
}

bool mock_is_earlier(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec < other->tv_sec ||
           (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

static int64_t nanoseconds_until(const struct timespec *moment)
{
    const struct timespec now = mock_deadline(0);
    return (int64_t)(moment->tv_sec - now.tv_sec) * 1000000000 + (moment->tv_nsec - now.tv_nsec);
}

static int milliseconds_until(const struct timespec *deadline)
{
    const int64_t nanoseconds = nanoseconds_until(deadline);
    return nanoseconds <= 0 ? 0 : (int)((nanoseconds + 999999) / 1000000);
}

/* Look for an answer repeatedly, for a short time. After each vain look, twice as many waits sleep at once:
 * on one processor or a busy machine, and for long operators, most looks are vain. */
static int look_before_sleep(struct pollfd *all, nfds_t count)
{
    static unsigned skipped, to_skip;
    int ready = 0;
    if (skipped++ < to_skip) {
        return 0;
    }
    const struct timespec begin = mock_deadline(0);
    while (ready == 0 && nanoseconds_until(&begin) > -SPIN_NANOSECONDS) {
        ready = poll(all, count, 0);
    }
    skipped = 0;
    if (ready != 0) {
        to_skip = 0;
    } else if (to_skip < MOST_SKIPPED) {
        to_skip = 2 * to_skip + 1;
    }
    return ready;
}

/* Wait until a descriptor is ready, or some milliseconds. To sleep and be woken takes longer than most
 * operators run. */
static int await_descriptors(struct pollfd *all, nfds_t count, int milliseconds)
{
    int ready = poll(all, count, 0);
    if (ready != 0 || milliseconds == 0) {
        return ready;
    }
    ready = look_before_sleep(all, count);
    return ready != 0 ? ready : poll(all, count, milliseconds);
}

/* Poll the descriptors without the lock. true: one is ready, or this thread was woken. */
static bool look(const struct pollfd *descriptors, size_t count, const struct timespec *until)
{
    struct pollfd all[MAX_DESCRIPTORS];
    uint64_t wakes;
    memcpy(all, descriptors, count * sizeof all[0]);
    all[count] = (struct pollfd){.fd = wake, .events = POLLIN}; /* poll passes over -1 */
    looking = true;
    mock_unlock();
    const int ready = await_descriptors(all, (nfds_t)count + 1, milliseconds_until(until));
    mock_lock();
    looking = false;
    if (wake >= 0 && all[count].revents != 0 && read(wake, &wakes, sizeof wakes) < 0) {
        wakes = 0; /* another thread has taken them */
    }
    pthread_cond_broadcast(&progress); /* another thread may have to look on */
    return ready != 0;
}

enum mock_wait_result mock_lock_wait(const struct pollfd *descriptors, size_t count,
                               const struct timespec *deadline)
{
    struct timespec until = mock_deadline(PAUSE_MILLISECONDS);
    const bool last = deadline != NULL && !mock_is_earlier(&until, deadline);
    until = last ? *deadline : until;
    const bool moved = count > 0 && count < MAX_DESCRIPTORS && !looking
                           ? look(descriptors, count, &until)
                           : pthread_cond_timedwait(&progress, &lock, &until) != ETIMEDOUT;
    if (moved) {
        return MOCK_PROGRESS;
    }
    return last ? MOCK_TIMED_OUT : MOCK_NO_PROGRESS;
}
