/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of exported functions. */
#include "functions.h"

#include <stdio.h>

/* Two for each library, and one for each package of custom operators. */
enum { MAX_TABLES = 128 };

static struct {
    struct mock_function *functions;
    size_t count;
} tables[MAX_TABLES];
pthread_mutex_t mock_functions_lock = PTHREAD_MUTEX_INITIALIZER;

void mock_functions_add(struct mock_function *functions, size_t count)
{
    size_t place = 0;
    pthread_mutex_lock(&mock_functions_lock);
    while (place < MAX_TABLES && tables[place].functions != NULL) {
        place++;
    }
    if (place < MAX_TABLES) {
        tables[place].functions = functions;
        tables[place].count = count;
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

void mock_functions_drop(const struct mock_function *functions)
{
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MAX_TABLES; i++) {
        if (tables[i].functions == functions) {
            tables[i].functions = NULL;
            tables[i].count = 0;
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
}

static int format_calls(char *text, size_t capacity, const struct mock_function *function)
{
    const uint64_t calls = atomic_load_explicit(&function->calls, memory_order_relaxed);
    return snprintf(text, capacity, "%s %llu\n", function->name, (unsigned long long)calls);
}

static int format_state(char *text, size_t capacity, const struct mock_function *function)
{
    const char *state = function->refuses ? "refuses" : function->work == NULL ? "operator" : "works";
    return snprintf(text, capacity, "%s %s\n", function->name, state);
}

static size_t list(char *text, size_t capacity,
                   int (*format)(char *, size_t, const struct mock_function *))
{
    size_t length = 0;
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MAX_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            const size_t left = length < capacity ? capacity - length : 0;
            const int written =
                format(left > 0 ? text + length : NULL, left, &tables[i].functions[j]);
            length += (size_t)written;
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
    return length;
}

size_t mock_functions_list(char *text, size_t capacity)
{
    return list(text, capacity, format_calls);
}

size_t mock_functions_states(char *text, size_t capacity)
{
    return list(text, capacity, format_state);
}

void mock_functions_reset(void)
{
    pthread_mutex_lock(&mock_functions_lock);
    for (size_t i = 0; i < MAX_TABLES; i++) {
        for (size_t j = 0; j < tables[i].count; j++) {
            atomic_store_explicit(&tables[i].functions[j].calls, 0, memory_order_relaxed);
        }
    }
    pthread_mutex_unlock(&mock_functions_lock);
}
