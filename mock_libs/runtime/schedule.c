/* SPDX-License-Identifier: Apache-2.0 */
/* PYACLNN_MOCK_MODE: in which order streams run, and when.
 *
 *     deferred       work runs only when somebody waits for it, and only what must (the default)
 *     shuffled:SEED  when somebody waits, tasks of all streams run in a random order that the seed
 *                    decides; only events order streams
 *     eager          work runs when it is submitted, as far as nothing holds it up */
#include "state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum { DEFERRED, SHUFFLED, EAGER } mode;
static uint64_t random_state = 1;
static char complaint[256];

bool mock_is_shuffled(void)
{
    return mode == SHUFFLED;
}

const char *mock_mode_complaint(void)
{
    return complaint[0] == '\0' ? NULL : complaint;
}

/* splitmix64: good from any seed on */
static uint64_t next_random(void)
{
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static bool set_mode(const char *text)
{
    static const char shuffled[] = "shuffled:";
    if (text[0] == '\0' || strcmp(text, "deferred") == 0) {
        mode = DEFERRED;
        return true;
    }
    if (strcmp(text, "eager") == 0) {
        mode = EAGER;
        return true;
    }
    const char *number = text + sizeof shuffled - 1;
    if (strncmp(text, shuffled, sizeof shuffled - 1) != 0 || !isdigit((unsigned char)number[0])) {
        return false;
    }
    char *end = NULL;
    const uint64_t seed = strtoull(number, &end, 10);
    if (*end != '\0') {
        return false;
    }
    mode = SHUFFLED;
    random_state = seed;
    return true;
}

#pragma GCC visibility push(default)
/* Changes the mode and starts its random order anew. 0: done; -1: there is no such mode. */
int pyaclnn_mock_mode_set(const char *text);
#pragma GCC visibility pop

int pyaclnn_mock_mode_set(const char *text)
{
    mock_enter();
    const bool good = set_mode(text);
    mock_leave();
    return good ? 0 : -1;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("PYACLNN_MOCK_MODE");
    if (text != NULL && !set_mode(text)) {
        snprintf(complaint, sizeof complaint,
                 "PYACLNN_MOCK_MODE is '%s'; it must be deferred, shuffled:SEED or eager", text);
    }
}

/* The index-th stream that has work and is not known to be blocked, or NULL. */
static struct stream *runnable(size_t index)
{
    struct stream *stream = mock_stream_oldest();
    while (stream != NULL && (stream->stuck || !mock_stream_pending(stream) || index-- > 0)) {
        stream = stream->younger;
    }
    return stream;
}

static size_t count_runnable(void)
{
    size_t count = 0;
    while (runnable(count) != NULL) {
        count++;
    }
    return count;
}

static void forget_stuck(void)
{
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        stream->stuck = false;
    }
}

bool mock_shuffle_until(struct stream *stream, uint64_t position)
{
    forget_stuck();
    while (stream->executed < position) {
        const size_t count = count_runnable();
        if (count == 0) {
            return false;
        }
        struct stream *chosen = runnable((size_t)(next_random() % count));
        if (mock_stream_step(chosen)) {
            forget_stuck(); /* it may have been what others wait for */
        } else {
            chosen->stuck = true;
        }
    }
    return true;
}

void mock_run_eagerly(void)
{
    bool moved = mode == EAGER;
    while (moved) {
        moved = false;
        for (struct stream *stream = mock_stream_oldest(); stream != NULL;
             stream = stream->younger) {
            while (mock_stream_pending(stream) && mock_stream_step(stream)) {
                moved = true;
            }
        }
    }
}
