/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that have arrived, until the recorder's own thread has hashed and written them. */
#include "arrived.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "handed_block.h"
#include "images.h"
#include "known.h"
#include "locks.h"

static const size_t MOST = 8 << 20; /* bytes; more are written by the thread that hands them over */

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_FILE];
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
static struct capture_pending *first, **last = &first;
static size_t bytes;
static unsigned writers; /* threads that write what they have taken off the list */

static void write_one(struct capture_pending *one)
{
    capture_write_image(one->call, &one->of, one->phase, one->image, one->full);
    capture_drop_image(one->image);
    free(one);
}

/* Let the recorder's thread write copies, so that the program's own goes on. */
static void hand_over(struct capture_pending *taken)
{
    struct capture_pending *handed = NULL, **end = &handed;
    size_t size = 0;
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        if (one->image->to.own) { /* to be freed, by a call of CANN from this thread */
            write_one(one);
        } else {
            one->next = NULL;
            *end = one;
            end = &one->next;
            size += one->size;
        }
    }
    if (handed != NULL) {
        pthread_mutex_lock(lock);
        *last = handed;
        last = end;
        bytes += size;
        const bool many = bytes > MOST;
        capture_wake();
        pthread_mutex_unlock(lock);
        if (many) {
            capture_write_arrived();
        }
    }
}

void capture_finish(struct capture_pending *taken, bool failed)
{
    struct capture_pending *arrived = NULL, **end = &arrived;
    if (failed) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        if (failed && one->phase == CAPTURE_AFTER) {
            capture_write_absence(one->call, &one->of, one->phase, "its stream failed");
            capture_drop_image(one->image);
            free(one);
        } else {
            one->full = one->full || failed;
            one->next = NULL;
            *end = one;
            end = &one->next;
        }
    }
    hand_over(arrived);
}

void capture_lose(struct capture_pending *taken)
{
    if (taken != NULL) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        capture_write_absence(one->call, &one->of, one->phase, "its copy was not waited for");
        free(one);
    }
}

void capture_write_arrived(void)
{
    pthread_mutex_lock(lock);
    struct capture_pending *taken = first;
    first = NULL;
    last = &first;
    bytes = 0;
    writers++;
    pthread_mutex_unlock(lock);
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        write_one(one);
    }
    pthread_mutex_lock(lock);
    writers--;
    pthread_cond_broadcast(&written);
    pthread_mutex_unlock(lock);
}

void capture_settle(void)
{
    capture_write_arrived();
    pthread_mutex_lock(lock);
    while (writers != 0) {
        pthread_cond_wait(&written, lock);
    }
    pthread_mutex_unlock(lock);
}

bool capture_is_settled(void)
{
    pthread_mutex_lock(lock);
    const bool settled = first == NULL && writers == 0;
    pthread_mutex_unlock(lock);
    return settled;
}

/* This thread itself may have the lock, or have been writing. */
void capture_await_settled(void)
{
    bool settled = false;
    for (int tries = 300; !settled && tries != 0; tries--) {
        if (pthread_mutex_trylock(lock) == 0) {
            settled = first == NULL && writers == 0;
            pthread_mutex_unlock(lock);
        }
        if (!settled) {
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
    }
}

/* A child of a fork has no thread that writes. */
static void forget_arrived(void)
{
    pthread_cond_init(&written, NULL);
    first = NULL;
    last = &first;
    bytes = 0;
    writers = 0;
}
CAPTURE_IN_CHILD(forget_arrived)
