/* SPDX-License-Identifier: Apache-2.0 */
/* Counting calls, and what the gate does with a fault. */
#include "gate.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "state.h"

/* One for each library. */
enum { MOST_TABLES = 8 };

static struct {
    struct mock_function *functions;
    size_t count;
} tables[MOST_TABLES];
pthread_mutex_t mock_gate_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct mock_frame *current;

void mock_gate_register(struct mock_function *functions, size_t count)
{
    size_t place = 0;
    pthread_mutex_lock(&mock_gate_lock);
    while (place < MOST_TABLES && tables[place].functions != NULL) {
        place++;
    }
    if (place < MOST_TABLES) {
        tables[place].functions = functions;
        tables[place].count = count;
    }
    pthread_mutex_unlock(&mock_gate_lock);
}

void mock_gate_unregister(const struct mock_function *functions)
{
    pthread_mutex_lock(&mock_gate_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        if (tables[i].functions == functions) {
            tables[i].functions = NULL;
            tables[i].count = 0;
        }
    }
    pthread_mutex_unlock(&mock_gate_lock);
}

struct mock_frame *mock_gate_current(void)
{
    return current;
}

struct mock_origin mock_origin_now(void)
{
    struct mock_origin origin = {NULL, NULL};
    if (current != NULL) {
        origin.function = current->function->name;
        origin.caller = current->caller;
    }
    return origin;
}

bool mock_gate_open(struct mock_frame *frame, struct mock_function *function, const void *caller)
{
    atomic_fetch_add_explicit(&function->calls, 1, memory_order_relaxed);
    *frame = (struct mock_frame){.function = function, .caller = caller, .outer = current};
    current = frame;
    if (!mock_faults_armed()) {
        return false;
    }
    mock_fault_decide(frame);
    if (frame->effect == MOCK_LOSES_DEVICE) {
        mock_enter();
        mock_device_kill();
        mock_leave();
    }
    if (frame->effect != MOCK_FAILS) {
        return false;
    }
    current = frame->outer;
    mock_fail(frame->code, "a fault was injected into %s", function->name);
    return true;
}

int mock_gate_close(struct mock_frame *frame, int status)
{
    current = frame->outer;
    if (frame->effect != MOCK_FAILS_AFTER) {
        return status;
    }
    return mock_fail(frame->code, "a fault was injected into %s, after its work",
                     frame->function->name);
}

/* ---- for the tools ------------------------------------------------------------------------ */

#pragma GCC visibility push(default)
size_t pyaclnn_mock_call_counts(char *text, size_t capacity);
void pyaclnn_mock_call_counts_reset(void);
#pragma GCC visibility pop

/* Lines of "name count" for every function that has a gate; gives the length of the whole text. */
size_t pyaclnn_mock_call_counts(char *text, size_t capacity)
{
    size_t length = 0;
    pthread_mutex_lock(&mock_gate_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            const struct mock_function *function = &tables[i].functions[j];
            const size_t left = length < capacity ? capacity - length : 0;
            const int written =
                snprintf(left > 0 ? text + length : NULL, left, "%s %llu\n", function->name,
                         (unsigned long long)atomic_load_explicit(&function->calls,
                                                                  memory_order_relaxed));
            length += (size_t)written;
        }
    }
    pthread_mutex_unlock(&mock_gate_lock);
    return length;
}

void pyaclnn_mock_call_counts_reset(void)
{
    pthread_mutex_lock(&mock_gate_lock);
    for (size_t i = 0; i < MOST_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            atomic_store_explicit(&tables[i].functions[j].calls, 0, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&mock_gate_lock);
}
